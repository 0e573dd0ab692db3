#include "model/data_recipe.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>

namespace opwright {
namespace {

struct Names {
  std::string_view shown, flag;
};
template <class T>
bool take_number(std::string_view& text, T& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take_sign(std::string_view& text, char sign) {
  if (!text.starts_with(sign)) return false;
  text.remove_prefix(1);
  return true;
}

// "weight@17", "weight@16-31", "weight@17=3"
std::optional<KeptNumbers> parse_kept(std::string_view text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0) return std::nullopt;
  KeptNumbers kept{.input = std::string(text.substr(0, at))};
  text.remove_prefix(at + 1);
  if (!take_number(text, kept.first)) return std::nullopt;
  kept.last = kept.first;
  if (take_sign(text, '-') && !take_number(text, kept.last)) return std::nullopt;
  if (take_sign(text, '=')) {
    double value = 0;
    if (!take_number(text, value) || !std::isfinite(value)) return std::nullopt;
    kept.value = value;
  }
  return text.empty() && kept.first >= 0 && kept.first <= kept.last ? std::optional(kept) : std::nullopt;
}

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

std::string data_text(const DataRecipe& recipe) {
  std::string text(flag_of(recipe.distribution));
  if (!recipe.kept) return text;
  text += fmt::format(":{}@{}", recipe.kept->input, recipe.kept->first);
  if (recipe.kept->last != recipe.kept->first) text += fmt::format("-{}", recipe.kept->last);
  if (recipe.kept->value) text += fmt::format("={}", *recipe.kept->value);
  return text;
}

std::optional<DataRecipe> parse_data(std::string_view text) {
  const std::size_t colon = text.find(':');
  const auto distribution = parse_distribution(text.substr(0, colon));
  if (!distribution) return std::nullopt;
  DataRecipe recipe{*distribution};
  if (colon == std::string_view::npos) return recipe;
  recipe.kept = parse_kept(text.substr(colon + 1));
  return recipe.kept ? std::optional(recipe) : std::nullopt;
}

std::string no_distribution(std::string_view flag) {
  std::string flags;
  for (std::size_t i = 0; i < kNames.size(); ++i)
    flags += fmt::format("{}{}", i == 0 ? "" : i + 1 == kNames.size() ? " or " : ", ", kNames[i].flag);
  return fmt::format("no distribution '{}'; {}", flag, flags);
}

}  // namespace opwright
