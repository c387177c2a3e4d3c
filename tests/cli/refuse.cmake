# FILE must be refused with exit status 2, nothing on standard output, and, as the first line on
# standard error, what the file's own first line promises:
#
#   # expect: 12:11: error: unknown policy 'sqroot'      a place in the file
#   # expect: error: the scenario is empty               the file as a whole
#   # expect: name.json:3:15: error: mlp_bias is ...     a place in a file beside it

cmake_minimum_required(VERSION 3.25)

file(STRINGS "${FILE}" first LIMIT_COUNT 1)
if(NOT first MATCHES "^# expect: (.+)$")
  message(FATAL_ERROR "${FILE} does not say what to expect")
endif()
string(REPLACE "\\;" ";" expected "${CMAKE_MATCH_1}")  # as file(STRINGS) writes it
if(expected MATCHES "^[a-z0-9_]+\\.(json|yml):")
  cmake_path(GET FILE PARENT_PATH folder)
  set(expected "${folder}/${expected}")
elseif(expected MATCHES "^[0-9]")
  set(expected "${FILE}:${expected}")
else()
  set(expected "${FILE}: ${expected}")
endif()

execute_process(COMMAND "${TIDEMARK}" validate "${FILE}" RESULT_VARIABLE status
                OUTPUT_VARIABLE out ERROR_VARIABLE err)
string(FIND "${err}" "\n" end)
string(SUBSTRING "${err}" 0 ${end} line)
if(NOT status STREQUAL "2" OR NOT out STREQUAL "" OR NOT line STREQUAL expected)
  message(FATAL_ERROR "expected status 2 and\n${expected}\ngot status ${status} and\n${out}${err}")
endif()
