#include "dialect/aten/aten.h"

#include <gtest/gtest.h>

#include "model/value_parse.h"

namespace opwright {
namespace {

std::string normal(const std::string& text) {
  const auto value = parse_value(text);
  EXPECT_TRUE(value) << text << ": " << value.error().message;
  return to_text(aten_dialect().normal_form(*value));
}

TEST(Aten, ContiguousAsPyTorchSaysIt) {
  EXPECT_TRUE(is_contiguous({}, {}));
  EXPECT_TRUE(is_contiguous({2, 3, 4}, {12, 4, 1}));
  EXPECT_TRUE(is_contiguous({2, 1, 4}, {4, 99, 1}));  // one element: its stride is never used
  EXPECT_TRUE(is_contiguous({2, 0, 4}, {1, 1, 7}));   // no elements
  EXPECT_FALSE(is_contiguous({3, 2}, {1, 3}));
  EXPECT_FALSE(is_contiguous({2, 3}, {0, 1}));  // expanded
  EXPECT_FALSE(is_contiguous({2, 3}, {3}));
  EXPECT_FALSE(is_contiguous({2, 3}, {6, 2}));
  EXPECT_FALSE(is_contiguous({4, std::int64_t{1} << 62, 8}, {0, 8, 1}));  // too large to be told
}

TEST(Aten, ContiguousStridesAreTheNormalForm) {
  EXPECT_EQ(normal("tensor(torch.Tensor [2,3] FLOAT32 {device=\"cpu\",strides=[3,1]})"),
            "tensor(torch.Tensor [2,3] FLOAT32 {device=\"cpu\"})");
  EXPECT_EQ(normal("tensor(torch.Tensor [2,3] FLOAT32 {strides=[1,2]})"),
            "tensor(torch.Tensor [2,3] FLOAT32 {strides=[1,2]})");
  EXPECT_EQ(normal("tensor(torch.Tensor [2] {requires_grad=false,storage_offset=0})"), "tensor(torch.Tensor [2])");
  EXPECT_EQ(normal("tensor(torch.Tensor [2] {requires_grad=true,storage_offset=8})"),
            "tensor(torch.Tensor [2] {requires_grad=true,storage_offset=8})");
}

TEST(Aten, ADtypeHasOneName) {
  for (const char* text : {"torch.float16", "torch.half", "Half", "ScalarType::Half", "float16"})
    EXPECT_EQ(parse_torch_dtype(text).value, DType::kFloat16) << text;
  EXPECT_EQ(parse_torch_dtype("Long").value, DType::kInt64);
  EXPECT_EQ(parse_torch_dtype("torch.quint8").value, DType::kUnknown);
  EXPECT_FALSE(parse_torch_dtype("").present());
  for (const char* text : {"dtype.float16", "\"torch.float16\"", "\"torch.half\"", "ScalarType.Half",
                           "opaque(torch.dtype,\"torch.float16\")"})
    EXPECT_EQ(normal(text), "dtype.FLOAT16") << text;
  EXPECT_EQ(normal("tensor(torch.Tensor [2] dtype=LONG)"), "tensor(torch.Tensor [2] dtype=INT64)");
  EXPECT_EQ(normal("dtype.quint8"), "dtype.QUINT8");
}

TEST(Aten, OtherWordsOfTorch) {
  EXPECT_EQ(normal("\"torch.channels_last\""), "memory_format.channels_last");
  EXPECT_EQ(normal("\"torch.memory_format\".channels_last"), "memory_format.channels_last");
  EXPECT_EQ(normal("torch.device(type=\"cuda\",index=1)"), "\"cuda:1\"");
  EXPECT_EQ(normal("torch.device(type=\"cpu\",index=none)"), "\"cpu\"");
  EXPECT_EQ(normal("opaque(torch.device,\"cuda:0\")"), "\"cuda:0\"");
}

TEST(Aten, WhatIsNotUnderstoodStays) {
  for (const char* text : {"\"torch.nn\"", "\"bij,bjk->bik\"", "opaque(Generator,\"<...>\")", "none", "1.5",
                           "Layout.TILE", "torch.device(name=\"x\",type=\"cuda\")", "\"torch.float16 (x)\""})
    EXPECT_EQ(normal(text), text);
  EXPECT_EQ(normal("[none,{\"a\":\"torch.int64\"},S(x=[\"torch.bool\"])]"),
            "[none,{\"a\":dtype.INT64},S(x=[dtype.BOOL])]");
}

}  // namespace
}  // namespace opwright
