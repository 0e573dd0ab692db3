# A room of the house is one library: every .cpp below its folder, with the rooms and packages it stands on.
# Unit tests lie beside the code (foo_test.cpp) and become one program a room.
include(GoogleTest)
if(OPWRIGHT_TESTS)
  find_package(GTest REQUIRED)
endif()

# What nearly every file includes is read once for all rooms that are compiled alike. Only the standard library and fmt:
# a file that forgets to include one of our own headers must not compile.
set(opwright_common_headers
    <algorithm> <array> <bit> <cmath> <cstdint> <cstring> <functional> <limits> <map> <memory> <optional> <ostream> <set>
    <span> <string> <string_view> <utility> <variant> <vector> <fmt/format.h> <tl/expected.hpp>)
function(opwright_common_headers target flavour)
  if(NOT OPWRIGHT_PCH OR NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    return()
  endif()
  target_compile_options(${target} PRIVATE -fpch-preprocess) # ccache asks for it
  get_property(first GLOBAL PROPERTY OPWRIGHT_FIRST_${flavour})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
  else()
    set_property(GLOBAL PROPERTY OPWRIGHT_FIRST_${flavour} ${target})
    target_precompile_headers(${target} PRIVATE ${opwright_common_headers} ${ARGN})
  endif()
endfunction()

function(opwright_room name)
  cmake_parse_arguments(ROOM "PLAIN;COLD;LEAN" "" "LINK" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.cpp)
  set(tests ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "(_test|/main)\\.cpp$")
  add_library(opwright_${name} STATIC ${sources})
  target_include_directories(opwright_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(opwright_${name} PUBLIC ${ROOM_LINK})
  if(ROOM_PLAIN) # no loops over data in it: a debug build need not optimise, and is done in half the time
    target_compile_options(opwright_${name} PRIVATE $<$<CONFIG:Debug>:-O0>)
  endif()
  if(ROOM_COLD) # runs once a command: to optimise it takes users longer than it ever gives back
    target_compile_options(opwright_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(NOT ROOM_LEAN) # a lean room needs no fmt
    if(ROOM_PLAIN AND CMAKE_BUILD_TYPE STREQUAL "Debug")
      opwright_common_headers(opwright_${name} plain)
    else()
      opwright_common_headers(opwright_${name} fast)
    endif()
  endif()
  if(OPWRIGHT_TESTS AND tests)
    add_executable(${name}_tests ${tests})
    target_link_libraries(${name}_tests PRIVATE opwright_${name} GTest::gtest_main GTest::gmock)
    target_compile_options(${name}_tests PRIVATE $<$<CONFIG:Debug>:-O0>)
    target_compile_definitions(${name}_tests PRIVATE OPWRIGHT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    if(NOT ROOM_LEAN)
      opwright_common_headers(${name}_tests tests <gtest/gtest.h>)
    endif()
    gtest_discover_tests(${name}_tests TEST_PREFIX "${name}." DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT 300)
  endif()
endfunction()

# Turns a data file into a C++ source with `extern const std::string_view <symbol>`, so that the program needs no files.
function(opwright_embed target file symbol)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/embedded/${symbol}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${file} -DOUTPUT=${output} -DSYMBOL=${symbol} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${file} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
