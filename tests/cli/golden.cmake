# FILE (tests/golden/NAME.FORMAT) must be, byte for byte, what scenarios/NAME.yaml gives in FORMAT.

cmake_minimum_required(VERSION 3.25)

cmake_path(GET FILE STEM LAST_ONLY name)
cmake_path(GET FILE EXTENSION LAST_ONLY extension)
cmake_path(GET FILE FILENAME filename)
string(SUBSTRING "${extension}" 1 -1 format)
set(option "")
if(NOT format STREQUAL "txt")
  set(option --${format} -)
endif()
set(actual "${WORK}/${filename}")
execute_process(COMMAND "${TIDEMARK}" run scenarios/${name}.yaml ${option}
                OUTPUT_FILE "${actual}" COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND "${CMAKE_COMMAND}" -E compare_files "${FILE}" "${actual}"
                RESULT_VARIABLE different)
if(different)
  execute_process(COMMAND diff -u "${FILE}" "${actual}")
  message(FATAL_ERROR "if the new output is right, run tools/approve.sh and commit ${FILE}")
endif()
