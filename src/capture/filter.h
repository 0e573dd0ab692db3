// Which names are wanted: globs separated by commas ("ttnn.matmul,ttnn.transformer.*"); nothing means all.
#pragma once

#include <fnmatch.h>

#include <string>
#include <string_view>
#include <vector>

namespace opwright::capture {

class NameFilter {
 public:
  explicit NameFilter(std::string_view globs) {
    while (!globs.empty()) {
      const std::size_t comma = globs.find(',');
      if (const auto glob = globs.substr(0, comma); !glob.empty()) globs_.emplace_back(glob);
      globs = comma == std::string_view::npos ? std::string_view{} : globs.substr(comma + 1);
    }
  }
  bool wants_all() const { return globs_.empty(); }
  // "matmul" stands for "ttnn.matmul" too: people leave the library's name out.
  bool wants(const std::string& name) const {
    if (globs_.empty()) return true;
    for (const std::string& glob : globs_) {
      if (fnmatch(glob.c_str(), name.c_str(), 0) == 0) return true;
      const std::size_t dot = name.find('.');
      if (dot != std::string::npos && fnmatch(glob.c_str(), name.c_str() + dot + 1, 0) == 0) return true;
    }
    return false;
  }

 private:
  std::vector<std::string> globs_;
};

}  // namespace opwright::capture
