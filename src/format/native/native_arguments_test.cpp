#include "format/native/native_arguments.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "format/native/call_stream.h"
#include "format/native/native_calls.h"
#include "format/native/test_trace.h"

namespace opwright::format {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

// The arguments of the last call, as the store keeps them; "wrong: …" where it says so. The tree always says the same.
std::string arguments(TestTrace& trace) {
  auto read = NativeTrace::from_bytes(trace.bytes(), "t.opwt");
  EXPECT_TRUE(read);
  NativeArguments maker(*read, nullptr);
  CallStream calls(*read);
  CallArguments made;
  std::string_view op;
  std::string wrong;
  while (const NativeCall* call = calls.next()) {
    const auto outcome = maker.make(*call, made, op, wrong);
    EXPECT_NE(outcome, NativeArguments::Outcome::kNotWhole);
  }
  if (!wrong.empty()) return "wrong: " + wrong;
  json::Document document;
  const auto root = document.parse(made.text);
  EXPECT_TRUE(root) << made.text;
  EXPECT_EQ(document.duplicate_keys(), 0u);
  std::string of_tree;
  json::append_python(of_tree, made.tree, {.blanks = false});
  EXPECT_EQ(of_tree, made.text);
  return made.text;
}

std::string big(std::string_view digits) { return "I" + text(digits); }

// A value as a keyword argument.
std::string written(TestTrace& trace, const std::string& encoded) {
  trace.call(trace.call_value("f", {}, {{"k", encoded}}), {{1, 0}, {2, 0}});
  const std::string text = arguments(trace);
  return text.starts_with("{\"k\":") ? text.substr(5, text.size() - 6) : text;
}
std::string written(const std::string& encoded) {
  TestTrace trace;
  return written(trace, encoded);
}

TEST(NativeArguments, PlainValues) {
  EXPECT_EQ(written(list({none(), boolean(true), integer(-3), real(0.1), real(1e300), string("\"ä")})),
            R"([null,true,-3,0.1,1e+300,"\"\u00e4"])");
  EXPECT_EQ(written(list({real(INFINITY), real(-INFINITY), real(NAN)})), R"(["inf","-inf","nan"])");
  EXPECT_EQ(written(string("<f at 0x7fAb>")), R"("<f>")");
  EXPECT_EQ(written(string("no UTF-8: \xff")), R"("no UTF-8: \u00ff")");
}

TEST(NativeArguments, OfKeysThatBecomeOneTextTheLastHolds) {
  TestTrace trace;
  const std::string both = "{" + varint(2) + integer(1) + string("a") + string("1") + string("b");
  EXPECT_EQ(written(trace, both), R"({"1":"b"})");
}

TEST(NativeArguments, MembersSpeakWhereTheTextSaysNothing) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t buffer = ttnn.enum_value("BufferType", "L1");
  const std::uint32_t config = trace.shown(
      structure("SocketMemoryConfig", {{"type", ref(buffer)}, {"size", integer(4)}, {"@text", string("…")}}),
      "<ttnn._ttnn.mesh_socket.SocketMemoryConfig object at 0x7f01>", false);
  EXPECT_EQ(written(trace, ref(config)), R"({"__type__":"SocketMemoryConfig","fields":{"size":4,)"
                                         R"("type":{"repr":"BufferType.L1","type":"BufferType"}}})");
  // A text that reads well stays, and a handle has no members but where it lies.
  const std::uint32_t coord = trace.shown(structure("SubDeviceId", {{"id", integer(3)}}), "SubDeviceId(3)", false);
  EXPECT_EQ(written(trace, ref(coord)), R"j({"type":"SubDeviceId","value":"SubDeviceId(3)"})j");
  const std::uint32_t handle =
      trace.shown(structure("global_semaphore", {{"address", integer(77)}}), "<semaphore object at 0x1>", false);
  EXPECT_EQ(written(trace, ref(handle)), R"({"type":"global_semaphore","value":"<semaphore object>"})");
}

TEST(NativeArguments, ATensorInsideAnObjectIsNotItsElements) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t inputs = trace.shown(structure("SliceInputs", {{"input", tensor(ttnn.spec({1, 2}))}}),
                                           "SliceInputs(input=ttnn.Tensor([[1.5, 2.5]], shape=Shape([1, 2])))", false);
  const std::string own = written(trace, ref(inputs));
  EXPECT_TRUE(own.starts_with(R"({"__type__":"SliceInputs","fields":{"input":{"layout":)")) << own;
  EXPECT_EQ(own.find("1.5"), std::string::npos) << own;
}

TEST(NativeArguments, AFusedFunctionKeepsItsName) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t gelu = ttnn.enum_value("UnaryOpType", "GELU");
  const std::uint32_t fused = trace.shown(structure("UnaryWithParam", {{"op_type", ref(gelu)}}),
                                          "UnaryWithParam(op_type=UnaryOpType::GELU, params=[1])");
  const std::uint32_t program = trace.shown(
      structure("MatmulMultiCoreReuseProgramConfig",
                {{"fused_activation", ref(fused)},
                 {"@json", string(R"({"fused_activation":{"op_type":2,"param":[1.0]},"f":1e-5,"n":null})")}}),
      "…");
  EXPECT_EQ(written(trace, ref(program)),
            R"j({"f":1e-05,"fused_activation":{"@text":"UnaryWithParam(op_type=UnaryOpType::GELU, params=[1])",)j"
            R"j("op_type":2,"param":[1.0]},"n":null,"type":"MatmulMultiCoreReuseProgramConfig"})j");
}

TEST(NativeArguments, AShardSpecIsReadFromItsText) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::string shard =
      structure("ShardSpec", {{"grid", ttnn.grid(7, 3)},
                              {"shape", numbers({32, 64})},
                              {"orientation", ref(ttnn.enum_value("ShardOrientation", "COL_MAJOR"))}});
  const std::string text = written(trace, ref(ttnn.memory("L1", "HEIGHT_SHARDED", ref(trace.value(shard)))));
  EXPECT_NE(text.find(R"("shard_spec":{"grid":[{"end":{"x":7,"y":3},"start":{"x":0,"y":0}}],)"
                      R"("orientation":"COL_MAJOR","shape":[32,64]})"),
            std::string::npos)
      << text;
}

TEST(NativeArguments, NumbersThatAreNoneAreSaid) {
  TestTrace trace;
  EXPECT_EQ(written(trace, big("123456789012345678901234567890")), "123456789012345678901234567890");
  EXPECT_EQ(written(trace, big("0x12")), R"("0x12")");
  EXPECT_TRUE(written(trace, big("007")).starts_with("wrong: its arguments cannot be written as JSON"));
}

TEST(NativeArguments, AnArgumentGivenTwiceIsSaid) {
  TestTrace trace;
  trace.call(trace.call_value("f", {integer(1)}, {{"arg0", integer(2)}}));
  EXPECT_EQ(arguments(trace), "wrong: argument arg0 is given twice");
}

TEST(NativeArguments, NestedTooDeepToBeReadAgain) {
  std::string deep = integer(1);
  for (int i = 0; i < 12; ++i) deep = list({deep});
  Limits few = limits();
  few.depth = 10;
  const ScopedLimits scope(few);
  EXPECT_TRUE(written(deep).starts_with("wrong: its arguments cannot be written as JSON: nested more than 10 levels"));
}

TEST(NativeCalls, ACallHasAllThatWasRecorded) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t spec = ttnn.spec({1, 32}), after = ttnn.spec({1, 64});
  const std::uint32_t call = trace.call_value("ttnn.fill_", {tensor(spec), integer(3)}, {{"dim", integer(-1)}});
  const std::uint32_t result = trace.value(tensor(spec));
  const std::uint32_t error =
      trace.value(structure("error", {{"type", string("RuntimeError")}, {"message", string("bad")}}));
  trace.context({{"test", string("t.py::x")}, {"phase", string("decode")}, {"label", string("layer 3")}});
  const std::uint64_t outer = trace.begin(call, {{7, 2}});
  trace.end(trace.begin(call, {{7, 2}}, outer), {.error = error});
  trace.end(outer, {.result = result, .tensors = {{9, 0, 5}}, .writes = {{0, after, 3}}});
  auto read = NativeTrace::from_bytes(trace.bytes(), "t.opwt");
  ASSERT_TRUE(read);
  NativeCalls calls(*read);
  CallStream stream(*read);
  LiftNotes notes;
  std::map<std::uint64_t, Call> made;
  while (const NativeCall* recorded = stream.next()) {
    auto one = calls.call(*recorded, notes);
    ASSERT_TRUE(one) << one.error().message;
    made.emplace(recorded->seq, *std::move(one));
  }
  ASSERT_EQ(made.size(), 2u);
  const Call& first = made.begin()->second;
  EXPECT_EQ(first.op, "ttnn.fill_");
  ASSERT_EQ(first.arguments.size(), 3u);
  EXPECT_EQ(first.arguments[0].position, 0);
  EXPECT_EQ(first.arguments[0].value.as_tensor()->shape, (Shape{1, 64}));  // as the call left it
  EXPECT_EQ(first.arguments[2].name, "dim");
  EXPECT_TRUE(first.has_result);
  EXPECT_EQ(first.result.as_tensor()->shape, (Shape{1, 32}));
  ASSERT_EQ(first.tensors.size(), 1u);
  EXPECT_EQ(first.tensors[0].id, 7u);
  EXPECT_EQ(first.tensors[0].version, 2u);
  ASSERT_EQ(first.results.size(), 1u);
  EXPECT_EQ(first.results[0].storage, 5u);
  ASSERT_EQ(first.writes.size(), 1u);
  EXPECT_EQ(first.writes[0].version, 3u);
  EXPECT_EQ(first.phase, "decode");
  EXPECT_EQ(first.label, "layer 3");
  EXPECT_EQ(first.source, "t.py::x");
  EXPECT_EQ(first.machine, R"({"device_count": 1, "device_ids": [0], "mesh_device_shape": [1, 1]})");
  const Call& inner = made.rbegin()->second;
  EXPECT_EQ(inner.parent, first.sequence);
  EXPECT_EQ(inner.error, "RuntimeError: bad");
  EXPECT_FALSE(inner.has_result);
}

}  // namespace
}  // namespace opwright::format
