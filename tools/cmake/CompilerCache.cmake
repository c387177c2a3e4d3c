# Compiles through ccache where it is installed, unless the user chose a launcher.

find_program(TIDEMARK_CCACHE ccache)
mark_as_advanced(TIDEMARK_CCACHE)
if(TIDEMARK_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness ccache gives up on precompiled headers (its manual, "Precompiled
  # headers"); with a base directory a second checkout of the same commit hits, too.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    "${CMAKE_COMMAND}" -E env
    CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
    "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}" CCACHE_NOHASHDIR=1
    "${TIDEMARK_CCACHE}")
endif()
