#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/profile_view.h"
#include "cli/query.h"
#include "jobs/value_text.h"
#include "model/test_id.h"
#include "normalize/normalize.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    kWhereFlag,
    Flag{"--limit", "N", "show at most N configurations an operation (what is left out is counted)"},
    Flag{"--unsorted", "", "with --format jsonl: rows as they are found, the first at once"},
    Flag{"--sources", "", "also list the tests, machines and traces of each configuration, and its key"},
    kProfileFlag,
    kProfileWindowFlag,
    kWaitFlag,
};

std::string calls_text(const Selected& selected) {
  return fmt::format("{}{} call{}{}", selected.uncounted > 0 ? "≥" : "", grouped(selected.calls),
                     selected.calls == 1 ? "" : "s",
                     selected.raised > 0 ? fmt::format(", {} raised", grouped(selected.raised)) : "");
}

// What was raised, in one line; the other formats have all of it.
std::string error_line(std::string_view error, std::size_t room) {
  std::string line = "raised: ";
  for (const char c : error) {
    const bool blank = c == ' ' || static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (!blank)
      line += c;
    else if (line.back() != ' ')
      line += ' ';
  }
  return cut_text(visible(line), room);
}

std::string joined(const std::vector<std::string>& names, std::size_t most) {
  std::string text;
  for (std::size_t i = 0; i < names.size() && i < most; ++i) text += (i > 0 ? ", " : "") + visible(names[i]);
  if (names.size() > most) text += fmt::format(" +{}", names.size() - most);
  return text;
}

// One line a tensor (lists of tensors have several), the other arguments together, what was passed as none counted.
std::vector<std::string> argument_lines(const OpConfig& config) {
  std::vector<std::string> lines;
  std::string others;
  std::size_t none = 0;
  std::size_t tensors = 0;
  for (const Argument& argument : config.args) for_each_tensor(argument.value, [&](const TensorSpec&) { ++tensors; });
  for (const Argument& argument : config.args) {
    if (argument.value.is_null()) {
      ++none;
      continue;
    }
    bool has_tensor = false;
    for_each_tensor(argument.value, [&](const TensorSpec& spec) {
      lines.push_back((tensors > 1 ? visible(argument.name) + (has_tensor ? ", " : "  ") : std::string()) +
                      jobs::tensor_line(spec));
      has_tensor = true;
    });
    if (!has_tensor) others += (others.empty() ? "" : "  ") + visible(argument.name) + "=" + to_text(argument.value);
  }
  const std::string rest = none > 0 ? fmt::format("(+{} none)", none) : "";
  if (others.empty() && lines.size() == 1 && none > 0)
    lines.back() += "  " + rest;
  else if (!others.empty() || none > 0)
    lines.push_back(others.empty() ? rest : none > 0 ? others + "  " + rest : others);
  if (lines.empty()) lines.emplace_back("no arguments");
  return lines;
}

// Arguments are two spaces apart: a line that is too long continues behind one of these gaps.
void print_wrapped(std::string_view line, std::size_t room, CommandEnv& env) {
  while (line.size() + 4 > room) {
    std::size_t at = line.rfind("  ", room - 4);
    if (at == std::string_view::npos || at == 0) at = line.find("  ", room - 4);  // one argument is longer than a line
    if (at == std::string_view::npos) break;
    env.out << "    " << line.substr(0, at) << '\n';
    line.remove_prefix(at + 2);
  }
  env.out << "    " << line << '\n';
}

// Where it was seen; one trace in two formats is one line, and so are the parametrisations of a test.
void print_sources(const Selected& selected, CommandEnv& env) {
  using Place = std::tuple<std::string, std::string, std::string>;  // test function, machine, trace
  std::vector<Place> order;
  std::map<Place, std::map<std::string, std::int64_t>> places;  // exact source -> how many raised
  for (const store::OccurrenceRow& row : selected.occurrences) {
    const Place place{test_function(row.source), row.machine_label, row.trace_uid};
    const auto [tests, added] = places.try_emplace(place);
    if (added) order.push_back(place);
    std::int64_t& raised = tests->second[row.source];
    raised = std::max(raised, row.raised);
  }
  for (const Place& place : order) {
    const auto& [function, machine, trace] = place;
    const auto& tests = places[place];
    std::int64_t raised = 0;
    for (const auto& [test, count] : tests) raised += count;
    const std::string source = tests.size() > 1               ? fmt::format("{} ({} tests)", function, tests.size())
                               : tests.begin()->first.empty() ? "unknown source"
                                                              : tests.begin()->first;
    env.out << fmt::format("      {} on {}, trace {}{}\n", visible(source), visible(machine), visible(trace),
                           raised > 0 ? fmt::format(", {} raised", grouped(raised)) : "");
  }
}

// "50.3 us, 4.2 % of PERF_DECODE" with --profile, where the report has it.
std::string cost_text(const std::optional<jobs::ProfileMatch>& profile, const ConfigKey& key) {
  if (!profile) return "";
  const std::string& window = profile->report.window.whole_file ? "the file" : profile->report.window.name;
  const auto found = profile->cost.find(key);
  if (found == profile->cost.end()) return fmt::format("not in {}", visible(window));
  const jobs::ConfigCost& cost = found->second;
  return fmt::format("{}{:.1f} us, {:.1f} % of the kernel time of {}, {}", cost.shared ? "about " : "",
                     cost.kernel_ns / 1000, profile->share_percent(cost), visible(window),
                     plural(cost.positions, "position"));
}

void print_operation(const std::string& op, const std::vector<const Selected*>& all, std::size_t limit, bool sources,
                     const std::optional<jobs::ProfileMatch>& profile, CommandEnv& env) {
  std::set<std::string> models;
  for (const Selected* selected : all) {
    models.insert(selected->models().begin(), selected->models().end());
  }
  models.erase("unknown");
  env.out << fmt::format("{}   {} configuration{}   {} model{}\n", visible(op), all.size(), all.size() == 1 ? "" : "s",
                         models.size(), models.size() == 1 ? "" : "s");
  std::size_t number = 0;
  for (const Selected* selected : all) {
    if (number == limit) {
      env.out << fmt::format("    … {} more (--limit {} shows all)\n", all.size() - limit, all.size());
      break;
    }
    const std::vector<std::string> lines = argument_lines(selected->config);
    const std::string tail = fmt::format("{}  {}", calls_text(*selected), joined(selected->models(), 3));
    const std::size_t room = env.wide ? text_width(env) : static_cast<std::size_t>(std::max(env.width, 60));
    std::string first = fmt::format("{:>2}  {}", ++number, lines[0]);
    if (first.size() + 5 + tail.size() <= room)
      env.out << first << std::string(std::max<std::size_t>(5, room - first.size() - tail.size()), ' ') << tail << '\n';
    else
      env.out << first << "     " << tail << '\n';
    for (std::size_t i = 1; i < lines.size(); ++i) print_wrapped(lines[i], room, env);
    if (!selected->error.empty()) env.out << "    " << error_line(selected->error, room - 4) << '\n';
    if (profile) env.out << fmt::format("    {}\n", cost_text(profile, selected->config.key));
    if (sources) {
      print_sources(*selected, env);
      env.out << fmt::format("      key {}\n", to_hex(selected->config.key));
    }
  }
}

Table empty_table() {
  return Table{{{"operation"},
                {"key"},
                {"convention"},
                {"calls", true},
                {"uncounted", true},
                {"models"},
                {"machines"},
                {"sources"},
                {"arguments"},
                {"text"},
                {"raised", true},
                {"error"}},
               {}};
}

std::vector<Cell> row_of(const Selected& selected) {
  const auto list = [](const std::vector<std::string>& names) {
    return Cell(joined(names, names.size()), json_array(names, false));
  };
  const std::string arguments = jobs::arguments_json(selected.config);
  return {selected.config.op,
          to_hex(selected.config.key),
          name_of(selected.config.convention),
          selected.calls,
          selected.uncounted,
          list(selected.models()),
          list(selected.machines()),
          list(selected.sources()),
          Cell(arguments, arguments),
          selected.text.empty() ? normalize::canonical_text(selected.config) : selected.text,
          selected.raised,
          selected.error};
}

void append_cost(std::vector<Cell>& row, const jobs::ProfileMatch& profile, const ConfigKey& key) {
  const auto found = profile.cost.find(key);
  const jobs::ConfigCost cost = found == profile.cost.end() ? jobs::ConfigCost() : found->second;
  row.emplace_back(cost.positions);
  for (const double figure : {cost.kernel_ns, profile.share_percent(cost)})
    row.emplace_back(fmt::format("{:.2f}", figure), fmt::format("{:.2f}", figure));
}

// For programs that begin before all is found: what is read may be few rows of a large store.
Result<int> stream(const std::vector<Part>& parts, store::Reader& reader, std::size_t limit,
                   const select::Wanted& wanted, CommandEnv& env) {
  constexpr std::size_t kAtOnce = 64;  // rows that are handed on one by one; later ones together
  std::size_t shown = 0;
  const auto is_enough = [&] { return limit > 0 && shown == limit; };
  for (const Part& part : parts) {
    const Status all = for_each_selected(reader, part.selector, wanted, [&](Selected&& selected) -> Status {
      if (!part.op.empty() && selected.config.op != part.op) return {};
      Table table = empty_table();
      table.rows.push_back(row_of(selected));
      print(table, env);
      if (++shown <= kAtOnce || shown % kAtOnce == 0) env.out << std::flush;
      if (is_enough()) return fail(ErrorCode::kUsage, "enough");  // ends the search
      return {};
    });
    if (is_enough()) break;
    OPWRIGHT_TRY(all);
  }
  return kExitOk;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY(selector_of(args));  // before the store: what was typed is wrong whatever is in it
  OPWRIGHT_TRY_ASSIGN(const std::size_t limit, count_of(args, "--limit", 0));
  const bool unsorted = args.is_set("--unsorted");
  if (unsorted && !args.value("--profile").empty())
    return fail(ErrorCode::kUsage, "--unsorted: rows come before the report is matched; leave out --profile");
  if (unsorted && env.format != OutputFormat::kJsonl)
    return fail(ErrorCode::kUsage, "--unsorted: rows come as they are found with --format jsonl only");
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_store(args, env));
  const bool sources = args.is_set("--sources");
  const select::Wanted wanted{.arguments = true, .error = true, .forms = sources};
  OPWRIGHT_TRY_ASSIGN(const std::vector<Part> parts, parts_of(args, *reader));
  if (unsorted) return stream(parts, *reader, limit, wanted, env);
  OPWRIGHT_TRY_ASSIGN(const std::optional<jobs::PerfRequest> request, profile_of(args));
  std::optional<jobs::ProfileMatch> profile;
  if (request) {
    // All configurations compete for a position, those of other operations too.
    OPWRIGHT_TRY_ASSIGN(profile, jobs::match_profile(*request, {.store = env.store, .where = args.value("--where")}));
  }
  std::vector<Selected> all;
  for (const Part& part : parts) {
    OPWRIGHT_TRY_ASSIGN(auto found, select_all(*reader, part.selector, wanted));
    for (Selected& selected : found) {
      if (part.op.empty() || selected.config.op == part.op) all.push_back(std::move(selected));
    }
  }
  if (env.format == OutputFormat::kTable) {
    if (all.empty()) env.out << "no configuration matches\n";
    for (std::size_t from = 0; from < all.size();) {
      std::vector<const Selected*> group;
      const std::string op = all[from].config.op;
      if (from > 0) env.out << '\n';
      for (; from < all.size() && all[from].config.op == op; ++from) group.push_back(&all[from]);
      print_operation(op, group, limit == 0 ? group.size() : limit, sources, profile, env);
    }
    return kExitOk;
  }
  Table table = empty_table();
  if (profile)
    for (const char* name : {"profiled_positions", "profiled_kernel_ns", "profiled_percent"})
      table.columns.push_back({name, true});
  std::size_t shown = 0;
  for (const Selected& selected : all) {
    if (limit > 0 && shown++ == limit) break;
    table.rows.push_back(row_of(selected));
    if (profile) append_cost(table.rows.back(), *profile, selected.config.key);
  }
  print(table, env);
  return kExitOk;
}

}  // namespace

const Command kShow{"show",
                    "Show every configuration of an operation, readable.",
                    "OP is add, ttnn.add or ttnn::add; without it every operation is shown.\n\n"
                    "  opwright show add\n"
                    "  opwright show linear --where 'memory=HEIGHT_SHARDED and in1.dtype=bfloat8_b'\n"
                    "  opwright show softmax --format json",
                    "[OP]",
                    0,
                    1,
                    kFlags,
                    run};

}  // namespace opwright::cli
