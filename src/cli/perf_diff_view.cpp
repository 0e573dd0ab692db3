#include "cli/perf_diff_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/visible_text.h"
#include "perf/report_diff_json.h"
#include "perf/report_json.h"

namespace opwright::cli {
namespace {

using perf::has;

std::string in_us(double ns) { return has(ns) ? fmt::format("{:.2f}", ns / 1000) : "-"; }
std::string signed_us(double ns) { return has(ns) ? fmt::format("{:+.2f}", ns / 1000) : "-"; }
std::string interval(const perf::Difference& one) {
  return has(one.low) ? fmt::format("{} to {}", signed_us(one.low), signed_us(one.high)) : "";
}
std::string words_of(perf::Verdict verdict) {
  switch (verdict) {
    case perf::Verdict::kCannotTell:
      return "cannot tell";
    case perf::Verdict::kNoFigures:
      return "";
    default:
      return std::string(name_of(verdict));
  }
}
std::string number_of(std::int64_t index) { return index < 0 ? "" : std::to_string(index + 1); }

std::string side_line(char name, const perf::Report& report) {
  return fmt::format("{}  {}  {}: {} of {}, {}{}\n", name, visible(report.recording.files.front()),
                     report.window.whole_file ? "whole file" : "window " + visible(report.window.name),
                     plural(report.reduced.iterations, "iteration"),
                     plural(static_cast<std::int64_t>(report.reduced.positions.size()), "position"),
                     plural(static_cast<std::int64_t>(report.reduced.devices.size()), "device"),
                     report.reduced.coverage.complete() ? "" : "; not all rows have a figure, see 'opwright perf'");
}

// Of two long texts, what they have in common at the beginning is left away.
std::string field_text(const perf::FieldDifference& field) {
  const auto [end, other] = std::mismatch(field.a.begin(), field.a.end(), field.b.begin(), field.b.end());
  auto common = static_cast<std::size_t>(end - field.a.begin());
  common = common > 24 ? common - 12 : 0;
  const auto shown = [&](const std::string& value) {
    if (value.empty()) return std::string("nothing");
    return (common > 0 ? "…" : "") + cut_text(visible(value.substr(common)), 60);
  };
  return fmt::format("{}: {} -> {}", visible(field.field), shown(field.a), shown(field.b));
}

std::string first_field(const std::vector<perf::FieldDifference>& fields) {
  if (fields.empty()) return {};
  return field_text(fields.front()) + (fields.size() > 1 ? fmt::format(" and {} more", fields.size() - 1) : "");
}

const std::string& op_of(const perf::Report& a, const perf::Report& b, const perf::AlignedStep& step) {
  return step.a >= 0 ? a.op(a.reduced.positions[static_cast<std::size_t>(step.a)])
                     : b.op(b.reduced.positions[static_cast<std::size_t>(step.b)]);
}

void print_totals(const perf::ReportDiff& diff, CommandEnv& env) {
  Table table{{{"us an iteration"}, {"A", true}, {"B", true}, {"B - A", true}, {"%", true}, {"95 % interval"}, {""}},
              {}};
  for (const auto& [name, one] :
       {std::pair{"kernel", &diff.kernel}, {"op to op", &diff.op_to_op}, {"before the first", &diff.first_gap}})
    table.rows.push_back({name, in_us(one->a), in_us(one->b), signed_us(one->change()),
                          std::isfinite(one->percent()) ? fmt::format("{:+.1f}", one->percent()) : "-", interval(*one),
                          words_of(one->verdict)});
  print(table, env);
}

void print_changes(const perf::ReportDiff& diff, CommandEnv& env) {
  Table table{{{"of which"}, {"positions", true}, {"kernel us", true}, {"gaps us", true}}, {}};
  for (const auto& [name, change] : {std::pair{"the same", perf::Change::kSame},
                                     {"another configuration", perf::Change::kChanged},
                                     {"only in B", perf::Change::kAdded},
                                     {"only in A", perf::Change::kRemoved}}) {
    const perf::ChangeSum& sum = diff.of(change);
    if (sum.positions > 0) table.rows.push_back({name, sum.positions, signed_us(sum.kernel_ns), signed_us(sum.gap_ns)});
  }
  print(table, env);
}

std::string noise_words(const perf::Report& a, const perf::Report& b, const perf::ReportDiff& diff) {
  std::string text;
  if (const std::string why = perf::why_unsure(a, b, diff.kernel); !why.empty())
    text += fmt::format("cannot tell whether the kernel time differs: {}\n", why);
  if (std::min(a.reduced.iterations, b.reduced.iterations) >= perf::kLeastIterations)
    text += fmt::format(
        "intervals: {} resamples of the iterations; they know how much these iterations vary, not how much two runs "
        "do\n",
        perf::kResamples);
  if (diff.without_figure > 0)
    text += fmt::format("{} a kernel time on one side only: the totals do not compare alike\n",
                        plural(diff.without_figure, "position has", "positions have"));
  if (!diff.shortest) text += "too much differs to find the closest alignment: there may be a closer one\n";
  return text;
}

// What a reader wants to see: other operations, other configurations, times that differ.
bool is_news(const perf::PositionDiff& one) {
  const auto differs = [](const perf::Difference& d) {
    return d.verdict == perf::Verdict::kSlower || d.verdict == perf::Verdict::kFaster;
  };
  return one.step.change != perf::Change::kSame || differs(one.kernel) || differs(one.gap);
}

double size_of(const perf::PositionDiff& one) {
  const auto zero = [](double value) { return has(value) ? value : 0; };
  return std::abs(zero(one.kernel.b) - zero(one.kernel.a)) + std::abs(zero(one.gap.b) - zero(one.gap.a));
}

}  // namespace

void print_diff(const perf::Report& a, const perf::Report& b, const perf::ReportDiff& diff, std::size_t most,
                CommandEnv& env) {
  env.out << side_line('A', a) << side_line('B', b) << '\n';
  print_totals(diff, env);
  env.out << '\n';
  print_changes(diff, env);
  env.out << '\n' << noise_words(a, b, diff);
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < diff.positions.size(); ++i)
    if (most == SIZE_MAX || is_news(diff.positions[i])) shown.push_back(i);
  if (shown.empty()) {
    env.out << "every operation has the same configuration on both sides, and no time differs provably\n";
    return;
  }
  const std::size_t all = shown.size();
  if (all > most) {
    std::stable_sort(shown.begin(), shown.end(), [&](std::size_t x, std::size_t y) {
      return size_of(diff.positions[x]) > size_of(diff.positions[y]);
    });
    shown.resize(most);
    std::sort(shown.begin(), shown.end());
  }
  Table table{{{""},
               {"A", true},
               {"B", true},
               {"operation"},
               {"A us", true},
               {"B us", true},
               {"B - A", true},
               {"95 % interval"},
               {""},
               {"gaps", true},
               {"what"}},
              {}};
  for (const std::size_t i : shown) {
    const perf::PositionDiff& one = diff.positions[i];
    table.rows.push_back({std::string(name_of(one.step.change)), number_of(one.step.a), number_of(one.step.b),
                          op_of(a, b, one.step), in_us(one.kernel.a), in_us(one.kernel.b),
                          signed_us(one.kernel.change()), interval(one.kernel), words_of(one.kernel.verdict),
                          signed_us(one.gap.change()), first_field(fields_of(a, b, one.step))});
  }
  env.out << '\n';
  print(table, env);
  if (all > shown.size())
    env.out << fmt::format("… and {} that change less (--all)\n",
                           plural(static_cast<std::int64_t>(all - shown.size()), "position"));
}

Table diff_table(const perf::Report& a, const perf::Report& b, const perf::ReportDiff& diff) {
  Table table{{{"change"}, {"a", true}, {"b", true}, {"op"}}, {}};
  for (const char* figure : {"kernel_ns", "op_to_op_ns"})
    for (const char* part : {"a", "b", "difference", "low", "high", "verdict"})
      table.columns.push_back({fmt::format("{}_{}", figure, part), std::string_view(part) != "verdict"});
  table.columns.push_back({"fields"});
  const auto figure = [](double value) {
    const std::string json = perf::figure_json(value);
    return Cell(json == "null" ? "" : json, json);
  };
  for (const perf::PositionDiff& one : diff.positions) {
    std::vector<Cell> row{name_of(one.step.change), number_of(one.step.a), number_of(one.step.b),
                          op_of(a, b, one.step)};
    for (const perf::Difference* d : {&one.kernel, &one.gap}) {
      for (const double value : {d->a, d->b, d->change(), d->low, d->high}) row.push_back(figure(value));
      row.emplace_back(name_of(d->verdict));
    }
    std::string fields;
    for (const auto& field : fields_of(a, b, one.step)) fields += (fields.empty() ? "" : "; ") + field_text(field);
    row.emplace_back(fields);
    table.rows.push_back(std::move(row));
  }
  return table;
}

void print_config_match(const perf::Report& part, const perf::Report& whole, const perf::ConfigMatch& match,
                        const std::vector<std::string>& ignored, std::size_t most, CommandEnv& env) {
  env.out << side_line('A', part) << side_line('B', whole) << '\n';
  const std::size_t length = part.reduced.positions.size(), size = whole.reduced.positions.size();
  const auto place_text = [&](const perf::ConfigPlace& place) {
    return fmt::format("positions {} to {} of B{}, from row {}", place.first + 1, (place.first + length - 1) % size + 1,
                       place.wraps ? " (over the end of an iteration)" : "",
                       whole.reduced.positions[place.first].first_row);
  };
  std::size_t lines = 0;
  const auto more = [&](std::size_t left) {
    if (left > 0) env.out << fmt::format("  … and {} more (--all)\n", left);
  };
  if (!match.equal.empty()) {
    env.out << fmt::format(
        "all {} of A are in B with the same configurations, {}:\n",
        plural(static_cast<std::int64_t>(length), "operation"),
        match.equal.size() == 1 ? "once" : plural(static_cast<std::int64_t>(match.equal.size()), "time"));
    for (; lines < match.equal.size() && lines < most; ++lines)
      env.out << "  " << place_text(match.equal[lines]) << '\n';
    more(match.equal.size() - lines);
    return;
  }
  if (!match.named.empty()) {
    env.out << fmt::format("no place of B has the configurations of A; {} the same operations:\n",
                           plural(static_cast<std::int64_t>(match.named.size()), "place has", "places have"));
    for (const perf::ConfigPlace& place : match.named) {
      if (lines >= most) break;
      env.out << fmt::format(
          "  {}: {}\n", place_text(place),
          plural(static_cast<std::int64_t>(place.fields_differing), "field differs", "fields differ"));
      for (std::size_t i = 0; i < length; ++i)
        for (const auto& field : fields_at(part, whole, place, i, ignored)) {
          env.out << fmt::format("    {} {}  {}\n", i + 1, visible(part.op(part.reduced.positions[i])),
                                 field_text(field));
          ++lines;
        }
      ++lines;
    }
    return;
  }
  env.out << "no place of B has the operations of A; the closest part of B:\n";
  for (const perf::AlignedStep& step : match.closest) {
    if (lines++ >= most) break;
    env.out << fmt::format("  {:<8} A {:>5}  B {:>5}  {}  {}\n",
                           step.change == perf::Change::kAdded     ? "only B"
                           : step.change == perf::Change::kRemoved ? "only A"
                                                                   : name_of(step.change),
                           number_of(step.a), number_of(step.b), visible(op_of(part, whole, step)),
                           first_field(fields_of(part, whole, step)));
  }
  if (match.closest.size() > most) more(match.closest.size() - most);
}

}  // namespace opwright::cli
