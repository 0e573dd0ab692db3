#include "report/analysis_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/visible_text.h"
#include "base/words.h"

namespace opwright::report {
namespace {

constexpr std::size_t kLabel = 12;

std::string label(std::string_view name) { return fmt::format("{:<{}}", name, kLabel); }

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == '\n' || c == '\r' || c == '\t' || c == ' ';
    if (!blank)
      out += c;
    else if (!out.empty() && out.back() != ' ')
      out += ' ';
  }
  return visible(out);
}

// "30 of 32 cases; 2 have none" where some have none
std::string coverage_of(const Figures& figures) {
  std::string text;
  if (figures.missing() > 0) text += fmt::format("; {} without", plural(figures.missing(), "case"));
  if (figures.nonfinite() > 0) text += fmt::format("; {} not a finite number", plural(figures.nonfinite(), "case"));
  return fmt::format("({}{})", plural(figures.count(), "case"), text);
}

std::string seconds_line(std::string_view name, const Figures& f, std::string_view what) {
  if (f.empty() || f.max() <= 0) return "";
  return fmt::format("{}avg {}   median {}   p90 {}   max {}   sum {}   {}{}\n", label(name), seconds_text(f.average()),
                     seconds_text(f.percentile(50)), seconds_text(f.percentile(90)), seconds_text(f.max()),
                     seconds_text(f.sum()), what,
                     f.missing() > 0 ? fmt::format("; {} without", plural(f.missing(), "case")) : "");
}

std::string headline(const Analysis& a) {
  const RunRecord& run = a.run;
  std::string text = fmt::format("run {}   {}", visible(run.uid), visible(run.status));
  if (!run.device.empty()) text += fmt::format("   {}", visible(run.device));
  if (!run.numerics.empty()) text += fmt::format(" ({})", visible(run.numerics));
  if (!run.against.empty()) text += fmt::format(" against {}", visible(run.against));
  if (!run.suite.empty()) text += fmt::format("   {}", visible(run.suite));
  text += fmt::format("   seed {}", run.seed);
  if (!run.host.empty()) text += fmt::format("   on {}", visible(run.host));
  return text + "\n\n";
}

// 0.0125 -> "1.25", never rounded down
std::string percent_text(double share) { return fmt::format("{:.3g}", std::ceil(share * 1e6) / 1e4); }

std::string totals_text(const Analysis& a) {
  std::string text = fmt::format("{}{}", label("total"), grouped(a.total));
  if (a.filtered) text += "   (of the results that the filter lets through)";
  text += '\n';
  const auto line = [&](std::string_view name, std::int64_t count, bool always, std::string_view more = "") {
    if (count > 0 || always)
      text += fmt::format("{}{} ({}){}\n", label(name), grouped(count), share_text(count, a.total), more);
  };
  line("passed", a.passed, true);
  for (const auto& [outcome, count] : a.outcomes)
    if (standing_of(outcome) == Standing::kUndecided)
      line(name_of(outcome), count, false, "   neither right nor wrong");
  std::string kinds;
  for (const auto& [outcome, count] : a.outcomes)
    if (standing_of(outcome) == Standing::kFailed)
      kinds += fmt::format("{}{} {}", kinds.empty() ? "   " : ", ", name_of(outcome), grouped(count));
  line("failed", a.failed, true, kinds);
  kinds.clear();
  for (const auto& [outcome, count] : a.outcomes)
    if (standing_of(outcome) == Standing::kNoAnswer)
      kinds += fmt::format("{}{} {}", kinds.empty() ? "   " : ", ", name_of(outcome), grouped(count));
  line("no verdict", a.no_answer, false, kinds);
  if (a.unreached > 0) {
    const bool over = a.run.status == "complete";
    text += fmt::format("{}{} of {} planned: the run {}{}\n", label("unreached"), grouped(a.unreached),
                        grouped(a.run.planned),
                        over                        ? "ended without them"
                        : a.run.status == "running" ? "is not over"
                        : a.run.status == "unknown" ? "is not over, or was killed: its process is not of this machine"
                                                    : "was interrupted",
                        over ? "" : fmt::format("; opwright run --resume --run {}", a.run.uid));
  }
  if (a.calls > 0) {
    text += fmt::format("{}{} of {} calls pass ({})", label("calls"), grouped(a.calls_passed), grouped(a.calls),
                        share_text(a.calls_passed, a.calls));
    if (a.uncounted > 0) text += fmt::format("; {} without a count", plural(a.uncounted, "case"));
    text += '\n';
  }
  return text + '\n';
}

std::string accuracy_text(const Analysis& a) {
  std::string text;
  if (!a.pcc.empty()) {
    text += fmt::format("{}min {}   max {}   avg {}", label("PCC"), pcc_text(a.pcc.min()), pcc_text(a.pcc.max()),
                        pcc_text(a.pcc.average()));
    if (a.pcc.count() >= 10)
      text += fmt::format("   p1 {}   p10 {}   median {}", pcc_text(a.pcc.percentile(1)),
                          pcc_text(a.pcc.percentile(10)), pcc_text(a.pcc.percentile(50)));
    text += fmt::format("   {}\n", coverage_of(a.pcc));
  } else {
    text += fmt::format("{}none: no case was judged by numbers\n", label("PCC"));
  }
  if (!a.ulp.empty())
    text += fmt::format(
        "{}median {:.3g}   p90 {:.3g}   p99 {:.3g}   max {:.4g}   of 99 in 100 elements of a case   {}\n", label("ULP"),
        a.ulp.percentile(50), a.ulp.percentile(90), a.ulp.percentile(99), a.ulp.max(), coverage_of(a.ulp));
  if (!a.bound_used.empty())
    text += fmt::format("{}median {:.1f} %   p90 {:.1f} %   max {:.1f} % of what is allowed   {}\n", label("error"),
                        100 * a.bound_used.percentile(50), 100 * a.bound_used.percentile(90), 100 * a.bound_used.max(),
                        coverage_of(a.bound_used));
  return text;
}

std::string proof_text(const Analysis& a) {
  std::string text;
  if (a.compared_cases > 0) {
    text += fmt::format("{}executed == traced in {} of {} fields, {} of {} cases ({})\n", label("proof"),
                        grouped(a.fields_equal), grouped(a.fields), grouped(a.equal_cases), grouped(a.compared_cases),
                        share_text(a.equal_cases, a.compared_cases));
    if (!a.differing_fields.empty())
      text += fmt::format("{}differ: {}\n", label(""), count_list(a.differing_fields, 6));
    if (a.compared_cases < a.total)
      text += fmt::format("{}not looked at in {}\n", label(""), plural(a.total - a.compared_cases, "case"));
  } else if (a.total > 0) {
    text += fmt::format("{}executed against traced: not looked at in any case\n", label("proof"));
  }
  if (a.mutated_cases > 0) {
    const auto vacuous = a.outcomes.find(Outcome::kVacuous);
    text += fmt::format("{}{} of {} planted faults noticed ({}) in {}; {} vacuous\n", label("faults"),
                        grouped(a.faults_noticed), grouped(a.faults), share_text(a.faults_noticed, a.faults),
                        plural(a.mutated_cases, "case"), grouped(vacuous == a.outcomes.end() ? 0 : vacuous->second));
    if (!a.unnoticed.empty()) text += fmt::format("{}unnoticed: {}\n", label(""), count_list(a.unnoticed, 6));
  }
  if (a.blind_cases > 0)
    text += fmt::format("{}{} would not have shown a mistake of 2 % rms or more: {}\n", label("blind"),
                        plural(a.blind_cases, "passed case"), count_list(a.blind, 6));
  if (!a.unseen_factor.empty())
    text +=
        fmt::format("{}all values too large or too small by up to {} % (median; at most {} %) would not show in {}\n",
                    label("factor"), percent_text(a.unseen_factor.percentile(50)), percent_text(a.unseen_factor.max()),
                    plural(a.unseen_factor.count(), "passed sum", "passed sums"));
  if (a.against_cases > 0)
    text += fmt::format(
        "{}{} of {} cases disagree with {}{} (there: {})\n", label("against"), grouped(a.disagreed),
        grouped(a.against_cases - a.not_compared), a.run.against.empty() ? "the second device" : visible(a.run.against),
        a.not_compared == 0
            ? ""
            : fmt::format(", {} not compared, because one of the two has no answer", grouped(a.not_compared)),
        count_list(a.against_outcomes, 6));
  if (a.failed > 0) {
    auto blames = a.blames;
    if (const auto nobody = blames.extract(""); !nobody.empty()) blames["not attributed"] = nobody.mapped();
    text += fmt::format("{}{}\n", label("blame"), count_list(blames, 8));
  }
  if (a.in_part > 0)
    text += fmt::format("{}{} judged in part, by a sample of rows\n", label("sampled"), plural(a.in_part, "case"));
  if (a.noted > 0)
    text +=
        fmt::format("{}{} a note, e.g. {}\n", label("notes"),
                    a.noted == 1 ? "1 case has" : grouped(a.noted) + " cases have", cut_text(one_line(a.note), 120));
  return text;
}

std::string groups_text(const std::vector<Group>& groups, std::size_t most) {
  std::size_t width = 9;
  std::vector<const Group*> shown;
  for (const Group& group : groups) shown.push_back(&group);
  std::stable_sort(shown.begin(), shown.end(),  // where something is wrong comes first
                   [](const Group* a, const Group* b) { return a->failed > b->failed; });
  const std::size_t rest = shown.size() > most ? shown.size() - most : 0;
  shown.resize(shown.size() - rest);
  for (const Group* group : shown) width = std::max(width, width_of(visible(group->name)));
  std::string text = fmt::format("{:<{}}  {:>6}  {:>6}  {:>6}  {:>10}  {:>9}  {:>8}\n", "operation", width, "cases",
                                 "passed", "failed", "no verdict", "least PCC", "most ULP");
  for (const Group* group : shown) {
    text += fmt::format("{:<{}}  {:>6}  {:>6}  {:>6}  {:>10}  {:>9}  {:>8}\n", visible(group->name), width,
                        grouped(group->cases), grouped(group->passed), grouped(group->failed),
                        grouped(group->no_answer), group->pcc_count > 0 ? pcc_text(group->pcc_min) : "",
                        group->ulp_count > 0 ? fmt::format("{:.3g}", group->ulp_max) : "");
  }
  if (rest > 0) text += fmt::format("and {} more: --by op\n", rest);
  return text;
}

std::string notables_text(std::string_view title, const std::vector<Notable>& list, std::size_t most, std::size_t width,
                          std::string (*show)(double)) {
  if (list.empty() || most == 0) return "";
  std::string text = fmt::format("{}\n", title);
  for (std::size_t i = 0; i < list.size() && i < most; ++i) {
    const Notable& one = list[i];
    text += cut_text(fmt::format("  {:<10}  {:<9}  {}  {}", show(one.value), name_of(one.outcome), one.name,
                                 one_line(one.line)),
                     width) +
            '\n';
    if (!one.repeat.empty()) text += fmt::format("    repeat: {}\n", visible(one.repeat));
  }
  return text + '\n';
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.3g} µs", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  if (seconds < 120) return fmt::format("{:.2f} s", seconds);
  return fmt::format("{:.1f} min", seconds / 60);
}

std::string pcc_text(double pcc) {
  if (pcc == 1 || !std::isfinite(pcc)) return fmt::format("{}", pcc);
  const double off = 1 - pcc;
  const int digits = off > 0 && off < 1e-4 ? std::min(12, static_cast<int>(std::ceil(-std::log10(off))) + 2) : 5;
  return fmt::format("{:.{}f}", pcc, digits);
}

std::string share_text(std::int64_t part, std::int64_t whole) {
  if (whole <= 0) return "none";
  if (part == whole) return "100 %";
  if (part == 0) return "0 %";
  const double percent = 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.1f} %", std::clamp(percent, 0.1, 99.9));
}

std::string clusters_text(const std::vector<Cluster>& clusters, std::size_t most, std::size_t width) {
  std::string text;
  for (std::size_t i = 0; i < clusters.size() && i < most; ++i) {
    const Cluster& one = clusters[i];
    // What the first of them said, not the pattern: "0 of 2048 elements" tells more than "N of N".
    const std::string said = one_line(one.reason);
    text += cut_text(fmt::format("  {:>5} {:<13} {}{}", grouped(one.count), name_of(one.outcome),
                                 one.count > 1 && said != one.pattern && !said.empty() ? "e.g. " : "",
                                 said.empty() ? "(no message)" : said),
                     std::max<std::size_t>(width, 60)) +
            '\n';
    text += fmt::format("        {}   {}{}\n", count_list(one.ops, 4), one.name,
                        one.blames.empty() ? "" : fmt::format("   blame: {}", count_list(one.blames, 4)));
    if (!one.repeat.empty()) text += fmt::format("        repeat: {}\n", visible(one.repeat));
  }
  if (clusters.size() > most) {
    std::int64_t rest = 0;
    for (std::size_t i = most; i < clusters.size(); ++i) rest += clusters[i].count;
    text += fmt::format("  and {} of {} other kinds: --clusters\n", plural(rest, "case"), clusters.size() - most);
  }
  return text;
}

std::string worst_text(const Analysis& a, std::size_t most, std::size_t width) {
  return notables_text("least PCC", a.least_pcc, most, width, pcc_text) +
         notables_text("most ULP", a.most_ulp, most, width, [](double v) { return fmt::format("{:.4g}", v); }) +
         notables_text("nearest to, or beyond, the error bound", a.nearest_bound, most, width,
                       [](double v) { return fmt::format("{:.1f} %", 100 * v); }) +
         notables_text("slowest", a.slowest, most, width, seconds_text);
}

std::string analysis_text(const Analysis& a, const TextOptions& options) {
  std::string text = headline(a) + totals_text(a);
  text += seconds_line("duration", a.seconds, "(a case in its worker)");
  text += seconds_line("device", a.device_seconds, "(the call)");
  text += seconds_line("cold", a.cold_seconds, "(the first call)");
  text += seconds_line("kernel", a.kernel_seconds, "(on the chip, as modelled or measured)");
  text += accuracy_text(a) + proof_text(a);
  if (!a.l1_per_core.empty())
    text += fmt::format("{}L1 a core median {}, max {}; DRAM max {}\n", label("memory"),
                        size_text(static_cast<std::int64_t>(a.l1_per_core.percentile(50))),
                        size_text(static_cast<std::int64_t>(a.l1_per_core.max())),
                        a.dram.empty() ? "not reported" : size_text(static_cast<std::int64_t>(a.dram.max())));
  const auto ops = a.tables.find(By::kOp);
  if (ops != a.tables.end() && ops->second.size() > 1) text += '\n' + groups_text(ops->second, options.groups);
  text += kills_text(a.misuse);
  if (!a.failures.empty())
    text += "\nfailures, by how they ended and what was said\n" +
            clusters_text(a.failures, options.clusters, options.width);
  if (!a.unanswered.empty())
    text += "\nnot proven, and why\n" + clusters_text(a.unanswered, options.clusters, options.width);
  if (a.clusters_cut > 0)
    text += fmt::format("  {} in no cluster: too many distinct messages\n", plural(a.clusters_cut, "case"));
  if (options.worst > 0)
    text += '\n' + worst_text(a, options.worst, options.width);
  else
    text += notables_text("\nleast PCC", a.least_pcc, 1, options.width, pcc_text);
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace opwright::report
