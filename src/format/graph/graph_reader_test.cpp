#include "format/graph/graph_reader.h"

#include <gtest/gtest.h>

#include <map>

#include "base/test_folder.h"
#include "format/test_sink.h"

namespace opwright::format {
namespace {

TestSink graph(const std::string& nodes) {
  json::Document document;
  const auto root = document.parse(nodes);
  EXPECT_TRUE(root) << nodes;
  TestSink sink;
  if (root) {
    EXPECT_TRUE(read_graph(**root, nodes, "g.json", sink));
  }
  return sink;
}

std::string start(const std::string& name, int counter, const std::string& more = "") {
  return R"({"node_type": "function_start", "counter": )" + std::to_string(counter) + R"(, "params": {"name": ")" +
         name + R"("}, "connections": [])" + more + "}";
}

std::string tensor(int counter, const std::string& shape, const std::string& connections) {
  return R"({"node_type": "tensor", "counter": )" + std::to_string(counter) + R"(, "params": {"shape": ")" + shape +
         R"(", "tensor_id": "7", "address": "123"}, "connections": )" + connections + "}";
}

TEST(GraphReader, ArgumentTextsAreTaken) {
  const TestSink sink = graph("[" + start("ttnn::add", 1, R"(, "arguments": ["Tensor{x}", "nullopt"])") + "]");
  ASSERT_EQ(sink.calls.size(), 1u);
  EXPECT_EQ(sink.calls[0].kind, FormKind::kGraph);
  EXPECT_EQ(sink.calls[0].op, "ttnn::add");
  EXPECT_EQ(sink.calls[0].arguments, R"(["Tensor{x}", "nullopt"])");
  EXPECT_EQ(sink.calls[0].sightings.at(0).count, 1);
  EXPECT_EQ(sink.ended.at(0).format, "graph");
  EXPECT_TRUE(sink.ended[0].uid.starts_with("content:"));
}

TEST(GraphReader, WithoutTextsTheInputTensorsStandInTheirOrder) {
  const TestSink sink = graph("[" + tensor(5, "[1]", "[]") + "," + tensor(6, "[2]", "[]") + "," +
                              start("ttnn.linear", 7, R"(, "arguments": [], "input_tensors": [6, 5, 6])") + "]");
  ASSERT_EQ(sink.calls.size(), 1u);
  EXPECT_EQ(sink.calls[0].arguments,
            R"([{"Tensor": {"shape": "[2]"}}, {"Tensor": {"shape": "[1]"}}, {"Tensor": {"shape": "[2]"}}])");
}

TEST(GraphReader, InOldGraphsTensorsNameTheirConsumers) {
  const TestSink sink = graph("[" + tensor(0, "[1]", "[2]") + "," + start("ttnn::add", 2) + "," +
                              tensor(1, "[3]", "[2, 4]") + "," + start("ttnn::relu", 4) + "]");
  ASSERT_EQ(sink.calls.size(), 2u);
  EXPECT_EQ(sink.calls[0].arguments, R"([{"Tensor": {"shape": "[1]"}}, {"Tensor": {"shape": "[3]"}}])");
  EXPECT_EQ(sink.calls[1].arguments, R"([{"Tensor": {"shape": "[3]"}}])");
}

TEST(GraphReader, CallsWithoutArgumentsAreLeftOutAndDamagedOnesLost) {
  const TestSink sink = graph("[" + start("ttnn::empty", 1) + R"(, {"node_type": "function_start", "counter": 2},
                              {"node_type": "function_start", "params": {"name": "x"}}, {"node_type": "buffer"}, 5])");
  EXPECT_EQ(sink.calls.size(), 0u);
  EXPECT_EQ(sink.lost_kinds(), "unknown_shape unknown_shape");
  ASSERT_EQ(sink.left_out.size(), 1u);
  EXPECT_EQ(sink.left_out.begin()->second, 1u);
}

TEST(GraphReader, AnUnknownInputTensorIsNotForgotten) {
  const TestSink sink = graph("[" + tensor(5, "[1]", "[]") + "," +
                              start("ttnn.add", 7, R"(, "arguments": [], "input_tensors": [5, 99])") + "]");
  EXPECT_NE(sink.lost_kinds(), "");
}

TEST(GraphReader, WhatIsNoListOfNodesIsAnError) {
  json::Document document;
  TestSink sink;
  EXPECT_FALSE(read_graph(**document.parse("5"), "5", "g.json", sink));
}

TEST(GraphReader, FixturesOfBothGenerations) {
  const auto names = [](const TestSink& sink) {
    std::map<std::string, int> count;
    for (const auto& call : sink.calls) ++count[call.op];
    return count;
  };
  const TestSink nodes = graph(fixture("graph/nodes.json"));
  const auto current = names(nodes);
  EXPECT_EQ(nodes.lost_kinds(), "");
  for (const char* op : {"ttnn::add", "ttnn::interleaved_to_sharded", "ttnn::repeat", "ttnn::sigmoid_accurate",
                         "ttnn::softmax", "ttnn::where"})
    EXPECT_EQ(current.count(op), 1u) << op;
  const auto old = names(graph(fixture("graph/old_nodes.json")));
  for (const char* op : {"ttnn::add", "ttnn::repeat", "ttnn::softmax"}) EXPECT_EQ(old.count(op), 1u) << op;
}

TEST(GraphPythonIo, RecordsBecomeCalls) {
  const std::string text =
      R"([{"name": "ttnn.add", "arguments": {"dim": "1", "0": "x"}}, {"name": "y"}, 3, {"arguments": {}}])";
  json::Document document;
  TestSink sink;
  ASSERT_TRUE(read_python_io(**document.parse(text), text, "p.json", sink));
  ASSERT_EQ(sink.calls.size(), 1u);
  EXPECT_EQ(sink.calls[0].kind, FormKind::kPythonIo);
  EXPECT_EQ(sink.calls[0].arguments, R"({"0": "x", "dim": "1"})");
  EXPECT_EQ(sink.lost_kinds(), "unknown_shape unknown_shape unknown_shape");
  EXPECT_EQ(sink.ended.at(0).format, "graph-python-io");
}

}  // namespace
}  // namespace opwright::format
