# `cmake --install`: the command, which carries its catalogues inside; its manual page and what bash,
# zsh and fish complete it by; the floors below it as
# libraries with their headers; and what find_package(tidemark) needs to use them.

include(CMakePackageConfigHelpers)

set(floors hardware graph sim scenarios)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/tidemark")

foreach(floor IN LISTS floors)
  if(TARGET tidemark_${floor})
    install(TARGETS tidemark_${floor} EXPORT tidemarkTargets
            ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
    install(DIRECTORY "${PROJECT_SOURCE_DIR}/${floor}"
            DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tidemark" FILES_MATCHING PATTERN "*.hpp")
  endif()
endforeach()
if(TARGET tidemark)
  install(TARGETS tidemark RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
  install(FILES "${TIDEMARK_SPOKEN}/tidemark.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
  install(FILES "${TIDEMARK_SPOKEN}/tidemark.bash" RENAME tidemark
          DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
  install(FILES "${TIDEMARK_SPOKEN}/_tidemark"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions")
  install(FILES "${TIDEMARK_SPOKEN}/tidemark.fish"
          DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")
endif()

configure_file("${PROJECT_SOURCE_DIR}/tools/version.hpp.in"
               "${PROJECT_BINARY_DIR}/generated/tidemark/version.hpp" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/generated/tidemark/version.hpp"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/tidemark/tidemark")

install(EXPORT tidemarkTargets NAMESPACE tidemark:: DESTINATION "${package_dir}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/tidemarkConfig.cmake.in"
                              "${PROJECT_BINARY_DIR}/tidemarkConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/tidemarkConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/tidemarkConfig.cmake"
              "${PROJECT_BINARY_DIR}/tidemarkConfigVersion.cmake"
        DESTINATION "${package_dir}")
