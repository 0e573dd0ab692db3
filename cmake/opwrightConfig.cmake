# find_package(opwright): the recorder, as the target opwright::recorder.
include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(${CMAKE_CURRENT_LIST_DIR}/opwrightTargets.cmake)
