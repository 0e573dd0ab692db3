#include "model/value_parse.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

// The law: what to_text writes, parse_value reads back to the same text.
TEST(ValueParse, GivesBackWhatToTextWrites) {
  for (const char* text : {"none",
                           "true",
                           "false",
                           "3",
                           "-7",
                           "123456789012345678901234567890",
                           "0.5",
                           "1e-05",
                           "inf",
                           "-inf",
                           "nan",
                           R"("a \"b\" \u00e4")",
                           "DataType.BFLOAT16",
                           R"("odd type".X)",
                           R"(X."odd.name")",
                           "CACHE",
                           "enum(none)",
                           R"(enum("a.b"))",
                           "[]",
                           "[1,[2,none]]",
                           "{}",
                           R"({"k":1,"z":[true]})",
                           "Type(1,a=2,b=x.y)",
                           R"("tensor"(a=1))",
                           "(1,2)",
                           R"(opaque(Type,"text"))",
                           R"(opaque(,"..."))",
                           "memory(DRAM INTERLEAVED)",
                           "memory()",
                           "memory(L1 HEIGHT_SHARDED shard [224,32] on (0,0)-(7,6) ROW_MAJOR)",
                           "memory(L1 BLOCK_SHARDED shard [32,32] on (0,0)-(7,2)+(0,3)-(3,3) COL_MAJOR nd_shard "
                           "[1,32,32] on (0,0)-(7,6) ROW_MAJOR "
                           "distribution=GRID_2D {x=1})",
                           "memory(buffer=NEW layout=\"odd one\")",
                           "tensor([1,1,12544,32] BFLOAT8_B TILE DEVICE memory(DRAM INTERLEAVED))",
                           "tensor([] dtype=FP9 layout=X storage=Y)",
                           "tensor(shape absent)",
                           "tensor(torch.Tensor [3,224] BFLOAT16)",
                           "tensor([8,4] FLOAT32 HOST tile [16,32] on each device [2,4] placed [Shard(2),Replicate] "
                           "over [1,2] of mesh [1,2] "
                           "{alignment=[32,32]})"}) {
    const auto value = parse_value(text);
    ASSERT_TRUE(value.has_value()) << text << ": " << value.error().message;
    EXPECT_EQ(to_text(*value), text);
  }
}

TEST(ValueParse, AllowsSpacesAndSaysWhereItStumbled) {
  EXPECT_EQ(to_text(*parse_value("[ 1 , 2 ]")), "[1,2]");
  EXPECT_EQ(to_text(*parse_value("T( a = 1 )")), "T(a=1)");
  for (const char* text : {"", "[1", "tensor([1,2", "{1:2}", "\"open", "1 2", "memory(DRAM", "T(a=)", "opaque(x)",
                           "--3", "tensor([1,x])"}) {
    const auto value = parse_value(text);
    ASSERT_FALSE(value.has_value()) << text;
    EXPECT_NE(value.error().message.find("character "), std::string::npos) << value.error().message;
  }
  EXPECT_FALSE(parse_value(std::string(5000, '[')).has_value());
}

}  // namespace
}  // namespace opwright
