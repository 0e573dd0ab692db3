// A stand-in for the RISC-V kernel compiler of the ttnn library.
//
// The library compiles firmware when a device is opened and kernels at the first call of a program; its wheel does not
// carry the compiler. On the mock device no kernel ever runs, the library only loads and relocates the files: so the
// same small program, written byte by byte, serves for every one of them (docs/decisions/0007-mock-device.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace opwright::launch {

// The tool's name below `sfpi/compiler/bin/`. The opwright program is the compiler when it is started under this name.
inline constexpr std::string_view kKernelCompilerName = "riscv-tt-elf-g++";

// Whether a program started as `argv0` is meant to be the compiler.
bool is_kernel_compiler(std::string_view argv0);

// What the compiler does; `args` without the program's name. Returns the exit status, prints to stdout and stderr.
int kernel_compiler(std::span<const char* const> args);

// The bytes of a relocatable object without code, and of an executable: `lui`, `lw`, `ret`, one word of data.
std::string kernel_object();
std::string kernel_executable();

}  // namespace opwright::launch
