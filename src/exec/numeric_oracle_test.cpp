#include "exec/numeric_oracle.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace opwright {
namespace {

// "" when all cases were read.
std::string error_of(const std::string& index) {
  const TestFolder folder;
  folder.write("x.bin", std::string(4096, '\0'));
  const Status read = read_numeric_oracle(folder.write("x.json", index), [](OracleCase&&) -> Status { return {}; });
  return read ? "" : read.error().message;
}

constexpr char kTensor[] = R"({"shape": [2, 4], "stored": "f32", "offset": 0})";

std::string one_case(const std::string& op, const std::string& kwargs, const std::string& inputs,
                     const std::string& outputs) {
  return R"([{"name": "n", "op": ")" + op + R"(", "kwargs": )" + kwargs + R"(, "inputs": )" + inputs +
         R"(, "outputs": )" + outputs + "}]";
}

TEST(NumericOracle, ACaseThatLacksWhatItsOperationNeedsIsAnError) {
  const std::string tensors = std::string("[") + kTensor + "]";
  const std::string flat = R"([{"shape": [8], "stored": "f32", "offset": 0}])";
  const std::string empty = R"([{"shape": [0, 0], "stored": "f32", "offset": 0}])";
  EXPECT_EQ(error_of(one_case("ttnn.relu", "{}", tensors, tensors)), "");
  EXPECT_EQ(error_of(one_case("ttnn.transpose", R"({"dims": [0, 1]})", tensors, tensors)), "");
  for (const char* op : {"ttnn.embedding", "ttnn.conv2d", "ttnn.max_pool2d", "ttnn.transpose"}) {
    for (const char* kwargs : {"{}", "[1, 2]", "null", R"({"indices": {"a": 1}, "input_hw": [1], "dims": [0]})"})
      EXPECT_NE(error_of(one_case(op, kwargs, tensors, tensors)), "") << op << " " << kwargs;
  }
  EXPECT_NE(error_of(one_case("ttnn.pad", "{}", tensors, flat)), "");
  EXPECT_NE(error_of(one_case("ttnn.pad", "{}", tensors, empty)), "");
  EXPECT_NE(error_of(one_case("ttnn.repeat", "{}", tensors, flat)), "");
  const std::string object = R"({"a": 1, "b": 2})";
  EXPECT_NE(error_of(one_case("ttnn.relu", "{}", object, tensors)), "");
  EXPECT_NE(error_of(one_case("ttnn.relu", "{}", tensors, object)), "");
}

TEST(NumericOracle, AShapeIsNoLargerThanItsData) {
  const std::string tensors = std::string("[") + kTensor + "]";
  for (const char* shape : {"[4294967296, 4294967296]", "[-1, -8]", "[9223372036854775807, 2]", "[1024, 2]", "null"}) {
    const std::string large = std::string(R"([{"shape": )") + shape + R"(, "stored": "f32", "offset": 0}])";
    EXPECT_NE(error_of(one_case("ttnn.relu", "{}", large, tensors)), "") << shape;
  }
}

}  // namespace
}  // namespace opwright
