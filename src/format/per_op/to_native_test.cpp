#include "format/per_op/to_native.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/json.h"
#include "base/json_write.h"
#include "base/test_folder.h"
#include "format/native/native_trace.h"
#include "format/native/test_trace.h"
#include "format/per_op/folder_writer.h"
#include "format/read_trace.h"
#include "format/test_sink.h"

namespace opwright::format {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT(google-build-using-namespace): the words of the builder

std::map<std::string, std::string> files_of(const std::string& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file()) files[fs::relative(entry.path(), folder).string()] = content_of(entry.path().string());
  }
  return files;
}

std::string as_native(const std::string& folder, Conversion* conversion = nullptr) {
  MemoryOutput memory;
  const auto done = per_op_to_native(folder, memory);
  EXPECT_TRUE(done) << done.error().message;
  if (conversion != nullptr && done) *conversion = *done;
  return std::move(memory).take();
}

std::string as_per_op(const std::string& bytes, const std::string& folder, Conversion* conversion = nullptr) {
  auto trace = NativeTrace::from_bytes(bytes, "t.opwt");
  EXPECT_TRUE(trace);
  const auto done = native_to_per_op(*trace, folder);
  EXPECT_TRUE(done) << done.error().message;
  if (conversion != nullptr && done) *conversion = *done;
  return folder;
}

// What an import gets: configurations with what is counted of them.
std::map<std::string, std::int64_t> imported(const std::string& path, const ReadOptions& options = {}) {
  TestSink sink;
  EXPECT_TRUE(read_trace(path, options, sink));
  std::map<std::string, std::int64_t> counts;
  for (const TestSink::Call& call : sink.calls) {
    for (const TestSink::Seen& seen : call.sightings)
      counts[call.op + call.arguments + " " + call.sweep_source_hash + " " + seen.machine + " " + seen.source + " " +
             (seen.trace_uid.empty() ? sink.ended[0].uid : seen.trace_uid)] += seen.count;
  }
  return counts;
}

TEST(PerOpToNative, FoldersComeBackAsTheyWere) {
  for (const char* name : {"v3", "per_test", "preop", "v2"}) {
    const TestFolder folder;
    const std::string source = fixture_path(std::string("per_op/") + name);
    Conversion conversion;
    const std::string native = as_native(source, &conversion);
    EXPECT_TRUE(conversion.losses.empty()) << name;
    EXPECT_EQ(files_of(as_per_op(native, folder.file("back"))), files_of(source)) << name;
    const std::string trace = folder.write("trace.opwt", native);
    EXPECT_EQ(imported(trace), imported(source)) << name;
    EXPECT_EQ(imported(trace, {.include_failed = true}), imported(source, {.include_failed = true})) << name;
  }
}

TEST(PerOpToNative, OlderDialectsKeepTheirMeaning) {
  for (const char* name : {"v0", "v1"}) {
    const TestFolder folder;
    const std::string source = fixture_path(std::string("per_op/") + name);
    Conversion conversion;
    const std::string trace = folder.write("trace.opwt", as_native(source, &conversion));
    EXPECT_EQ(imported(trace), imported(source)) << name;
    if (std::string_view(name) == "v0") {
      EXPECT_EQ(conversion.dropped.count("field timestamp"), 1u);
    }
  }
}

TEST(PerOpToNative, DamagedFilesAreCounted) {
  Conversion conversion;
  as_native(fixture_path("per_op/damaged"), &conversion);
  EXPECT_EQ(conversion.losses.at("unreadable_file").count, 2u);
  EXPECT_EQ(conversion.losses.at("unknown_shape").count, 2u);
}

TEST(PerOpToNative, AnythingThatIsNotInTheLibrarysFormStaysADict) {
  const std::vector<std::string> odd{
      R"({"type": "ttnn.Tensor", "shape": [1], "original_shape": [1]})",
      R"({"type": "DataType", "repr": 3})",
      R"({"type": "a.b", "repr": "a.b.C"})",
      R"({"repr": "x", "type": "y"})",
      R"({"type": "T", "repr": "same"})",
      R"({"type": "T", "value": "same"})",
      R"({"type": "MeshDevice", "repr": "a", "shape": [1, 1], "device_ids": [0]})",
      R"({"type": "MeshDevice", "repr": "b", "shape": [1, 1], "device_ids": [0]})",
      R"({"type": "MeshDevice", "repr": "c", "shape": [1, 1], "device_ids": []})",
      R"({"type": "torch.Tensor", "shape": [2], "dtype": "float32", "values": [1.0, 0.1]})",
      R"({"type": "torch.Tensor", "shape": [2], "dtype": "float32", "values": [1.0, 0.5]})",
      R"({"type": "torch.Tensor", "shape": [2, 0], "dtype": "int64", "values": [[], []]})",
      R"({"type": "torch.Tensor", "shape": [], "dtype": "bool", "values": true})",
      R"({"type": "XMatmulProgramConfig", "a": 1})",
      R"({"a": {"b": [1.5, -0.0, 1e+300, 123456789012345678901, null, true]}, "type": "XMatmulProgramConfig"})",
      R"({"memory_layout": "TensorMemoryLayout.X", "buffer_type": "BufferType.L1", "shard_spec": "None", "is_sharded": 0, "interleaved": true, "hash": 1})",
      R"({"memory_layout": "TensorMemoryLayout.X", "buffer_type": "BufferType.L1", "shard_spec": "what", "is_sharded": true, "interleaved": true, "hash": 1})",
      R"([])",
      R"({})",
      R"("\ud83d\ude00 \u00e9")",
      R"([NaN, Infinity, -Infinity])"};
  const TestFolder folder;
  for (std::size_t i = 0; i < odd.size(); ++i) {
    json::Document document;
    const auto root = document.parse(R"({"operation_id": )" + std::to_string(i + 1) +
                                     R"(, "operation_name": "ttnn.x", "args": [], "kwargs": {"k": )" + odd[i] + "}}");
    ASSERT_TRUE(root) << odd[i];
    std::string text;
    json::append_python(text, **root, {.indent = 2});
    folder.write("in/" + std::to_string(i + 1) + "_ttnn_x_20260701_080040_00000" + std::to_string(i % 10) + ".json",
                 text);
  }
  as_per_op(as_native(folder.file("in")), folder.file("out"));
  const auto before = files_of(folder.file("in")), after = files_of(folder.file("out"));
  ASSERT_EQ(before.size(), after.size());
  std::map<std::uint64_t, std::string> by_number;
  for (const auto& [name, text] : after) by_number[std::stoull(name)] = text;
  for (const auto& [name, text] : before) EXPECT_EQ(by_number[std::stoull(name)], text) << name;
}

// ------------------------------------------------------------------------------------------------------ of any traces

class RandomTrace {
 public:
  explicit RandomTrace(unsigned seed) : random_(seed) {}

  std::string bytes() {
    TestTrace trace;
    TtnnValues ttnn(trace);
    std::vector<std::uint32_t> specs, calls, objects;
    for (int i = 0; i < 4; ++i)
      specs.push_back(ttnn.spec({1, 32 * (1 + pick(4))}, pick(2) == 0 ? "BFLOAT16" : "BFLOAT8_B", "TILE"));
    objects = {ttnn.memory(),
               ttnn.memory("L1"),
               ttnn.device(),
               ttnn.enum_value("Layout", "TILE"),
               trace.shown(opaque("Semaphore", "<s at 0x7f>"), "<s at 0x7f12>"),
               trace.shown(structure("CoreGrid", {{"x", integer(8)}}), "ttnn.CoreGrid(x=8)", true)};
    const std::uint32_t error = trace.value(structure("error", {{"type", string("E")}, {"message", string("m")}}));
    for (int i = 0; i < 6; ++i) {
      tensors_ = 0;
      std::vector<std::string> args;
      Named kwargs;
      for (int k = pick(3); k > 0; --k) args.push_back(value(specs, objects, 0));
      if (pick(2) == 0) kwargs.emplace_back("memory_config", value(specs, objects, 0));
      if (pick(3) == 0) kwargs.emplace_back(pick(2) == 0 ? "queue_id" : "barrier_semaphore", integer(pick(3)));
      calls.push_back(trace.call_value(pick(2) == 0 ? "ttnn.add" : "ttnn.experimental.f", args, kwargs));
      tensor_counts_.push_back(tensors_);
    }
    trace.fact("uid", string("u" + std::to_string(pick(1000))));
    trace.fact("source", string("s.py"));
    trace.fact("machine", dict({{"board_type", string("Wormhole")}, {"card_count", integer(1)}}));
    trace.header.pid = 0;
    std::vector<std::uint64_t> open;
    for (int i = 0; i < 60; ++i) {
      if (trace.room() < 4000) trace.next_chunk();
      if (pick(10) == 0) trace.context({{"test", string("t::" + std::to_string(pick(3)))}, {"phase", string("p")}});
      const auto which = static_cast<std::size_t>(pick(6));
      const std::vector<Arg> uses(tensor_counts_[which], Arg{static_cast<std::uint64_t>(1 + pick(9)), 0});
      const std::uint64_t number = trace.begin(calls[which], uses, open.empty() ? 0 : open.back());
      if (pick(4) == 0 && open.size() < 3) {
        open.push_back(number);
        continue;
      }
      End how;
      if (pick(3) == 0) how.result = trace.value(tensor(specs[0])), how.tensors = {{9, 0}};
      if (tensor_counts_[which] > 0 && pick(4) == 0) how.writes = {{0, specs[1], 3}};
      if (tensor_counts_[which] > 0 && pick(4) == 0) how.frees = {0};
      trace.end(number, how);
      if (!open.empty() && pick(2) == 0) {
        trace.end(open.back());
        open.pop_back();
      }
    }
    (void)error;
    while (!open.empty()) {
      trace.end(open.back());
      open.pop_back();
    }
    trace.test("t::0", "passed");
    trace.test("t::1", pick(2) == 0 ? "failed" : "passed");
    return trace.bytes();
  }

 private:
  int pick(int below) { return static_cast<int>(random_() % static_cast<unsigned>(below)); }

  std::string value(const std::vector<std::uint32_t>& specs, const std::vector<std::uint32_t>& objects, int depth) {
    switch (pick(depth > 2 ? 7 : 10)) {
      case 0:
        return integer(pick(2000) - 1000);
      case 1:
        return real(pick(7) == 0 ? 1.0 / 0.0 : pick(1000) / 7.0);
      case 2:
        return string(pick(2) == 0 ? "x at 0x12f" : "plain \"text\"");
      case 3:
        return none();
      case 4:
        return boolean(pick(2) == 0);
      case 5:
        ++tensors_;
        return tensor(specs[static_cast<std::size_t>(pick(4))]);
      case 6:
        return ref(objects[static_cast<std::size_t>(pick(6))]);
      case 7:
        return list({value(specs, objects, depth + 1), value(specs, objects, depth + 1)});
      case 8:
        return list({value(specs, objects, depth + 1)}, '(');
      default:
        return dict({{"a", value(specs, objects, depth + 1)}, {"b", value(specs, objects, depth + 1)}});
    }
  }

  std::mt19937 random_;
  std::size_t tensors_ = 0;
  std::vector<std::size_t> tensor_counts_;
};

TEST(PerOpFolderWriter, WhatIsImportedIsTheSameWhicheverWay) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    const TestFolder folder;
    const std::string trace = folder.write("trace.opwt", RandomTrace(seed).bytes());
    as_per_op(content_of(trace), folder.file("files"));
    for (const bool failed : {false, true}) {
      const auto direct = imported(trace, {.include_failed = failed});
      EXPECT_EQ(imported(folder.file("files"), {.include_failed = failed}), direct) << seed;
      EXPECT_FALSE(direct.empty());
    }
  }
}

TEST(PerOpFolderWriter, WhatHasNoPlaceIsNamed) {
  TestTrace trace;
  TtnnValues ttnn(trace);
  const std::uint32_t error = trace.value(structure("error", {{"type", string("E")}}));
  const std::uint32_t call = trace.call_value("ttnn.a", {tensor(ttnn.spec({1})), list({integer(1)}, '(')});
  const std::uint64_t outer = trace.begin(call, {{5, 0}});
  trace.end(trace.begin(call, {{5, 0}}, outer));
  trace.end(outer);
  trace.call(call, {{5, 0}}, {.error = error});
  trace.begin(call, {{5, 0}});
  const TestFolder folder;
  Conversion conversion;
  as_per_op(trace.bytes(), folder.file("out"), &conversion);
  EXPECT_EQ(conversion.calls, 2u);
  const std::map<std::string, std::uint64_t> expected{{"calls that raised", 1}, {"calls that never ended", 1},
                                                      {"durations", 2},         {"nesting", 1},
                                                      {"tensor identity", 2},   {"tuples (written as lists)", 2}};
  EXPECT_EQ(conversion.dropped, expected);
}

TEST(PerOpFolderWriter, AFolderWithSomethingInItIsLeftAlone) {
  const TestFolder folder;
  folder.write("out/mine.txt", "mine");
  TestTrace trace;
  auto read = NativeTrace::from_bytes(trace.bytes(), "t.opwt");
  const auto done = native_to_per_op(*read, folder.file("out"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kUsage);
  EXPECT_EQ(folder.entries(), 1u);
  EXPECT_EQ(content_of(folder.file("out/mine.txt")), "mine");
}

}  // namespace
}  // namespace opwright::format
