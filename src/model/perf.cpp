#include "model/perf.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json.h"
#include "base/json_object.h"

namespace opwright {
namespace {

// More than anybody measures: a text from a file is not trusted.
constexpr std::size_t kMostRounds = 1000, kMostTimes = 1'000'000;
constexpr int kMostIterations = 100'000;

std::string rounds_json(const Rounds& rounds) {
  std::vector<std::string> lists;
  for (const auto& times : rounds) lists.push_back(fmt::format("[{}]", fmt::join(times, ",")));
  return fmt::format("[{}]", fmt::join(lists, ","));
}

Result<Rounds> rounds_of(const json::Node& node, std::string_view name) {
  Rounds rounds;
  const json::Node* field = node.find(name);
  if (field == nullptr) return rounds;
  const auto bad = [&] {
    return fail(ErrorCode::kBadInput, fmt::format("times: \"{}\" is no list of lists of ns", name));
  };
  if (!field->is(json::Kind::kArray) || field->count > kMostRounds) return bad();
  for (const json::Node& list : *field) {
    if (!list.is(json::Kind::kArray) || list.count > kMostTimes) return bad();
    auto& times = rounds.emplace_back();
    for (const json::Node& time : list) {
      const auto ns = time.as_int64();
      if (!ns || *ns < 0) return bad();
      times.push_back(*ns);
    }
  }
  return rounds;
}

bool flag(const json::Node& node, std::string_view name, bool otherwise) {
  const json::Node* field = node.find(name);
  return field == nullptr ? otherwise : field->is_true();
}

int count(const json::Node& node, std::string_view name, int otherwise) {
  const json::Node* field = node.find(name);
  const auto value = field == nullptr ? std::nullopt : field->as_int64();
  return value && *value >= 0 && *value <= kMostIterations ? static_cast<int>(*value) : otherwise;
}

}  // namespace

std::string to_json(const PerfPlan& plan) {
  return JsonObject()
      .add("device_warm_up", std::int64_t{plan.device.warm_up})
      .add("device_iterations", std::int64_t{plan.device.measured})
      .add("warm_up", std::int64_t{plan.end_to_end.warm_up})
      .add("iterations", std::int64_t{plan.end_to_end.measured})
      .add("rounds", std::int64_t{plan.rounds})
      .add_bool("trace", plan.trace)
      .add_bool("program_cache", plan.program_cache)
      .text();
}

PerfPlan parse_perf_plan(std::string_view text) {
  PerfPlan plan;
  json::Document document;
  const auto root = document.parse(text);
  if (!root || !(*root)->is(json::Kind::kObject)) return plan;
  const json::Node& node = **root;
  plan.device = {count(node, "device_warm_up", 10), count(node, "device_iterations", 10)};
  plan.end_to_end = {count(node, "warm_up", 10), count(node, "iterations", 100)};
  plan.rounds = std::max(1, count(node, "rounds", 5));
  plan.trace = flag(node, "trace", false);
  plan.program_cache = flag(node, "program_cache", true);
  return plan;
}

std::optional<Iterations> parse_iterations(std::string_view text) {
  const std::size_t plus = text.find('+');
  if (plus == std::string_view::npos) return std::nullopt;
  Iterations out;
  const auto read = [](std::string_view part, int& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size() && value >= 0 && value <= kMostIterations;
  };
  if (!read(text.substr(0, plus), out.warm_up) || !read(text.substr(plus + 1), out.measured) || out.measured == 0)
    return std::nullopt;
  return out;
}

std::string to_json(const CasePerf& perf) {
  if (!perf.refused.empty()) return JsonObject().add("refused", perf.refused).text();
  JsonObject object;
  object.add("clock", perf.is_modelled ? "modelled" : "measured")
      .add_bool("trace", perf.trace)
      .add_bool("program_cache", perf.program_cache);
  if (!perf.device.empty()) object.add_raw("device_ns", rounds_json(perf.device));
  if (!perf.end_to_end.empty()) object.add_raw("end_to_end_ns", rounds_json(perf.end_to_end));
  if (!perf.host.empty()) object.add_raw("host_ns", rounds_json(perf.host));
  if (!perf.busy.empty()) {
    std::vector<std::string> parts;
    for (const double busy : perf.busy) parts.push_back(fmt::format("{:.3f}", busy));
    object.add_raw("busy", fmt::format("[{}]", fmt::join(parts, ",")));
  }
  if (perf.is_forced) object.add_bool("forced", true);
  return object.text();
}

Result<CasePerf> parse_case_perf(std::string_view text) {
  json::Document document;
  const auto root = document.parse(text);
  if (!root || !(*root)->is(json::Kind::kObject)) return fail(ErrorCode::kBadInput, "times that are no JSON object");
  const json::Node& node = **root;
  CasePerf perf;
  perf.refused = node.string_field("refused").value_or("");
  perf.is_modelled = node.string_field("clock") == std::optional<std::string_view>("modelled");
  perf.trace = flag(node, "trace", false);
  perf.program_cache = flag(node, "program_cache", true);
  OPWRIGHT_TRY_ASSIGN(perf.device, rounds_of(node, "device_ns"));
  OPWRIGHT_TRY_ASSIGN(perf.end_to_end, rounds_of(node, "end_to_end_ns"));
  OPWRIGHT_TRY_ASSIGN(perf.host, rounds_of(node, "host_ns"));
  if (const json::Node* busy = node.find("busy"); busy != nullptr && busy->is(json::Kind::kArray))
    for (const json::Node& part : *busy) {
      double value = 0;
      std::from_chars(part.text.data(), part.text.data() + part.text.size(), value);
      perf.busy.push_back(value);
    }
  perf.is_forced = flag(node, "forced", false);
  return perf;
}

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::optional<TimeFigures> figures_of(const Rounds& rounds) {
  std::vector<double> all;
  for (const auto& times : rounds) all.insert(all.end(), times.begin(), times.end());
  if (all.empty()) return std::nullopt;
  TimeFigures out;
  out.count = static_cast<std::int64_t>(all.size());
  for (const double ns : all) out.mean += ns / static_cast<double>(all.size());
  for (const double ns : all) out.sd += (ns - out.mean) * (ns - out.mean);
  out.sd = all.size() > 1 ? std::sqrt(out.sd / static_cast<double>(all.size() - 1)) : 0;
  const auto [least, most] = std::ranges::minmax_element(all);
  out.least = *least;
  out.most = *most;
  out.median = median_of(std::move(all));
  return out;
}

}  // namespace opwright
