#include "shrink/steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "exec/call_facts.h"
#include "model/tensor_facts.h"
#include "shrink/edit.h"

namespace opwright::shrink {
namespace {

constexpr std::array<std::int64_t, 12> kSizes{1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048};

using Make = std::function<std::optional<OpConfig>(const OpConfig&)>;

Step step_of(std::string_view kind, std::string fact, const Rules& rules, Make make) {
  return {kind, std::move(fact), [&rules, make = std::move(make)](const Subject& subject) -> std::optional<Subject> {
            auto config = make(subject.config);
            if (!config || !rules.allow(*config)) return std::nullopt;
            Subject out = subject;
            out.config = *std::move(config);
            return out;
          }};
}

bool is_float(const TensorSpec& spec) {
  const DTypeKind kind = info(spec.dtype.value).kind;
  return kind == DTypeKind::kFloat || kind == DTypeKind::kBlockFloat;
}

void add_dimensions(const Subject& subject, const Rules& rules, std::vector<Step>& out) {
  const std::vector<Place> places = places_of(subject.config);
  for (const Reach reach : {Reach::kTogether, Reach::kAxis, Reach::kAlone}) {
    std::set<std::int64_t> seen;
    for (const Place& place : places) {
      if (!place.tensor || place.value <= 1) continue;
      if (reach == Reach::kTogether && !seen.insert(place.value).second) continue;
      out.push_back(step_of(kDimensions, place.fact, rules,
                            [fact = place.fact, reach, &rules](const OpConfig& config) -> std::optional<OpConfig> {
                              auto made = smallest_size(config, fact, reach, rules);
                              if (!made) return std::nullopt;
                              return std::move(made->config);
                            }));
    }
  }
}

void add_arguments(const Subject& subject, const Rules& rules, std::vector<Step>& out) {
  const auto drop = [&](const std::string& fact) {
    out.push_back(step_of(kArguments, fact, rules, [fact](const OpConfig& config) { return without(config, fact); }));
  };
  for (const Argument& argument : subject.config.args) drop(argument.name);
  for_each_value_fact(subject.config, [&](const std::string& name, const Value& value) {
    if (const Struct* structure = value.as_struct()) {
      for (const auto& [field, item] : structure->fields)
        if (!field.empty()) drop(name + '.' + field);
    } else if (const List* list = value.as_list(); list != nullptr && list->size() > 1) {
      // From the end: what stands before keeps its name.
      for (std::size_t i = list->size(); i-- > 0;)
        if ((*list)[i].as_tensor() != nullptr) drop(fmt::format("{}#{}", name, i));
    }
  });
}

void add_tensors(const Subject& subject, const Rules& rules, std::vector<Step>& out) {
  const auto set = [&](std::string_view kind, const std::string& fact, std::string_view value) {
    out.push_back(step_of(kind, fact, rules, [fact, value, &rules](const OpConfig& config) {
      return set_fact(config, fact, value, rules);
    }));
  };
  for_each_value_fact(subject.config, [&](const std::string& name, const Value& value) {
    if (const MemoryConfig* memory = value.as_memory()) {
      set(kMemories, name, kPlainMemory);
      if (memory->sharded() && memory->buffer.value == BufferType::kL1) set(kMemories, name, kNearMemory);
    }
    const TensorSpec* spec = value.as_tensor();
    if (spec == nullptr) return;
    if (spec->memory) set(kMemories, name + ".memory", kPlainMemory);
    if (spec->memory && spec->memory->sharded() && spec->memory->buffer.value == BufferType::kL1)
      set(kMemories, name + ".memory", kNearMemory);
    if (spec->memory && spec->memory->shard) set(kMemories, name + ".orientation", kPlainOrientation);
    if (spec->placement) set(kPlacements, name + ".placement", kPlainPlacement);
    if (spec->tile) set(kTiles, name + ".tile", kPlainTile);
    if (is_float(*spec)) set(kDtypes, name + ".dtype", kPlainDtype);
    set(kLayouts, name + ".layout", kPlainLayout);
  });
}

// The text that a fact has to be compared with `value`: a memory is its whole config.
std::string whole_fact(const OpConfig& config, const std::string& fact) {
  if (fact.ends_with(".memory"))
    if (const Value* value = value_at(config.args, find_fact(config.args, fact)->steps);
        value != nullptr && value->as_tensor() != nullptr)
      return to_text(memory_of(*value->as_tensor()));
  return fact_of(config.args, fact).value_or("");
}

std::string_view fact_part(std::string_view fact) { return fact.substr(fact.rfind('.')); }

}  // namespace

std::optional<OpConfig> set_fact(const OpConfig& config, const std::string& fact, std::string_view value,
                                 const Rules& rules) {
  const std::string old = whole_fact(config, fact);
  if (old == value) return std::nullopt;
  auto alone = with(config, fact, value);
  if (!alone || rules.allow(*alone)) return alone;
  const auto name = find_fact(config.args, fact);
  if (name->fact.empty()) return std::nullopt;
  // With one other tensor, then with all that are alike; memory configs among the arguments follow those of tensors.
  std::vector<std::string> others;
  for_each_tensor_fact(config, [&](const std::string& tensor, const TensorSpec&) {
    std::string other = tensor + std::string(fact_part(fact));
    if (other != fact && whole_fact(config, other) == old) others.push_back(std::move(other));
  });
  if (name->fact == "memory")
    for_each_value_fact(config, [&](const std::string& argument, const Value& held) {
      if (held.as_memory() != nullptr && to_text(held) == old) others.push_back(argument);
    });
  for (const std::string& other : others)
    if (auto made = with(*alone, other, value); made && rules.allow(*made)) return made;
  for (const std::string& other : others)
    if (auto made = with(*alone, other, value)) alone = std::move(made);
  if (rules.allow(*alone)) return alone;
  return std::nullopt;
}

OpConfig set_all(const OpConfig& config, std::string_view fact, std::string_view from, std::string_view value,
                 const Rules& rules) {
  std::vector<std::string> facts;
  for_each_tensor_fact(config, [&](const std::string& tensor, const TensorSpec&) {
    std::string one = fmt::format("{}.{}", tensor, fact);
    if (whole_fact(config, one) == from) facts.push_back(std::move(one));
  });
  OpConfig all = config;
  for (const std::string& one : facts)
    if (auto made = with(all, one, value)) all = *std::move(made);
  if (rules.allow(all)) return all;
  all = config;
  for (const std::string& one : facts)
    if (auto made = set_fact(all, one, value, rules)) all = *std::move(made);
  return all;
}

std::optional<OpConfig> reranked(const OpConfig& config, int by, const Rules& rules) {
  OpConfig tensors = config;
  std::size_t most = 0;
  for_each_tensor_fact(config,
                       [&](const std::string&, const TensorSpec& spec) { most = std::max(most, spec.shape.size()); });
  if (most + static_cast<std::size_t>(by) < 1) return std::nullopt;
  bool changed = false;
  for_each_tensor_fact(config, [&](const std::string& name, const TensorSpec& spec) {
    if (spec.shape.size() != most) return;
    if (auto made = with(tensors, name + ".rank", std::to_string(static_cast<int>(most) + by))) {
      tensors = *std::move(made);
      changed = true;
    }
  });
  if (!changed) return std::nullopt;
  // Lists with an item a dimension follow, as shapes or as numbers of dimensions; so do dimensions counted from the
  // front.
  const auto moved = [&](bool orders, bool numbers) {
    OpConfig out = tensors;
    for (Argument& argument : out.args) {
      const std::int64_t* number = argument.value.as_int();
      if (numbers && number != nullptr && *number >= 0 && *number < static_cast<std::int64_t>(most))
        argument.value = Value(std::max<std::int64_t>(0, *number + by));
      const List* list = argument.value.as_list();
      if (list == nullptr || list->size() != most || list->front().as_tensor() != nullptr) continue;
      List items = *list;
      if (orders)
        for (Value& item : items)
          if (const std::int64_t* at = item.as_int()) item = Value(*at + by);
      if (by < 0)
        items.erase(items.begin());
      else
        items.insert(items.begin(), orders ? Value(std::int64_t{0}) : list->front());
      argument.value = Value(std::move(items));
    }
    return out;
  };
  if (rules.allow(tensors)) return tensors;
  for (const bool orders : {false, true})
    for (const bool numbers : {false, true})
      if (OpConfig made = moved(orders, numbers); rules.allow(made)) return made;
  return std::nullopt;
}

std::optional<Resized> smallest_size(const OpConfig& config, const std::string& fact, Reach reach, const Rules& rules) {
  const auto number = number_of(fact_of(config.args, fact).value_or(""));
  if (!number) return std::nullopt;
  for (const std::int64_t size : kSizes) {
    if (static_cast<double>(size) >= *number) return std::nullopt;
    if (auto made = resized(config, fact, size, reach, rules)) return made;
  }
  return std::nullopt;
}

std::vector<Step> plainer(const Subject& subject, const Rules& rules) {
  std::vector<Step> out;
  add_dimensions(subject, rules, out);
  add_arguments(subject, rules, out);
  add_tensors(subject, rules, out);
  return out;
}

std::vector<Step> fewer_ranks(const Subject& subject, const Rules& rules) {
  std::vector<Step> out;
  out.push_back(step_of(kRanks, "", rules, [&rules](const OpConfig& config) { return reranked(config, -1, rules); }));
  for_each_tensor_fact(subject.config, [&](const std::string& name, const TensorSpec& spec) {
    if (spec.shape.size() < 2) return;
    out.push_back(step_of(kRanks, name + ".rank", rules, [fact = name + ".rank"](const OpConfig& config) {
      const auto rank = number_of(fact_of(config.args, fact).value_or(""));
      return rank ? with(config, fact, std::to_string(static_cast<int>(*rank) - 1)) : std::nullopt;
    }));
  });
  return out;
}

std::vector<Step> plainer_data(const Subject& subject) {
  std::vector<Step> out;
  for (const Distribution data : {Distribution::kZeros, Distribution::kOnes, Distribution::kIntegers}) {
    if (subject.recipe.distribution == data && !subject.recipe.kept) break;
    if (data == Distribution::kIntegers && subject.recipe.kept) break;
    out.push_back({kData, std::string(flag_of(data)), [data](const Subject& now) -> std::optional<Subject> {
                     Subject made = now;
                     made.recipe = {data, 1};
                     return made;
                   }});
  }
  if (subject.recipe.seed != 1)
    out.push_back({kData, "seed", [](const Subject& now) -> std::optional<Subject> {
                     Subject made = now;
                     made.recipe.seed = 1;
                     return made;
                   }});
  return out;
}

}  // namespace opwright::shrink
