# Cairo, which draws figures as SVG, PDF and PNG (Debian and Ubuntu: libcairo2-dev).
# Sets Cairo_FOUND, Cairo_LIBRARY, the file to link, and Cairo_INCLUDE_DIR.

find_path(Cairo_INCLUDE_DIR cairo.h PATH_SUFFIXES cairo)
find_library(Cairo_LIBRARY cairo)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cairo REQUIRED_VARS Cairo_LIBRARY Cairo_INCLUDE_DIR)
mark_as_advanced(Cairo_INCLUDE_DIR Cairo_LIBRARY)
