# What `cmake --install` puts under a prefix (./x install, ./x deb):
#   bin/opwright, lib/opwright/ (the Python package, the stand-in kernel compiler), completion of three shells, the manual
#   page, and the recorder for C and C++ programs: find_package(opwright), target opwright::recorder.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS opwright RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS opwright_kernel_compiler RUNTIME DESTINATION lib/opwright)
install(DIRECTORY ${CMAKE_BINARY_DIR}/python/opwright ${CMAKE_BINARY_DIR}/python/bootstrap DESTINATION lib/opwright/python
        USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)

# The recorder as an archive. Its header is C; the archive is C++, so the program is linked as C++.
add_library(opwright_recorder_archive STATIC $<TARGET_OBJECTS:opwright_recorder>)
set_target_properties(opwright_recorder_archive PROPERTIES OUTPUT_NAME opwright_recorder EXPORT_NAME recorder
                      LINKER_LANGUAGE CXX)
target_include_directories(opwright_recorder_archive INTERFACE $<INSTALL_INTERFACE:include>)
target_link_libraries(opwright_recorder_archive INTERFACE Threads::Threads)
install(TARGETS opwright_recorder_archive EXPORT opwright_targets ARCHIVE DESTINATION lib)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/capture/include/ DESTINATION include)
install(EXPORT opwright_targets NAMESPACE opwright:: FILE opwrightTargets.cmake DESTINATION lib/cmake/opwright)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/opwrightConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_SOURCE_DIR}/cmake/opwrightConfig.cmake ${CMAKE_BINARY_DIR}/opwrightConfigVersion.cmake
        DESTINATION lib/cmake/opwright)

# What the program writes about itself.
set(written ${CMAKE_BINARY_DIR}/written)
add_custom_command(
  OUTPUT ${written}/opwright.1 ${written}/opwright ${written}/_opwright ${written}/opwright.fish
  COMMAND ${CMAKE_COMMAND} -E make_directory ${written}
  COMMAND opwright help --man > ${written}/opwright.1
  COMMAND opwright completion bash > ${written}/opwright
  COMMAND opwright completion zsh > ${written}/_opwright
  COMMAND opwright completion fish > ${written}/opwright.fish
  DEPENDS opwright VERBATIM)
add_custom_target(opwright_written ALL DEPENDS ${written}/opwright.1)
install(FILES ${written}/opwright.1 DESTINATION share/man/man1)
install(FILES ${written}/opwright DESTINATION share/bash-completion/completions)
install(FILES ${written}/_opwright DESTINATION share/zsh/site-functions)
install(FILES ${written}/opwright.fish DESTINATION share/fish/vendor_completions.d)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md DESTINATION share/doc/opwright)

# All that an installation needs, and nothing else.
add_custom_target(opwright_installable DEPENDS opwright opwright_python opwright_python_files opwright_kernel_compiler
                  opwright_recorder_archive opwright_written)
