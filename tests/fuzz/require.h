// A law of a fuzz target that does not hold: said with the values that break it, which then are a finding.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

namespace opwright::fuzz {

inline void require(bool holds, const char* law, std::string_view shown = {}) {
  if (holds) return;
  std::fprintf(stderr, "broken law: %s\n%s\n", law, std::string(shown).c_str());
  std::abort();
}

}  // namespace opwright::fuzz
