#include "gentest/snippets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "model/case_line.h"

namespace opwright::gentest {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Snippets of(std::string_view line) {
  Recorded recorded;
  recorded.config = *parse_case(line);
  recorded.key = "0123456789abcdef0123456789abcdef";
  return snippets_of(recorded);
}

constexpr std::string_view kAdd =
    "ttnn.add(tensor([1,1,32,64] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)), input_tensor_b=1.5)";

TEST(Snippets, AScriptMakesItsTensorsItself) {
  const Snippets add = of(kAdd);
  EXPECT_THAT(add.ttnn, HasSubstr("result = ttnn.add(\n"));
  EXPECT_THAT(add.ttnn, HasSubstr("tensor([1, 1, 32, 64], ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG, "
                                  "to=device)"));
  EXPECT_THAT(add.ttnn, HasSubstr("input_tensor_b=1.5"));
  EXPECT_THAT(add.ttnn, Not(HasSubstr("t.tensor")));
  EXPECT_THAT(add.refused, IsEmpty());
}

TEST(Snippets, ATestIsTheOneThatGentestWrites) {
  const Snippets add = of(kAdd);
  EXPECT_THAT(add.pytest, HasSubstr("from op_testing import"));
  EXPECT_THAT(add.pytest, HasSubstr("def test_add__"));
  EXPECT_THAT(add.pytest, HasSubstr("lambda t: t.call("));
}

TEST(Snippets, WhatCannotBeMadeSaysWhy) {
  const Snippets lost = of("ttnn.add(opaque(Thing,\"?\"), input_tensor_b=1.5)");
  EXPECT_THAT(lost.pytest, IsEmpty());
  EXPECT_THAT(lost.ttnn, IsEmpty());
  EXPECT_THAT(lost.refused, Not(IsEmpty()));
}

TEST(Snippets, IndicesStayBelowTheirTable) {
  const Snippets embedding =
      of("ttnn.embedding(tensor([1,32] UINT32 ROW_MAJOR DEVICE memory(DRAM INTERLEAVED)), "
         "tensor([50,64] BFLOAT16 ROW_MAJOR DEVICE memory(DRAM INTERLEAVED)))");
  EXPECT_THAT(embedding.ttnn, HasSubstr("below=")) << embedding.refused;
}

}  // namespace
}  // namespace opwright::gentest
