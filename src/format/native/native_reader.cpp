#include "format/native/native_reader.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/limits.h"
#include "format/native/call_stream.h"
#include "format/native/keep_calls.h"
#include "format/native/native_arguments.h"
#include "format/native/native_calls.h"
#include "format/native/run_facts.h"

namespace opwright::format {
namespace {

// Calls that are one: same operation and arguments, same change of the arguments, same source.
struct Counted {
  NativeCall first;
  std::uint32_t source = 0;
  std::int64_t count = 0;
  std::int64_t raised = 0;
  ValueId error = 0;  // of the first that raised
};

class Reader {
 public:
  Reader(NativeTrace& trace, const ReadOptions& options, TraceSink& sink)
      : trace_(trace), options_(options), sink_(sink), facts_(facts_of_run(trace)) {}

  Status read() {
    sink_.add_bytes(trace_.file().bytes().size());
    for (const TestOutcome& test : trace_.tests()) outcomes_[std::string(test.id)] = test.outcome;
    CallStream stream(trace_);
    while (const NativeCall* call = stream.next()) {
      count(*call);
      if (counted_.size() > limits().distinct)
        return fail(over_limit(trace_.path(), &Limits::distinct, fmt::format("{} different calls", counted_.size())));
    }
    OPWRIGHT_TRY(observe_all());
    tell_what_is_left_out();
    tell_what_was_not_recorded();
    trace_.damage().tell(trace_.path(), sink_);
    OPWRIGHT_TRY(keep_calls(trace_, sink_));
    return sink_.end_trace(info());
  }

 private:
  struct Source {
    std::uint32_t number = 0;
    bool left_out = false;  // its test did not pass
  };

  Source source_of(ValueId context) {
    if (context == last_context_ && has_last_) return last_source_;
    const auto [entry, added] = by_context_.try_emplace(context);
    if (added) {
      const std::string_view test = trace_.context(context).test;
      if (const auto outcome = outcomes_.find(test);
          outcome != outcomes_.end() && outcome->second != "passed" && !options_.include_failed) {
        entry->second.left_out = true;
        not_passed_.emplace(outcome->first, outcome->second);
      }
      const std::string name = facts_.source_of(test);
      // The hash of a sweep is written with the arguments, so calls with another one are others.
      const std::string key = fmt::format("{}\n{}", trace_.context(context).sweep_source_hash, name);
      const auto [number, is_new] = source_numbers_.try_emplace(key, static_cast<std::uint32_t>(sources_.size()));
      if (is_new) sources_.push_back(name);
      entry->second.number = number->second;
    }
    has_last_ = true;
    last_context_ = context;
    return last_source_ = entry->second;
  }

  void count(const NativeCall& call) {
    const Source source = source_of(call.context);
    if (source.left_out) {
      ++calls_left_out_;
      return;
    }
    if (call.result != 0) ++return_values_;
    if (!call.finished) ++unfinished_;
    // Who it is, and a hash of what it did to its arguments, rarely more than nothing.
    const std::uint64_t changed = change_of(call) << 1 | (call.parent == 0 ? 1 : 0);
    const Hash128 key{static_cast<std::uint64_t>(call.call) << 32 | source.number, changed};
    const auto [entry, added] = numbers_.try_emplace(key, counted_.size());
    if (added) {
      counted_.push_back({call, source.number, 0, 0, 0});
      counted_.back().first.result = 0;
      counted_.back().first.tensors.clear();
      counted_.back().first.results.clear();
    }
    Counted& counted = counted_[entry->second];
    ++counted.count;
    if (call.raised() && ++counted.raised == 1) counted.error = call.error;
  }

  struct KeyHasher {
    std::size_t operator()(const Hash128& key) const {
      return static_cast<std::size_t>((key.high ^ (key.low * 0x9E3779B97F4A7C15ULL)) * 0xD6E8FEB86659FD93ULL >> 7);
    }
  };

  Status observe_all() {
    json::Document machine_document;
    const json::Node* machine = machine_of(facts_, machine_document);
    NativeArguments maker(trace_, machine);
    CallArguments made;
    std::string wrong;
    for (const Counted& counted : counted_) {
      const NativeCall& call = counted.first;
      Observed observed;
      switch (maker.make(call, made, observed.op, wrong)) {
        case NativeArguments::Outcome::kDone:
          break;
        case NativeArguments::Outcome::kNotWhole:
          lose_calls("missing_value", counted, "the arguments of a call are not whole in the file");
          continue;
        case NativeArguments::Outcome::kNoJson:
          lose_calls("unknown_shape", counted, wrong);
          continue;
      }
      handles_ += made.handles * static_cast<std::size_t>(counted.count);
      observed.kind = FormKind::kNative;
      observed.arguments = made.text;
      observed.tree = &made.tree;
      observed.sweep_source_hash = trace_.context(call.context).sweep_source_hash;
      if (observed.sweep_source_hash.empty()) observed.sweep_source_hash = trace_.fact_text("sweep_source_hash");
      observed.path = trace_.path();
      observed.offset = call.offset;
      const std::string merged = merged_machine(machine, made.mesh);
      Sighting sighting;
      sighting.source = sources_[counted.source];
      sighting.machine = merged;
      sighting.trace_uid = facts_.uid;
      sighting.count = counted.count;
      sighting.raised = counted.raised;
      const std::string error = error_text(trace_, counted.error);
      sighting.error = error;
      observed.sightings.push_back(sighting);
      OPWRIGHT_TRY(sink_.observe(observed));
    }
    return {};
  }

  void lose_calls(std::string_view kind, const Counted& counted, const std::string& what) {
    trace_.damage().add(
        kind, counted.first.offset, [&] { return fmt::format("call {}: {}", counted.first.seq, what); },
        static_cast<std::uint64_t>(counted.count));
  }

  void tell_what_is_left_out() {
    const auto tell = [this](std::string_view what, std::size_t count) {
      if (count > 0) sink_.leave_out(what, count);
    };
    for (const auto& [test, outcome] : not_passed_) {
      tell(fmt::format("tests that {}", outcome == "failed"    ? "failed"
                                        : outcome == "skipped" ? "were skipped"
                                                               : "did not pass"),
           1);
    }
    tell("calls of tests that did not pass", calls_left_out_);
    if (!sink_.keeps_calls()) tell("return values", return_values_);  // else they are in the sequence
    tell("semaphore arguments", handles_);
    tell("tensor values", trace_.blobs().size());
    tell("ends of calls that never ended", unfinished_);
  }

  // What the recorder itself left out, or could not keep.
  void tell_what_was_not_recorded() {
    const capture::Header& header = trace_.header();
    std::uint64_t filtered = 0, thinned = 0, lost = 0;
    std::string example;
    for (const UnrecordedCalls& calls : trace_.unrecorded()) {
      if (calls.reason == capture::Uncalled::kFiltered) filtered += calls.calls;
      if (calls.reason == capture::Uncalled::kThinned) thinned += calls.calls;
      if (calls.reason != capture::Uncalled::kLost) continue;
      lost += calls.calls;
      if (example.empty()) example = fmt::format(", e.g. {} of {}", calls.calls, calls.op);
    }
    filtered = std::max(filtered, header.calls_filtered);
    lost = std::max(lost, header.calls_lost);
    if (filtered > 0) sink_.leave_out("calls that the recorder was told to leave out", filtered);
    if (thinned > 0) sink_.leave_out("calls that the recorder left out to save time", thinned);
    if (lost == 0) return;
    const bool full = header.state == static_cast<std::uint32_t>(capture::State::kDiskFull);
    trace_.damage().add(
        "calls_not_recorded", 0,
        [&] {
          return fmt::format("the recorder could not keep {} calls{}{}", lost, full ? ": there was no space left" : "",
                             example);
        },
        lost);
  }

  TraceInfo info() const {
    TraceInfo info;
    info.uid = facts_.uid.empty() ? "content:" + digest_of(trace_.file()) : facts_.uid;
    info.format = "native";
    info.path = trace_.path();
    info.facts = facts_.texts;
    if (unfinished_ > 0) info.facts.emplace_back("unfinished_calls", std::to_string(unfinished_));
    return info;
  }

  NativeTrace& trace_;
  const ReadOptions& options_;
  TraceSink& sink_;
  RunFacts facts_;
  std::map<std::string, std::string_view, std::less<>> outcomes_;  // test -> its last outcome
  std::map<std::string, std::string_view> not_passed_;
  std::unordered_map<ValueId, Source> by_context_;
  std::unordered_map<std::string, std::uint32_t> source_numbers_;
  std::vector<std::string> sources_;
  bool has_last_ = false;
  ValueId last_context_ = 0;
  Source last_source_;
  std::unordered_map<Hash128, std::size_t, KeyHasher> numbers_;
  std::vector<Counted> counted_;
  std::size_t calls_left_out_ = 0, return_values_ = 0, handles_ = 0, unfinished_ = 0;
};

}  // namespace

Status read_native(Input&& input, const std::string& path, const ReadOptions& options, TraceSink& sink) {
  OPWRIGHT_TRY_ASSIGN(NativeTrace trace, NativeTrace::from_input(std::move(input), path));
  return Reader(trace, options, sink).read();
}

}  // namespace opwright::format
