// The arithmetic of the simulated device beside results of the real kernels. The data lies outside the repository:
// $OPWRIGHT_REAL_DATA, or ../shared/data beside the source; without it these tests are skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "device/sim/fpu_binary.h"
#include "device/sim/gemm.h"
#include "device/sim/pack.h"
#include "device/sim/sfpu.h"
#include "device/sim/unpack.h"
#include "model/quantize.h"

namespace opwright::sim {
namespace {

std::filesystem::path oracle_folder() {
  const char* root = std::getenv("OPWRIGHT_REAL_DATA");
  const std::filesystem::path data =
      root != nullptr ? std::filesystem::path(root) : std::filesystem::path(OPWRIGHT_SOURCE_DIR) / "../shared/data";
  return data / "oracle" / "numerics";
}

std::string read_all(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Data {
  Shape shape;
  DType dtype = DType::kBfloat16;
  std::vector<float> values;
  std::vector<std::int32_t> ints;
};

Data read_data(const json::Node& node, const std::string& bytes) {
  Data data;
  for (const json::Node& n : *node.find("shape")) data.shape.push_back(*n.as_int64());
  const std::string stored(*node.string_field("stored"));
  const auto offset = static_cast<std::size_t>(*node.find("offset")->as_int64());
  const auto size = static_cast<std::size_t>(*node.find("bytes")->as_int64());
  const char* from = bytes.data() + offset;
  if (stored == "bf16") {
    std::vector<std::uint16_t> words(size / 2);
    std::memcpy(words.data(), from, size);
    for (std::uint16_t word : words) data.values.push_back(from_bfloat16_bits(word));
  } else if (stored == "f32") {
    data.values.resize(size / 4);
    std::memcpy(data.values.data(), from, size);
  } else {
    data.ints.resize(size / 4);
    std::memcpy(data.ints.data(), from, size);
  }
  if (const auto dtype = node.string_field("device_dtype")) {
    data.dtype = parse_dtype(*dtype).value;
    if (stored == "f32") quantize(data.values, data.shape.back(), data.dtype);
  }
  return data;
}

struct Case {
  std::string name;
  std::map<std::string, std::string> kwargs;
  std::vector<Data> inputs;
  std::vector<Data> outputs;

  bool flag(const std::string& key) const {
    const auto found = kwargs.find(key);
    return found != kwargs.end() && found->second == "true";
  }
};

std::vector<Case> load(const std::string& file) {
  std::vector<Case> cases;
  const std::string index = read_all(oracle_folder() / (file + ".json"));
  const std::string bytes = read_all(oracle_folder() / (file + ".bin"));
  json::Document document;
  const auto root = document.parse(index);
  if (!root) return cases;
  for (const json::Node& node : **root) {
    Case item;
    item.name = *node.string_field("name");
    const json::Node* kwargs = node.find("kwargs");
    for (std::uint32_t i = 0; kwargs != nullptr && i < kwargs->count; ++i) {
      item.kwargs[std::string(kwargs->fields[i].key)] = std::string(kwargs->fields[i].value.text);
    }
    for (const json::Node& input : *node.find("inputs")) item.inputs.push_back(read_data(input, bytes));
    for (const json::Node& output : *node.find("outputs")) item.outputs.push_back(read_data(output, bytes));
    cases.push_back(std::move(item));
  }
  return cases;
}

class NumericOracle : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(oracle_folder())) GTEST_SKIP() << "real data not present";
  }
};

std::int64_t order_of(float value) {
  const auto word = static_cast<std::int64_t>(std::bit_cast<std::uint32_t>(value) >> 16);
  return (word & 0x8000) != 0 ? -(word & 0x7FFF) : word;
}
int class_of(float value) {
  if (std::isnan(value)) return 3;
  if (std::isinf(value)) return value > 0 ? 1 : 2;
  return value == 0 ? 0 : 4;
}

struct Agreement {
  double exact = 0;
  double within_one = 0;
  double same_class = 0;
};
Agreement compare(const std::vector<float>& ours, const std::vector<float>& real) {
  Agreement agreement;
  if (ours.size() != real.size()) return agreement;
  for (std::size_t i = 0; i < real.size(); ++i) {
    const std::int64_t distance = std::abs(order_of(ours[i]) - order_of(real[i]));
    if (std::bit_cast<std::uint32_t>(ours[i]) == std::bit_cast<std::uint32_t>(real[i])) agreement.exact += 1;
    if (distance <= 1) agreement.within_one += 1;
    if (class_of(ours[i]) == class_of(real[i])) agreement.same_class += 1;
  }
  const auto count = static_cast<double>(real.size());
  return {agreement.exact / count, agreement.within_one / count, agreement.same_class / count};
}

void report(const std::string& name, const Agreement& a) {
  std::printf("%-36s exact %.5f  within 1 ulp %.5f  class %.5f\n", name.c_str(), a.exact, a.within_one, a.same_class);
}

TEST_F(NumericOracle, UnaryFunctionsOverAllInputs) {
  for (const Case& item : load("unary")) {
    std::string name = item.name.substr(6);
    if (name.ends_with("_fast")) name.resize(name.size() - 5);
    const auto op = find_unary(name);
    ASSERT_TRUE(op) << name;
    std::vector<float> values = item.inputs[0].values;
    sfpu(*op, values, Dst::kBf16, item.flag("fast_and_approximate_mode"));
    pack(values, item.inputs[0].shape.back(), DType::kBfloat16, Dst::kBf16);
    const Agreement agreement = compare(values, item.outputs[0].values);
    report(item.name, agreement);
    EXPECT_GE(agreement.within_one, 0.99) << item.name;
    EXPECT_GE(agreement.same_class, 0.995) << item.name;
  }
}

TEST_F(NumericOracle, BinaryFunctions) {
  for (const Case& item : load("binary")) {
    std::string name = item.name.substr(7);
    const std::string op_name =
        item.name.find("squared") != std::string::npos ? "squared_difference" : name.substr(0, name.find('_'));
    const auto op = find_binary(op_name);
    ASSERT_TRUE(op) << op_name;
    const Data& a = item.inputs[0];
    Data b;
    if (item.inputs.size() > 1) {
      const Data& small = item.inputs[1];
      b.dtype = small.dtype;
      const auto width = static_cast<std::size_t>(a.shape.back());
      for (std::size_t i = 0; i < a.values.size(); ++i) {
        const std::size_t row = small.shape[2] == 1 ? 0 : i / width;
        const std::size_t column = small.shape[3] == 1 ? 0 : i % width;
        b.values.push_back(small.values[row * static_cast<std::size_t>(small.shape[3]) + column]);
      }
    } else {
      b.values.assign(a.values.size(), round_bfloat16(std::stof(item.kwargs.at("scalar"))));
    }
    std::vector<float> values(a.values.size());
    binary(*op, engine_of(*op, a.dtype, b.dtype), Dst::kBf16, a.values, b.values, values);
    pack(values, a.shape.back(), a.dtype, Dst::kBf16);
    const Agreement agreement = compare(values, item.outputs[0].values);
    report(item.name, agreement);
    EXPECT_GE(agreement.within_one, 0.99) << item.name;
    const bool plain = *op == Binary::kAdd || *op == Binary::kSub || *op == Binary::kMul || *op == Binary::kDiv;
    if (plain) {
      EXPECT_GE(agreement.exact, 0.99) << item.name;
    }
  }
}

TEST_F(NumericOracle, CastsAreExact) {
  for (const Case& item : load("cast")) {
    std::vector<float> values = item.inputs[0].values;
    const std::string to = item.kwargs.at("dtype");
    const DType dtype = to == "bf8"    ? DType::kBfloat8B
                        : to == "bf4"  ? DType::kBfloat4B
                        : to == "bf16" ? DType::kBfloat16
                                       : DType::kFloat32;
    if (item.name.starts_with("hostcast")) {
      quantize(values, item.inputs[0].shape.back(), dtype);
    } else if (to == "i32") {
      for (float& value : values) value = std::trunc(value) + 0.0F;
    } else {
      pack(values, item.inputs[0].shape.back(), dtype, Dst::kBf16, true);
    }
    std::vector<float> real = item.outputs[0].values;
    for (std::int32_t value : item.outputs[0].ints) real.push_back(static_cast<float>(value));
    const Agreement agreement = compare(values, real);
    report(item.name, agreement);
    EXPECT_EQ(agreement.exact, 1.0) << item.name;
  }
}

TEST_F(NumericOracle, MatrixProducts) {
  for (const std::string file : {"matmul", "more"}) {
    for (const Case& item : load(file)) {
      if (!item.name.starts_with("matmul") && !item.name.starts_with("linear")) continue;
      const Data& a = item.inputs[0];
      const Data& b = item.inputs[1];
      Gemm job;
      job.m = a.shape[2];
      job.k = a.shape[3];
      job.n = b.shape[3];
      job.a = a.values.data();
      job.lda = job.k;
      job.b = b.values.data();
      job.ldb = job.n;
      std::vector<float> values(static_cast<std::size_t>(job.m * job.n));
      job.c = values.data();
      job.ldc = job.n;
      job.a_dtype = a.dtype;
      job.b_dtype = b.dtype;
      job.out_dtype = a.dtype;
      const auto fidelity = item.kwargs.find("math_fidelity");
      if (fidelity == item.kwargs.end()) {
        job.config = {Fidelity::kHiFi2, false, false, true, false};
      } else {
        const std::string& text = fidelity->second;
        job.config.fidelity = text == "LoFi"    ? Fidelity::kLoFi
                              : text == "HiFi2" ? Fidelity::kHiFi2
                              : text == "HiFi3" ? Fidelity::kHiFi3
                                                : Fidelity::kHiFi4;
        job.config.fp32_acc = item.flag("fp32_dest_acc_en");
        job.config.l1_acc = item.flag("packer_l1_acc");
      }
      if (item.inputs.size() > 2) job.bias = item.inputs[2].values.data();
      gemm(job);
      const Dst dst = dst_of(job.config.fp32_acc);
      if (item.kwargs.contains("activation")) sfpu(Unary::kGelu, values, dst, false);
      pack(values, job.n, job.out_dtype, dst);
      const Agreement agreement = compare(values, item.outputs[0].values);
      if (agreement.exact < 1) report(item.name, agreement);
      EXPECT_GE(agreement.exact, 0.995) << item.name;
    }
  }
}

}  // namespace
}  // namespace opwright::sim
