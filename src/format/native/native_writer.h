// Writes a native trace that the reader takes for a recorded one: for trimmed traces, and for traces of other formats.
// Lanes are written one after the other. What a record names must have been written before (value() gives its id).
//
//   NativeWriter writer(output, {.start_unix_ns = …});
//   const ValueId call = writer.value(encoded);
//   writer.begin(call_at_hand, ticks); … writer.end(call_at_hand, ticks); … writer.finish();
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/hash.h"
#include "base/result.h"
#include "capture/encoder.h"
#include "format/native/native_call.h"
#include "format/native/trace_output.h"

namespace opwright::format {

class NativeWriter {
 public:
  struct Start {
    std::uint32_t pid = 0;
    std::uint64_t start_unix_ns = 0;
    std::uint64_t start_ticks = 0;
    std::uint64_t ticks_per_second = 1'000'000'000;
  };
  NativeWriter(TraceOutput& output, const Start& start);

  // Goes on with a lane; in a new chunk, unless it is the one at hand.
  void lane(std::uint32_t number, std::uint64_t thread);
  // The id of a value; it is written when it is new.
  ValueId value(std::string_view encoded);
  void text(ValueId id, bool has_dict, std::string_view text);

  // Ids inside `call` are those of this writer; numbers of calls of a lane and ticks only grow.
  void begin(const NativeCall& call, std::uint64_t ticks);
  void end(const NativeCall& call, std::uint64_t ticks);
  void tensor(const TensorResult& tensor, ValueId spec);
  void fact(std::string_view name, std::string_view encoded);
  void test(std::string_view encoded);
  void note(std::string_view kind, std::string_view text);
  void unrecorded(capture::Uncalled reason, ValueId op, std::uint64_t calls);
  void blob(const Hash128& hash, ValueId description, std::string_view bytes);  // once a hash
  void data(std::uint64_t seq, const TensorData& data);
  void device(std::uint64_t seq, std::string_view encoded);

  capture::Header& header() { return header_; }  // live counters: calls, errors and values are counted here
  std::uint64_t calls() const { return header_.calls; }
  // Writes what is left and the header. Errors of the output show here.
  Status finish();

 private:
  struct Lane {
    std::uint64_t ordinal = 0, seq = 0, ticks = 0, tensor = 0, thread = 0;
    ValueId context = 0;
  };
  void write(const capture::Encoder& payload);
  void start_chunk(std::size_t payload);
  void close_chunk(bool last);
  void room_for(std::size_t payload);
  void see_thread(std::uint64_t thread);
  void see_context(ValueId context);

  TraceOutput& output_;
  Status status_;
  capture::Header header_{};
  std::unordered_map<std::uint32_t, Lane> lanes_;
  std::uint32_t number_ = 0;
  Lane* lane_ = nullptr;
  std::uint32_t units_ = 1;
  std::string chunk_;  // "" none open
  capture::Encoder payload_;
  std::unordered_map<Hash128, ValueId, Hash128Hasher> values_;
  std::unordered_set<Hash128, Hash128Hasher> blobs_;
};

}  // namespace opwright::format
