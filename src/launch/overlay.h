// The library's own files with a kernel compiler beside them, in a folder of ours: nothing of the installation changes.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace opwright::launch {

// The folder that the library takes as its root: where `tt_metal/` and `runtime/` lie. In a wheel that is the package's
// folder itself; in a source tree it is further up.
Result<std::string> library_root(const std::string& package_folder);

// Makes `folder`: links to every entry of `root`, except that `runtime/` is a folder with links to the entries of
// root/runtime and `sfpi/compiler/bin/riscv-tt-elf-g++`, a link to `compiler`.
Status make_overlay(const std::string& root, const std::string& folder, const std::string& compiler);

}  // namespace opwright::launch
