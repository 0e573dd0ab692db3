// A power failure leaves the pages of a mapped trace in any mixture of old and new. What is read of it was recorded,
// and what was recorded and is not read is counted as lost: all that the first page knows of.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "format/native/call_stream.h"
#include "format/native/test_trace.h"

namespace opwright::format {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

constexpr std::size_t kPage = 4096;
constexpr int kCalls = 3000;

// Two lanes with some chunks each; what the file was after each hundredth call, the last one closed in order or not.
std::vector<std::string> history(bool closed) {
  TestTrace trace;
  trace.header.state = static_cast<std::uint32_t>(capture::State::kOpen);
  std::vector<std::string> states;
  TtnnValues ttnn(trace);
  std::vector<std::uint32_t> calls;
  for (int i = 0; i < 40; ++i)
    calls.push_back(
        trace.call_value("ttnn.op" + std::to_string(i), {tensor(ttnn.spec({32, 32 * (i + 1)})), integer(i)}));
  for (int i = 0; i < kCalls; ++i) {
    if (trace.room() < 200) trace.lane(static_cast<std::uint32_t>(i % 2));
    trace.call(calls[static_cast<std::size_t>(i) % calls.size()], {{static_cast<std::uint64_t>(i) + 1, 0}});
    if (i % 100 == 99) states.push_back(trace.bytes(false));
  }
  if (closed) trace.header.state = static_cast<std::uint32_t>(capture::State::kClosed);
  states.push_back(trace.bytes(closed));
  return states;
}

using Calls = std::map<std::uint64_t, std::string>;

struct Read {
  Calls calls;
  bool says_damage = false;
  std::uint64_t counted = 0;  // by the first page
  bool closed = false;
};

std::string text_of(const NativeCall& call) {
  std::string text = std::to_string(call.call) + "@" + std::to_string(call.start_ns);
  for (const auto& argument : call.tensors) text += " " + std::to_string(argument.id);
  return text;
}

Result<Read> read(const std::string& bytes) {
  auto trace = NativeTrace::from_bytes(bytes, "t.opwt");
  if (!trace) return fail(trace.error());
  Read read;
  CallStream stream(*trace);
  while (const NativeCall* call = stream.next()) read.calls[call->seq] = text_of(*call);
  read.says_damage = !trace->damage().empty();
  read.counted = trace->header().calls;
  read.closed = trace->header().state == static_cast<std::uint32_t>(capture::State::kClosed);
  return read;
}

void expect_valid(const std::string& bytes, const Calls& recorded, const std::string& what) {
  const auto found = read(bytes);
  if (!found) return;  // the first page is gone, and the error says so
  for (const auto& [seq, text] : found->calls) {
    const auto original = recorded.find(seq);
    ASSERT_NE(original, recorded.end()) << what << ": call " << seq << " was never made";
    ASSERT_EQ(text, original->second) << what << ": call " << seq << " is another one";
  }
  constexpr std::uint64_t kLanes = 2;
  const std::uint64_t known = found->closed ? found->counted : found->counted - std::min(found->counted, kLanes);
  EXPECT_TRUE(found->says_damage || found->calls.size() >= known)
      << what << ": " << found->calls.size() << " of " << known << " calls, and nothing is said";
}

class NativePowerLoss : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(OpenAndClosed, NativePowerLoss, ::testing::Bool());

TEST_P(NativePowerLoss, AnyMixtureOfOldAndNewPages) {
  const std::vector<std::string> states = history(GetParam());
  const std::string& last = states.back();
  const auto whole = read(last);
  ASSERT_TRUE(whole);
  ASSERT_EQ(whole->calls.size(), std::size_t{kCalls});
  ASSERT_FALSE(whole->says_damage);
  ASSERT_GT(last.size(), 2 * capture::kUnit);
  std::mt19937 random(7);
  int with_losses = 0;
  for (int point = 0; point < 600; ++point) {
    // Sectors of 512 bytes or pages of 4096; each as it was at one of the moments up to a last one.
    const std::size_t sector = point % 2 == 0 ? kPage : 512;
    const std::size_t until = random() % states.size();
    const bool mostly_new = point % 3 != 0;
    std::string bytes(states[until].size(), '\0');
    for (std::size_t at = 0; at < bytes.size(); at += sector) {
      const bool kept = !mostly_new || random() % 20 != 0;
      const std::size_t from = kept && mostly_new ? until : random() % (until + 1);
      if (at < states[from].size() && (kept || random() % 2 == 0))
        bytes.replace(at, std::min(sector, bytes.size() - at), states[from], at, std::min(sector, bytes.size() - at));
      if (bytes.size() > states[until].size()) bytes.resize(states[until].size());
    }
    expect_valid(bytes, whole->calls, "mixture " + std::to_string(point));
    const auto found = read(bytes);
    with_losses += found && found->says_damage;
  }
  EXPECT_GT(with_losses, 100);
}

TEST_P(NativePowerLoss, EveryPageLostAndEveryLength) {
  const std::vector<std::string> states = history(GetParam());
  const std::string& last = states.back();
  const auto whole = read(last);
  ASSERT_TRUE(whole);
  for (std::size_t at = 0; at < last.size(); at += kPage) {
    std::string bytes = last;
    const std::size_t size = std::min(kPage, last.size() - at);
    bytes.replace(at, size, size, '\0');
    expect_valid(bytes, whole->calls, "page at " + std::to_string(at) + " lost");
    expect_valid(last.substr(0, at), whole->calls, "cut to " + std::to_string(at));
    expect_valid(last.substr(0, at + 100), whole->calls, "cut to " + std::to_string(at + 100));
  }
}

}  // namespace
}  // namespace opwright::format
