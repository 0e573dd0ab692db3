// A rule of our own that does not hold: said with its values and the place in the code, and the program ends. What
// comes from outside never gets here: that is an Error.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <source_location>
#include <string>
#include <string_view>

namespace opwright {

[[noreturn]] inline void broken(std::string_view rule, std::string_view values = {},
                                std::source_location at = std::source_location::current()) {
  const std::string said = std::string(rule) + (values.empty() ? "" : ": ") + std::string(values);
  std::fprintf(stderr, "opwright: %s:%u: broken rule: %s; please report it with the command line\n", at.file_name(),
               static_cast<unsigned>(at.line()), said.c_str());
  std::abort();
}

}  // namespace opwright
