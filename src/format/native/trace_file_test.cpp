#include "format/native/trace_file.h"

#include <gtest/gtest.h>

#include <set>

#include "base/test_folder.h"
#include "format/native/call_stream.h"
#include "format/native/test_trace.h"

namespace opwright::format {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

std::string kinds(const TraceDamage& damage) {
  std::string all;
  for (const auto& [kind, entry] : damage.entries()) all += (all.empty() ? "" : " ") + kind;
  return all;
}

// What can be read of a trace: each call as a line of its numbers and its value's bytes.
struct Seen {
  std::vector<std::string> calls;
  std::string damage;
  std::uint64_t begun = 0;
};

Seen seen_in(const std::string& bytes) {
  auto trace = NativeTrace::from_bytes(bytes, "t.opwt");
  Seen seen;
  if (!trace) {
    seen.damage = trace.error().message;
    return seen;
  }
  CallStream stream(*trace);
  while (const NativeCall* call = stream.next()) {
    std::string line = std::to_string(call->seq) + " in " + std::to_string(call->parent) + " at " +
                       std::to_string(call->start_ns) + " " + std::string(trace->values().encoded(call->call));
    if (!trace->values().has(call->call)) {  // it lay in a lost part: counted there
      seen.calls.push_back("without its value");
      continue;
    }
    for (const TensorUse& use : call->tensors)
      line += " #" + std::to_string(use.id) + "." + std::to_string(use.version);
    if (call->finished) {
      line += " took " + std::to_string(call->duration_ns);
      for (const TensorResult& ret : call->results) line += " -> #" + std::to_string(ret.id);
    }
    seen.calls.push_back(line);
  }
  seen.begun = stream.begun();
  seen.damage = kinds(trace->damage());
  return seen;
}

// Two lanes, several chunks, nested calls, values, texts, facts: small, but with one of everything.
std::string small_trace(std::vector<std::size_t>* chunk_starts = nullptr) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t spec = ttnn.spec({1, 32});
  const std::uint32_t add = trace.call_value("ttnn.add", {tensor(spec), integer(3)});
  const std::uint32_t result = trace.value(tensor(spec));
  trace.fact("uid", string("u"));
  trace.context({{"phase", string("decode")}});
  const std::uint64_t outer = trace.begin(add, {{1, 0}});
  trace.end(trace.begin(add, {{1, 0}}, outer), {.result = result, .tensors = {{5, 0}}});
  trace.next_chunk();
  trace.end(trace.begin(add, {{5, 0}}, outer));
  trace.lane(1, 200);
  trace.call(add, {{9, 2}});
  trace.lane(0);
  trace.end(outer);
  trace.call(add, {{1, 1}});
  if (chunk_starts != nullptr)
    for (std::size_t i = 0; i < 4; ++i) chunk_starts->push_back(capture::kHeaderSize + i * capture::kUnit);
  return trace.bytes();
}

TEST(NativeFile, HeadersAreChecked) {
  const auto error = [](const std::string& bytes) {
    const auto file = NativeFile::from_text(bytes, "t.opwt");
    return file ? std::string("read") : file.error().message;
  };
  EXPECT_EQ(error("{}"), "t.opwt: not a native trace (it does not begin with OPWTRACE)");
  EXPECT_EQ(error("OPWTRACE"), "t.opwt: cut inside its first page (8 bytes); there are no calls in it");
  EXPECT_EQ(error(TestTrace(2).bytes()),
            "t.opwt: a native trace of version 2, this build reads up to 1; read it with a newer opwright");
  std::string damaged = TestTrace().bytes();
  damaged[30] ^= 1;
  EXPECT_EQ(error(damaged),
            "t.opwt: the first page of the trace is damaged (its checksum is wrong); get the file again");
  EXPECT_EQ(error(TestTrace().bytes()), "read");
}

TEST(NativeFile, AVersionIsNamedWhateverElseTheHeaderSays) {
  std::string bytes = TestTrace(9).bytes();
  for (std::size_t i = 16; i < bytes.size(); ++i) bytes[i] = 'x';
  const auto file = NativeFile::from_text(bytes, "t.opwt");
  ASSERT_FALSE(file);
  EXPECT_EQ(file.error().code, ErrorCode::kUnsupported);
}

TEST(NativeFile, ReservedPartsAreNoLoss) {
  std::string bytes = small_trace();
  bytes.resize(capture::kHeaderSize + 7 * capture::kUnit);
  EXPECT_EQ(seen_in(bytes).damage, "");
  EXPECT_EQ(seen_in(bytes).calls.size(), 5u);
}

TEST(NativeFile, ChunksBehindADamagedOneAreFound) {
  const std::string whole = small_trace();
  std::string bytes = whole;
  bytes[capture::kHeaderSize + capture::kUnit + 20] ^= 1;  // header of the second chunk: lane 0, ordinal 1
  const Seen seen = seen_in(bytes);
  EXPECT_EQ(seen.damage, "damaged_chunk missing_calls missing_chunk");
  // The call of the lost chunk is gone, the others are there; the outer one ends in a later chunk.
  EXPECT_EQ(seen.calls.size(), 4u);

  bytes = whole;
  bytes[capture::kHeaderSize + capture::kUnit + 64 + 12] ^= 1;  // its first record
  EXPECT_EQ(seen_in(bytes).damage, "damaged_record missing_calls");
  EXPECT_EQ(seen_in(bytes).calls.size(), 4u);
}

TEST(NativeFile, ChunksBehindALongDamagedOneAreFound) {
  TestTrace trace;
  trace.record(11, text("k") + text(std::string(200'000, 'x')));
  trace.next_chunk();
  trace.call(trace.call_value("ttnn.add", {}));
  std::string bytes = trace.bytes();
  EXPECT_EQ(seen_in(bytes).damage, "");
  EXPECT_EQ(seen_in(bytes).calls.size(), 1u);
  bytes[capture::kHeaderSize + 5000] ^= 1;
  EXPECT_EQ(seen_in(bytes).damage, "damaged_chunk damaged_record");
  EXPECT_EQ(seen_in(bytes).calls.size(), 1u);
}

TEST(NativeFile, ATraceOfARunningOrKilledProcess) {
  TestTrace trace;
  trace.call(trace.call_value("ttnn.add", {}));
  trace.header.state = static_cast<std::uint32_t>(capture::State::kOpen);
  std::string bytes = trace.bytes(false);
  EXPECT_EQ(seen_in(bytes).damage, "");
  bytes.resize(bytes.size() - 1);
  EXPECT_EQ(seen_in(bytes).damage, "cut_input");  // reserved, so it was there once
}

// Cut anywhere, a trace gives the calls before the cut, each of them as it was, and never fewer than a shorter cut.
TEST(NativeFile, CutAtEveryByte) {
  const std::string whole = small_trace();
  const Seen all = seen_in(whole);
  ASSERT_EQ(all.damage, "");
  ASSERT_EQ(all.calls.size(), 5u);
  const std::set<std::string> sound(all.calls.begin(), all.calls.end());
  std::uint64_t begun = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // Inside the zeros between chunks one cut is like the other.
    const std::size_t in_unit = size < capture::kHeaderSize ? 0 : (size - capture::kHeaderSize) % capture::kUnit;
    if (in_unit > 4096 && in_unit % 4099 != 0) continue;
    const Seen seen = seen_in(whole.substr(0, size));
    EXPECT_GE(seen.begun, begun) << size;
    begun = std::max(begun, seen.begun);
    // It is told, unless nothing but the very last end is missing: that call shows as one that never ended.
    EXPECT_TRUE(!seen.damage.empty() || seen.begun == all.begun) << size;
    for (const std::string& call : seen.calls) {
      const bool unfinished = call.find(" took ") == std::string::npos;
      EXPECT_TRUE(unfinished || sound.count(call) == 1) << size << ": " << call;
    }
  }
}

TEST(NativeFile, AnyBitTurnedIsNoticedOrHarmless) {
  const std::string whole = small_trace();
  const Seen all = seen_in(whole);
  const std::set<std::string> sound(all.calls.begin(), all.calls.end());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    const std::size_t in_unit = at < capture::kHeaderSize ? 0 : (at - capture::kHeaderSize) % capture::kUnit;
    if (in_unit > 2048 || (at > 200 && at < capture::kHeaderSize)) continue;
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ (1 << (at % 8)));
    const Seen seen = seen_in(bytes);
    const bool live = at >= offsetof(capture::Header, state) && at < capture::kHeaderSize;
    if (live) continue;  // counters and the tick rate are not under a checksum
    for (const std::string& call : seen.calls)
      EXPECT_TRUE(call.find(" took ") == std::string::npos || sound.count(call) == 1) << at << ": " << call;
    EXPECT_TRUE(!seen.damage.empty() || seen.calls == all.calls) << at;
  }
}

TEST(NativeFile, UnknownRecordsArePassedOverAndTold) {
  TestTrace trace;
  trace.record(99, "something new");
  trace.call(trace.call_value("ttnn.add", {}));
  const Seen seen = seen_in(trace.bytes());
  EXPECT_EQ(seen.damage, "unknown_record");
  EXPECT_EQ(seen.calls.size(), 1u);
}

TEST(NativeFile, RecordsThatAreNotBuiltRight) {
  for (const std::uint8_t kind : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 13, 14}) {
    for (const std::string& fields : {std::string(), std::string("\xff"), std::string(12, '\xff')}) {
      TestTrace trace;
      trace.call(trace.call_value("ttnn.add", {}));
      trace.record(kind, fields);
      const Seen seen = seen_in(trace.bytes());
      EXPECT_EQ(seen.calls.size(), 1u) << int{kind};
    }
  }
}

}  // namespace
}  // namespace opwright::format
