// The calls of a native trace in the order in which they ended, merged over its lanes. What is held is the calls that
// have begun and not ended.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "format/native/native_trace.h"

namespace opwright {
class ByteReader;
}

namespace opwright::format {

// Reads the begin, end, tensor and thread records of one lane, and keeps its running numbers.
class LaneCursor {
 public:
  enum class Event : std::uint8_t { kNone, kBegin, kEnd, kTensor };

  LaneCursor(NativeTrace& trace, std::size_t first_chunk, std::size_t last_chunk)
      : trace_(&trace), chunk_(first_chunk), last_chunk_(last_chunk) {
    open_chunk();
  }

  // The next event; kNone at the end of the lane. Damaged records are counted and passed over.
  Event next();

  // Of the last event:
  const NativeCall& call() const { return call_; }  // begin: all but the end's fields; end: seq and the end's fields
  std::uint64_t ticks() const { return ticks_; }
  struct NewTensor {
    TensorResult tensor;
    ValueId spec = 0;
  };
  const NewTensor& tensor() const { return tensor_; }

  std::uint64_t seq() const { return seq_; }  // no later begin of this lane has a smaller number
  std::uint32_t lane() const { return lane_; }

 private:
  void open_chunk();
  bool read_begin(ByteReader& in);
  bool read_end(ByteReader& in);
  bool read_tensor(ByteReader& in);

  NativeTrace* trace_;
  std::size_t chunk_, last_chunk_;  // [chunk_, last_chunk_)
  std::size_t at_ = 0;
  std::uint32_t lane_ = 0;
  std::uint64_t thread_ = 0, seq_ = 0, ticks_ = 0, tensor_id_ = 0;
  ValueId context_ = 0;
  NativeCall call_;
  NewTensor tensor_;
};

// One cursor a lane.
std::vector<LaneCursor> lanes_of(NativeTrace& trace);

class CallStream {
 public:
  explicit CallStream(NativeTrace& trace);
  // Null at the end. Valid until the next call. A call that never ended comes when that is clear: the call around it
  // has ended, its thread has begun another one outside of it, or the trace is over.
  const NativeCall* next();

  // Every call that will come has this number or a greater one.
  std::uint64_t settled_below() const;
  std::uint64_t begun() const { return begun_; }

 private:
  struct Open {  // a call that has begun
    NativeCall call;
    std::uint64_t ticks = 0;
  };
  struct Lane {
    LaneCursor cursor;
    std::vector<Open> stack;  // the first `depth` are open calls; the rest is room to be used again
    std::size_t depth = 0;
    NativeCall ended;  // its next call to end, where it has one
    bool has_ended = false;
    std::uint64_t ticks = 0;
    bool done = false;
  };
  void advance(std::size_t index);
  void give_up(Lane& lane, std::uint64_t above);
  void finish();
  void push(std::size_t lane);
  bool later(std::size_t a, std::size_t b) const;

  NativeTrace& trace_;
  std::vector<Lane> lanes_;
  std::vector<std::size_t> heap_;  // of lanes, the earliest end first
  NativeCall current_;
  std::deque<NativeCall> unended_;
  bool drained_ = false;
  std::uint64_t begun_ = 0;
};

// The same calls in the order in which they began: a call is held until all that began before it have ended.
class CallsInOrder {
 public:
  explicit CallsInOrder(NativeTrace& trace) : trace_(trace), stream_(trace) {}
  const NativeCall* next();
  std::uint64_t begun() const { return stream_.begun(); }

 private:
  NativeTrace& trace_;
  CallStream stream_;
  std::vector<NativeCall> waiting_;  // a heap, the smallest number first
  NativeCall current_;
  bool ended_ = false;
};

}  // namespace opwright::format
