#include "normalize/signatures.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace opwright::normalize {
namespace {

std::vector<std::string_view> names(std::string_view op) {
  const auto signature = signature_of(op);
  return {signature.begin(), signature.end()};
}

TEST(Signatures, NamesByPosition) {
  EXPECT_EQ(names("ttnn.add"), (std::vector<std::string_view>{"input_tensor_a", "input_tensor_b"}));
  EXPECT_EQ(names("ttnn.softmax"), (std::vector<std::string_view>{"input_tensor", "dim"}));
}

TEST(Signatures, AnOperationWithoutOneHasNoNames) {
  for (const char* op : {"ttnn.no_such_operation", "ttnn::add", "add", "", "#"})
    EXPECT_TRUE(signature_of(op).empty()) << op;
}

}  // namespace
}  // namespace opwright::normalize
