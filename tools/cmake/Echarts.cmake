# tidemark_echarts(<folder>): sets <folder> to where echarts.min.js, LICENSE and NOTICE of Apache
# ECharts (Apache-2.0) lie, which `--out` puts into report.html; to nothing where it cannot be had,
# with a warning. The package comes from the npm registry, is checked against the hash below, and is
# kept in the build tree.

set(TIDEMARK_ECHARTS "" CACHE FILEPATH
    "The npm package of ECharts as a tarball (echarts-6.1.0.tgz), for builds without a network")

function(tidemark_echarts folder)
  set(version 6.1.0)
  set(url "https://registry.npmjs.org/echarts/-/echarts-${version}.tgz")
  # As the registry states it, in hexadecimal digits: npm view echarts@6.1.0 dist.integrity
  set(sha512 ab4c9a14f8200bd15476c587e1b95abd15859b176b22875b92828d02326e74023a080f6034fc47b55d917193447a9655964e32bc16243a46e4e87215a48c8764)
  set(at "${PROJECT_BINARY_DIR}/echarts-${version}")
  set(${folder} "${at}/package" PARENT_SCOPE)
  set(files package/dist/echarts.min.js package/LICENSE package/NOTICE)

  set(tarball "${at}.tgz")
  if(TIDEMARK_ECHARTS)
    set(tarball "${TIDEMARK_ECHARTS}")
    if(NOT EXISTS "${tarball}")
      message(FATAL_ERROR "TIDEMARK_ECHARTS: there is no file '${tarball}'")
    endif()
  elseif(NOT EXISTS "${tarball}")
    message(STATUS "Fetching ${url}")
    file(DOWNLOAD "${url}" "${tarball}.part" STATUS status TIMEOUT 120 INACTIVITY_TIMEOUT 20)
    list(GET status 0 failed)
    list(GET status 1 reason)
    if(NOT failed)
      file(RENAME "${tarball}.part" "${tarball}")
    else()
      file(REMOVE "${tarball}.part")
      message(WARNING "ECharts ${version} could not be fetched from the npm registry (${reason}). "
        "Everything is built but --out, which writes report.html. Configure again once there is a "
        "network, or with -DTIDEMARK_ECHARTS=echarts-${version}.tgz.")
      set(${folder} "" PARENT_SCOPE)
      return()
    endif()
  endif()

  file(SHA512 "${tarball}" found)
  if(NOT found STREQUAL sha512)
    if(NOT TIDEMARK_ECHARTS)
      file(REMOVE "${tarball}")
    endif()
    message(WARNING "${tarball} is not ECharts ${version}: its SHA-512 is ${found}. Everything is "
      "built but --out, which writes report.html.")
    set(${folder} "" PARENT_SCOPE)
    return()
  endif()
  set(there TRUE)
  foreach(file IN LISTS files)
    if(NOT EXISTS "${at}/${file}")
      set(there FALSE)
    endif()
  endforeach()
  if(NOT there)
    file(ARCHIVE_EXTRACT INPUT "${tarball}" DESTINATION "${at}" PATTERNS ${files})
  endif()
endfunction()
