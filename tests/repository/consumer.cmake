# Installs BUILD below WORK, builds the project SOURCE against it, and runs both commands from a
# folder that has nothing to do with this repository.

cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${WORK}" RESULT_VARIABLE status
                  OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
run("${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${WORK}/prefix")
run("${CMAKE_COMMAND}" -S "${SOURCE}" -B "${WORK}/build" -G "${GENERATOR}"
    "-DCMAKE_CXX_COMPILER=${COMPILER}" "-DCMAKE_CXX_FLAGS=${FLAGS}"
    "-DCMAKE_PREFIX_PATH=${WORK}/prefix")
run("${CMAKE_COMMAND}" --build "${WORK}/build")
run("${WORK}/build/consumer")
if(NOT output MATCHES "holds [1-9][0-9]* ops and ends after [1-9]")
  message(FATAL_ERROR "the consumer printed: ${output}")
endif()
run("${WORK}/prefix/${BINARIES}/tidemark" list models)
if(NOT output MATCHES "gpt-7b")
  message(FATAL_ERROR "the installed command printed: ${output}")
endif()
foreach(file IN ITEMS ${MANUALS}/man1/tidemark.1 ${DATA}/bash-completion/completions/tidemark
        ${DATA}/zsh/site-functions/_tidemark ${DATA}/fish/vendor_completions.d/tidemark.fish)
  file(READ "${WORK}/prefix/${file}" text)
  if(NOT text MATCHES "sensitivity")
    message(FATAL_ERROR "${file} knows too few commands")
  endif()
endforeach()
