#include "perf/report_diff_json.h"

#include <fmt/format.h>

#include "perf/report_json.h"

namespace opwright::perf {
namespace {

std::string side_json(const Report& report) {
  JsonObject object;
  object.add("file", report.recording.files.front())
      .add("window", report.window.name)
      .add("iterations", report.reduced.iterations)
      .add("devices", static_cast<std::int64_t>(report.reduced.devices.size()))
      .add("positions", static_cast<std::int64_t>(report.reduced.positions.size()))
      .add_bool("complete", report.reduced.coverage.complete());
  return object.text();
}

std::string fields_json(const std::vector<FieldDifference>& fields) {
  std::vector<std::string> items;
  for (const FieldDifference& one : fields) {
    JsonObject object;
    object.add("field", one.field).add("a", one.a).add("b", one.b);
    items.push_back(object.text());
  }
  return json_array(items, true);
}

// Positions as people count them; null for none.
std::string position_number(std::int64_t index) { return index < 0 ? "null" : std::to_string(index + 1); }

const std::string& op_of(const Report& a, const Report& b, const AlignedStep& step) {
  const Report& side = step.a >= 0 ? a : b;
  return side.op(side.reduced.positions[static_cast<std::size_t>(step.a >= 0 ? step.a : step.b)]);
}

std::string places_json(const Report& part, const Report& whole, const std::vector<ConfigPlace>& places,
                        const std::vector<std::string>& ignored) {
  const std::size_t length = part.reduced.positions.size(), size = whole.reduced.positions.size();
  std::vector<std::string> items;
  for (const ConfigPlace& place : places) {
    JsonObject object;
    object.add("first", static_cast<std::int64_t>(place.first + 1))
        .add("last", static_cast<std::int64_t>((place.first + length - 1) % size + 1))
        .add_bool("wraps", place.wraps)
        .add("row", static_cast<std::int64_t>(whole.reduced.positions[place.first].first_row))
        .add("fields_differing", static_cast<std::int64_t>(place.fields_differing));
    std::vector<std::string> operations;
    for (std::size_t i = 0; place.fields_differing > 0 && i < length; ++i) {
      const auto fields = fields_at(part, whole, place, i, ignored);
      if (fields.empty()) continue;
      JsonObject operation;
      operation.add("a", static_cast<std::int64_t>(i + 1))
          .add("b", static_cast<std::int64_t>((place.first + i) % size + 1))
          .add("operation", part.op(part.reduced.positions[i]))
          .add("op", part.op(part.reduced.positions[i]))
          .add_raw("fields", fields_json(fields));
      operations.push_back(operation.text());
    }
    object.add_raw("operations", json_array(operations, true));
    items.push_back(object.text());
  }
  return json_array(items, true);
}

}  // namespace

std::string difference_json(const Difference& difference) {
  JsonObject object;
  object.add_raw("a", figure_json(difference.a))
      .add_raw("b", figure_json(difference.b))
      .add_raw("difference", figure_json(difference.change()))
      .add_raw("percent", figure_json(difference.percent()))
      .add_raw("low", figure_json(difference.low))
      .add_raw("high", figure_json(difference.high))
      .add("verdict", name_of(difference.verdict));
  return object.text();
}

std::string why_unsure(const Report& a, const Report& b, const Difference& difference) {
  if (difference.verdict != Verdict::kCannotTell) return {};
  const auto few = std::min(a.reduced.iterations, b.reduced.iterations);
  if (few < kLeastIterations)
    return fmt::format("{} and {} iterations; at least {} on each side show how much they vary", a.reduced.iterations,
                       b.reduced.iterations, kLeastIterations);
  return "the interval holds 0";
}

JsonObject diff_json(const Report& a, const Report& b, const ReportDiff& diff) {
  JsonObject alignment, by_change, noise, total, object;
  for (const Change change : {Change::kSame, Change::kChanged, Change::kAdded, Change::kRemoved}) {
    alignment.add(name_of(change), diff.of(change).positions);
    JsonObject one;
    one.add_raw("kernel_ns", figure_json(diff.of(change).kernel_ns))
        .add_raw("op_to_op_ns", figure_json(diff.of(change).gap_ns));
    by_change.add_raw(name_of(change), one.text());
  }
  alignment.add_bool("shortest", diff.shortest).add("without_figure", diff.without_figure);
  noise.add("confidence_percent", static_cast<std::int64_t>(kConfidence * 100 + 0.5))
      .add("resamples", static_cast<std::int64_t>(kResamples))
      .add("seed", static_cast<std::int64_t>(kNoiseSeed))
      .add("least_iterations", kLeastIterations)
      .add("without_spread", diff.without_spread)
      .add("why_unsure", why_unsure(a, b, diff.kernel));
  total.add_raw("kernel_ns", difference_json(diff.kernel))
      .add_raw("op_to_op_ns", difference_json(diff.op_to_op))
      .add_raw("first_op_gap_ns", difference_json(diff.first_gap));
  std::vector<std::string> positions;
  for (const PositionDiff& one : diff.positions) {
    JsonObject position;
    position.add("change", name_of(one.step.change))
        .add_raw("a", position_number(one.step.a))
        .add_raw("b", position_number(one.step.b))
        .add("operation", op_of(a, b, one.step))
        .add("op", op_of(a, b, one.step))
        .add_raw("kernel_ns", difference_json(one.kernel))
        .add_raw("op_to_op_ns", difference_json(one.gap))
        .add_raw("fields", fields_json(fields_of(a, b, one.step)));
    positions.push_back(position.text());
  }
  object.add_raw("a", side_json(a))
      .add_raw("b", side_json(b))
      .add_raw("alignment", alignment.text())
      .add_raw("noise", noise.text())
      .add_raw("total", total.text())
      .add_raw("by_change", by_change.text())
      .add_raw("positions", json_array(positions, true));
  return object;
}

JsonObject config_match_json(const Report& part, const Report& whole, const ConfigMatch& match,
                             const std::vector<std::string>& ignored) {
  JsonObject object;
  std::vector<std::string> closest;
  for (const AlignedStep& step : match.closest) {
    JsonObject one;
    one.add("change", name_of(step.change))
        .add_raw("a", position_number(step.a))
        .add_raw("b", position_number(step.b))
        .add("operation", op_of(part, whole, step))
        .add("op", op_of(part, whole, step))
        .add_raw("fields", fields_json(fields_of(part, whole, step)));
    closest.push_back(one.text());
  }
  object.add_raw("a", side_json(part))
      .add_raw("b", side_json(whole))
      .add_raw("ignored", json_array(ignored, false))
      .add("matches", static_cast<std::int64_t>(match.equal.size()))
      .add_raw("equal", places_json(part, whole, match.equal, ignored))
      .add_raw("named", places_json(part, whole, match.named, ignored))
      .add_raw("closest", json_array(closest, true));
  return object;
}

}  // namespace opwright::perf
