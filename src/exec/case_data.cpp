#include "exec/case_data.h"

#include <cmath>

#include "model/quantize.h"

namespace opwright {
namespace {

// Index tensors without a role of their own stay small, so that sums and products of them keep exact.
constexpr std::int64_t kPlainIntegers = 64;

double draw(Random& random, Distribution distribution) {
  switch (distribution) {
    case Distribution::kNormal:
      return random.normal();
    case Distribution::kUniform01:
      return random.uniform();
    case Distribution::kPositive:
      return std::abs(random.normal()) + 0.1;
  }
  return 0.0;
}

void fill_plain(HostTensor& tensor, Random& random, Distribution distribution) {
  const auto count = static_cast<std::size_t>(tensor.size());
  if (tensor.integer()) {
    tensor.ints.resize(count);
    for (std::int64_t& value : tensor.ints) value = random.below(kPlainIntegers);
    return;
  }
  tensor.floats.resize(count);
  for (float& value : tensor.floats) value = static_cast<float>(draw(random, distribution));
}

}  // namespace

std::string_view name_of(Distribution distribution) {
  switch (distribution) {
    case Distribution::kNormal:
      return "N(0,1)";
    case Distribution::kUniform01:
      return "U(0,1)";
    case Distribution::kPositive:
      return "|N(0,1)|+0.1";
  }
  return "";
}

std::vector<HostTensor> make_inputs(const OpSpec& op, const BoundCall& call, const DataRecipe& recipe) {
  std::vector<HostTensor> out;
  for (std::size_t i = 0; i < call.tensors.size(); ++i) {
    HostTensor& tensor = out.emplace_back(HostTensor{call.tensors[i].spec, {}, {}});
    Random random(recipe.seed * 0x100000001B3ULL + i);
    if (op.fill == nullptr || !op.fill(call, i, random, tensor)) fill_plain(tensor, random, recipe.distribution);
    quantize(tensor);
  }
  return out;
}

}  // namespace opwright
