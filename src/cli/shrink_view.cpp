#include "cli/shrink_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/words.h"

namespace opwright::cli {
namespace {

std::string_view word_of(jobs::ShrunkFailure::End end) {
  using End = jobs::ShrunkFailure::End;
  switch (end) {
    case End::kShrunk:
      return "shrunk";
    case End::kDoesNotFail:
      return "does not fail";
    case End::kFlaky:
      return "flaky";
    case End::kNotRun:
      break;
  }
  return "not run";
}

std::string tried_text(const jobs::ShrunkFailure& failure) {
  std::vector<std::string> parts;
  for (const auto& [kind, count] : failure.tried) parts.push_back(fmt::format("{} {}", kind, count.tried));
  return fmt::format("{} in {:.1f} s ({})", plural(failure.trials, "trial"), failure.seconds, fmt::join(parts, ", "));
}

}  // namespace

std::string shrunk_text(const jobs::ShrunkFailure& failure) {
  using End = jobs::ShrunkFailure::End;
  if (failure.end != End::kShrunk) return fmt::format("{}\n  {}\n", failure.given, failure.why);
  std::string text = fmt::format("{} {}\n", failure.kind.op, to_text(failure.kind));
  for (const std::string& line : failure.before) text += fmt::format("  after:    {}\n", line);
  text += fmt::format("  smallest: {}\n", failure.smallest);
  if (failure.recipe.kept || failure.recipe.distribution != Distribution::kNormal)
    text += fmt::format("  data:     {}\n", data_text(failure.recipe));
  text += fmt::format("  {}\n", jobs::needs_text(failure));
  for (const shrink::Needed& needed : failure.needs) {
    if (needed.seen.empty() && needed.same.empty()) continue;
    text += fmt::format("    {}", to_text(needed.need));
    if (!needed.same.empty()) text += fmt::format(" (and so {})", fmt::join(needed.same, ", "));
    if (!needed.seen.empty()) text += ": " + needed.seen;
    text += '\n';
  }
  text += fmt::format("  tried:    {}\n", tried_text(failure));
  if (failure.spent) text += "  the budget ended it: it may become smaller still (--trials, --budget)\n";
  return text + fmt::format("  repeat:   {}\n", failure.repeat);
}

JsonObject shrunk_json(const jobs::ShrunkFailure& failure) {
  std::vector<std::string> needs;
  for (const shrink::Needed& needed : failure.needs)
    needs.push_back(JsonObject()
                        .add("need", to_text(needed.need))
                        .add("fact", needed.need.fact)
                        .add("value", needed.need.value)
                        .add_raw("same", json_array(needed.same, false))
                        .add("seen", needed.seen)
                        .text());
  std::map<std::string, std::int64_t> tried, kept;
  for (const auto& [kind, count] : failure.tried) {
    tried[kind] = count.tried;
    kept[kind] = count.failed;
  }
  return JsonObject()
      .add("end", word_of(failure.end))
      .add("why", failure.why)
      .add("given", failure.given)
      .add("vector", failure.vector)
      .add("operation", failure.kind.op)
      .add("op", failure.kind.op)
      .add("outcome", name_of(failure.kind.outcome))
      .add("reason", failure.kind.reason)
      .add("against", failure.kind.against)
      .add("alike", failure.alike)
      .add("device", failure.device)
      .add("case", failure.smallest)
      .add_raw("before", json_array(failure.before, false))
      .add("data", data_text(failure.recipe))
      .add("matters", failure.end == jobs::ShrunkFailure::End::kShrunk ? jobs::needs_text(failure) : "")
      .add_raw("needs", json_array(needs, true))
      .add("trials", failure.trials)
      .add("cached", failure.cached)
      .add_raw("tried", counts_json(tried))
      .add_raw("failed", counts_json(kept))
      .add_bool("spent", failure.spent)
      .add_number("seconds", failure.seconds)
      .add("repeat", failure.repeat);
}

std::string known_list_json(const jobs::ShrinkReport& report) {
  std::vector<std::string> items;
  for (const jobs::KnownCause& known : report.known)
    items.push_back(JsonObject()
                        .add("operation", known.kind.op)
                        .add("op", known.kind.op)
                        .add("outcome", name_of(known.kind.outcome))
                        .add("reason", known.kind.reason)
                        .add("run", known.run)
                        .text());
  return json_array(items, true);
}

std::string shrunk_list_json(const jobs::ShrinkReport& report) {
  std::vector<std::string> items;
  for (const jobs::ShrunkFailure& failure : report.failures) items.push_back(shrunk_json(failure).text());
  return json_array(items, true);
}

}  // namespace opwright::cli
