#include "format/native/trim.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "capture/encoder.h"
#include "format/native/call_stream.h"
#include "format/native/native_writer.h"
#include "format/native/value_copier.h"

namespace opwright::format {
namespace {

void collect_specs(const NativeValue& value, std::vector<ValueId>& specs) {
  if (value.is(capture::Tag::kTensor))
    specs.push_back(value.id);
  else if (!value.is(capture::Tag::kStruct))
    for (const NativeValue* item : value.items) collect_specs(*item, specs);
}

class Trim {
 public:
  Trim(NativeTrace& trace, const CallFilter& filter, TraceOutput& output)
      : trace_(trace),
        filter_(filter),
        chooser_(trace, filter),
        writer_(output, {trace.header().pid, trace.header().start_unix_ns, trace.header().start_ticks,
                         trace.header().ticks_per_second}),
        copier_(trace, writer_) {}

  Result<TrimReport> run() {
    find_needed_tensors();
    write_about_the_run();
    for (LaneCursor& lane : lanes_of(trace_)) write_lane(lane);
    write_counts();
    OPWRIGHT_TRY(writer_.finish());
    report_.kept = writer_.calls();
    return report_;
  }

 private:
  struct Open {
    std::uint64_t seq = 0;
    bool kept = false;
    std::uint64_t parent = 0;  // nearest kept call around it
  };

  bool takes(const NativeCall& call) { return chooser_.takes(call) && trace_.values().is_call(call.call); }

  bool is_needed(std::uint64_t tensor) const { return std::binary_search(needed_.begin(), needed_.end(), tensor); }

  // Tensors that kept calls get, whoever made them.
  void find_needed_tensors() {
    std::size_t unique = 0;
    const auto make_unique = [this] {
      std::sort(needed_.begin(), needed_.end());
      needed_.erase(std::unique(needed_.begin(), needed_.end()), needed_.end());
      return needed_.size();
    };
    for (LaneCursor& lane : lanes_of(trace_)) {
      for (auto event = lane.next(); event != LaneCursor::Event::kNone; event = lane.next()) {
        if (event != LaneCursor::Event::kBegin || !takes(lane.call())) continue;
        for (const TensorUse& use : lane.call().tensors) needed_.push_back(use.id);
        if (needed_.size() > 2 * unique + (1 << 20)) unique = make_unique();
      }
    }
    make_unique();
  }

  void write_about_the_run() {
    capture::Encoder encoded;
    for (const Fact& fact : trace_.facts()) {
      encoded.clear();
      if (copier_.transcode(fact.encoded, encoded)) writer_.fact(fact.name, encoded.view());
    }
    encoded.clear();
    encoded.string(describe(filter_));
    writer_.fact("trimmed", encoded.view());
    for (const TestOutcome& test : trace_.tests()) {
      encoded.clear();
      encoded.dict(3);
      encoded.string("id");
      encoded.string(test.id);
      encoded.string("outcome");
      encoded.string(test.outcome);
      encoded.string("seconds");
      encoded.real(test.seconds);
      writer_.test(encoded.view());
    }
    for (const Note& note : trace_.notes()) writer_.note(note.kind, note.text);
  }

  static std::string describe(const CallFilter& filter) {
    std::string text;
    for (const std::string& op : filter.ops) text += " --only " + op;
    for (const std::string& phase : filter.phases) text += " --phase " + phase;
    for (const std::string& label : filter.labels) text += " --label " + label;
    if (filter.first != 0 || filter.last != UINT64_MAX)
      text += fmt::format(" --range {}:{}", filter.first, filter.last == UINT64_MAX ? "" : std::to_string(filter.last));
    return text.empty() ? "everything" : text.substr(1);
  }

  void write_lane(LaneCursor& lane) {
    std::vector<Open> open;
    bool begun = false;  // a lane without a kept call gets no chunk
    for (auto event = lane.next(); event != LaneCursor::Event::kNone; event = lane.next()) {
      const NativeCall& call = lane.call();
      if (event == LaneCursor::Event::kTensor) {
        if (!is_needed(lane.tensor().tensor.id) || !trace_.values().is_whole(lane.tensor().spec)) continue;
        if (!begun) writer_.lane(lane.lane(), call.thread);
        begun = true;
        writer_.tensor(lane.tensor().tensor, copier_.copy(lane.tensor().spec));
        continue;
      }
      if (event == LaneCursor::Event::kBegin) {
        while (!open.empty() && open.back().seq > call.parent) open.pop_back();
        Open now{call.seq, takes(call), 0};
        if (call.parent != 0 && !open.empty()) now.parent = open.back().kept ? open.back().seq : open.back().parent;
        if (now.kept) {
          if (!begun) writer_.lane(lane.lane(), call.thread);
          begun = true;
          if (call.parent != 0 && now.parent != call.parent) ++report_.parents_dropped;
          write_begin(call, now.parent, lane.ticks());
        } else {
          drop(call);
        }
        open.push_back(now);
        continue;
      }
      while (!open.empty() && open.back().seq > call.seq) open.pop_back();
      if (open.empty() || open.back().seq != call.seq) continue;  // counted by whoever streams the trace
      if (open.back().kept)
        write_end(call, lane.ticks());
      else
        keep_needed_results(lane, begun);
      open.pop_back();
    }
  }

  void write_begin(const NativeCall& call, std::uint64_t parent, std::uint64_t ticks) {
    written_ = call;
    written_.parent = parent;
    written_.call = copier_.copy(call.call);
    written_.context = copier_.copy(call.context);
    writer_.begin(written_, ticks);
  }

  void write_end(const NativeCall& call, std::uint64_t ticks) {
    written_ = call;
    written_.error = copier_.copy(call.error);
    written_.result = copier_.copy(call.result);
    if (written_.result == 0) written_.results.clear();
    std::erase_if(written_.writes, [this](const TensorWrite& write) { return !trace_.values().is_whole(write.spec); });
    for (TensorWrite& write : written_.writes) write.spec = copier_.copy(write.spec);
    writer_.end(written_, ticks);
    for (TensorData data : trace_.data_of(call.seq)) {
      const Blob* blob = data.hash ? trace_.blob(*data.hash) : nullptr;
      if (blob != nullptr) writer_.blob(*data.hash, copier_.copy(blob->description), blob->bytes);
      data.sketch = copier_.copy(data.sketch);
      writer_.data(call.seq, data);
    }
    if (const std::string_view device = trace_.device_of(call.seq); !device.empty()) {
      capture::Encoder encoded;
      if (copier_.transcode(device, encoded)) writer_.device(call.seq, encoded.view());
    }
  }

  // What a dropped call returned and a kept one gets becomes a tensor that was there before.
  void keep_needed_results(LaneCursor& lane, bool& begun) {
    const NativeCall& call = lane.call();
    const NativeValue* result = call.result != 0 ? trace_.values().value(call.result) : nullptr;
    if (result == nullptr) return;
    std::vector<ValueId> specs;
    collect_specs(*result, specs);
    for (std::size_t i = 0; i < call.results.size() && i < specs.size(); ++i) {
      if (!is_needed(call.results[i].id)) continue;
      if (!begun) writer_.lane(lane.lane(), call.thread);
      begun = true;
      writer_.tensor(call.results[i], copier_.copy(specs[i]));
    }
    trace_.values().forget();
  }

  void drop(const NativeCall& call) {
    const NativeValue* value = trace_.values().call(call.call);
    if (value == nullptr) {
      ++report_.not_whole;
      return;
    }
    ++report_.dropped[std::string(value->text)];
  }

  void write_counts() {
    std::map<std::pair<std::string, capture::Uncalled>, std::uint64_t> counts;
    for (const UnrecordedCalls& calls : trace_.unrecorded())
      counts[{std::string(calls.op), calls.reason}] += calls.calls;
    std::uint64_t dropped = 0;
    for (const auto& [op, calls] : report_.dropped) {
      counts[{op, capture::Uncalled::kFiltered}] += calls;
      dropped += calls;
    }
    for (const auto& [key, calls] : counts) {
      capture::Encoder name;
      name.string(key.first);
      writer_.unrecorded(key.second, writer_.value(name.view()), calls);
    }
    capture::Header& header = writer_.header();
    const capture::Header& before = trace_.header();
    header.calls_filtered = before.calls_filtered + dropped;
    header.calls_lost = before.calls_lost + report_.not_whole;
    header.opaque = before.opaque;
  }

  NativeTrace& trace_;
  const CallFilter& filter_;
  CallChooser chooser_;
  NativeWriter writer_;
  ValueCopier copier_;
  std::vector<std::uint64_t> needed_;  // sorted
  NativeCall written_;
  TrimReport report_;
};

}  // namespace

Result<TrimReport> trim(NativeTrace& trace, const CallFilter& filter, TraceOutput& output) {
  return Trim(trace, filter, output).run();
}

}  // namespace opwright::format
