// A sink that keeps what a reader hands over. For tests only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "format/trace_sink.h"

namespace opwright::format {

class TestSink final : public TraceSink {
 public:
  struct Seen {
    std::string source, machine, trace_uid, extra;
    std::int64_t count = kUncounted, raised = 0;
    std::string error;
  };
  struct Call {
    FormKind kind = FormKind::kEra2;
    std::string op, arguments, config_hash, sweep_source_hash, hashed_machine, path;
    std::size_t offset = 0;
    std::vector<Seen> sightings;
  };
  struct Lost {
    std::string kind, path, example;
    std::size_t offset = 0;
  };

  Status observe(const Observed& o) override {
    if (calls.size() == stop_after) return fail(ErrorCode::kIo, "enough");
    Call call{o.kind,
              std::string(o.op),
              std::string(o.arguments),
              std::string(o.config_hash),
              std::string(o.sweep_source_hash),
              std::string(o.hashed_machine),
              std::string(o.path),
              o.offset,
              {}};
    for (const Sighting& s : o.sightings)
      call.sightings.push_back({std::string(s.source), std::string(s.machine), std::string(s.trace_uid),
                                std::string(s.extra), s.count, s.raised, std::string(s.error)});
    calls.push_back(std::move(call));
    return {};
  }
  void lose(const Loss& loss) override {
    losses.push_back({std::string(loss.kind), std::string(loss.path), loss.example, loss.offset});
  }
  void leave_out(std::string_view what, std::size_t count) override { left_out[std::string(what)] += count; }
  void describe(const TraceInfo& trace) override { described.push_back(trace); }
  Status end_trace(const TraceInfo& trace) override {
    ended.push_back(trace);
    return {};
  }
  void add_bytes(std::size_t count) override { bytes += count; }
  void add_file() override { ++files; }

  // The kinds of what was lost, in order, joined by spaces.
  std::string lost_kinds() const {
    std::string kinds;
    for (const Lost& lost : losses) kinds += (kinds.empty() ? "" : " ") + lost.kind;
    return kinds;
  }

  std::size_t stop_after = SIZE_MAX;
  std::vector<Call> calls;
  std::vector<Lost> losses;
  std::map<std::string, std::size_t> left_out;
  std::vector<TraceInfo> described, ended;
  std::size_t bytes = 0, files = 0;
};

}  // namespace opwright::format
