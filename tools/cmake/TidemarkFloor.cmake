# tidemark_floor(<name> SOURCES ... [DEPENDS floors...] [PUBLIC libs...] [PRIVATE libs...])
# makes the library tidemark_<name>, known as tidemark::<name>. All floors include from the
# repository's root: #include "graph/op.hpp".

add_library(tidemark_warnings INTERFACE)
target_compile_options(tidemark_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -ffp-contract=off
  $<$<BOOL:${TIDEMARK_WERROR}>:-Werror>)

function(tidemark_floor name)
  cmake_parse_arguments(PARSE_ARGV 1 floor "" "" "SOURCES;DEPENDS;PUBLIC;PRIVATE")
  set(target tidemark_${name})
  add_library(${target} STATIC ${floor_SOURCES})
  add_library(tidemark::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name} POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/tidemark>)
  foreach(below IN LISTS floor_DEPENDS)
    target_link_libraries(${target} PUBLIC tidemark_${below})
  endforeach()
  target_link_libraries(${target} PUBLIC ${floor_PUBLIC}
                        PRIVATE ${floor_PRIVATE} $<BUILD_INTERFACE:tidemark_warnings>)
endfunction()
