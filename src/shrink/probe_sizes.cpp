// Which sizes a failure needs.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "model/case_line.h"
#include "model/tensor_facts.h"
#include "shrink/edit.h"
#include "shrink/probe.h"
#include "shrink/shards.h"

namespace opwright::shrink {
namespace {

constexpr std::int64_t kTile = 32;

std::vector<std::string> without_first(const std::vector<std::string>& facts) {
  return {facts.begin() + 1, facts.end()};
}

}  // namespace

bool Probe::dimensions() {
  std::set<std::string> done;
  for (const Place& place : places_of(now().config)) {
    if (!place.tensor || place.value <= 1 || done.contains(place.fact)) continue;
    const Search::Edge edge = search_.lower_dimension(place.fact);
    if (edge.fails < place.value) return false;
    done.insert(edge.facts.begin(), edge.facts.end());
    if (!edge.passes) continue;
    Needed needed{{place.fact, Is::kMore, std::to_string(*edge.passes)},
                  without_first(edge.facts),
                  fmt::format("{} passes, {} fails", *edge.passes, edge.fails)};
    const bool is_fewer = other_cores(edge.passing.config);
    if (is_fewer) fewer_.push_back(edge.passing.config);
    (is_fewer ? with_cores_ : needs_).push_back(std::move(needed));
  }
  return true;
}

bool Probe::other_cores(const OpConfig& config) const {
  bool other = false;
  for_each_tensor_fact(now().config, [&](const std::string& tensor, const TensorSpec&) {
    other = other || fact_of(config.args, tensor + ".cores") != fact(tensor + ".cores");
  });
  return other;
}

bool Probe::shards() {
  std::set<std::string> done;
  std::vector<std::pair<std::string, TensorSpec>> sharded;
  for_each_tensor_fact(now().config, [&](const std::string& tensor, const TensorSpec& spec) {
    if (spec.memory && spec.memory->shard && done.insert(to_text(*spec.memory)).second)
      sharded.emplace_back(tensor, spec);
  });
  bool found = false;
  for (const auto& [tensor, spec] : sharded) {
    const std::int64_t cores = cores_of(spec.memory->shard->grid);
    std::optional<std::int64_t> passes;
    for (std::int64_t low = 0, high = cores; high - low > 1 && !trials_.spent();) {
      const std::int64_t middle = low == 0 ? 1 : (low + high) / 2;
      const std::string memory = on_cores(spec, middle);
      const auto made = set_fact(now().config, tensor + ".memory", memory, rules_);
      const auto got = made ? number_of(fact_of(made->args, tensor + ".cores").value_or("")) : std::nullopt;
      const Answer answer = !made || !got || *got >= static_cast<double>(high) ? Answer::kOther : ask(*made);
      if (answer == Answer::kFails) {
        Subject subject = now();
        subject.config = *made;
        search_.take(std::move(subject));
        return false;
      }
      if (answer == Answer::kPasses) passes = static_cast<std::int64_t>(*got);
      low = middle;
    }
    // A smaller shape may lie on more of them than this one can be cut for.
    for (const OpConfig& smaller : fewer_)
      if (const auto other = number_of(fact_of(smaller.args, tensor + ".cores").value_or(""));
          passes && other && *other < static_cast<double>(cores))
        passes = std::max(*passes, static_cast<std::int64_t>(*other));
    if (passes)
      add(tensor + ".cores", Is::kMore, std::to_string(*passes), fmt::format("{} passes, {} fails", *passes, cores));
    found = found || passes;
  }
  // Nobody can have fewer cores and the same shape: it is the shape that is seen.
  if (!found) std::ranges::move(with_cores_, std::back_inserter(needs_));
  return true;
}

bool Probe::raise() {
  const std::vector<Place> places = places_of(base_);
  const auto raised = [&](const auto& size_of) {
    OpConfig all = base_;
    std::set<std::string> done;
    for (const Place& place : places) {
      const std::int64_t size = size_of(place);
      if (!place.tensor || done.contains(place.fact) || size == place.value) continue;
      if (number_of(fact_of(all.args, place.fact).value_or("")) != static_cast<double>(place.value)) continue;
      auto made = resized(all, place.fact, size, Reach::kAlone, rules_);
      if (!made) continue;
      all = std::move(made->config);
      done.insert(made->facts.begin(), made->facts.end());
    }
    return all;
  };
  // The last two are rounded up to tiles; the others are doubled at most, because all of them are multiplied.
  const auto tiles = [](const Place& place) {
    const std::int64_t step = place.axis >= -2 ? kTile : 1;
    return (place.value + step - 1) / step * step;
  };
  const auto twice = [&](const Place& place) { return 2 * tiles(place); };
  if (ask_changed(raised(tiles)) != Answer::kFails || ask_changed(raised(twice)) != Answer::kFails)
    for (const Place& place : places)
      if (place.tensor) raise_one(place, tiles(place));
  for (const Place& place : places)
    if (place.tensor && has(place.fact)) check_threshold(place);
  return true;
}

Answer Probe::sized(const Place& place, std::int64_t size) {
  const auto made = resized(base_, place.fact, size, Reach::kAlone, rules_);
  if (!made || other_cores(made->config)) return Answer::kOther;
  same_ = made->facts;
  return ask(made->config);
}

Answer Probe::sized_apart(const Place& place) {
  const auto made = resized(base_, place.fact, place.value + 1, Reach::kAlone, rules_);
  const bool meets = made && meets_another(made->config, place.fact, made->facts);
  return sized(place, place.value + (meets ? 2 : 1));
}

void Probe::raise_one(const Place& place, std::int64_t tiles) {
  for (const Needed& needed : needs_)
    if (std::ranges::find(needed.same, place.fact) != needed.same.end()) return;
  std::int64_t passes = 0;
  if (tiles != place.value && sized(place, tiles) == Answer::kPasses) passes = tiles;
  if (passes == 0 && sized(place, 2 * tiles) == Answer::kPasses) passes = 2 * tiles;
  if (passes == 0) return;
  std::vector<std::string> same = same_;
  if (tiles != place.value && sized(place, tiles + place.value % kTile) == Answer::kFails &&
      sized(place, 2 * tiles) == Answer::kPasses) {
    add(place.fact, Is::kNoMultiple, std::to_string(kTile), fmt::format("{} passes, {} fails", passes, place.value),
        std::move(same));
    return;
  }
  std::int64_t fails = place.value;
  while (passes - fails > 1 && !trials_.spent()) {
    const std::int64_t middle = (passes + fails) / 2;
    const Answer answer = sized(place, middle);
    if (answer == Answer::kOther) break;
    (answer == Answer::kFails ? fails : passes) = middle;
  }
  const std::string seen = fmt::format("{} fails, {} passes", fails, passes);
  if (fails == place.value && std::erase_if(needs_, [&](const Needed& needed) {
                                return needed.need.fact == place.fact && needed.need.is == Is::kMore;
                              }) > 0) {
    // Neither less nor more: this number, or a multiple of it.
    const bool multiple = sized(place, 2 * place.value) == Answer::kFails;
    add(place.fact, multiple ? Is::kMultiple : Is::kEqual, std::to_string(place.value), seen, std::move(same));
    return;
  }
  if (fails == place.value)
    add(place.fact, Is::kEqual, std::to_string(place.value), seen, std::move(same));
  else
    add(place.fact, Is::kAtMost, std::to_string(fails), seen, std::move(same));
}

void Probe::check_threshold(const Place& place) {
  const auto found = std::ranges::find_if(
      needs_, [&](const Needed& needed) { return needed.need.fact == place.fact && needed.need.is == Is::kMore; });
  if (found == needs_.end() || sized_apart(place) != Answer::kPasses) return;
  const bool multiple = sized(place, 2 * place.value) == Answer::kFails;
  found->need.is = multiple ? Is::kMultiple : Is::kEqual;
  found->need.value = std::to_string(place.value);
  found->seen += fmt::format(", {} passes", place.value + 1);
}

bool Probe::broadcasts() {
  const std::vector<Place> places = places_of(now().config);
  std::vector<std::string> tensors;
  for_each_tensor_fact(now().config, [&](const std::string& tensor, const TensorSpec&) { tensors.push_back(tensor); });
  for (const std::string& tensor : tensors)
    for (const Place& other : places) {
      const std::string name = fmt::format("{}[{}]", tensor, other.axis);
      if (!other.tensor || other.value <= 1 || other.fact == name || fact(name) != "1" || has(name)) continue;
      OpConfig config = now().config;
      if (number_of(fact(tensor + ".rank")).value_or(0) < static_cast<double>(-other.axis))
        if (auto higher = with(config, tensor + ".rank", std::to_string(-other.axis))) config = *std::move(higher);
      const auto made = with(config, name, std::to_string(other.value));
      if (!made || !rules_.allow(*made) || ask(*made) != Answer::kPasses) continue;
      add(name, Is::kEqual, "1", fmt::format("{} passes, 1 fails", other.value));
    }
  return true;
}

bool Probe::differences() {
  const std::vector<Place> places = places_of(now().config);
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t j = i + 1; j < places.size(); ++j) {
      const Place &one = places[i], &other = places[j];
      if (!one.tensor || !other.tensor || one.axis != other.axis || one.value == other.value) continue;
      if (one.value == 1 || other.value == 1 || !has(one.fact) || !has(other.fact)) continue;
      const auto made = with(now().config, one.fact, std::to_string(other.value));
      if (made && rules_.allow(*made) && ask(*made) == Answer::kPasses)
        add(one.fact, Is::kUnequal, other.fact, fmt::format("{} and {} pass", other.value, other.value));
    }
  return true;
}

}  // namespace opwright::shrink
