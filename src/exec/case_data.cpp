#include "exec/case_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "dialect/ttnn/collective_calls.h"
#include "exec/chip_parts.h"
#include "exec/data_marks.h"
#include "exec/special_numbers.h"
#include "exec/whole_numbers.h"
#include "model/quantize.h"
#include "ops/all_ops.h"
#include "ops/collectives.h"

namespace opwright {
namespace {

// Index tensors without a role of their own stay small, so that sums and products of them keep exact.
constexpr std::int64_t kPlainIntegers = 64;
constexpr double kGap = 0.1;  // of numbers that must not come near zero

double draw(Random& random, Distribution distribution, std::int64_t reach) {
  switch (distribution) {
    case Distribution::kNormal:
    case Distribution::kSpecial:
      return random.normal();
    case Distribution::kUniform01:
      return random.uniform();
    case Distribution::kPositive:
      return std::abs(random.normal()) + kGap;
    case Distribution::kIntegers:
      return static_cast<double>(random.below(2 * reach + 1) - reach);
    case Distribution::kZeros:
      return 0.0;
    case Distribution::kOnes:
      return 1.0;
  }
  return 0.0;
}

// A drawn number brought to where the operator is defined; whole numbers stay whole.
double shaped(double x, Role role, bool whole, bool marked) {
  switch (role) {
    case Role::kPositive:
      return whole ? std::abs(x) + 1 : std::abs(x) + (std::abs(x) < kGap ? kGap : 0);
    case Role::kAboveOne:
      return std::abs(x) + 1;
    case Role::kNonZero:
      if (whole) return x == 0 ? 1 : x;
      return std::abs(x) >= kGap ? x : x < 0 ? x - kGap : x + kGap;
    case Role::kCoarse:
      return whole ? x : std::floor(2 * x + 0.5) / 2;
    case Role::kGains:
      if (whole) return x;
      return marked ? x + (x < 0 ? -0.5 : 0.5) : 1 + x / 8;
    case Role::kQueries:
      return whole ? x : 3 * x;
    default:
      return x;
  }
}

// Large tensors repeat a block of this many values: drawing hundreds of millions of them takes longer than the call.
// The length is prime, so that no row, tile, page or shard lies at a multiple of it and one taken for another is
// noticed.
constexpr std::size_t kPeriod = 1048573;

template <class T, class Draw>
void fill_repeating(std::vector<T>& values, std::size_t count, Draw draw_one) {
  values.resize(count);
  for (std::size_t i = 0; i < std::min(count, kPeriod); ++i) values[i] = draw_one();
  for (std::size_t done = kPeriod; done < count; done += kPeriod)
    std::copy_n(values.begin(), std::min(kPeriod, count - done), values.begin() + static_cast<std::ptrdiff_t>(done));
}

// What is no finite number, among those that are. Neighbours share it, as they share an exponent in block floats.
class OddNumbers {
 public:
  OddNumbers(Role role, Distribution distribution)
      : wanted_(role == Role::kUnbounded && distribution != Distribution::kZeros &&
                distribution != Distribution::kOnes) {}

  float of(Random& random, float number) {
    if (!wanted_) return number;
    if (at_++ % kGroup == 0) here_ = random.below(kEvery) == 0;
    if (!here_) return number;
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    const float kinds[] = {number, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
    return kinds[random.below(4)];
  }

 private:
  static constexpr std::int64_t kGroup = 16;
  static constexpr std::int64_t kEvery = 8;
  bool wanted_;
  bool here_ = false;
  std::int64_t at_ = 0;
};

void fill_numbers(HostTensor& tensor, Random& random, const DataRecipe& recipe, Role role, std::int64_t reach,
                  bool marked) {
  const auto count = static_cast<std::size_t>(tensor.size());
  const bool whole = recipe.distribution == Distribution::kIntegers;
  if (tensor.integer())
    fill_repeating(tensor.ints, count, [&] {
      const std::int64_t value = recipe.distribution == Distribution::kZeros ? 0
                                 : recipe.distribution == Distribution::kOnes
                                     ? 1
                                     : random.below(whole ? reach + 1 : kPlainIntegers);
      return role == Role::kNonZero || role == Role::kPositive || role == Role::kAboveOne ? value + 1 : value;
    });
  else
    fill_repeating(tensor.floats, count, [&, odd = OddNumbers(role, recipe.distribution)]() mutable {
      const double number = shaped(draw(random, recipe.distribution, reach), role, whole, marked);
      return odd.of(random, static_cast<float>(number));
    });
}

// Of every fourth row three neighbouring ranks share a number: the largest is there three times, and so is, for most k,
// the last that a top-k chooses.
constexpr std::int64_t kTiedEvery = 4;
constexpr std::int64_t kTied = 3;

// The number of a rank: the largest and the smallest of a row are different ones, the middle of a long row is nearly 0.
// `shift` moves a row against the others, so that they do not have the same largest ones.
constexpr std::int64_t kMostShift = 64;
double ranked(std::int64_t rank, std::int64_t count, std::int64_t shift, bool tied, bool whole, Random& random) {
  constexpr std::int64_t kWhole = 256;       // whole numbers that bfloat16 holds
  constexpr std::int64_t kDifferent = 1792;  // numbers that it has from 256 down to 2^-6
  const std::int64_t different = (whole ? kWhole : kDifferent) - kMostShift;
  const std::int64_t step = whole ? 1 : std::max<std::int64_t>(1, 2 * different / count);
  const auto at = [&](std::int64_t place) {
    return whole ? static_cast<double>(kWhole - place)
                 : static_cast<double>(from_bfloat16_bits(static_cast<std::uint16_t>(0x4380 - place)));
  };
  const std::int64_t from_below = count - 1 - rank;
  const auto group = [&](std::int64_t place) { return tied ? place / kTied * kTied : place; };
  if (rank <= from_below && rank * step < different) return at(group(rank) * step + shift);
  if (from_below < rank && from_below * step < different) return -at(group(from_below) * step + shift);
  return whole ? 0.0 : (random.uniform() - 0.5) * 0x1p-7;
}

// Rows of `count` neighbours.
void fill_ranked(HostTensor& tensor, Random& random, std::int64_t count, bool whole) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  tensor.floats.resize(static_cast<std::size_t>(tensor.size()));
  const std::int64_t first_tied = random.below(kTiedEvery);
  for (std::int64_t start = 0; start + count <= tensor.size() && count > 0; start += count) {
    const bool tied = start / count % kTiedEvery == first_tied;
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int64_t>(i);
    for (std::int64_t i = count - 1; i > 0; --i)
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.below(i + 1))]);
    const std::int64_t shift = random.below(kMostShift);
    for (std::int64_t i = 0; i < count; ++i)
      tensor.floats[static_cast<std::size_t>(start + i)] =
          static_cast<float>(ranked(order[static_cast<std::size_t>(i)], count, shift, tied, whole, random));
  }
}

void fill_reciprocals(HostTensor& tensor) {
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(1, row_length(tensor.spec.shape)));
  tensor.floats.resize(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < tensor.floats.size(); ++i) tensor.floats[i] = 1.0F / static_cast<float>(i % width + 1);
}

// Leaves one number in `every` neighbours of a row, at a random place: sums over the row stay small.
void thin_out(HostTensor& tensor, Random& random, std::int64_t every) {
  const std::int64_t width = row_length(tensor.spec.shape);
  if (every <= 1 || tensor.integer() || width == 0) return;
  for (std::int64_t row = 0; row < tensor.size() / width; ++row) {
    for (std::int64_t start = 0; start < width; start += every) {
      const std::int64_t length = std::min(every, width - start);
      const std::int64_t kept = start + random.below(length);
      for (std::int64_t i = start; i < start + length; ++i)
        if (i != kept) tensor.floats[static_cast<std::size_t>(row * width + i)] = 0;
    }
  }
}

// Numbers that an operator may take one by one: no structure, and none that others are told from.
bool is_structure(Role role) { return role >= Role::kTokenIds && role != Role::kWeights && role != Role::kStatistics; }

bool may_be_zero(Role role) {
  return role != Role::kPositive && role != Role::kAboveOne && role != Role::kNonZero && role != Role::kGains &&
         role != Role::kStatistics;
}

void keep_only(const OpSpec& op, const BoundCall& call, const KeptNumbers& kept, std::vector<HostTensor>& inputs) {
  for (std::size_t slot = 0; slot < inputs.size(); ++slot) {
    const TensorSlot& tensor = call.tensors[slot];
    const Role role = role_of(op, tensor.param).value_or(Role::kPlain);
    if (inputs[slot].integer() || is_structure(role)) continue;
    const bool is_input = (tensor.item == 0 && tensor.param == kept.input) ||
                          fmt::format("{}#{}", tensor.param, tensor.item) == kept.input;
    std::vector<float>& floats = inputs[slot].floats;
    for (std::size_t i = 0; i < floats.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      const bool is_kept = is_input && at >= kept.first && at <= kept.last;
      if (!is_kept)
        floats[i] = may_be_zero(role) ? 0.0F : 1.0F;
      else if (kept.value)
        floats[i] = static_cast<float>(*kept.value);
    }
    quantize(inputs[slot]);
  }
}

}  // namespace

HostTensor make_input(const OpSpec& op, const BoundCall& call, std::size_t slot, const DataRecipe& recipe,
                      Marks marks) {
  const bool marked = marks == Marks::kOn && recipe.distribution == Distribution::kNormal;
  const bool whole = recipe.distribution == Distribution::kIntegers;
  const Whole numbers = whole ? whole_numbers(op, call) : Whole{};
  HostTensor tensor{call.tensors[slot].spec, {}, {}};
  const Role role = role_of(op, call.tensors[slot].param).value_or(Role::kPlain);
  Random random(recipe.seed * 0x100000001B3ULL + slot);
  if (op.fill != nullptr && op.fill(call, slot, random, tensor)) {
    // Numbers among structure become whole too.
    if (whole && role == Role::kWeights)
      for (float& value : tensor.floats)
        value = std::clamp(std::floor(2 * value + 0.5F), -static_cast<float>(numbers.reach),
                           static_cast<float>(numbers.reach));
  } else if (role == Role::kReciprocals && !tensor.integer()) {
    fill_reciprocals(tensor);
  } else if (role == Role::kRanked && !tensor.integer()) {
    // Without a dimension the largest of all is asked for.
    const bool all = op.ranks_all && !call.passed("dim");
    fill_ranked(tensor, random, all ? tensor.size() : row_length(tensor.spec.shape), whole);
  } else {
    fill_numbers(tensor, random, recipe, role, numbers.reach, marked);
    if (whole && slot == 0) thin_out(tensor, random, numbers.every);
    if (marked) mark(op, call, slot, role, recipe.seed, tensor);
  }
  if (recipe.distribution == Distribution::kSpecial) put_special(op, call, slot, role, recipe.seed, tensor);
  quantize(tensor);
  return tensor;
}

bool make_input_rows(const OpSpec& op, const BoundCall& call, std::size_t slot, const DataRecipe& recipe,
                     std::int64_t elements, const std::function<void(std::span<float> rows)>& take) {
  const TensorSpec& spec = call.tensors[slot].spec;
  const Role role = role_of(op, call.tensors[slot].param).value_or(Role::kPlain);
  const std::int64_t length = row_length(spec.shape), count = volume(spec.shape);
  if (is_integer(spec.dtype.value) || role == Role::kReciprocals || role == Role::kRanked || length == 0 ||
      recipe.distribution == Distribution::kIntegers || recipe.distribution == Distribution::kSpecial)
    return false;
  HostTensor none{spec, {}, {}};
  Random random(recipe.seed * 0x100000001B3ULL + slot);
  if (op.fill != nullptr && op.fill(call, slot, random, none)) return false;
  HostTensor period{spec, {}, {}};
  period.spec.shape = {std::min(count, static_cast<std::int64_t>(kPeriod))};
  fill_numbers(period, random, recipe, role, 0, false);
  const std::vector<float>& repeated = period.floats;
  const std::int64_t step = std::max<std::int64_t>(1, elements / length) * length;
  std::vector<float> rows;
  for (std::int64_t first = 0; first < count; first += step) {
    rows.resize(static_cast<std::size_t>(std::min(step, count - first)));
    for (std::size_t done = 0; done < rows.size();) {
      const std::size_t at = (static_cast<std::size_t>(first) + done) % repeated.size();
      const std::size_t some = std::min(rows.size() - done, repeated.size() - at);
      std::copy_n(repeated.begin() + static_cast<std::ptrdiff_t>(at), some,
                  rows.begin() + static_cast<std::ptrdiff_t>(done));
      done += some;
    }
    quantize(rows, length, spec.dtype.value);
    take(rows);
  }
  return true;
}

std::vector<HostTensor> make_inputs(const OpSpec& op, const BoundCall& call, const DataRecipe& recipe, Marks marks) {
  const bool marked = marks == Marks::kOn && recipe.distribution == Distribution::kNormal;
  std::vector<HostTensor> out;
  for (std::size_t i = 0; i < call.tensors.size(); ++i) out.push_back(make_input(op, call, i, recipe, marks));
  if (op.arrange != nullptr && marked) {
    op.arrange(call, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const auto role = role_of(op, call.tensors[i].param);
      if (role == Role::kQueries || role == Role::kSinks) quantize(out[i]);
    }
  }
  if (recipe.kept) keep_only(op, call, *recipe.kept, out);
  return out;
}

std::vector<HostTensor> make_inputs(const PlannedCall& plan, const DataRecipe& recipe, Marks marks) {
  std::vector<HostTensor> out = make_inputs(*plan.op, plan.call, recipe, marks);
  if (!plan.op->ccl || out.empty()) return out;
  const auto exchange = exchange_of(plan.call, plan.outputs);
  if (!exchange || collective_of(plan.call.op) == Collective::kPartition) return out;
  add_parts(*exchange, out.front());
  return out;
}

}  // namespace opwright
