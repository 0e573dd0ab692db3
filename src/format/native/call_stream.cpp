#include "format/native/call_stream.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "base/limits.h"

namespace opwright::format {

using capture::Record;

namespace {

constexpr std::size_t kDeepestCalls = 10'000;
constexpr std::size_t kMostUnended = 4096;  // held at once

}  // namespace

// ---------------------------------------------------------------------------------------------------------- LaneCursor

void LaneCursor::open_chunk() {
  if (chunk_ >= last_chunk_) return;
  const NativeFile::Chunk& chunk = trace_->file().chunks()[chunk_];
  at_ = chunk.offset;
  lane_ = chunk.header.lane;
  thread_ = chunk.header.thread;
  seq_ = chunk.header.base_seq;
  ticks_ = chunk.header.base_ticks;
  tensor_id_ = chunk.header.base_tensor;
  context_ = chunk.header.context;
}

LaneCursor::Event LaneCursor::next() {
  while (chunk_ < last_chunk_) {
    if (at_ >= trace_->file().chunks()[chunk_].end) {
      ++chunk_;
      open_chunk();
      continue;
    }
    const RecordView record = trace_->file().record_at(at_);
    ByteReader in(record.payload);
    bool sound = true;
    switch (record.kind) {
      case Record::kBegin:
        call_.offset = record.offset;
        sound = read_begin(in);
        if (sound) return Event::kBegin;
        break;
      case Record::kEnd:
        sound = read_end(in);
        if (sound) return Event::kEnd;
        break;
      case Record::kTensor:
        sound = read_tensor(in);
        if (sound) return Event::kTensor;
        break;
      case Record::kContext:
        context_ = in.id();
        sound = in.ok();
        break;
      case Record::kThread:
        thread_ = in.varint();
        sound = in.ok();
        break;
      default:
        break;
    }
    if (sound) continue;
    // The numbers that the rest of the chunk counts from are not known any more.
    trace_->damage().add("damaged_record", record.offset, [&] {
      return fmt::format(
          "a record of kind {} is not built as the format says; the calls behind it in its chunk are lost",
          static_cast<int>(record.kind));
    });
    ++chunk_;
    open_chunk();
  }
  return Event::kNone;
}

bool LaneCursor::read_begin(ByteReader& in) {
  const std::uint64_t added = in.varint();
  seq_ += added;
  ticks_ += in.varint();
  const std::uint64_t distance = in.varint();
  call_.seq = seq_;
  call_.parent = distance > 0 && distance < seq_ ? seq_ - distance : 0;
  call_.lane = lane_;
  call_.thread = thread_;
  call_.start_ns = trace_->ns_of(ticks_);
  call_.context = context_;
  call_.call = in.id();
  call_.tensors.resize(in.count(2));
  for (TensorUse& use : call_.tensors) {
    tensor_id_ += static_cast<std::uint64_t>(in.zigzag());
    use = {tensor_id_, in.varint()};
  }
  // The end's fields of the event before must not show in this one.
  call_.error = call_.result = 0;
  call_.results.clear();
  call_.writes.clear();
  call_.frees.clear();
  call_.thinned = call_.direct = false;
  call_.duration_ns = 0;
  return in.ok() && added > 0;
}

bool LaneCursor::read_end(ByteReader& in) {
  const std::uint64_t distance = in.varint();
  ticks_ += in.varint();
  const std::uint64_t flags = in.varint();
  call_.seq = seq_ - distance;
  call_.error = (flags & capture::kEndError) != 0 ? in.id() : 0;
  call_.result = 0;
  call_.results.clear();
  call_.writes.clear();
  call_.frees.clear();
  if ((flags & capture::kEndResult) != 0) {
    call_.result = in.id();
    call_.results.resize(in.count(5));
    for (TensorResult& result : call_.results) {
      tensor_id_ += static_cast<std::uint64_t>(in.zigzag());
      result.id = tensor_id_;
      result.version = in.varint();
      result.storage = in.varint();
      result.address = in.varint();
      result.view_of = in.varint();
    }
  }
  if ((flags & capture::kEndWrites) != 0) {
    call_.writes.resize(in.count(3));
    for (TensorWrite& write : call_.writes) {
      write.slot = in.id();
      write.spec = in.id();
      write.version = in.varint();
    }
  }
  if ((flags & capture::kEndFrees) != 0) {
    call_.frees.resize(in.count(1));
    for (std::uint32_t& slot : call_.frees) slot = in.id();
  }
  call_.thinned = (flags & capture::kEndThinned) != 0;
  call_.direct = (flags & capture::kEndDirect) != 0;
  return in.ok() && distance <= seq_;
}

bool LaneCursor::read_tensor(ByteReader& in) {
  tensor_.tensor.id = in.varint();
  tensor_.tensor.version = in.varint();
  tensor_.tensor.storage = in.varint();
  tensor_.tensor.address = in.varint();
  tensor_.tensor.view_of = in.varint();
  tensor_.spec = in.id();
  return in.ok();
}

std::vector<LaneCursor> lanes_of(NativeTrace& trace) {
  std::vector<LaneCursor> lanes;
  const auto& chunks = trace.file().chunks();
  for (std::size_t first = 0; first < chunks.size();) {
    std::size_t last = first + 1;
    while (last < chunks.size() && chunks[last].header.lane == chunks[first].header.lane) ++last;
    lanes.emplace_back(trace, first, last);
    first = last;
  }
  return lanes;
}

// ---------------------------------------------------------------------------------------------------------- CallStream

CallStream::CallStream(NativeTrace& trace) : trace_(trace) {
  for (LaneCursor& cursor : lanes_of(trace)) lanes_.push_back({std::move(cursor), {}, 0, {}, 0, false});
  for (std::size_t lane = 0; lane < lanes_.size(); ++lane) {
    advance(lane);
    if (!lanes_[lane].done) push(lane);
  }
}

bool CallStream::later(std::size_t a, std::size_t b) const {
  return lanes_[a].ticks != lanes_[b].ticks ? lanes_[a].ticks > lanes_[b].ticks : a > b;
}

void CallStream::push(std::size_t lane) {
  heap_.push_back(lane);
  std::push_heap(heap_.begin(), heap_.end(), [this](std::size_t a, std::size_t b) { return later(a, b); });
}

// Calls of a lane that began after call `above` and are open will never end: they were inside it, or inside a call that
// is gone.
void CallStream::give_up(Lane& lane, std::uint64_t above) {
  for (; lane.depth > 0 && lane.stack[lane.depth - 1].call.seq > above; --lane.depth)
    unended_.push_back(std::move(lane.stack[lane.depth - 1].call));
}

// Moves a lane on to the next call that ends in it; calls that begin on the way become open. Stops before that where
// many calls never end: they are given out first.
void CallStream::advance(std::size_t index) {
  Lane& lane = lanes_[index];
  lane.has_ended = false;
  while (true) {
    if (unended_.size() >= kMostUnended) {
      lane.ticks = lane.cursor.ticks();
      return;
    }
    const LaneCursor::Event event = lane.cursor.next();
    if (event == LaneCursor::Event::kNone) {
      lane.done = true;
      give_up(lane, 0);
      return;
    }
    const NativeCall& seen = lane.cursor.call();
    if (event == LaneCursor::Event::kBegin) {
      ++begun_;
      give_up(lane, seen.parent);
      if (lane.depth >= kDeepestCalls) {
        trace_.damage().add("damaged_record", seen.offset, [&] {
          return fmt::format("calls inside calls, more than {} deep; those inside are lost", kDeepestCalls);
        });
        continue;
      }
      if (lane.depth == lane.stack.size()) lane.stack.emplace_back();
      Open& open = lane.stack[lane.depth++];
      open.ticks = lane.cursor.ticks();
      open.call = seen;  // copies into room that is there already
      open.call.finished = false;
    } else if (event == LaneCursor::Event::kEnd) {
      give_up(lane, seen.seq);
      if (lane.depth == 0 || lane.stack[lane.depth - 1].call.seq != seen.seq) {
        trace_.damage().add("end_without_begin", seen.offset,
                            [&] { return fmt::format("call {} ends, but its begin is not in the file", seen.seq); });
        continue;
      }
      Open& open = lane.stack[--lane.depth];
      std::swap(lane.ended, open.call);
      lane.ended.finished = true;
      lane.ended.duration_ns = std::max<std::int64_t>(0, trace_.ns_of(lane.cursor.ticks()) - lane.ended.start_ns);
      lane.ended.error = seen.error;
      lane.ended.result = seen.result;
      lane.ended.results = seen.results;
      lane.ended.writes = seen.writes;
      lane.ended.frees = seen.frees;
      lane.ended.thinned = seen.thinned;
      lane.ended.direct = seen.direct;
      lane.ticks = lane.cursor.ticks();
      lane.has_ended = true;
      return;
    }
  }
}

const NativeCall* CallStream::next() {
  while (unended_.empty() && !heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), [this](std::size_t a, std::size_t b) { return later(a, b); });
    const std::size_t lane = heap_.back();
    heap_.pop_back();
    const bool has_ended = lanes_[lane].has_ended;
    if (has_ended) std::swap(current_, lanes_[lane].ended);
    advance(lane);
    if (!lanes_[lane].done) push(lane);
    if (has_ended) return &current_;
  }
  if (unended_.empty()) {
    if (!drained_) finish();
    return nullptr;
  }
  current_ = std::move(unended_.front());
  unended_.pop_front();
  return &current_;
}

void CallStream::finish() {
  drained_ = true;
  const capture::Header& header = trace_.header();
  // While the program runs a call is counted before it is written: one a thread may be on its way.
  const bool closed = header.state == static_cast<std::uint32_t>(capture::State::kClosed);
  const bool open = header.state == static_cast<std::uint32_t>(capture::State::kOpen);
  if ((closed || open) && header.calls > begun_ + (closed ? 0 : lanes_.size())) {
    trace_.damage().add(
        "missing_calls", trace_.file().bytes().size(),
        [&] { return fmt::format("the recorder counted {} calls, {} are in the file", header.calls, begun_); },
        header.calls - begun_);
  }
}

std::uint64_t CallStream::settled_below() const {
  std::uint64_t least = UINT64_MAX;
  for (const NativeCall& call : unended_) least = std::min(least, call.seq);
  for (const Lane& lane : lanes_) {
    if (lane.done) continue;
    least = std::min(least, lane.cursor.seq() + 1);
    if (lane.has_ended) least = std::min(least, lane.ended.seq);
    if (lane.depth > 0) least = std::min(least, lane.stack.front().call.seq);
  }
  return least;
}

// -------------------------------------------------------------------------------------------------------- CallsInOrder

const NativeCall* CallsInOrder::next() {
  const auto later = [](const NativeCall& a, const NativeCall& b) { return a.seq > b.seq; };
  while (!ended_) {
    if (!waiting_.empty() && waiting_.front().seq < stream_.settled_below()) break;
    if (waiting_.size() >= limits().distinct) {
      trace_.damage().add("order_lost", waiting_.front().offset, [this] {
        return limit_words(&Limits::distinct, fmt::format("{} calls inside one that has not ended: from here on calls "
                                                          "may come before the one around them",
                                                          waiting_.size()));
      });
      break;
    }
    const NativeCall* call = stream_.next();
    if (call == nullptr) {
      ended_ = true;
      break;
    }
    waiting_.push_back(*call);
    std::push_heap(waiting_.begin(), waiting_.end(), later);
  }
  if (waiting_.empty()) return nullptr;
  std::pop_heap(waiting_.begin(), waiting_.end(), later);
  current_ = std::move(waiting_.back());
  waiting_.pop_back();
  return &current_;
}

}  // namespace opwright::format
