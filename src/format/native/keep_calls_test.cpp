#include "format/native/keep_calls.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "base/test_folder.h"
#include "capture/layout.h"
#include "format/native/call_stream.h"
#include "format/native/call_text.h"
#include "format/native/test_trace.h"
#include "format/read_trace.h"
#include "format/test_sink.h"

namespace opwright::format {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

NativeTrace opened(const std::string& bytes) {
  auto trace = NativeTrace::from_bytes(bytes, "folder/trace.opwt");
  EXPECT_TRUE(trace) << trace.error().message;
  return *std::move(trace);
}

std::string kept(const std::string& bytes) {
  NativeTrace trace = opened(bytes);
  std::string room;
  return std::string(kept_bytes(trace, room));
}

std::size_t count_calls(NativeTrace& trace) {
  CallStream calls(trace);
  std::size_t count = 0;
  while (calls.next() != nullptr) ++count;
  return count;
}

// Two operations, three calls, in two lanes.
TestTrace some_calls() {
  TestTrace trace;
  const std::uint32_t add = trace.call_value("ttnn.add", {integer(1)}, {});
  const std::uint32_t also_add = trace.call_value("ttnn.add", {integer(2)}, {});
  const std::uint32_t relu = trace.call_value("ttnn.relu", {integer(1)}, {});
  trace.call(add, {}, {});
  trace.call(also_add, {}, {});
  trace.lane(1);
  trace.call(relu, {}, {});
  return trace;
}

TEST(KeepCalls, CountsWhatIsInTheTrace) {
  TestTrace trace = some_calls();
  trace.fact("uid", string("run"));
  trace.fact("script", string("models/a/demo.py"));
  trace.fact("command", list({string("python3"), string("--token"), string("abcdefgh")}));
  NativeTrace native = opened(trace.bytes());
  const Sequence sequence = sequence_of(native);
  EXPECT_EQ(sequence.calls, 3);
  EXPECT_EQ(sequence.operations, 2);
  EXPECT_EQ(sequence.name, "models/a/demo.py");
  EXPECT_EQ(sequence.command, "python3 --token ***");
  EXPECT_EQ(sequence.format, "native");
  EXPECT_EQ(sequence.flow, DataFlow::kRecorded);
  EXPECT_TRUE(sequence.uid.starts_with("run/")) << sequence.uid;
}

TEST(KeepCalls, ATraceIsNamedByItsFileWhereNothingElseNamesIt) {
  NativeTrace native = opened(some_calls().bytes());
  EXPECT_EQ(sequence_of(native).name, "trace.opwt");
  EXPECT_TRUE(sequence_of(native).uid.starts_with("content:"));
}

// Older recorders named pytest itself.
TEST(KeepCalls, ARunOfTestsIsNamedByItsTests) {
  const auto name = [](std::string_view script, const std::vector<std::string>& tests) {
    TestTrace trace = some_calls();
    trace.fact("script", string(script));
    for (const std::string& test : tests) trace.test(test, "passed");
    NativeTrace native = opened(trace.bytes());
    return sequence_of(native).name;
  };
  EXPECT_EQ(name("pytest/__main__.py", {"a/test_x.py::test_a[1]"}), "a/test_x.py::test_a[1]");
  EXPECT_EQ(name("bin/pytest", {"a/test_x.py::test_a", "a/test_x.py::test_b"}), "a/test_x.py");
  EXPECT_EQ(name("py.test", {"a/test_x.py::t", "b/test_y.py::t", "c/test_z.py::t"}), "a/test_x.py and 2 more");
  EXPECT_EQ(name("pytest/__main__.py", {}), "pytest/__main__.py");
  EXPECT_EQ(name("models/pytest/demo.py", {"a/test_x.py::t"}), "models/pytest/demo.py");
  EXPECT_EQ(name("demo/__main__.py", {"a/test_x.py::t"}), "demo/__main__.py");
}

TEST(KeepCalls, PartsAndConvertedTracesAreTold) {
  TestTrace part = some_calls();
  part.fact("uid", string("run"));
  part.fact("trimmed", string("--range 1:2"));
  NativeTrace native = opened(part.bytes());
  EXPECT_TRUE(sequence_of(native).uid.ends_with(" trimmed --range 1:2"));
  TestTrace converted = some_calls();
  converted.fact("converted_from", string("per-op"));
  NativeTrace other = opened(converted.bytes());
  EXPECT_EQ(sequence_of(other).format, "per-op");
  EXPECT_EQ(sequence_of(other).flow, DataFlow::kNone);
}

// A killed program leaves reserved space.
TEST(KeepCalls, SpaceThatWasNeverUsedIsNotKept) {
  const std::string bytes = some_calls().bytes();
  const std::string reserved = bytes + std::string(40 * capture::kUnit, '\0');
  EXPECT_LT(kept(reserved).size(), bytes.size() + capture::kHeaderSize);
  NativeTrace again = opened(kept(reserved));
  EXPECT_EQ(count_calls(again), 3u);
  EXPECT_TRUE(again.damage().entries().empty());
  EXPECT_EQ(kept(kept(reserved)), kept(reserved));
}

// Zeros at the end of the last record are content.
TEST(KeepCalls, ARecordThatEndsInZerosStaysWhole) {
  TestTrace trace = some_calls();
  trace.fact("zeros", string(std::string(20000, '\0')));
  NativeTrace again = opened(kept(trace.bytes()));
  EXPECT_TRUE(again.damage().entries().empty());
  EXPECT_EQ(again.fact_text("zeros").size(), 20000u);
}

TEST(KeepCalls, SecretsInFactsAreStarredOutAndTheTraceStaysSound) {
  const std::string secret = "hunter2hunter2";
  TestTrace trace = some_calls();
  const std::uint32_t shared = trace.value(string("--password " + secret + " -k add"));
  trace.fact("pytest_args", ref(shared));
  trace.fact("command", list({string("python3"), string("--token"), string(secret), string("demo.py")}));
  trace.fact("environment", dict({{"API_KEY", string(secret)}, {"HF_MODEL", string("org/model")}}));
  trace.fact("deep", dict({{"a", list({string("x"), string("KEY_TOKEN=" + secret)})}}));
  const std::string bytes = trace.bytes();
  ASSERT_NE(bytes.find(secret), std::string::npos);
  const std::string clean = kept(bytes);
  EXPECT_EQ(clean.size(), bytes.size());
  EXPECT_EQ(clean.find(secret), std::string::npos);
  EXPECT_EQ(clean.find("hunter2"), std::string::npos);
  EXPECT_NE(clean.find("demo.py"), std::string::npos);
  EXPECT_NE(clean.find("org/model"), std::string::npos);
  EXPECT_NE(clean.find(" -k add"), std::string::npos);
  NativeTrace again = opened(clean);
  EXPECT_TRUE(again.damage().entries().empty());
  EXPECT_EQ(count_calls(again), 3u);
  EXPECT_EQ(kept(clean), clean);
  EXPECT_EQ(kept(some_calls().bytes()), some_calls().bytes());  // nothing to hide: nothing changes
}

// A sink that wants the order.
class KeepingSink final : public TraceSink {
 public:
  Status observe(const Observed&) override { return {}; }
  void lose(const Loss&) override {}
  void leave_out(std::string_view what, std::size_t count) override { left_out[std::string(what)] += count; }
  void describe(const TraceInfo&) override {}
  Status end_trace(const TraceInfo& trace) override { return uids.push_back(trace.uid), Status(); }
  void add_bytes(std::size_t) override {}
  void add_file() override {}
  bool keeps_calls() const override { return true; }
  Status keep(Sequence sequence, const TraceBytes& trace) override {
    kept.emplace_back(std::move(sequence), std::string(trace.bytes));
    return {};
  }

  std::vector<std::pair<Sequence, std::string>> kept;
  std::vector<std::string> uids;
  std::map<std::string, std::size_t> left_out;
};

KeepingSink read(const std::string& path) {
  KeepingSink sink;
  const Status status = read_trace(path, {}, sink);
  EXPECT_TRUE(status) << status.error().message;
  return sink;
}

TEST(KeepCalls, EveryFormatWithAnOrderGivesOne) {
  struct Wanted {
    std::string path, format;
    std::int64_t calls;
  };
  for (const Wanted& wanted :
       {Wanted{"native/tiny_llm.opwt", "native", 11}, Wanted{"jsonl/ops.jsonl", "op-jsonl", 0},
        Wanted{"per_op/v3", "per-op", 0}, Wanted{"graph/report.python_io.json", "graph-python-io", 6}}) {
    const KeepingSink sink = read(fixture_path(wanted.path));
    ASSERT_EQ(sink.kept.size(), 1u) << wanted.path;
    const auto& [sequence, bytes] = sink.kept.front();
    EXPECT_EQ(sequence.format, wanted.format);
    EXPECT_TRUE(sequence.uid.starts_with(wanted.format == "op-jsonl" ? "" : sink.uids.front())) << sequence.uid;
    NativeTrace trace = opened(bytes);
    EXPECT_EQ(static_cast<std::int64_t>(count_calls(trace)), sequence.calls);
    EXPECT_GT(sequence.calls, 0);
    EXPECT_TRUE(wanted.calls == 0 || sequence.calls == wanted.calls);
    EXPECT_EQ(read(fixture_path(wanted.path)).kept.front().second, bytes) << "not the same twice: " << wanted.path;
  }
  EXPECT_TRUE(read(fixture_path("demo/tiny_llm.json")).kept.empty());
}

// A spec as the text of a shape; results are named by it too.
std::string lines_of(const std::vector<std::vector<std::string>>& calls) {
  const auto tensor = [](const std::string& width) {
    return R"({"__type__": "ttnn.TensorRef", "shape": [)" + width + R"(], "dtype": "DataType.BFLOAT16"})";
  };
  std::string lines;
  for (const auto& call : calls) {  // test, inputs …, output
    lines += R"({"run_id": "r", "op_name": "ttnn.f", "test_nodeid": ")" + call.front() + R"(", "inputs": [)";
    for (std::size_t i = 1; i + 1 < call.size(); ++i) lines += (i > 1 ? ", " : "") + tensor(call[i]);
    lines += R"(], "kwargs": {}, "output": )" + tensor(call.back()) + "}\n";
  }
  return lines;
}

TEST(InferredFlow, AnArgumentIsTheOneResultOfItsSpec) {
  const TestFolder folder;
  struct Wanted {
    std::vector<std::vector<std::string>> calls;
    std::string uses;  // ids of the arguments, by call
    std::int64_t ambiguous;
    DataFlow flow;
  };
  for (const Wanted& wanted : {
           Wanted{{{"t", "1", "2"}, {"t", "2", "3"}, {"t", "3", "4"}}, "0 1 2 ", 0, DataFlow::kInferred},
           Wanted{{{"t", "1", "2"}, {"t", "1", "2"}, {"t", "2", "3"}}, "0 0 0 ", 1, DataFlow::kNone},  // which of two?
           Wanted{{{"t", "1", "2"}, {"t", "1", "2"}, {"t", "2", "2"}, {"t", "2", "3"}}, "0 0 0 0 ", 2, DataFlow::kNone},
           Wanted{{{"t", "1", "2"}, {"t", "2", "3"}, {"t", "2", "4"}}, "0 1 0 ", 1, DataFlow::kInferred},  // taken
           Wanted{{{"t", "1", "2"}, {"t", "2", "2"}, {"t", "2", "2"}},
                  "0 1 0 ",
                  1,
                  DataFlow::kInferred},                                                       // first or second?
           Wanted{{{"t", "1", "2"}, {"t", "2", "2", "3"}}, "0 0 0 ", 2, DataFlow::kNone},     // which argument?
           Wanted{{{"t", "1", "2"}, {"t", "2", "3"}, {"t", "3", "2"}, {"t", "2", "2", "4"}},  // a residual sum
                  "0 1 2 0 0 ",
                  2,
                  DataFlow::kInferred},
           Wanted{{{"t", "1", "2"}, {"u", "2", "3"}}, "0 0 ", 0, DataFlow::kNone},  // another test
           Wanted{{{"t", "1", "2"}, {"t", "9", "2", "3"}}, "0 0 1 ", 0, DataFlow::kInferred},
       }) {
    const KeepingSink sink = read(folder.write("x.jsonl", lines_of(wanted.calls)));
    const auto& [sequence, bytes] = sink.kept.front();
    SCOPED_TRACE(lines_of(wanted.calls));
    EXPECT_EQ(sequence.flow, wanted.flow);
    NativeTrace trace = opened(bytes);
    EXPECT_EQ(trace.flow().ambiguous, wanted.ambiguous);
    std::string uses;
    CallStream calls(trace);
    while (const NativeCall* call = calls.next()) {
      for (const TensorUse& use : call->tensors) uses += std::to_string(use.id) + " ";
    }
    EXPECT_EQ(uses, wanted.uses);
  }
}

// The Python record of a graph capture names its tensors.
TEST(KeepCalls, APythonRecordKeepsItsTensors) {
  const KeepingSink sink = read(fixture_path("graph/report.python_io.json"));
  const auto& [sequence, bytes] = sink.kept.front();
  EXPECT_EQ(sequence.flow, DataFlow::kRecorded);
  EXPECT_EQ(sequence.uid, sink.uids.front());
  NativeTrace trace = opened(bytes);
  EXPECT_TRUE(trace.damage().entries().empty());
  CallStream calls(trace);
  const NativeCall* first = calls.next();
  ASSERT_NE(first, nullptr);
  ASSERT_EQ(first->tensors.size(), 2u);
  EXPECT_EQ(first->tensors[0].id, 1u);   // position 0, though the record writes keywords first
  EXPECT_EQ(first->tensors[1].id, 11u);  // weight=
  ASSERT_EQ(first->results.size(), 1u);
  EXPECT_EQ(first->results[0].id, 20u);
  const std::string line = call_text(trace, *first);
  EXPECT_TRUE(line.starts_with("ttnn.layer_norm(#1 [1,1,96,96] BFLOAT16 TILE DRAM INTERLEAVED, weight=#11 [1,1,1,96]"))
      << line;
  EXPECT_NE(line.find("-> #20"), std::string::npos) << line;
}

// Two files of one run are two; one that has grown is the same.
TEST(KeepCalls, LinesOfOneRunInSeveralFiles) {
  const TestFolder folder;
  const auto line = [](int width) {
    return R"({"run_id": "r", "op_name": "ttnn.relu", "inputs": [)" + std::to_string(width) + R"(], "kwargs": {}})" +
           "\n";
  };
  const std::string first = line(1) + line(2), grown = first + line(3), other = line(7);
  const auto uid = [&](const std::string& text) { return read(folder.write("x.jsonl", text)).kept.front().first.uid; };
  EXPECT_EQ(uid(first), uid(grown));
  EXPECT_NE(uid(first), uid(other));
}

}  // namespace
}  // namespace opwright::format
