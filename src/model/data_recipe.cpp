#include "model/data_recipe.h"

#include <fmt/format.h>

#include <array>

namespace opwright {
namespace {

struct Names {
  std::string_view shown, flag;
};
constexpr std::array kNames{Names{"N(0,1)", "normal"},         Names{"U(0,1)", "uniform"},
                            Names{"|N(0,1)|+0.1", "positive"}, Names{"integers", "integers"},
                            Names{"zeros", "zeros"},           Names{"ones", "ones"},
                            Names{"special", "special"}};

}  // namespace

std::string_view name_of(Distribution distribution) { return kNames[static_cast<std::size_t>(distribution)].shown; }
std::string_view flag_of(Distribution distribution) { return kNames[static_cast<std::size_t>(distribution)].flag; }
std::optional<Distribution> parse_distribution(std::string_view flag) {
  for (std::size_t i = 0; i < kNames.size(); ++i)
    if (kNames[i].flag == flag) return static_cast<Distribution>(i);
  return std::nullopt;
}

std::string no_distribution(std::string_view flag) {
  std::string flags;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    flags += fmt::format("{}{}", i == 0 ? "" : i + 1 == kNames.size() ? " or " : ", ", kNames[i].flag);
  return fmt::format("no distribution '{}'; {}", flag, flags);
}

}  // namespace opwright
