#include "format/jsonl/writer.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "format/jsonl/to_native.h"
#include "format/native/test_trace.h"
#include "format/read_trace.h"
#include "format/test_sink.h"

namespace opwright::format {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

std::string as_jsonl(std::string native, Conversion* conversion = nullptr) {
  auto trace = NativeTrace::from_bytes(std::move(native), "t.opwt");
  EXPECT_TRUE(trace);
  std::string lines;
  const auto done = native_to_jsonl(*trace, [&lines](std::string_view some) -> Status {
    lines += some;
    return {};
  });
  EXPECT_TRUE(done);
  if (conversion != nullptr) *conversion = *done;
  return lines;
}

std::string as_native(const std::string& path, Conversion* conversion = nullptr) {
  auto input = Input::open(path);
  EXPECT_TRUE(input);
  MemoryOutput memory;
  const auto done = jsonl_to_native(*input, memory);
  EXPECT_TRUE(done);
  if (conversion != nullptr) *conversion = *done;
  return std::move(memory).take();
}

TEST(JsonlWriter, ALineAsThePluginWritesIt) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t spec = ttnn.spec({1, 32});
  const std::uint32_t layout = ttnn.enum_value("Layout", "TILE");
  const std::uint32_t path = trace.value(opaque("PosixPath", "/x"));
  const std::uint32_t program = trace.value(structure("LayerNormProgramConfig", {{"a", integer(1)}}));
  trace.context({{"test", string("t.py::x")}, {"label", string("MLP")}});
  trace.call(trace.call_value("ttnn.linear", {tensor(spec), ref(layout), list({integer(1)}, '(')},
                              {{"device", ref(ttnn.device())}, {"p", ref(path)}, {"c", ref(program)}}),
             {{1, 0}}, {.result = trace.value(tensor(spec)), .tensors = {{2, 0}}});
  const std::string tensor_text =
      R"({"__type__": "ttnn.TensorRef", "shape": [1, 32], "dtype": "DataType.BFLOAT16", "memory_config": )"
      R"({"__type__": "ttnn.MemoryConfig", "memory_layout": "INTERLEAVED", "buffer_type": "DRAM"}})";
  Conversion conversion;
  EXPECT_EQ(as_jsonl(trace.bytes(), &conversion),
            R"({"run_id": "2023-11-14T22:13:20Z", "test_nodeid": "t.py::x", "module": "MLP", "op_index": 0, )"
            R"("op_name": "ttnn.linear", "start_ts": "2023-11-14T22:13:20Z", "duration_ms": 0.0005, "inputs": [)" +
                tensor_text +
                R"(, {"__type__": "repr", "value": "Layout.TILE"}, [1]], "kwargs": {"device": )"
                R"({"__type__": "ttnn.MeshDevice", "mesh_shape": [1, 1]}, "p": {"__type__": "path", "value": "/x"}, )"
                R"("c": {"__type__": "ttnn.LayerNormProgramConfig", "a": 1}}, "output": )" +
                tensor_text + "}\n");
  const std::map<std::string, std::uint64_t> expected{{"layout", 1},
                                                      {"storage_type", 1},
                                                      {"placements and devices of tensors", 1},
                                                      {"tensor identity", 1},
                                                      {"tuples (written as lists)", 1}};
  EXPECT_EQ(conversion.dropped, expected);
}

TEST(JsonlWriter, ErrorsAndCallsWithoutAnEnd) {
  TestTrace trace;
  const std::uint32_t error =
      trace.value(structure("error", {{"type", string("RuntimeError")}, {"message", string("no\nway")}}));
  const std::uint32_t call = trace.call_value("ttnn.f", {});
  trace.call(call, {}, {.error = error});
  trace.begin(call);
  Conversion conversion;
  EXPECT_EQ(
      as_jsonl(trace.bytes(), &conversion),
      R"({"run_id": "2023-11-14T22:13:20Z", "test_nodeid": null, "module": null, "op_index": 0, "op_name": "ttnn.f", )"
      R"("start_ts": "2023-11-14T22:13:20Z", "duration_ms": 0.0005, "inputs": [], "kwargs": {}, "output": null, )"
      R"("error": {"type": "RuntimeError", "message": "no\nway"}})"
      "\n");
  EXPECT_EQ(conversion.dropped.at("calls that never ended"), 1u);
}

TEST(JsonlToNative, BackToJsonlSaysTheSame) {
  const TestFolder folder;
  const std::string first = as_jsonl(as_native(fixture_path("jsonl/ops.jsonl")));
  const std::string second = as_jsonl(as_native(folder.write("ops.jsonl", first)));
  EXPECT_EQ(first, second);
  // The import of both: calls with the same arguments, as often, in the same run.
  TestSink before, after;
  ASSERT_TRUE(read_trace(fixture_path("jsonl/ops.jsonl"), {}, before));
  ASSERT_TRUE(read_trace(folder.file("ops.jsonl"), {}, after));
  ASSERT_EQ(before.calls.size(), after.calls.size());
  for (std::size_t i = 0; i < before.calls.size(); ++i) {
    EXPECT_EQ(before.calls[i].op, after.calls[i].op);
    EXPECT_EQ(before.calls[i].sightings[0].source, after.calls[i].sightings[0].source);
    EXPECT_EQ(before.calls[i].sightings[0].trace_uid, after.calls[i].sightings[0].trace_uid);
    EXPECT_EQ(before.calls[i].sightings[0].raised, after.calls[i].sightings[0].raised);
  }
}

TEST(JsonlToNative, DamageIsCounted) {
  Conversion conversion;
  as_native(fixture_path("jsonl/damaged.jsonl"), &conversion);
  EXPECT_EQ(conversion.losses.count("damaged_line"), 1u);
  EXPECT_EQ(conversion.losses.count("unknown_shape"), 1u);
}

TEST(JsonlToNative, TheTraceIsThatOfTheLines) {
  const TestFolder folder;
  TestSink sink;
  ASSERT_TRUE(read_trace(folder.write("t.opwt", as_native(fixture_path("jsonl/ops.jsonl"))), {}, sink));
  ASSERT_EQ(sink.ended.size(), 1u);
  EXPECT_TRUE(sink.ended[0].uid.starts_with("run_id:")) << sink.ended[0].uid;
  EXPECT_EQ(sink.lost_kinds(), "");
}

}  // namespace
}  // namespace opwright::format
