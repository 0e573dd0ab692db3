#include "ops/shared/attention.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <thread>

#include "ops/shared/attention_rules.h"

namespace opwright {
namespace {

// exp as the vector unit takes it for scores: a saw-tooth of a few per cent.
constexpr double kExpError = 0.06;

double relative_error(Fidelity fidelity) { return fidelity == Fidelity::kLoFi ? 2 * kExpError : kExpError; }

// Double sums over floats in eight lanes, so that they can run in vector registers.
constexpr std::int64_t kLanes = 8;

double dot(const float* a, const float* b, std::int64_t n) {
  double sum[kLanes] = {};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
    for (std::int64_t l = 0; l < kLanes; ++l) sum[l] += static_cast<double>(a[i + l]) * static_cast<double>(b[i + l]);
  for (; i < n; ++i) sum[0] += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return std::accumulate(std::begin(sum), std::end(sum), 0.0);
}

// Length of each row, which bounds what sum |q||k| can be.
std::vector<double> row_lengths(const HostTensor& tensor) {
  const std::int64_t width = row_length(tensor.spec.shape);
  std::vector<double> out;
  if (width == 0) return out;
  for (std::int64_t row = 0; row < tensor.size() / width; ++row) {
    const float* const values = tensor.floats.data() + row * width;
    out.push_back(std::sqrt(dot(values, values, width)));
  }
  return out;
}

struct Seen {
  std::int64_t row = 0;
  double score = 0;
  double size = 0;  // what its error is proportional to
};

// What is known of a store before any query.
struct Surveyed {
  std::vector<double> key_lengths;
  double largest_value = 0;
};

Surveyed survey(const KeyStore& store) {
  Surveyed out{.key_lengths = row_lengths(*store.keys)};
  float largest = 0;
  for (const float v : store.values->floats) largest = std::isfinite(v) ? std::max(largest, std::abs(v)) : largest;
  out.largest_value = static_cast<double>(largest);
  return out;
}

// Keys that weigh less are not looked at again for their values: for a result that is nearly 0 they may be all there
// is, so that its magnitude has room for them.
constexpr double kNeglected = 1e-9;

// How far the weight of a key moves the result, in parts of its distance from it, where its score is off by `error`. Of
// scores as large as models have them the slope tells it; scores in the thousands are off by so much that keys change
// places, and there it is what the softmax makes of the error, up or down.
double moved_by(double weight, double error) {
  constexpr double kLinear = 4;
  if (error <= kLinear) return weight * error;
  const double less = std::exp(-error);
  const double up = weight * (1 - less) / ((1 - weight) * less + weight);
  const double down = weight * (1 - less) / std::max(1 - weight + weight * less, 1e-300);
  return std::max(up, down);
}

// Only keys that weigh something are looked at again for their values.
void one_row(const KeyStore& store, const Surveyed& known_of, const Query& query, double scale, std::int64_t length,
             ScoreError error, double* value, double* magnitude) {
  const std::int64_t dim = row_length(store.keys->spec.shape);
  const std::int64_t width = row_length(store.values->spec.shape);
  std::vector<Seen> seen;
  // Dropped bits of the operands shrink a score by a part of itself; what they and roundings do by chance grows with
  // the root of the sum of squares, |q||k| / sqrt(dim) for vectors without a large component.
  const double size =
      std::abs(scale) * std::sqrt(dot(query.q, query.q, dim) / static_cast<double>(std::max<std::int64_t>(1, dim)));
  double largest = query.sink != nullptr ? *query.sink * scale : -std::numeric_limits<double>::infinity();
  for (std::int64_t p = query.begin; p < query.end; ++p) {
    const std::int64_t row = store.row(query.user, query.kv_head, p);
    if (row < 0) continue;
    Seen one{.row = row};
    one.score = dot(query.q, store.keys->floats.data() + row * dim, dim) * scale;
    one.size = 2 * (std::abs(one.score) + size * known_of.key_lengths[static_cast<std::size_t>(row)]);
    if (query.mask) one.score += query.mask(p);
    if (one.score == -std::numeric_limits<double>::infinity()) continue;
    largest = std::max(largest, one.score);
    seen.push_back(one);
  }
  double total = query.sink != nullptr ? std::exp(*query.sink * scale - largest) : 0.0;
  for (Seen& one : seen) {
    one.score = std::exp(one.score - largest);
    total += one.score;
  }
  const std::int64_t known = std::min(length, width);
  for (const Seen& one : seen) {
    const double weight = one.score / total;
    if (weight < 1e-12) continue;
    const float* const v = store.values->floats.data() + one.row * width;
    for (std::int64_t i = 0; i < known; ++i) value[i] += weight * static_cast<double>(v[i]);
  }
  // |v| for what the weights are off, |v - result| for what the scores are.
  std::int64_t neglected = 0;
  for (const Seen& one : seen) {
    const double weight = one.score / total;
    if (weight < kNeglected) {
      ++neglected;
      continue;
    }
    const float* const v = store.values->floats.data() + one.row * width;
    const double moved = moved_by(weight, one.size * error.of_score);
    for (std::int64_t i = 0; i < known; ++i) {
      const auto x = static_cast<double>(v[i]);
      const double off = std::min(moved * std::abs(x - value[i]), 2 * known_of.largest_value);
      magnitude[i] += weight * std::abs(x) + off / error.relative;
    }
  }
  const double room = kNeglected * static_cast<double>(neglected) * known_of.largest_value;
  for (std::int64_t i = 0; i < known; ++i) magnitude[i] += room;
}

}  // namespace

std::int64_t KeyStore::length() const {
  const std::int64_t positions = keys->spec.shape[2];
  return pages == nullptr ? positions : positions * pages->spec.shape.back();
}

std::int64_t KeyStore::row(std::int64_t user, std::int64_t head, std::int64_t position) const {
  const Shape& shape = keys->spec.shape;
  if (pages == nullptr) return (user * shape[1] + head) * shape[2] + position;
  const std::int64_t columns = pages->spec.shape.back();
  const std::int64_t page = position / shape[2];
  if (page >= columns) return -1;
  const auto block = static_cast<std::int64_t>(pages->at(user * columns + page));
  if (block < 0 || block >= shape[0]) return -1;
  return (block * shape[1] + head) * shape[2] + position % shape[2];
}

void append_attention(const KeyStore& store, const std::vector<Query>& queries, double scale, std::int64_t length,
                      ScoreError error, Exact& exact) {
  const std::size_t first = exact.value.size();
  exact.value.resize(first + queries.size() * static_cast<std::size_t>(length));
  exact.magnitude.resize(exact.value.size());
  const Surveyed known_of = survey(store);
  const auto rows = [&](std::size_t begin, std::size_t step) {
    for (std::size_t i = begin; i < queries.size(); i += step) {
      const std::size_t at = first + i * static_cast<std::size_t>(length);
      one_row(store, known_of, queries[i], scale, length, error, exact.value.data() + at, exact.magnitude.data() + at);
    }
  };
  std::int64_t work = 0;
  for (const Query& query : queries) work += (query.end - query.begin) * length;
  constexpr std::int64_t kWorthThreads = 1 << 22;
  const std::size_t threads = work < kWorthThreads ? 1 : std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> pool;
  for (std::size_t t = 1; t < threads; ++t) pool.emplace_back(rows, t, threads);
  rows(0, threads);
}

Checked<Exact> attention_exact(const Attending& attending, std::int64_t length) {
  Exact exact;
  append_attention(attending.store, attending.queries, attending.scale, length, score_error(attending.compute), exact);
  return exact;
}

Checked<double> attention_scale(const BoundCall& call, std::int64_t dim) {
  return call.number("scale", 1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(dim, 1))));
}

ScoreError score_error(const ComputeConfig& compute) {
  double bits = 0x1.0p-7;
  if (compute.fidelity == Fidelity::kLoFi) bits = 0x1.0p-5;
  if (compute.fidelity == Fidelity::kHiFi2) bits = 0x1.0p-6;
  return {.of_score = bits, .relative = relative_error(compute.fidelity)};
}

ErrorBudget attention_budget(const BoundCall& call) {
  const auto compute = compute_argument(call, kAttentionCompute);
  const Fidelity fidelity = compute ? compute->fidelity : Fidelity::kHiFi2;
  return {.kind = ErrorBudget::Kind::kElementwise,
          .ulps = 2,
          .relative = relative_error(fidelity),
          .pcc = 0.99,
          .why = fmt::format("approximate exp, bfloat16 statistics, scores at {}", name_of(fidelity))};
}

void fill_mask(HostTensor& tensor, Random& random) {
  const Shape& shape = tensor.spec.shape;
  const std::int64_t width = row_length(shape);
  // A square mask is one of a prompt: nobody sees ahead. Block floats hold no infinity beside other numbers.
  const bool causal = shape.size() > 1 && width > 1 && shape[shape.size() - 2] == width;
  const float hidden = is_block_float(tensor.spec.dtype.value) ? -0x1p100F : -std::numeric_limits<float>::infinity();
  tensor.floats.resize(static_cast<std::size_t>(tensor.size()));
  for (std::size_t at = 0; at < tensor.floats.size(); ++at) {
    const std::int64_t column = static_cast<std::int64_t>(at) % width;
    const std::int64_t row = static_cast<std::int64_t>(at) / width % width;
    const bool masked = column != 0 && (random.uniform() < 0.25 || (causal && column > row));
    tensor.floats[at] = masked ? hidden : 0.0F;
  }
}

double attention_work(const BoundCall& call) {
  const TensorSpec* keys = call.tensor("input_tensor_k");
  if (keys == nullptr || keys->shape.size() != 4) return 0.0;
  const TensorSpec* pages = call.tensor("page_table_tensor");
  const std::int64_t blocks = pages != nullptr && !pages->shape.empty() ? pages->shape.back() : 1;
  constexpr double kTile = 32;  // devices compute queries by the tile
  return 2.0 * kTile * static_cast<double>(keys->shape[2] * blocks) * static_cast<double>(keys->shape[3]);
}

}  // namespace opwright
