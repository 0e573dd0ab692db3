// What a device is held to, whatever it is: the laws of laws.h run for every DeviceUnderTest. What it can never do and
// what it cannot do yet are two lists with reasons; an entry of the second that starts to pass fails the run until it
// is removed. For tests only.
//
//   #include "device/conformance/laws.h"    // once in a test program
//   INSTANTIATE_TEST_SUITE_P(Mine, DeviceConformance, testing::Values(DeviceUnderTest{"mine", make_mine}),
//   name_of_test);
#pragma once

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "device/device.h"
#include "model/quantize.h"
#include "model/test_tensors.h"

namespace opwright {

struct DeviceUnderTest {
  std::string name;
  std::function<std::unique_ptr<Device>()> make;
  std::map<std::string, std::string> never;    // law -> why this device cannot keep it
  std::map<std::string, std::string> not_yet;  // law -> what is missing
};
inline void PrintTo(const DeviceUnderTest& device, std::ostream* out) { *out << device.name; }

// "sim:n150" -> "sim_n150": names of tests are identifiers.
inline std::string name_of_test(const testing::TestParamInfo<DeviceUnderTest>& info) {
  std::string out = info.param.name;
  for (char& c : out)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return out;
}

// A call as the runner would hand it over, made by hand: the device knows nothing of operators' rules.
struct TestCall {
  BoundCall call;
  std::vector<OutputSpec> outputs;
  std::vector<HostTensor> inputs;

  DeviceCall handed() const { return {call, outputs}; }
};

// `start`, `start` + 1, …: small whole numbers, which every dtype but BFLOAT4_B holds exactly.
inline HostTensor counted(TensorSpec spec, std::int64_t start = 0) {
  constexpr std::int64_t kNumbers = 16;
  HostTensor out{.spec = std::move(spec)};
  const auto size = static_cast<std::size_t>(out.size());
  if (out.integer())
    out.ints.resize(size);
  else
    out.floats.resize(size);
  for (std::size_t i = 0; i < size; ++i) {
    const std::int64_t value = (static_cast<std::int64_t>(i) + start) % kNumbers;
    if (out.integer())
      out.ints[i] = value;
    else
      out.floats[i] = static_cast<float>(value);
  }
  quantize(out);
  return out;
}

// ttnn.add of two tensors of one spec; without data (for tensors that are too large to be made) on wish.
inline TestCall add_call(const TensorSpec& spec, bool with_data = true) {
  TestCall out;
  out.call = BoundCall("ttnn.add", Convention::kPython,
                       {{"input_tensor_a", Value::tensor(spec)}, {"input_tensor_b", Value::tensor(spec)}});
  out.outputs = {output_spec(spec)};
  if (with_data) out.inputs = {counted(spec), counted(spec, 5)};
  return out;
}
inline TestCall relu_call(const TensorSpec& spec) {
  TestCall out;
  out.call = BoundCall("ttnn.relu", Convention::kPython, {{"input_tensor", Value::tensor(spec)}});
  out.outputs = {output_spec(spec)};
  out.inputs = {counted(spec)};
  return out;
}

inline bool same_bits(const HostTensor& a, const HostTensor& b) {
  return a.ints == b.ints && std::ranges::equal(a.floats, b.floats, [](float x, float y) {
           return std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
         });
}

// Runs a law as the lists of the device ask.
inline void keep(const DeviceUnderTest& device, const std::string& name, const std::function<void()>& law) {
  if (const auto why = device.never.find(name); why != device.never.end()) GTEST_SKIP() << why->second;
  const auto missing = device.not_yet.find(name);
  if (missing == device.not_yet.end()) return law();
  testing::TestPartResultArray results;
  {
    const testing::ScopedFakeTestPartResultReporter reporter(
        testing::ScopedFakeTestPartResultReporter::INTERCEPT_ALL_THREADS, &results);
    law();
  }
  for (int i = 0; i < results.size(); ++i)
    if (results.GetTestPartResult(i).failed()) GTEST_SKIP() << "not yet: " << missing->second;
  ADD_FAILURE() << name << " is kept now: take it off the list 'not_yet' of " << device.name;
}

class DeviceConformance : public testing::TestWithParam<DeviceUnderTest> {
 public:
  Device& device() {
    if (!device_) device_ = GetParam().make();
    return *device_;
  }
  bool computes() { return device().can().numerics != Numerics::kNone; }

 private:
  std::unique_ptr<Device> device_;
};

}  // namespace opwright

#define OPWRIGHT_LAW(name)                                  \
  static void law_##name(DeviceConformance& on);            \
  TEST_P(DeviceConformance, name) {                         \
    keep(GetParam(), #name, [this] { law_##name(*this); }); \
  }                                                         \
  static void law_##name([[maybe_unused]] DeviceConformance& on)
