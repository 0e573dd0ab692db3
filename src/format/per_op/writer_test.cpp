#include "format/per_op/writer.h"

#include <gtest/gtest.h>

#include "base/json.h"
#include "base/json_write.h"
#include "format/native/call_stream.h"
#include "format/native/test_trace.h"

namespace opwright::format {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

std::vector<std::string> records(TestTrace& trace) {
  auto read = NativeTrace::from_bytes(trace.bytes(), "t.opwt");
  EXPECT_TRUE(read);
  PerOpWriter writer(*read);
  CallStream calls(*read);
  std::vector<std::string> all;
  while (const NativeCall* call = calls.next()) {
    all.emplace_back();
    EXPECT_TRUE(writer.write(*call, all.size(), all.back()));
  }
  return all;
}

// A value as a keyword argument, as the file has it but on one line.
std::string written(TestTrace& trace, const std::string& encoded) {
  trace.call(trace.call_value("f", {}, {{"k", encoded}}), {{1, 0}, {2, 0}});
  const std::string record = records(trace).back();
  json::Document document;
  const auto root = document.parse(record);
  EXPECT_TRUE(root) << record;
  std::string text;
  json::append_python(text, *(*root)->find("kwargs")->find("k"), {});
  return text;
}
std::string written(const std::string& encoded) {
  TestTrace trace;
  return written(trace, encoded);
}

TEST(PerOpWriter, ARecordAsTheLibraryWritesIt) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t dtype = ttnn.enum_value("DataType", "BFLOAT16");
  const std::uint32_t call = trace.call_value(
      "ttnn.linear", {integer(3), list({}), list({real(0.5), none()}, '(')},
      {{"dtype", ref(dtype)}, {"empty", dict({})}, {"text", string("a\"\xC3\xA9\n")}, {"flag", boolean(true)}});
  trace.call(call, {}, {.result = trace.value(list({integer(8), integer(9)}))});
  EXPECT_EQ(records(trace).at(0), R"({
  "operation_id": 1,
  "operation_name": "ttnn.linear",
  "args": [
    {
      "position": 0,
      "value": 3
    },
    {
      "position": 1,
      "value": []
    },
    {
      "position": 2,
      "value": [
        0.5,
        null
      ]
    }
  ],
  "kwargs": {
    "dtype": {
      "type": "DataType",
      "repr": "DataType.BFLOAT16"
    },
    "empty": {},
    "text": "a\"\u00e9\n",
    "flag": true
  },
  "return_value": [
    8,
    9
  ]
})");
}

TEST(PerOpWriter, WithoutArgumentsAndResult) {
  TestTrace trace;
  trace.call(trace.call_value("ttnn.f", {}), {}, {.result = trace.value(none())});
  EXPECT_EQ(records(trace).at(0),
            "{\n  \"operation_id\": 1,\n  \"operation_name\": \"ttnn.f\",\n  \"args\": [],\n  \"kwargs\": {}\n}");
}

TEST(PerOpWriter, PlainValues) {
  EXPECT_EQ(written(real(1e-5)), "1e-05");
  EXPECT_EQ(written(real(-1.0 / 0.0)), "-Infinity");
  EXPECT_EQ(written(real(0.0 / 0.0)), "NaN");
  EXPECT_EQ(written("I" + text("123456789012345678901")), "123456789012345678901");
  EXPECT_EQ(written("I" + text("no number")), R"("no number")");
  EXPECT_EQ(written("y" + text("a'\x01")), R"({"type": "bytes", "value": "b\"a'\\x01\""})");
  // Keys that are no texts become what json.dump makes of them.
  EXPECT_EQ(
      written("{" + varint(4) + integer(3) + none() + none() + none() + boolean(true) + none() + real(0.5) + none()),
      R"({"3": null, "null": null, "true": null, "0.5": null})");
}

TEST(PerOpWriter, ObjectsAreTheirPrintedText) {
  TestTrace trace;
  const std::uint32_t with = trace.shown(opaque("ReplicateTensorToMeshWrapper", "x"), "<object at 0x1>", true);
  const std::uint32_t without = trace.shown(structure("Conv2dConfig", {{"a", integer(1)}}), "Conv2dConfig(a=1)", false);
  const std::uint32_t silent = trace.value(structure("CoreGrid", {{"y", integer(8)}, {"x", string("s")}}));
  const std::uint32_t path = trace.value(opaque("PosixPath", "/x"));
  EXPECT_EQ(written(trace, list({ref(with), ref(without), ref(silent), ref(path)})),
            R"([{"type": "ReplicateTensorToMeshWrapper", "repr": "<object at 0x1>"}, )"
            R"j({"type": "Conv2dConfig", "value": "Conv2dConfig(a=1)"}, )j"
            R"j({"type": "CoreGrid", "value": "CoreGrid(y=8, x='s')"}, {"type": "PosixPath", "value": "/x"}])j");
}

TEST(PerOpWriter, ConfigurationsInTheFormOfTheirOwn) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t fidelity = ttnn.enum_value("MathFidelity", "HiFi2");
  const std::uint32_t level = ttnn.enum_value("ThrottleLevel", "NO_THROTTLE");
  const std::uint32_t compute =
      trace.shown(structure("WormholeComputeKernelConfig", {{"math_fidelity", ref(fidelity)},
                                                            {"math_approx_mode", boolean(true)},
                                                            {"fp32_dest_acc_en", boolean(false)},
                                                            {"packer_l1_acc", boolean(true)},
                                                            {"dst_full_sync_en", boolean(false)},
                                                            {"throttle_level", ref(level)}}),
                  "WormholeComputeKernelConfig(…)");
  EXPECT_EQ(written(trace, ref(compute)),
            R"({"math_fidelity": "MathFidelity.HiFi2", "math_approx_mode": "True", "fp32_dest_acc_en": false, )"
            R"("packer_l1_acc": true, "dst_full_sync_en": false, "throttle_level": "ThrottleLevel.NO_THROTTLE"})");
  const std::uint32_t program = trace.shown(
      structure("MatmulMultiCoreReuseProgramConfig",
                {{"in0_block_w", integer(2)}, {"@json", string(R"({"in0_block_w":2,"fused":null,"f":1e-5})")}}),
      "…");
  EXPECT_EQ(written(trace, ref(program)),
            R"({"in0_block_w": 2, "fused": null, "f": 1e-05, "type": "MatmulMultiCoreReuseProgramConfig"})");
  EXPECT_EQ(
      written(trace, ref(ttnn.device())),
      R"j({"type": "MeshDevice", "repr": "MeshDevice(1x1 grid, 1 devices)", "shape": [1, 1], "device_ids": [0]})j");
}

TEST(PerOpWriter, MemoryConfigsWithShards) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::string grid = ttnn.grid(7, 3);
  const std::uint32_t orientation = ttnn.enum_value("ShardOrientation", "ROW_MAJOR");
  const std::string fields =
      structure("ShardSpec", {{"grid", grid}, {"shape", numbers({32, 64})}, {"orientation", ref(orientation)}});
  const std::string printed =
      "ShardSpec{grid=[{\"start\":{\"x\":0,\"y\":0},\"end\":{\"x\":7,\"y\":3}], shape=[32, 64]}";
  EXPECT_EQ(written(trace, ref(ttnn.memory("L1", "HEIGHT_SHARDED", ref(trace.shown(fields, printed))))),
            R"({"memory_layout": "TensorMemoryLayout.HEIGHT_SHARDED", "buffer_type": "BufferType.L1", "shard_spec": )"
            R"("ShardSpec{grid=[{\"start\":{\"x\":0,\"y\":0},\"end\":{\"x\":7,\"y\":3}], shape=[32, 64]}", )"
            R"("is_sharded": true, "interleaved": false, "hash": 1242192138459492916})");
  // Without the text it is made from the fields, as builds that close the brace print it.
  TestTrace other;
  TtnnValues again(other);
  const std::string shard =
      structure("ShardSpec", {{"grid", again.grid(7, 3)},
                              {"shape", numbers({32, 64})},
                              {"orientation", ref(again.enum_value("ShardOrientation", "COL_MAJOR"))}});
  EXPECT_NE(written(other, ref(again.memory("L1", "HEIGHT_SHARDED", ref(other.value(shard)))))
                .find(R"(ShardSpec{grid=[{\"start\":{\"x\":0,\"y\":0},\"end\":{\"x\":7,\"y\":3}}], shape=[32, 64], )"
                      R"(orientation=ShardOrientation::COL_MAJOR})"),
            std::string::npos);
}

TEST(PerOpWriter, TensorsOnAMeshOnTheHostAndUnreadable) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t shard = trace.value(structure("PlacementShard", {{"dim", integer(-2)}}));
  const std::uint32_t replicate = trace.value(structure("PlacementReplicate", {}));
  const std::uint32_t topology = trace.value(structure(
      "TensorTopology", {{"placements", list({ref(shard), ref(replicate)})}, {"distribution_shape", numbers({4, 8})}}));
  const std::uint32_t dtype = ttnn.enum_value("DataType", "UINT32");
  const std::uint32_t host = trace.value(
      structure("ttnn.Tensor", {{"shape", numbers({2})}, {"dtype", ref(dtype)}, {"topology", ref(topology)}}));
  EXPECT_EQ(written(trace, tensor(host)),
            R"({"type": "ttnn.Tensor", "original_shape": [2], "original_dtype": "DataType.UINT32", "mesh_device": )"
            R"j({"placements": ["PlacementShard(-2)", "PlacementReplicate"], "distribution_shape": [4, 8]}, )j"
            R"("shape": [2], "dtype": "DataType.UINT32"})");
  EXPECT_EQ(written(trace, tensor(trace.value(structure("ttnn.Tensor", {})))),
            R"({"type": "ttnn.Tensor", "original_shape": null, "original_dtype": null})");
  const std::uint32_t torch =
      trace.value(structure("torch.Tensor", {{"shape", numbers({2, 3})}, {"dtype", string("torch.bfloat16")}}));
  EXPECT_EQ(written(trace, ref(torch)), R"({"type": "torch.Tensor", "shape": [2, 3], "dtype": "torch.bfloat16"})");
}

TEST(PerOpWriter, ValuesOfTensorsWhoseContentIsThere) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t spec = ttnn.spec({2, 2}, "INT32");
  const std::uint32_t call = trace.call_value("f", {tensor(spec), tensor(spec)});
  const std::uint64_t number =
      trace.call(call, {{1, 0}, {2, 0}}, {.result = trace.value(tensor(spec)), .tensors = {{3, 0}}});
  const auto content = [&](char name, const std::string& dtype, const std::string& bytes) {
    const std::uint32_t description =
        trace.value(structure("data", {{"dtype", string(dtype)}, {"shape", numbers({2, 2})}}));
    trace.record(9, std::string(16, name) + varint(description) + bytes);
  };
  content('a', "int32", std::string("\x01\0\0\0\xff\xff\xff\xff\x02\0\0\0\0\0\0\x80", 16));
  content('b', "bfloat16", std::string("\x80\x3f\xc0\x7f\x80\xff\xcd\x3d", 8));
  trace.record(10, varint(number) + varint(0) + varint(4) + std::string(16, 'x'));  // before: its content is not there
  trace.record(10, varint(number) + varint(0) + varint(4 | 2) + std::string(16, 'a'));  // after
  trace.record(10, varint(number) + varint(0) + varint(4 | 1) + std::string(16, 'b'));  // result
  const std::string record = records(trace).at(0);
  EXPECT_NE(record.find(
                "\"dtype\": \"int32\",\n        \"values\": [\n          [\n            1,\n            -1\n          "
                "],\n          [\n            2,\n            -2147483648\n          ]\n        ],\n"),
            std::string::npos)
      << record;
  EXPECT_NE(
      record.find("\"values\": [\n      [\n        1.0,\n        NaN\n      ],\n      [\n        -Infinity,\n        "
                  "0.10009765625\n      ]\n    ]"),
      std::string::npos)
      << record;
}

TEST(PerOpWriter, ContentThatDoesNotFitIsNotWritten) {
  for (const std::string& shape : {numbers({3}), numbers({1LL << 40, 1LL << 40}), numbers({-1}), integer(2)}) {
    TestTrace trace;
    TtnnValues ttnn(trace);
    const std::uint32_t spec = ttnn.spec({2});
    const std::uint64_t number = trace.call(trace.call_value("f", {tensor(spec)}), {{1, 0}});
    const std::uint32_t description = trace.value(structure("data", {{"dtype", string("int32")}, {"shape", shape}}));
    trace.record(9, std::string(16, 'a') + varint(description) + "12345678");
    trace.record(10, varint(number) + varint(0) + varint(4) + std::string(16, 'a'));
    EXPECT_EQ(records(trace).at(0).find("values"), std::string::npos);
  }
}

TEST(PerOpWriter, TheHashOfASweep) {
  TestTrace trace;
  const std::uint32_t call = trace.call_value("f", {});
  trace.call(call);
  trace.context({{"sweep_source_hash", string("abc")}});
  trace.call(call);
  EXPECT_EQ(records(trace).at(0).find("sweep"), std::string::npos);
  EXPECT_NE(records(trace).at(1).find("  \"kwargs\": {},\n  \"sweep_source_hash\": \"abc\"\n}"), std::string::npos);
}

}  // namespace
}  // namespace opwright::format
