# `cmake --install`: headers, library, command line, CMake package and pkg-config file.

include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/fenchel)

# The warnings travel in the export set only because a static library names everything it was linked with; they
# are private and reach no consumer's compiler.
install(TARGETS fenchel fenchel_warnings EXPORT fenchelTargets)
install(DIRECTORY fenchel ${generated}/fenchel DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.hpp)
install(EXPORT fenchelTargets NAMESPACE fenchel:: DESTINATION ${package_dir})
if(TARGET fenchel_cli)
  install(TARGETS fenchel_cli)
endif()

configure_package_config_file(cmake/fenchelConfig.cmake.in fenchelConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(fenchelConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/fenchelConfig.cmake
  ${PROJECT_BINARY_DIR}/fenchelConfigVersion.cmake
  cmake/find_plain_library.cmake
  cmake/FindxxHash.cmake
  cmake/Findzstd.cmake
  DESTINATION ${package_dir})

list(JOIN FENCHEL_ARITHMETIC " " pc_cflags)
file(RELATIVE_PATH pc_up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)  # lib may be lib/<architecture>
configure_file(cmake/fenchel.pc.in fenchel.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/fenchel.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
