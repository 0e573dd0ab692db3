#include "model/test_id.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

TEST(TestFunction, IsTheTestWithoutItsParameters) {
  EXPECT_EQ(test_function("tests/test_add.py::test_add[1-2]"), "tests/test_add.py::test_add");
  EXPECT_EQ(test_function("tests/test_add.py::TestAdd::test_add[a::b[0]/c d]"), "tests/test_add.py::TestAdd::test_add");
  EXPECT_EQ(test_function("a[1]/test_add.py::test_add[x]"), "a[1]/test_add.py::test_add");
}

TEST(TestFunction, TagsOfTheModelStay) {
  EXPECT_EQ(test_function("demo.py::test_demo[b-1] [HF_MODEL:meta/Llama] [LLAMA_DIR:/w/[x]]"),
            "demo.py::test_demo [HF_MODEL:meta/Llama] [LLAMA_DIR:/w/[x]]");
  EXPECT_EQ(test_function("demo.py::test_demo [HF_MODEL:meta/Llama]"), "demo.py::test_demo [HF_MODEL:meta/Llama]");
}

TEST(TestFunction, OtherSourcesAreThemselves) {
  for (const char* source : {"", "demo.py", "a[1].py", "python demo.py [x]", "a.py::test_b", "a.py::test_b[cut"})
    EXPECT_EQ(test_function(source), source);
}

TEST(ModelTags, AreAddedOnce) {
  const ModelTags tags{{"HF_MODEL", "meta/Llama"}};
  EXPECT_EQ(with_model_tags("a.py::t", tags), "a.py::t [HF_MODEL:meta/Llama]");
  EXPECT_EQ(with_model_tags("a.py::t [HF_MODEL:x/y]", tags), "a.py::t [HF_MODEL:x/y]");
}

TEST(ModelTags, BelongToPathsThatNameNoModel) {
  EXPECT_TRUE(takes_model_from_environment("models/tt_transformers/demo/simple_text_demo.py::t", false));
  EXPECT_FALSE(takes_model_from_environment("models/tt_transformers/tests/test_model.py::t", false));
  EXPECT_TRUE(takes_model_from_environment("models/tt_transformers/tests/test_model.py::t", true));
  EXPECT_FALSE(takes_model_from_environment("models/demos/vit/demo.py", true));
}

}  // namespace
}  // namespace opwright
