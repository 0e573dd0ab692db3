#include "exec/case_data.h"

#include <algorithm>
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
    case Distribution::kIntegers:
      return static_cast<double>(random.below(kPlainIntegers / 4)) - static_cast<double>(kPlainIntegers / 8);
  }
  return 0.0;
}

// Large tensors repeat a block of this many values: drawing hundreds of millions of them takes longer than the call.
// The length is prime, so that no row, tile, page or shard lies at a multiple of it and one taken for another is
// noticed.
constexpr std::size_t kPeriod = 1048573;

template <class T, class Draw>
void fill_repeating(std::vector<T>& values, std::size_t count, const Draw& draw_one) {
  values.resize(count);
  for (std::size_t i = 0; i < std::min(count, kPeriod); ++i) values[i] = draw_one();
  for (std::size_t done = kPeriod; done < count; done += kPeriod)
    std::copy_n(values.begin(), std::min(kPeriod, count - done), values.begin() + static_cast<std::ptrdiff_t>(done));
}

void fill_plain(HostTensor& tensor, Random& random, Distribution distribution) {
  const auto count = static_cast<std::size_t>(tensor.size());
  if (tensor.integer())
    fill_repeating(tensor.ints, count, [&] { return random.below(kPlainIntegers); });
  else
    fill_repeating(tensor.floats, count, [&] { return static_cast<float>(draw(random, distribution)); });
}

}  // namespace

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
