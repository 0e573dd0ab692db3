# A room of the house is one library: every .cpp below its folder, with the rooms and packages it stands on.
# Unit tests lie beside the code (foo_test.cpp) and become one program a room.
include(GoogleTest)
if(OPWRIGHT_TESTS)
  find_package(GTest REQUIRED)
endif()

function(opwright_room name)
  cmake_parse_arguments(ROOM "PLAIN" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  add_library(opwright_${name} STATIC ${sources})
  target_include_directories(opwright_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(opwright_${name} PUBLIC ${ROOM_LINK})
  if(ROOM_PLAIN) # no loops over data in it: a debug build need not optimise, and is done in half the time
    target_compile_options(opwright_${name} PRIVATE $<$<CONFIG:Debug>:-O0>)
  endif()
  if(OPWRIGHT_TESTS AND tests)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE opwright_${name} GTest::gtest_main GTest::gmock)
    target_compile_options(${name}_tests PRIVATE $<$<CONFIG:Debug>:-O0>)
    target_compile_definitions(${name}_tests PRIVATE OPWRIGHT_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    gtest_discover_tests(${name}_tests TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  endif()
endfunction()

# Turns a data file into a C++ source with `extern const std::string_view <symbol>`, so that the program needs no files.
function(opwright_embed target file symbol)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DSYMBOL=${symbol} -P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${file} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
