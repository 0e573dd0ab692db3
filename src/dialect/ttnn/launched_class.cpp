#include "dialect/ttnn/launched_class.h"

#include <map>

#include "base/take.h"
#include "model/tensor_facts.h"

namespace opwright {

namespace embedded {
extern const std::string_view kTtnnLaunchedClasses;
}

namespace {

LaunchChoice choice_of(std::string_view word) {
  if (word == "memory") return LaunchChoice::kByMemory;
  if (word == "layout") return LaunchChoice::kByLayout;
  if (word == "view") return LaunchChoice::kView;
  return word == "none" ? LaunchChoice::kNone : LaunchChoice::kOne;
}

using Table = std::map<std::string_view, LaunchedClass>;

Table read_table() {
  Table table;
  for (std::string_view text = embedded::kTtnnLaunchedClasses; !text.empty();) {
    std::string_view line = take(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    LaunchedClass& operation = table[take(line, '\t')];
    for (std::string_view classes = take(line, '\t'); !classes.empty();)
      operation.classes.push_back(take(classes, '|'));
    operation.by = choice_of(line);
  }
  return table;
}

bool is_sharded(const TensorSpec& spec) { return spec.memory && spec.memory->sharded(); }

std::size_t by_memory(const TensorSpec& from, const TensorSpec& to) {
  if (is_sharded(from)) return is_sharded(to) ? 2 : 1;
  return is_sharded(to) ? 0 : 3;
}

std::size_t by_layout(const TensorSpec& from, const Shape& from_padded, const OutputSpec& to) {
  const bool was_tiled = from.layout.value == Layout::kTile, is_tiled = to.spec.layout.value == Layout::kTile;
  if (was_tiled == is_tiled) return 4;
  const bool same = from_padded == to.padded;
  return is_tiled ? (same ? 0 : 1) : (same ? 2 : 3);
}

const Table& table() {
  static const Table read = read_table();
  return read;
}

}  // namespace

std::vector<std::string_view> operations_that_launch() {
  std::vector<std::string_view> names;
  for (const auto& [name, launched] : table())
    if (launched.by != LaunchChoice::kNone) names.push_back(name);
  return names;
}

const LaunchedClass* find_launched(std::string_view operation) {
  const auto found = table().find(operation);
  return found == table().end() ? nullptr : &found->second;
}

std::string_view launched_class(const LaunchedClass& operation, const TensorSpec& from, const Shape& from_padded,
                                const OutputSpec& to) {
  if (operation.by == LaunchChoice::kNone || operation.classes.empty() || on_host(to.spec)) return {};
  std::size_t which = 0;
  if (operation.by == LaunchChoice::kByMemory) which = by_memory(from, to.spec);
  if (operation.by == LaunchChoice::kByLayout) which = by_layout(from, from_padded, to);
  if (operation.by == LaunchChoice::kView) {
    // Tiles stay where they are when rows are as long as before and planes are cut between tiles.
    const auto last = [](const Shape& shape, std::size_t back) {
      return shape.size() >= back ? shape[shape.size() - back] : 1;
    };
    const bool rows = from.layout.value != Layout::kTile;
    const auto whole = [&](const Shape& shape) { return last(shape, 2) % 32 == 0; };
    const bool same_planes = last(from_padded, 2) == last(to.padded, 2) || (whole(from.shape) && whole(to.spec.shape));
    if (last(from_padded, 1) == last(to.padded, 1) && (rows || same_planes)) return {};
  }
  return which < operation.classes.size() ? operation.classes[which] : operation.classes.front();
}

}  // namespace opwright
