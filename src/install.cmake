# Install rules and the exported package. Included from src/CMakeLists.txt.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(sinter_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/sinter")
install(TARGETS sinter EXPORT sinter_targets
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# A build of one program only (examples/run.sh) has made the library and not this.
install(CODE "
  if(NOT EXISTS \"$<TARGET_FILE:sinter_info>\")
    message(STATUS \"sinter: building sinter-info, which is installed too\")
    execute_process(COMMAND \"${CMAKE_COMMAND}\" --build \"${CMAKE_BINARY_DIR}\" --config \"$<CONFIG>\" --target sinter_info
                    COMMAND_ERROR_IS_FATAL ANY)
  endif()")
install(TARGETS sinter_info RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/sinter" DESTINATION include)
install(EXPORT sinter_targets NAMESPACE sinter:: FILE sinter-targets.cmake DESTINATION "${sinter_package_dir}")
if(SINTER_CUDA_FOUND AND NOT BUILD_SHARED_LIBS)
  install(FILES "${sinter_cudart}" DESTINATION lib/sinter)
endif()

configure_package_config_file(sinter-config.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/sinter-config.cmake"
                              INSTALL_DESTINATION "${sinter_package_dir}" NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/sinter-config-version.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/sinter-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/sinter-config-version.cmake"
        DESTINATION "${sinter_package_dir}")
