#include "normalize/provenance_names.h"

#include <gtest/gtest.h>

namespace opwright::normalize {
namespace {

std::string model(std::string_view source) { return name_source(source).model; }

TEST(SourceNames, TheModelOfAPath) {
  EXPECT_EQ(model("models/demos/deepseek_v3/tests/test_model.py::test_decode[a/b]"), "deepseek_v3");
  EXPECT_EQ(model("models/demos/wormhole/resnet50/demo.py"), "resnet50");
  EXPECT_EQ(model("models/experimental/EfficientNetB0/tests/pcc/test_x.py"), "efficientnetb0");
  EXPECT_EQ(model("models/demos/vision/classification/vit/demo/demo.py"), "vit");
  EXPECT_EQ(model("tests/test_mlp.py"), "mlp");  // only the file names one
  EXPECT_EQ(model("../models/tiny_cnn/tests/test_cnn.py"), "tiny_cnn");
  EXPECT_EQ(model("models/demos/llama-3.2/demo.py"), "llama-3.2");  // a folder has no extension
  EXPECT_EQ(model("my models/tiny net.py"), "my models");
  EXPECT_EQ(model(""), "unknown");
  EXPECT_EQ(model("models/demos/tests/demo.py"), "unknown");
}

TEST(SourceNames, AUnitTestOfTheLibraryIsNamedByItsFile) {
  EXPECT_EQ(model("tests/ttnn/unit_tests/operations/eltwise/test_add.py::test_add[1-2]"), "add");
  EXPECT_EQ(model("tests/ttnn/integration_tests/bert/test_ttnn_bert.py"), "ttnn_bert");
  EXPECT_EQ(model("tests/tt_eager/python_api_testing/unit_testing/misc/test_Rotary.py"), "rotary");
  EXPECT_EQ(model("unit_tests/test_core.py"), "core");
  EXPECT_EQ(model("examples/ttnn/test_decoder.py::test_decoder[decode-32]"), "decoder");
  EXPECT_EQ(model("ttnn/test_ttnn.py"), "ttnn");  // its own name
}

TEST(SourceNames, WhereThingsAreInstalledIsNoModel) {
  EXPECT_EQ(model("/opt/tt-metal/models/demos/vit/demo.py"), "vit");
  EXPECT_EQ(model("/opt/tt-metal/tests/ttnn/unit_tests/test_add.py"), "add");
  EXPECT_EQ(model("/opt/my_model.py"), "my_model");
  for (const char* source : {"pytest/__main__.py", "pytest", "-c", "-m", "pytest -q x"})
    EXPECT_EQ(model(source), "unknown") << source;
}

TEST(SourceNames, OfSeveralFilesTheFirstNames) {
  EXPECT_EQ(model("models/demos/vit/tests/test_a.py models/demos/bert/tests/test_b.py"), "vit");
}

TEST(SourceNames, ATagNamesTheModel) {
  const SourceName name = name_source(
      "models/tt_transformers/demo/simple_text_demo.py::t [HF_MODEL:meta-llama/Llama-3.2-1B] [LLAMA_DIR:/w/x]");
  EXPECT_EQ(name.path, "models/tt_transformers/demo/simple_text_demo.py::t");
  EXPECT_EQ(name.hf_model, "meta-llama/Llama-3.2-1B");
  EXPECT_EQ(name.model, "llama-3.2-1b");
  EXPECT_EQ(model("a.py [LLAMA_DIR:/weights/Llama3-8B]"), "llama3-8b");
  EXPECT_EQ(name_source("a.py").hf_model, "");
  EXPECT_EQ(name_source("models/x/demo.py [HF_MODEL:cut").path, "models/x/demo.py [HF_MODEL:cut");
}

TEST(MachineNames, BoardSeriesAndCards) {
  EXPECT_EQ(name_machine(R"({"board_type": "Wormhole", "device_series": "n300", "card_count": 1})"),
            "Wormhole n300 x1");
  EXPECT_EQ(name_machine(R"({"board_type": "Wormhole", "device_series": ["n300", "n150"]})"), "Wormhole n300");
  EXPECT_EQ(name_machine(R"({"device_count": 1})"), "1 device");
  EXPECT_EQ(name_machine(R"({"device_count": 32})"), "32 devices");
  EXPECT_EQ(name_machine(R"({"board_type": "Blackhole", "device_count": 2})"), "Blackhole");
}

TEST(MachineNames, AMockIsCalledOneInShortAndInWhole) {
  EXPECT_EQ(name_machine(R"({"mock_board": "t3k"})"), "t3k (mock)");
  EXPECT_EQ(
      name_machine(R"({"board_type": "Wormhole", "card_count": 4, "device_series": "n300", "mock_board": "t3k"})"),
      "t3k (mock)");
  EXPECT_EQ(name_machine(R"({"arch": "wormhole_b0", "cluster_type": "N300"})"), "Wormhole n300 x1");
}

TEST(MachineNames, WhatSaysNothingIsUnknown) {
  for (const char* json : {"", "{}", "{", "[1]", "null", R"({"board_type": null, "device_series": []})"})
    EXPECT_EQ(name_machine(json), "unknown") << json;
}

}  // namespace
}  // namespace opwright::normalize
