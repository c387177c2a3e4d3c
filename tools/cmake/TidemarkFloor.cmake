# tidemark_floor(<name> SOURCES ... [DEPENDS floors...] [PUBLIC libs...] [PRIVATE libs...])
# makes the library tidemark_<name>, known as tidemark::<name>. All floors include from the
# repository's root: #include "graph/op.hpp".

add_library(tidemark_warnings INTERFACE)
target_compile_options(tidemark_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -ffp-contract=off
  $<$<BOOL:${TIDEMARK_WERROR}>:-Werror>)

# tidemark_unity_groups(<target> [<many>]): what a unity build (the presets `sanitize` and `release`, and
# whoever sets CMAKE_UNITY_BUILD) compiles as one: files of a folder whose names begin with
# neighbouring letters, so that a new file joins one group and moves no other. A folder of no more than
# `many` files is one group: where headers take long to read, few groups are better.
function(tidemark_unity_groups target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  set(many ${ARGV1})
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    string(REGEX REPLACE "^.*/" "" folder "_${folder}")
    list(APPEND files_of${folder} "${source}")
  endforeach()
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    string(REGEX REPLACE "^.*/" "" folder "_${folder}")
    cmake_path(GET source FILENAME file)
    string(SUBSTRING "${file}" 0 1 letter)
    list(LENGTH files_of${folder} count)
    set(groups abc defghijkl mnopq rstuvwxyz)
    if(many AND count LESS_EQUAL many)
      set(groups all)
    endif()
    foreach(group IN LISTS groups)
      if(group STREQUAL "all" OR group MATCHES "${letter}")
        set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${folder}_${group}")
      endif()
    endforeach()
  endforeach()
endfunction()

# tidemark_alone(<files>...): not for a unity build, because a name that is local to them means
# something else in a neighbour.
function(tidemark_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

set(TIDEMARK_CORE_FLAGS "" CACHE STRING "compile options of the floors graph and sim alone")

function(tidemark_floor name)
  cmake_parse_arguments(PARSE_ARGV 1 floor "" "" "SOURCES;DEPENDS;PUBLIC;PRIVATE")
  set(target tidemark_${name})
  add_library(${target} STATIC ${floor_SOURCES})
  if(name STREQUAL "tools")
    tidemark_unity_groups(${target} 16)
  else()
    tidemark_unity_groups(${target})
  endif()
  add_library(tidemark::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  if(name MATCHES "^(graph|sim)$")
    target_compile_options(${target} PRIVATE ${TIDEMARK_CORE_FLAGS})
  endif()
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tidemark>)
  foreach(below IN LISTS floor_DEPENDS)
    target_link_libraries(${target} PUBLIC tidemark_${below})
  endforeach()
  target_link_libraries(${target} PUBLIC ${floor_PUBLIC}
                        PRIVATE ${floor_PRIVATE} $<BUILD_INTERFACE:tidemark_warnings>)
endfunction()
