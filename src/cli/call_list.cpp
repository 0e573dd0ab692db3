#include "cli/call_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/json_write.h"
#include "base/secrets.h"
#include "base/visible_text.h"
#include "cli/dump_json.h"
#include "cli/output.h"
#include "format/native/call_stream.h"
#include "format/native/call_text.h"
#include "format/native/value_json.h"

namespace opwright::cli {
namespace {

using format::NativeCall;
using format::NativeTrace;

constexpr std::size_t kLongestFact = 160;
constexpr std::size_t kLongestNote = 5000;  // it may name a file, and says what was lost behind the name
constexpr std::size_t kDeepestShown = 40;   // a line of a deeper call is not moved further to the right

std::string_view state_text(std::uint32_t state) {
  switch (static_cast<capture::State>(state)) {
    case capture::State::kOpen:
      return "not closed (running, or killed)";
    case capture::State::kClosed:
      return "closed in order";
    case capture::State::kDiskFull:
      return "stopped: no space left";
  }
  return "in an unknown state";
}

std::string time_text(std::int64_t ns) {
  if (ns < 10'000) return fmt::format("{} ns", ns);
  if (ns < 10'000'000) return fmt::format("{:.1f} us", static_cast<double>(ns) / 1e3);
  return fmt::format("{:.1f} ms", static_cast<double>(ns) / 1e6);
}

std::string one_line(std::string_view text) { return cut_text(visible(text), kLongestFact); }

// How deep calls are nested, as they come in the order in which they began.
class Nesting {
 public:
  std::size_t depth(const NativeCall& call) {
    std::vector<std::uint64_t>& open = lanes_[call.lane];
    while (!open.empty() && open.back() != call.parent) open.pop_back();
    open.push_back(call.seq);
    return open.size() - 1;
  }

 private:
  std::unordered_map<std::uint32_t, std::vector<std::uint64_t>> lanes_;
};

void print_head(NativeTrace& trace, CommandEnv& env) {
  const capture::Header& header = trace.header();
  env.out << fmt::format("{}: native trace, version {}, process {}, {}\n", visible(trace.path()), header.version,
                         header.pid, state_text(header.state));
  env.out << fmt::format("counted by the recorder: {}, {} raised, {} filtered, {} with less detail, {} lost; {}\n",
                         plural(static_cast<std::int64_t>(header.calls), "call"), header.errors, header.calls_filtered,
                         header.calls_thinned, header.calls_lost,
                         plural(static_cast<std::int64_t>(header.values), "value"));
  for (const format::Fact& fact : trace.facts()) {
    const format::NativeValue* value = trace.values().decode(fact.encoded);
    env.out << fmt::format("fact {}: {}\n", visible(fact.name),
                           value == nullptr ? "damaged" : one_line(masked(format::to_json(*value))));
  }
  for (const format::TestOutcome& test : trace.tests())
    env.out << fmt::format("test {}: {} ({:.3f} s)\n", visible(test.id), visible(test.outcome), test.seconds);
  for (const format::Note& note : trace.notes())
    env.out << fmt::format("note {}: {}\n", visible(note.kind), cut_text(visible(note.text), kLongestNote));
}

void print_damage(const NativeTrace& trace, CommandEnv& env) {
  for (const auto& [kind, entry] : trace.damage().entries())
    env.out << fmt::format("LOST {} x {}: byte {}: {}\n", grouped(static_cast<std::int64_t>(entry.count)), kind,
                           entry.offset, visible(entry.example));
}

void list_as_table(NativeTrace& trace, const format::CallFilter& filter, std::size_t limit, CommandEnv& env) {
  print_head(trace, env);
  format::CallChooser chooser(trace, filter);
  format::CallsInOrder calls(trace);
  Nesting nesting;
  std::size_t shown = 0, left = 0;
  std::string_view test, phase, label;
  std::uint64_t thread = 0;
  while (const NativeCall* call = calls.next()) {
    const std::size_t depth = nesting.depth(*call);
    if (!chooser.takes(*call)) continue;
    if (shown == limit) {
      ++left;
      continue;
    }
    if (shown++ == 0) env.out << fmt::format("{:>8} {:>12} {:>10}  call\n", "number", "begins", "takes");
    const format::CallContext context = trace.context(call->context);
    if (context.test != test)
      env.out << fmt::format("test {}\n", context.test.empty() ? "ended" : visible(context.test));
    if (context.phase != phase || context.label != label)
      env.out << fmt::format("phase {}, label {}\n", context.phase.empty() ? "-" : visible(context.phase),
                             context.label.empty() ? "-" : visible(context.label));
    if (call->thread != thread) env.out << fmt::format("thread {}\n", call->thread);
    test = context.test;
    phase = context.phase;
    label = context.label;
    thread = call->thread;
    env.out << fmt::format("{:>8} {:>9.3f} ms {:>10}  {}{}\n", call->seq, static_cast<double>(call->start_ns) / 1e6,
                           call->finished ? time_text(call->duration_ns) : "",
                           std::string(2 * std::min(depth, kDeepestShown), ' '),
                           visible(format::call_text(trace, *call)));
    trace.values().forget();
  }
  env.out << fmt::format("{} shown{}\n", plural(static_cast<std::int64_t>(shown), "call"),
                         left > 0 ? fmt::format(", {} more (--limit)", grouped(static_cast<std::int64_t>(left))) : "");
  print_damage(trace, env);
}

void list_as_csv(NativeTrace& trace, const format::CallFilter& filter, std::size_t limit, CommandEnv& env) {
  env.out << "seq,parent,thread,start_ns,duration_ns,test,phase,label,operation,finished,raised,call\n";
  format::CallChooser chooser(trace, filter);
  format::CallsInOrder calls(trace);
  std::size_t shown = 0;
  while (const NativeCall* call = calls.next()) {
    if (!chooser.takes(*call) || shown++ >= limit) continue;
    const format::CallContext context = trace.context(call->context);
    const format::NativeValue* value = trace.values().call(call->call);
    env.out << fmt::format("{},{},{},{},{},{},{},{},{},{},{},{}\n", call->seq, call->parent, call->thread,
                           call->start_ns, call->duration_ns, csv_cell(context.test), csv_cell(context.phase),
                           csv_cell(context.label), csv_cell(value != nullptr ? value->text : std::string_view()),
                           call->finished, call->raised(), csv_cell(format::call_text(trace, *call)));
    trace.values().forget();
  }
}

}  // namespace

void list_calls(NativeTrace& trace, const format::CallFilter& filter, std::size_t limit, CommandEnv& env) {
  switch (env.format) {
    case OutputFormat::kTable:
      return list_as_table(trace, filter, limit, env);
    case OutputFormat::kCsv:
      return list_as_csv(trace, filter, limit, env);
    case OutputFormat::kJson:
    case OutputFormat::kJsonl:
      return dump_json(trace, filter, limit, env.format == OutputFormat::kJsonl, env.out);
  }
}

}  // namespace opwright::cli
