#include "report/run_diff_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/json_write.h"
#include "base/visible_text.h"
#include "base/words.h"
#include "report/analysis_view.h"

namespace opwright::report {
namespace {

std::string list_text(std::string_view title, const std::vector<Change>& list, std::size_t most, std::size_t width,
                      bool repeat) {
  if (list.empty()) return "";
  std::string text = fmt::format("\n{}: {}\n", title, grouped(static_cast<std::int64_t>(list.size())));
  for (std::size_t i = 0; i < list.size() && i < most; ++i) {
    const Change& one = list[i];
    text += fmt::format("  {} -> {}\n", visible(one.from), visible(one.to));
    text += cut_text(fmt::format("      {}", visible(one.line.empty() ? one.op : one.line)), width) + '\n';
    if (!one.reason.empty())
      text += cut_text(fmt::format("      {}", visible(one.reason.substr(0, one.reason.find('\n')))), width) + '\n';
    if (repeat && !one.repeat.empty()) text += fmt::format("      repeat: {}\n", visible(one.repeat));
  }
  if (list.size() > most) text += fmt::format("  and {} more: --worst N shows N of each list\n", list.size() - most);
  return text;
}

std::string groups_text(const RunDiff& diff, std::string_view title, const std::vector<SlowerGroup>& groups) {
  std::string text;
  for (const SlowerGroup& one : groups)
    text += fmt::format("  {}: {} of {} cases {}, median x{:.2f}, chance {:.2g}\n",
                        visible(diff.operators.at(one.group)), one.slower, one.pairs, title, one.ratio, one.chance);
  return text;
}

std::string times_text(const RunDiff& diff, std::size_t most, std::size_t width) {
  const TimeVerdict& times = diff.times;
  std::string text = "\ntime of the call on the device\n";
  if (!times.enough)
    return text + fmt::format("  {} of at least {:.0f} ms: too few to know the noise, nothing is said\n",
                              plural(times.noise.pairs, "pair"), 1e3 * kLeastSeconds);
  text += fmt::format("  {}; B / A is x{:.2f} for the median case, which is taken out; single pairs vary by {:.0f} %\n",
                      plural(times.noise.pairs, "pair"), times.noise.median_ratio,
                      100 * (std::exp(times.noise.spread) - 1));
  text += fmt::format("  a case is named beyond x{:.2f}; one pair is a suspicion, not a proof: run both again\n",
                      std::max(times.noise.limit, kLeastRatio));
  if (times.too_short > 0)
    text += fmt::format("  {} below {:.0f} ms not compared\n", plural(times.too_short, "pair"), 1e3 * kLeastSeconds);
  text += groups_text(diff, "slower", times.slower_groups) + groups_text(diff, "faster", times.faster_groups);
  text += list_text("slower", diff.slower, most, width, true) + list_text("faster", diff.faster, most, width, false);
  return text;
}

std::string list_json(const std::vector<Change>& list) {
  std::vector<std::string> items;
  for (const Change& one : list) {
    items.push_back(JsonObject()
                        .add("operation", one.op)
                        .add("op", one.op)
                        .add("case", one.line)
                        .add("from", one.from)
                        .add("to", one.to)
                        .add("reason", one.reason)
                        .add("repeat", one.repeat)
                        .text());
  }
  return json_array(items, true);
}

std::string slower_json(const std::vector<Slower>& found, const std::vector<Change>& texts) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < found.size(); ++i) {
    items.push_back(JsonObject()
                        .add("operation", texts[i].op)
                        .add("op", texts[i].op)
                        .add("case", texts[i].line)
                        .add_raw("seconds_a", json::figure_text(found[i].seconds_a))
                        .add_raw("seconds_b", json::figure_text(found[i].seconds_b))
                        .add_raw("ratio", json::figure_text(found[i].ratio))
                        .add_bool("confirmed", found[i].confirmed)
                        .add_raw("chance", found[i].confirmed ? json::figure_text(found[i].chance) : "null")
                        .add("repeat", texts[i].repeat)
                        .text());
  }
  return json_array(items, true);
}

std::string groups_json(const RunDiff& diff, const std::vector<SlowerGroup>& groups) {
  std::vector<std::string> items;
  for (const SlowerGroup& one : groups) {
    items.push_back(JsonObject()
                        .add("operation", diff.operators.at(one.group))
                        .add("op", diff.operators.at(one.group))
                        .add("pairs", one.pairs)
                        .add("changed", one.slower)
                        .add_raw("ratio", json::figure_text(one.ratio))
                        .add_raw("chance", json::figure_text(one.chance))
                        .text());
  }
  return json_array(items, true);
}

constexpr std::size_t kMostOnPage = 100;

std::string page_list_json(std::string_view name, std::string_view kind, const std::vector<Change>& list) {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < list.size() && i < kMostOnPage; ++i)
    items.push_back(json_array({list[i].op, list[i].line, list[i].from, list[i].to}, false));
  return JsonObject()
      .add("name", name)
      .add("kind", kind)
      .add("count", static_cast<std::int64_t>(list.size()))
      .add_raw("cases", json_array(items, true))
      .text();
}

}  // namespace

std::string since_json(const RunDiff& diff) {
  const std::vector<std::string> lists{
      page_list_json("New failures", "bad", diff.new_failures),
      page_list_json("New cases that fail", "bad", diff.failing_new_cases),
      page_list_json("Passed before, no verdict now", "bad", diff.lost_verdicts),
      page_list_json("Less accurate", "warn", diff.accuracy_drops),
      page_list_json("Slower", "warn", diff.slower),
      page_list_json("Fixed", "good", diff.fixed),
      page_list_json("Faster", "good", diff.faster),
      page_list_json("Other changes", "", diff.changed),
  };
  return JsonObject()
      .add("uid", diff.a.uid)
      .add("started", diff.a.started)
      .add("both", diff.both)
      .add("same", diff.same_outcome)
      .add("compared_pcc", diff.compared_pcc)
      .add_bool("enough_times", diff.times.enough)
      .add("only_before", static_cast<std::int64_t>(diff.only_a.size()))
      .add("only_now", static_cast<std::int64_t>(diff.only_b.size()))
      .add_raw("lists", json_array(lists, true))
      .add_raw("cautions", json_array(diff.cautions, false))
      .text();
}

std::string diff_text(const RunDiff& diff, std::size_t most, std::size_t width) {
  std::string text = fmt::format("A {}   {}   {}\nB {}   {}   {}\n\n", visible(diff.a.uid), visible(diff.a.device),
                                 plural(diff.cases_a, "case"), visible(diff.b.uid), visible(diff.b.device),
                                 plural(diff.cases_b, "case"));
  text += fmt::format("{} in both, {} with the same outcome; {} only in A, {} only in B\n", plural(diff.both, "case"),
                      grouped(diff.same_outcome), grouped(static_cast<std::int64_t>(diff.only_a.size())),
                      grouped(static_cast<std::int64_t>(diff.only_b.size())));
  const auto count = [](const std::vector<Change>& list, std::string_view one, std::string_view many) {
    return plural(static_cast<std::int64_t>(list.size()), one, many);
  };
  text += fmt::format("{}, {}, {}, {} fixed, {}\n", count(diff.new_failures, "new failure", "new failures"),
                      count(diff.failing_new_cases, "new case that fails", "new cases that fail"),
                      count(diff.lost_verdicts, "lost verdict", "lost verdicts"), diff.fixed.size(),
                      count(diff.changed, "other change", "other changes"));
  text += fmt::format("accuracy: {} compared, {} worse, {} better", plural(diff.compared_pcc, "case"),
                      diff.accuracy_drops.size(), diff.accuracy_gains.size());
  if (diff.other_data > 0) text += fmt::format(" ({} with other data: wider limits)", grouped(diff.other_data));
  text +=
      fmt::format("; memory: {} compared, {} grew\n", plural(diff.compared_memory, "case"), diff.memory_growth.size());
  if (diff.repeated > 0)
    text += fmt::format("{} of a case that was there already: its worst outcome counts, and all of its times\n",
                        plural(diff.repeated, "result"));
  for (const std::string& caution : diff.cautions) text += fmt::format("note: {}\n", visible(caution));
  text += list_text("new failures", diff.new_failures, most, width, true);
  text += list_text("new cases that fail", diff.failing_new_cases, most, width, true);
  text += list_text("passed in A, no verdict in B", diff.lost_verdicts, most, width, true);
  text += list_text("fixed", diff.fixed, most, width, false);
  text += list_text("other changes of the outcome", diff.changed, most, width, false);
  text += list_text("less accurate", diff.accuracy_drops, most, width, true);
  text += list_text("more accurate", diff.accuracy_gains, most, width, false);
  text += list_text("more memory", diff.memory_growth, most, width, true);
  text += list_text("only in A", diff.only_a, std::min<std::size_t>(most, 3), width, false);
  text += list_text("only in B", diff.only_b, std::min<std::size_t>(most, 3), width, false);
  return text + times_text(diff, most, width);
}

JsonObject diff_json(const RunDiff& diff) {
  const TimeVerdict& times = diff.times;
  JsonObject object;
  object.add("a", diff.a.uid)
      .add("b", diff.b.uid)
      .add("cases_a", diff.cases_a)
      .add("cases_b", diff.cases_b)
      .add("both", diff.both)
      .add("same_outcome", diff.same_outcome)
      .add("repeated", diff.repeated)
      .add_raw("new_failures", list_json(diff.new_failures))
      .add_raw("failing_new_cases", list_json(diff.failing_new_cases))
      .add_raw("lost_verdicts", list_json(diff.lost_verdicts))
      .add_raw("fixed", list_json(diff.fixed))
      .add_raw("changed", list_json(diff.changed))
      .add_raw("only_a", list_json(diff.only_a))
      .add_raw("only_b", list_json(diff.only_b))
      .add("compared_accuracy", diff.compared_pcc)
      .add("other_data", diff.other_data)
      .add_raw("accuracy_drops", list_json(diff.accuracy_drops))
      .add_raw("accuracy_gains", list_json(diff.accuracy_gains))
      .add("compared_memory", diff.compared_memory)
      .add_raw("memory_growth", list_json(diff.memory_growth));
  object.add_raw("times", JsonObject()
                              .add("pairs", times.noise.pairs)
                              .add("too_short", times.too_short)
                              .add_bool("enough", times.enough)
                              .add_raw("median_ratio", json::figure_text(times.noise.median_ratio))
                              .add_raw("spread", json::figure_text(times.noise.spread))
                              .add_raw("limit", json::figure_text(times.noise.limit))
                              .text());
  object.add_raw("slower", slower_json(times.slower, diff.slower))
      .add_raw("faster", slower_json(times.faster, diff.faster))
      .add_raw("slower_ops", groups_json(diff, times.slower_groups))
      .add_raw("faster_ops", groups_json(diff, times.faster_groups))
      .add_raw("cautions", json_array(diff.cautions, false));
  return object;
}

}  // namespace opwright::report
