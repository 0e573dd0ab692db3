#include "exec/stage.h"

#include <algorithm>
#include <array>

namespace opwright {
namespace {

constexpr std::array kStages{std::string_view("start"), std::string_view("plan"), std::string_view("device"),
                             std::string_view("reference"), std::string_view("end")};

}  // namespace

std::string_view name_of(Stage stage) { return kStages[static_cast<std::size_t>(stage)]; }
std::optional<Stage> parse_stage(std::string_view name) {
  const auto found = std::ranges::find(kStages, name);
  if (found == kStages.end()) return std::nullopt;
  return static_cast<Stage>(found - kStages.begin());
}

}  // namespace opwright
