# Runs each line of DOCUMENT that begins with "$ tidemark", in a folder that has the repository's
# scenarios/. A comment at the end of the line may say which exit status to expect: "# exit 1".

cmake_minimum_required(VERSION 3.25)

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
file(CREATE_LINK "${ROOT}/scenarios" "${WORK}/scenarios" SYMBOLIC)
set(ENV{PATH} "${BINARIES}:$ENV{PATH}")
file(STRINGS "${DOCUMENT}" lines REGEX "^ *\\$ tidemark ")
list(LENGTH lines count)
if(count EQUAL 0)
  message(FATAL_ERROR "${DOCUMENT} has no commands")
endif()
foreach(line IN LISTS lines)
  if(line MATCHES " --out [^ -]" AND line MATCHES "tidemark (run|compare) " AND NOT REPORT)
    continue()  # this build cannot write report.html
  endif()
  string(REGEX REPLACE "^ *\\$ " "" command "${line}")
  set(expected 0)
  if(command MATCHES "# exit ([0-9])")
    set(expected ${CMAKE_MATCH_1})
  endif()
  execute_process(COMMAND sh -c "${command}" WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status STREQUAL expected)
    message(FATAL_ERROR "${command}\nexpected status ${expected}, got ${status}:\n${output}")
  endif()
endforeach()
