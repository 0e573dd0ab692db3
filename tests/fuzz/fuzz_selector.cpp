// The selector parser on any bytes. Beyond "no crash": what is accepted is printed and read back as the same selector,
// and the terms it requires never exclude a configuration that it matches.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "require.h"
#include "select/evaluate.h"
#include "select/selector.h"
#include "select/terms.h"
#include "select/test_subjects.h"

namespace {

using namespace opwright;
using namespace opwright::select;
using fuzz::require;

struct Known {
  OpConfig config;
  std::vector<Term> terms;
};

std::vector<Known> known_configs() {
  RandomConfigs random(1);
  std::vector<Known> known;
  for (int i = 0; i < 20; ++i) {
    Known one{i == 0 ? matmul_config() : random.config(), {}};
    append_terms(one.config, one.terms);
    known.push_back(std::move(one));
  }
  return known;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::vector<Known> known = known_configs();
  static constexpr std::array<std::string_view, 2> kModels{"llama", "models/demos/x.py::test"};
  static constexpr std::array<std::string_view, 1> kMachines{"Wormhole n300 x1"};

  const auto selector = parse_selector(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!selector) return 0;
  const std::string printed = to_text(*selector);
  const auto again = parse_selector(printed);
  require(again.has_value(), "what is printed can be read", printed);
  require(*again == *selector, "what is printed is read as the same", printed);
  require(to_text(*again) == printed, "printing is stable", printed);
  (void)needs_provenance(*selector);
  const std::vector<Term> required = required_terms(*selector);
  for (const Known& one : known) {
    if (!matches(*selector, Subject{one.config, kModels, kMachines, 45, 2, "RuntimeError: text"})) continue;
    require(std::includes(one.terms.begin(), one.terms.end(), required.begin(), required.end()),
            "required terms exclude no match", printed);
  }
  return 0;
}
