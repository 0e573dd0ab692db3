#include "shrink/dimensions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "exec/call_facts.h"
#include "shrink/edit.h"
#include "shrink/shards.h"

namespace opwright::shrink {
namespace {

using Ties = std::vector<std::string>;

// Sets of places that may have to change together, in the order in which they are tried.
std::vector<Ties> ties_of(const std::vector<Place>& places, const Place& asked, Reach reach) {
  Ties all{asked.fact}, tensors{asked.fact}, axis{asked.fact};
  std::vector<Ties> pairs;
  for (const Place& place : places) {
    if (place.fact == asked.fact || place.value != asked.value) continue;
    all.push_back(place.fact);
    if (place.tensor) tensors.push_back(place.fact);
    if (place.tensor && place.axis == asked.axis) axis.push_back(place.fact);
    pairs.push_back({asked.fact, place.fact});
  }
  std::vector<Ties> out{all, tensors, axis};
  out.insert(out.end(), pairs.begin(), pairs.end());
  out.push_back({asked.fact});
  std::vector<Ties> distinct;
  for (Ties& ties : out)
    if (std::ranges::find(distinct, ties) == distinct.end()) distinct.push_back(std::move(ties));
  std::ranges::stable_sort(distinct, std::ranges::greater(), &Ties::size);
  if (reach == Reach::kAlone) std::ranges::reverse(distinct);
  if (reach == Reach::kAxis) std::ranges::rotate(distinct, std::ranges::find(distinct, axis));
  return distinct;
}

// How places that hold a product with the old number follow it.
enum class Follow : std::uint8_t { kNone, kMultiples, kSquares };

std::optional<OpConfig> changed(const OpConfig& config, const std::vector<Place>& places, const Ties& ties,
                                std::int64_t from, std::int64_t to, Follow follow) {
  std::optional<OpConfig> out = config;
  bool followed = false;
  for (const Place& place : places) {
    std::int64_t value = place.value;
    const std::int64_t factor = follow == Follow::kSquares ? from * from : from;
    if (std::ranges::find(ties, place.fact) != ties.end()) {
      value = to;
    } else if (follow != Follow::kNone && from > 1 && place.value > from && place.value % factor == 0) {
      value = place.value / factor * (follow == Follow::kSquares ? to * to : to);
      followed = true;
    }
    if (value == place.value) continue;
    out = with(*out, place.fact, std::to_string(value));
    if (!out) return std::nullopt;
  }
  if (follow != Follow::kNone && !followed) return std::nullopt;  // the same as without
  return out;
}

// Numbers that are a sum with products of the old one, such as the columns of queries, keys and values together.
std::optional<OpConfig> summed(const OpConfig& config, const std::vector<Place>& places, const Ties& ties,
                               std::int64_t from, std::int64_t to, const Rules& rules) {
  const auto base = changed(config, places, ties, from, to, Follow::kNone);
  if (!base) return std::nullopt;
  std::set<std::int64_t> factors;
  for (const Place& place : places) factors.insert({place.value, 2 * place.value});
  for (const Place& place : places) {
    if (!place.tensor || place.value <= from || from < to) continue;
    for (const std::int64_t factor : factors) {
      const std::int64_t value = place.value - (from - to) * factor;
      if (value <= 0 || value == place.value) continue;
      auto made = with(*base, place.fact, std::to_string(value));
      if (made && rules.allow(*made)) return made;
    }
  }
  return std::nullopt;
}

bool is_sharded(const OpConfig& config) {
  bool found = false;
  for_each_tensor_fact(config, [&](const std::string&, const TensorSpec& spec) {
    found = found || (spec.memory && spec.memory->shard);
  });
  for_each_value_fact(config, [&](const std::string&, const Value& value) {
    found = found || (value.as_memory() != nullptr && value.as_memory()->shard);
  });
  return found;
}

}  // namespace

std::vector<Place> places_of(const OpConfig& config) {
  std::vector<Place> out;
  for_each_value_fact(config, [&](const std::string& name, const Value& value) {
    if (const TensorSpec* spec = value.as_tensor()) {
      const auto rank = static_cast<std::int64_t>(spec->shape.size());
      for (std::int64_t i = 0; i < rank; ++i)
        out.push_back(
            {fmt::format("{}[{}]", name, i - rank), spec->shape[static_cast<std::size_t>(i)], true, i - rank});
    } else if (const std::int64_t* number = value.as_int(); number != nullptr && *number > 0) {
      out.push_back({name, *number, false, 0});
    }
  });
  return out;
}

bool meets_another(const OpConfig& config, std::string_view fact, const std::vector<std::string>& followers) {
  const std::vector<Place> places = places_of(config);
  const auto asked = std::ranges::find(places, fact, &Place::fact);
  return asked != places.end() && asked->value > 1 && std::ranges::any_of(places, [&](const Place& place) {
           return place.tensor && place.fact != fact && place.axis == asked->axis && place.value == asked->value &&
                  std::ranges::find(followers, place.fact) == followers.end();
         });
}

std::optional<Resized> resized(const OpConfig& config, std::string_view fact, std::int64_t value, Reach reach,
                               const Rules& rules) {
  const std::vector<Place> places = places_of(config);
  const auto asked = std::ranges::find(places, fact, &Place::fact);
  if (asked == places.end() || asked->value == value || value < 1) return std::nullopt;
  const std::vector<Ties> all = ties_of(places, *asked, reach);
  const bool sharded = is_sharded(config);
  for (const Ties& ties : all)
    for (const Follow follow : {Follow::kNone, Follow::kMultiples, Follow::kSquares}) {
      const auto made = changed(config, places, ties, asked->value, value, follow);
      if (!made) continue;
      for (const Keep keep : {Keep::kShard, Keep::kCores})
        if (OpConfig fitted = sharded ? refitted(*made, config, keep, rules) : *made; rules.allow(fitted))
          return Resized{std::move(fitted), ties};
        else if (!sharded)
          break;
      if (sharded && rules.allow(*made)) return Resized{*made, ties};
    }
  for (const Ties* ties : {&all.front(), &all.back()})
    if (auto made = summed(config, places, *ties, asked->value, value, rules)) return Resized{*std::move(made), *ties};
  return std::nullopt;
}

}  // namespace opwright::shrink
