#include "format/reflection.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace opwright::format {
namespace {

// The text of the value, or "error at OFFSET: WHAT".
std::string parsed(std::string_view text) {
  const auto value = parse_reflection(text);
  if (value) return to_text(*value);
  return "error at " + std::to_string(value.error().offset) + ": " + value.error().what;
}

std::string element(std::string_view text) {
  const auto value = parse_element_info(text);
  if (value) return std::to_string(value->index) + " " + to_text(value->value);
  return "error at " + std::to_string(value.error().offset) + ": " + value.error().what;
}

bool fails(std::string_view text) { return !parse_reflection(text).has_value(); }

std::string repeated(std::string_view part, std::size_t bytes) {
  std::string text;
  text.reserve(bytes + part.size());
  while (text.size() < bytes) text += part;
  return text;
}

TEST(Reflection, EveryWordForNothingIsNull) {
  for (const char* text : {"nullopt", "std::nullopt", "<nullopt>", "None", "null", "  None\n"}) {
    const auto value = parse_reflection(text);
    ASSERT_TRUE(value) << text;
    EXPECT_TRUE(value->is_null()) << text;
  }
  EXPECT_EQ(parsed("WindowedMode::None"), "WindowedMode.None");  // a qualified name is an enum, whatever its last word
}

TEST(Reflection, BothSpellingsOfBool) {
  for (const char* text : {"true", "True"}) EXPECT_EQ(parsed(text), "true");
  for (const char* text : {"false", "False"}) EXPECT_EQ(parsed(text), "false");
}

TEST(Reflection, Integers) {
  EXPECT_EQ(*parse_reflection("-7")->as_int(), -7);
  EXPECT_EQ(*parse_reflection("9223372036854775807")->as_int(), INT64_MAX);
  EXPECT_EQ(*parse_reflection("-9223372036854775808")->as_int(), INT64_MIN);
  EXPECT_EQ(parsed("18446744073709551615"), "18446744073709551615");
  EXPECT_EQ(parsed("-00018446744073709551615"), "-18446744073709551615");
  EXPECT_TRUE(std::holds_alternative<BigInt>(parse_reflection("9223372036854775808")->data()));
  EXPECT_EQ(parsed("0000000000000000000000007"), "7");
}

TEST(Reflection, Floats) {
  EXPECT_EQ(*parse_reflection("1e-05")->as_float(), 1e-05);
  EXPECT_EQ(*parse_reflection("0.0771517")->as_float(), 0.0771517);
  EXPECT_EQ(*parse_reflection("2.5E+3")->as_float(), 2500.0);
  for (const char* text : {"inf", "Infinity"}) EXPECT_EQ(*parse_reflection(text)->as_float(), INFINITY) << text;
  for (const char* text : {"-inf", "-Infinity"}) EXPECT_EQ(*parse_reflection(text)->as_float(), -INFINITY) << text;
  for (const char* text : {"nan", "NaN", "-nan"}) EXPECT_TRUE(std::isnan(*parse_reflection(text)->as_float())) << text;
  const auto minus_zero = parse_reflection("-0");  // no integer is printed like this
  ASSERT_NE(minus_zero->as_float(), nullptr);
  EXPECT_TRUE(std::signbit(*minus_zero->as_float()));
}

TEST(Reflection, WhatOnlyLooksLikeANumberIsRefused) {
  for (const char* text :
       {"1.", "1.5f", "4ul", "1e", "--1", "-", "1e999", "- 1", "1 2", "2025-10-16", "3 - 5", "-1-2"}) {
    EXPECT_TRUE(fails(text)) << text;
  }
}

TEST(Reflection, EnumsOfAllSpellings) {
  EXPECT_EQ(*parse_reflection("DataType::BFLOAT8_B")->as_enum(), (Enum{"DataType", "BFLOAT8_B"}));
  EXPECT_EQ(*parse_reflection("DataType.BFLOAT8_B")->as_enum(), (Enum{"DataType", "BFLOAT8_B"}));
  EXPECT_EQ(*parse_reflection("ns::inner::Mode::FAST")->as_enum(), (Enum{"Mode", "FAST"}));
  EXPECT_EQ(*parse_reflection("ns::(anonymous namespace)::Mode::FAST")->as_enum(), (Enum{"Mode", "FAST"}));
  EXPECT_EQ(*parse_reflection("ttnn.bfloat16")->as_enum(), (Enum{"ttnn", "bfloat16"}));
  EXPECT_EQ(*parse_reflection("HiFi2")->as_enum(), (Enum{"", "HiFi2"}));
  EXPECT_EQ(*parse_reflection("<Layout.TILE: 1>")->as_enum(), (Enum{"Layout", "TILE"}));
  EXPECT_EQ(*parse_reflection("<a.b.Layout.TILE: -1>")->as_enum(), (Enum{"Layout", "TILE"}));
}

TEST(Reflection, StructsByNameAndByPosition) {
  EXPECT_EQ(parsed("Pad(left=1,right=2)"), "Pad(left=1,right=2)");
  EXPECT_EQ(parsed("a::b::Pad{left=1, right=2}"), "Pad(left=1,right=2)");
  EXPECT_EQ(parsed("ttnn.Pad(left=1, right=2)"), "Pad(left=1,right=2)");
  EXPECT_EQ(parsed("params_t(Mode::A, {}, 0, std::nullopt)"), "params_t(Mode.A,[],0,none)");
  EXPECT_EQ(parsed("Storage()"), "Storage()");
  EXPECT_EQ(parsed("slice(None, 4, step=2)"), "slice(none,4,step=2)");
  EXPECT_EQ(parsed("(x=8,y=7)"), "(x=8,y=7)");
  EXPECT_EQ(parsed("(anonymous namespace)::Pad(1)"), "Pad(1)");
}

TEST(Reflection, TemplateArgumentsStayInTheTypeName) {
  EXPECT_EQ(parse_reflection("ns::WithParam<float, ns::T<int> >{\"op\":\"Op::GELU\"}")->as_struct()->type,
            "WithParam<float, ns::T<int> >");
  EXPECT_EQ(parse_reflection("Outer<int>::Inner(1)")->as_struct()->type, "Inner");
}

TEST(Reflection, ShapesAreStructsWithOneList) {
  for (const std::string type : {"Shape", "Alignment", "SmallVector", "MeshShape", "MeshCoordinate"}) {
    const auto value = parse_reflection(type + "([3, 5])");
    ASSERT_TRUE(value) << type;
    EXPECT_EQ(value->as_struct()->type, type);
    ASSERT_EQ(value->as_struct()->fields.size(), 1U);
    EXPECT_EQ(value->as_struct()->fields[0].first, "");
    EXPECT_EQ(value->as_struct()->fields[0].second.as_list()->size(), 2U);
  }
  EXPECT_EQ(parsed("Shape([])"), "Shape([])");
}

TEST(Reflection, ListsInEveryBracket) {
  EXPECT_EQ(parsed("[1, -2,3]"), "[1,-2,3]");
  EXPECT_EQ(parsed("{1, 2}"), "[1,2]");
  EXPECT_EQ(parsed("(1, 2)"), "[1,2]");
  EXPECT_EQ(parsed("(1,)"), "[1]");
  for (const char* text : {"[]", "{}", "()", "{ }", "[ ]"}) EXPECT_EQ(parsed(text), "[]") << text;
  EXPECT_EQ(parsed("[[1, 2], [3]]"), "[[1,2],[3]]");
  EXPECT_EQ(parsed("{Cell([2, 2]), Cell([0, 1])}"), "[Cell([2,2]),Cell([0,1])]");
  EXPECT_EQ(parsed("['Shard(0)', 'Replicate']"), "[\"Shard(0)\",\"Replicate\"]");
  EXPECT_EQ(parsed("{{\"storage\":{},\"n\":1}, {\"n\":2}}"), "[{\"n\":1,\"storage\":[]},{\"n\":2}]");
}

TEST(Reflection, Dicts) {
  EXPECT_EQ(parsed("{\"x\":0, \"y\":[1,2]}"), "{\"x\":0,\"y\":[1,2]}");
  EXPECT_EQ(parsed("{k=v, n=1}"), "{\"k\":v,\"n\":1}");
  EXPECT_EQ(parsed("{'k': None}"), "{\"k\":none}");
  EXPECT_EQ(parsed("{\"spec\":{\"a\":1}, storage_type:StorageType::DEVICE}"),
            "{\"spec\":{\"a\":1},\"storage_type\":StorageType.DEVICE}");
}

TEST(Reflection, AQuotedStringIsNeverReadAsMore) {
  for (const std::string text : {"{224, 32}", "DataType::BFLOAT16", "std::nullopt", "1", ""}) {
    EXPECT_EQ(*parse_reflection('"' + text + '"')->as_string(), text);
    EXPECT_EQ(*parse_reflection("{\"k\":\"" + text + "\"}")->as_dict()->at(0).second.as_string(), text);
  }
}

TEST(Reflection, Strings) {
  EXPECT_EQ(*parse_reflection(R"("a\"b\\\/\b\f\n\r\t\u00e9\ud83d\ude00")")->as_string(),
            "a\"b\\/\b\f\n\r\t\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(*parse_reflection(R"('it\'s "so" \x41')")->as_string(), "it's \"so\" A");
  EXPECT_EQ(*parse_reflection("\"\"silu\"\"")->as_string(), "silu");
  EXPECT_EQ(parsed("{\"act\":\"\"gelu_approx\"\", \"n\":1}"), "{\"act\":\"gelu_approx\",\"n\":1}");
  for (const char* text :
       {"\"a", "\"a\\\"", "\"\\q\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\\u12\"", "\"\"a\"", "\"a\" \"b\""}) {
    EXPECT_TRUE(fails(text)) << text;
  }
}

TEST(Reflection, CoordinatesAndRanges) {
  EXPECT_EQ(parsed("8-7"), "CoreCoord(x=8,y=7)");
  EXPECT_EQ(parsed("Config(grid=8-7, n=1)"), "Config(grid=CoreCoord(x=8,y=7),n=1)");
  const std::string range = "CoreRange(end={\"x\":3,\"y\":1},start={\"x\":0,\"y\":0})";
  EXPECT_EQ(parsed(R"({"x":0,"y":0} - {"x":3,"y":1})"), range);
  EXPECT_EQ(parsed(R"([{"x":0,"y":0} - {"x":3,"y":1}])"), range);  // one range, as the library prints it
  EXPECT_EQ(parsed(R"([[{"x":0,"y":0} - {"x":3,"y":1}]])"), "[" + range + "]");
  EXPECT_EQ(parsed(R"({[{"x":0,"y":0} - {"x":3,"y":1}]})"), "[" + range + "]");
  EXPECT_EQ(parsed(R"({[{"x":0,"y":0} - {"x":3,"y":1}], [{"x":0,"y":0} - {"x":3,"y":1}]})"),
            "[" + range + "," + range + "]");
  EXPECT_EQ(parsed(R"([{"x":0,"y":0} - {"x":3,"y":1}, {"x":0,"y":0} - {"x":3,"y":1}])"),
            "[" + range + "," + range + "]");
  EXPECT_EQ(parsed("(x=0,y=0) - (x=3,y=1)"), "CoreRange(end=(x=3,y=1),start=(x=0,y=0))");
  EXPECT_EQ(parsed("[(x=0,y=0) - (x=3,y=1)]"), "CoreRange(end=(x=3,y=1),start=(x=0,y=0))");
  EXPECT_EQ(parsed("{[0-0 - 3-1]}"), "[CoreRange(end=CoreCoord(x=3,y=1),start=CoreCoord(x=0,y=0))]");
  for (const char* text :
       {"(x=0,y=0) - 4", "[1] - [2]", "(x=0,y=0) - ", "a - b", "(x=0,y=0) - (x=0,y=0) - (x=0,y=0)"}) {
    EXPECT_TRUE(fails(text)) << text;
  }
}

TEST(Reflection, APairPrintedWithoutBrackets) {
  EXPECT_EQ(parsed(R"({"grid":5,6, "q":32})"), R"({"grid":[5,6],"q":32})");
  EXPECT_EQ(parsed("Config(grid=5,6, q=32,7,9)"), "Config(grid=[5,6],q=[32,7,9])");
  EXPECT_TRUE(fails(R"({"grid":5,"six"})"));
  EXPECT_TRUE(fails(R"({"grid":[5],6})"));
  EXPECT_TRUE(fails(R"({5, "grid":6})"));
}

TEST(Reflection, ACutTypeName) {
  EXPECT_EQ(parsed(R"(ttnn.{"x":3, "y":2})"), "CoreCoord(x=3,y=2)");
  EXPECT_EQ(parsed(R"(ttnn.{"n":3})"), "(n=3)");
  EXPECT_EQ(parsed("[ttnn.{\"y\":2, \"x\":3}]"), "[CoreCoord(x=3,y=2)]");
}

TEST(Reflection, TheForgottenBraceOfOldGrids) {
  const std::string whole =
      R"(ShardSpec{grid=[{"start":{"x":0,"y":0},"end":{"x":1,"y":2}}], shape=[8, 4], orientation=O::R})";
  const std::string broken =
      R"(ShardSpec{grid=[{"start":{"x":0,"y":0},"end":{"x":1,"y":2}], shape=[8, 4], orientation=O::R})";
  EXPECT_EQ(parsed(broken), parsed(whole));
  EXPECT_EQ(parsed(R"({"grid":[{"start":1,"end":2, {"start":3,"end":4], "n":5})"),
            parsed(R"({"grid":[{"start":1,"end":2}, {"start":3,"end":4}], "n":5})"));
  EXPECT_EQ(parsed(R"([{"end":1,"start":2])"), parsed(R"([{"end":1,"start":2}])"));
  EXPECT_TRUE(fails(R"([{"from":1,"to":2])"));  // only there
  EXPECT_TRUE(fails(R"([{"start":1,"end":2,"n":3])"));
  EXPECT_TRUE(fails(R"([Range{"start":1,"end":2])"));
  EXPECT_TRUE(fails(R"({"start":1,"end":2)"));
}

TEST(Reflection, WhatTheTraceDoesNotShowIsOpaque) {
  EXPECT_EQ(*parse_reflection("{...}")->as_opaque(), (Opaque{"", "{...}"}));
  EXPECT_EQ(*parse_reflection("{ptr}")->as_opaque(), (Opaque{"", "{ptr}"}));
  EXPECT_EQ(*parse_reflection("Topology(...)")->as_opaque(), (Opaque{"Topology", "{...}"}));
  EXPECT_EQ(*parse_reflection("...")->as_opaque(), (Opaque{"", "..."}));
  EXPECT_EQ(parsed("{\"MeshDevice\":{ptr}}"), "{\"MeshDevice\":opaque(,\"{ptr}\")}");
  EXPECT_EQ(parsed("[{...}, {...}]"), "[opaque(,\"{...}\"),opaque(,\"{...}\")]");
  EXPECT_EQ(*parse_reflection("<variant>")->as_opaque(), (Opaque{"", "<variant>"}));
  EXPECT_EQ(*parse_reflection("<incomplete type>")->as_opaque(), (Opaque{"", "<incomplete type>"}));
  EXPECT_EQ(*parse_reflection("<a::b<c> >")->as_opaque(), (Opaque{"", "<a::b<c> >"}));
  EXPECT_EQ(*parse_reflection("[ unsupported type , w<std::array<int, 2ul> > const]")->as_opaque(),
            (Opaque{"unsupported", "w<std::array<int, 2ul> > const"}));
  EXPECT_EQ(*parse_reflection("[ unsupported type , p<int []>]")->as_opaque(), (Opaque{"unsupported", "p<int []>"}));
  EXPECT_EQ(*parse_reflection("[any, empty]")->as_opaque(), (Opaque{"any", "empty"}));
}

TEST(Reflection, AddressesNeverStay) {
  EXPECT_EQ(*parse_reflection("0x55c350ddd8d0")->as_opaque(), (Opaque{"address", ""}));
  EXPECT_EQ(parsed("P(0x1, 2)"), "P(opaque(address,\"\"),2)");
  EXPECT_EQ(*parse_reflection("<a.B object at 0x7f00aa>")->as_opaque(), (Opaque{"", "<a.B object>"}));
  EXPECT_EQ(*parse_reflection("<f.<locals>.<lambda> at 0x7f00aa>")->as_opaque(), (Opaque{"", "<f.<locals>.<lambda>>"}));
  EXPECT_EQ(*parse_reflection("<B 0x7f00aa11bb22 of C at 0x1>")->as_opaque(), (Opaque{"", "<B of C>"}));
  EXPECT_EQ(*parse_reflection("<mask 0xff>")->as_opaque(), (Opaque{"", "<mask 0xff>"}));
}

TEST(Reflection, SentencesOfPythonReprs) {
  EXPECT_EQ(parsed("Tile with shape: [32, 16]"), "Tile(shape=[32,16])");
  EXPECT_EQ(parsed("MeshDevice(2x4 grid, 8 devices)"), "MeshDevice(devices=8,grid=[2,4])");
  EXPECT_TRUE(fails("Tile with [32, 16]"));
  EXPECT_TRUE(fails("Device Operation"));
}

TEST(Reflection, AWholeTensor) {
  EXPECT_EQ(
      parsed("Tensor(storage=DeviceStorage(),tensor_spec=TensorSpec(logical_shape=Shape([1, "
             "6]),tensor_layout=TensorLayout("
             "dtype=DataType::UINT8,page_config=PageConfig(config=TilePageConfig(tile=Tile(tile_shape={32, "
             "32},num_faces=4))),"
             "alignment=Alignment([32]))))"),
      "Tensor(storage=DeviceStorage(),tensor_spec=TensorSpec(logical_shape=Shape([1,6]),tensor_layout=TensorLayout("
      "alignment=Alignment([32]),dtype=DataType.UINT8,page_config=PageConfig(config=TilePageConfig(tile=Tile(num_faces="
      "4,"
      "tile_shape=[32,32]))))))");
}

TEST(Reflection, ControlCharactersAreTextOrAnError) {
  using std::string_literals::operator""s;
  EXPECT_EQ(*parse_reflection("\0"s)->as_string(), "\0"s);
  EXPECT_EQ(parsed("P(\x01, 2)"), "P(\"\\u0001\",2)");
  EXPECT_EQ(parsed("{\"a\":\\u0001}"), "{\"a\":\"\\u0001\"}");
  EXPECT_EQ(*parse_reflection("\"a\0b\x1f\""s)->as_string(), "a\0b\x1f"s);
  for (int byte = 0; byte < 256; ++byte) {
    const std::string c(1, static_cast<char>(byte));
    for (const std::string& text : {c, "[" + c, "{a" + c + "=1}", "T(" + c + ")", "<" + c + ">", "\"\\" + c + "\"",
                                    "1" + c, "a" + c, "{\"arg1\":" + c + "}", "{\"arg1\": \"" + c + "\"}"}) {
      (void)parse_reflection(text);
      (void)parse_element_info(text);
    }
  }
}

TEST(Reflection, ErrorsNameTheByte) {
  EXPECT_EQ(parsed(""), "error at 0: expected a value");
  EXPECT_EQ(parsed("[1, 2"), "error at 5: expected ',' or ']'");
  EXPECT_EQ(parsed("[1,,2]"), "error at 3: expected a value");
  EXPECT_EQ(parsed("T(a=1, b)"), "error at 7: a member without a name after one with a name");
  EXPECT_EQ(parsed("T(a=1]"), "error at 5: expected ',' or ')'");
  EXPECT_EQ(parsed("1 x"), "error at 2: expected the end of the text");
  EXPECT_EQ(parsed("T(<a<b>)"), "error at 2: '<' without its '>'");
  EXPECT_EQ(parsed("T{\"a b\":1}"), "error at 2: a member whose name is no word");
  EXPECT_EQ(element("{\"arg3\": [1, }"), "error at 12: expected a value");
}

TEST(Reflection, NestingHasALimit) {
  const auto nested = [](std::string_view open, std::string_view close, int depth) {
    std::string text;
    for (int i = 0; i < depth; ++i) text += open;
    text += "1";
    for (int i = 0; i < depth; ++i) text += close;
    return text;
  };
  for (const auto& [open, close] :
       {std::pair{"[", "]"}, {"{", "}"}, {"(", ")"}, {"T(", ")"}, {"{a=", "}"}, {"T with a: ", ""}}) {
    EXPECT_FALSE(fails(nested(open, close, kMaxReflectionDepth))) << open;
    EXPECT_TRUE(fails(nested(open, close, kMaxReflectionDepth + 1))) << open;
  }
}

TEST(Reflection, AMegabyteOfAnythingTakesLinearTime) {
  const auto start = std::chrono::steady_clock::now();
  for (const std::string_view part : {"[",
                                      "(",
                                      "{",
                                      "<",
                                      "T(",
                                      "a<",
                                      "\"",
                                      "\"\"",
                                      "\"\"a",
                                      "'",
                                      "\\",
                                      "-",
                                      "1-",
                                      "0x",
                                      "1x",
                                      ".",
                                      "::a",
                                      "a.",
                                      "{\"arg1\":",
                                      "{\"start\":1,\"end\":2,",
                                      "[ unsupported type ,",
                                      "T with a:",
                                      "8,",
                                      "9",
                                      "a=1,"}) {
    const std::string text = repeated(part, 1'000'000);
    for (const std::string& whole : {text, "[" + text, "{\"k\":" + text, "{\"k\":" + text + "1}", "T(" + text,
                                     "<" + text, "\"" + text + "\"", "{\"arg1\": \"" + text + "\"}"}) {
      (void)parse_reflection(whole);
      (void)parse_element_info(whole);
    }
  }
  // Some 400 MB; a quadratic step would take hours. Generous, because sanitizers and busy machines are slow.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(120));
}

TEST(ElementInfo, TakesTheIndexAndTheValue) {
  EXPECT_EQ(element(R"({"arg0": {"Grid":[{"x":0,"y":0} - {"x":3,"y":1}],"shape":"{8, 4}"}})"),
            R"(0 {"Grid":CoreRange(end={"x":3,"y":1},start={"x":0,"y":0}),"shape":"{8, 4}"})");
  EXPECT_EQ(element(R"({"arg12": {"Sdpa":{"grid":5,6, "q":0}}})"), R"(12 {"Sdpa":{"grid":[5,6],"q":0}})");
  EXPECT_EQ(element(R"({"arg2": {"MeshDevice":{ptr}}})"), R"(2 {"MeshDevice":opaque(,"{ptr}")})");
  EXPECT_EQ(element(R"({"arg2": {"params_t":{[0, 1], {"a":"B::C"}, <variant>, D::E}}})"),
            R"(2 {"params_t":[[0,1],{"a":"B::C"},opaque(,"<variant>"),D.E]})");
}

TEST(ElementInfo, QuotedArgumentsAreReflectionTextEscapedOrNot) {
  EXPECT_EQ(element(R"({"arg1": "{{"a":{},"n":1}, {"a":"{1, 2}"}}"})"), R"(1 [{"a":[],"n":1},{"a":"{1, 2}"}])");
  EXPECT_EQ(element(R"({"arg1": "{{\"a\":{},\"n\":1}, {\"a\":\"{1, 2}\"}}"})"), R"(1 [{"a":[],"n":1},{"a":"{1, 2}"}])");
  EXPECT_EQ(element(R"({"arg1": "[{"n":1}, {"n":2}]"})"), R"(1 [{"n":1},{"n":2}])");
  EXPECT_EQ(element(R"({"arg1": "ttnn.{"x":3, "y":2}"})"), "1 CoreCoord(x=3,y=2)");
  EXPECT_EQ(element(R"({"arg7": ""silu""})"), "7 \"silu\"");
  EXPECT_EQ(element(R"({"arg7": "std::nullopt"})"), "7 none");
  EXPECT_EQ(element(R"({"arg7": "\u0001"})"), "7 \"\\u0001\"");
}

TEST(ElementInfo, WithoutAnArgumentTheWholeTextIsTheValue) {
  EXPECT_EQ(element(R"({"Topology":{...}})"), R"(-1 {"Topology":opaque(,"{...}")})");
  EXPECT_EQ(element("Shape([1])"), "-1 Shape([1])");
  EXPECT_EQ(element(R"({"arg99999999999": 1})"), R"(-1 {"arg99999999999":1})");
  EXPECT_EQ(element(R"({"argument": 1})"), R"(-1 {"argument":1})");
}

TEST(ElementInfo, DamageBeyondTheGrammarIsAnError) {
  for (const char* text :
       {"", "{\"arg1\": }", "{\"arg1\": 1", "{\"arg1\": \"[1\"}", "{\"arg1\": 1, \"arg2\": 2}",
        "{\"arg1\": \"{\"a\":1\"}", "{\"arg1\": \"a\", \"b\"}", "{\"arg1\": \"\\q\"}", "{\"arg1\": \"\"}"}) {
    EXPECT_FALSE(parse_element_info(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace opwright::format
