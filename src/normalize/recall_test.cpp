#include "normalize/recall.h"

#include <gtest/gtest.h>

#include "dialect/dialect.h"
#include "normalize/normalize.h"

namespace opwright::normalize {
namespace {

struct Understood {
  std::string text;  // canonical, or the error
  std::size_t unparsed = 0, unknown_names = 0, duplicate_keys = 0;
  std::string unparsed_example, unknown_example;
  friend bool operator==(const Understood&, const Understood&) = default;
};
void PrintTo(const Understood& one, std::ostream* out) {
  *out << one.text << " unparsed " << one.unparsed << " '" << one.unparsed_example << "' unknown " << one.unknown_names
       << " '" << one.unknown_example << "' twice " << one.duplicate_keys;
}

Understood told(std::string text, const format::LiftNotes& notes) {
  return {std::move(text),      notes.unparsed,         notes.unknown_names,
          notes.duplicate_keys, notes.unparsed_example, notes.unknown_example};
}

Understood parsed(std::string_view op, std::string_view arguments) {
  format::LiftNotes notes;
  json::Document document;
  const auto root = document.parse(arguments);
  if (!root) return told(json::describe(arguments, root.error()), notes);
  notes.duplicate_keys += document.duplicate_keys();
  auto call = format::lift_call(FormKind::kEra2, op, **root, notes);
  return told(call ? canonical_text(config_of(*std::move(call))) : call.error().message, notes);
}

Understood normalized(Normalizer& normalizer, std::string_view op, std::string_view arguments) {
  format::LiftNotes notes;
  const auto config = normalizer.normalize(FormKind::kEra2, op, arguments, notes);
  return told(config ? canonical_text(*config) : config.error().message, notes);
}

constexpr std::string_view kTensor =
    R"({"type":"ttnn.tensor.Tensor","tensor_spec":{"logical_shape":[1,1,32,64],"tensor_layout":{"dtype":"DataType.BFLOAT16"}}})";

std::vector<std::string> texts() {
  const std::string tensor(kTensor);
  return {
      "{}",
      R"({"arg0":)" + tensor + R"(,"arg1":)" + tensor + R"(,"dim":3})",
      R"({"dim":-1,"arg1":)" + tensor + R"(,"arg0":[1,2,[3]]})",
      R"({"a":"x,y","b":"}","c":"\"","d":"\\","e":"[","f":{"g":"]"}})",
      R"({"a":NaN,"b":Infinity,"c":1e400,"d":123456789012345678901234567890,"e":null,"f":true})",
      R"({"a":"DataType.NO_SUCH","t":{"type":"T","repr":"Broken(("},"z":1})",
      R"({"a":{"k":1,"k":2},"b":3})",
      R"({"a":1,"a":2})",
      R"({"a\n":1,"b":2})",
      R"({"ä":1,"b":2})",
      R"({ "a":1})",
      R"({"a": 1})",
      R"({"a":1 ,"b":2})",
      R"({"a":1}x)",
      R"({"a":1]})",
      R"({"a":[1},"b":{2]})",
      R"({"a":,"b":1})",
      R"({"a":})",
      R"({"a"})",
      R"({"a":1,})",
      R"({"a":1)",
      R"({"a":"x)",
      R"({"a":tru})",
      R"([1,2])",
      R"("{}")",
      "{",
      "",
      "{\"a\":\"\x01\"}",
      "{\"a\":\"\xff\"}",
      R"({"a":)" + std::string(300, '[') + std::string(300, ']') + "}",
  };
}

TEST(Recall, ATextIsUnderstoodAsTheParserUnderstandsItTheFirstTimeAndTheNext) {
  Normalizer normalizer;
  for (int time = 0; time < 3; ++time)
    for (const std::string& text : texts())
      EXPECT_EQ(normalized(normalizer, "ttnn.add", text), parsed("ttnn.add", text)) << text;
}

TEST(Recall, OneTextOfTwoDialectsIsTwoThings) {
  Normalizer normalizer;
  const std::string text = R"({"self":{"type":"torch.Tensor","shape":[2,3],"dtype":"float"},"other":"long"})";
  for (const std::string_view op : {"ttnn.add", "aten.add.Tensor", "ttnn.add", "aten.add.Tensor"})
    EXPECT_EQ(normalized(normalizer, op, text), parsed(op, text)) << op;
}

TEST(Recall, WhatIsNotWholeIsLeftToTheParser) {
  Recall recall;
  format::LiftNotes notes;
  const Dialect& dialect = dialect_of("ttnn.add");
  EXPECT_TRUE(recall.arguments(R"({"a":1,"b":[1,2]})", dialect, notes).has_value());
  for (const std::string_view text :
       {R"({"a":1,"a":2})", R"({"a":{"t":{"type":"T","repr":"Broken(("}},"b":tru})", "[1]", ""})
    EXPECT_FALSE(recall.arguments(text, dialect, notes).has_value()) << text;
  EXPECT_EQ(notes.unparsed, 0u);
}

// More different texts than are kept: each is still itself.
TEST(Recall, ForgetsAndAsksAgain) {
  Normalizer normalizer;
  for (int time = 0; time < 2; ++time) {
    for (int i = 0; i < 5000; ++i) {
      const std::string text = R"({"arg0":)" + std::to_string(i) + "}";
      ASSERT_EQ(normalized(normalizer, "ttnn.add", text).text, parsed("ttnn.add", text).text);
    }
  }
}

std::string tensor(const std::string& sizes, const std::string& rest = "") {
  return R"({"arg0":{"layout":"Layout.TILE","original_dtype":"DataType.BFLOAT16","original_shape":[)" + sizes +
         R"(],"tensor_placement":{"distribution_shape":"[1, 2]","mesh_device_shape":"[1, 2]",)"
         R"("placement":"['PlacementShard(-1)', 'PlacementReplicate']"})" +
         rest + R"(,"type":"ttnn.Tensor"}})";
}

// A tensor at another size is not parsed, and is what the parser would have made of it.
TEST(Recall, ATensorOfAnotherSizeIsTheSameButForItsShape) {
  Normalizer normalizer;
  for (const char* sizes : {"1,1,32,64", "7,1,4096,2", "32,32", "5", "0", "", "64,32,1", "1,2,3,4,5", "007,1", "-1,32",
                            "1.5,2", "[1],2", "999999999999999,1", "123456789012345678901,1", "1,2,", ",1", "true,1"}) {
    for (const std::string rest : {"", R"(,"memory_config":{"buffer_type":"BufferType.L1","memory_layout":"x"})"})
      EXPECT_EQ(normalized(normalizer, "ttnn.add", tensor(sizes, rest)), parsed("ttnn.add", tensor(sizes, rest)))
          << sizes << rest;
  }
}

// Where a size says more than the shape, every text is read for itself: the shape on one device is told where it
// differs.
TEST(Recall, SizesThatGoElsewhereAreNotTaken) {
  Normalizer normalizer;
  for (const std::string sizes : {"1,32", "2,32", "2,64", "1,32", "4,4", "8,8"}) {
    for (const std::string_view rest : {R"(,"shape":"[2, 64]")", R"(,"shape":"[4, 4]")", R"(,"shape":[2,32])",
                                        R"(,"shape":"[1, 32]","values":[1])", R"(,"tile":[16,32])"})
      EXPECT_EQ(normalized(normalizer, "ttnn.add", tensor(sizes, std::string(rest))),
                parsed("ttnn.add", tensor(sizes, std::string(rest))))
          << sizes << rest;
  }
}

}  // namespace
}  // namespace opwright::normalize
