# COIN-OR's CBC by its C interface (Debian and Ubuntu: coinor-libcbc-dev).
# Sets Cbc_FOUND and Cbc_LIBRARY, the file to link.

find_path(Cbc_INCLUDE_DIR coin/Cbc_C_Interface.h)
find_library(Cbc_LIBRARY CbcSolver)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Cbc REQUIRED_VARS Cbc_LIBRARY Cbc_INCLUDE_DIR)
mark_as_advanced(Cbc_INCLUDE_DIR Cbc_LIBRARY)
