#include "ops/shared/attention_data.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace opwright {
namespace {

constexpr std::int64_t kRowsAtOnce = 4096;
constexpr double kHidden = -1000;  // a mask of less hides
constexpr std::int64_t kLookBack = 256;

bool seen(const Query& query, std::int64_t position) { return !query.mask || query.mask(position) > kHidden; }

std::optional<std::int64_t> last_seen(const Query& query) {
  for (std::int64_t p = query.end - 1; p >= std::max(query.begin, query.end - kLookBack); --p)
    if (seen(query, p)) return p;
  return std::nullopt;
}

// Behind the last key, before the first, or under the mask.
std::optional<std::int64_t> first_hidden(const KeyStore& store, const Query& query, std::int64_t row) {
  const bool behind = query.end < store.length() && !query.mask;
  if (behind && (query.begin == 0 || row / 4 % 2 == 0)) return query.end;
  if (query.begin > 0) return query.begin - 1;
  for (std::int64_t p = query.end - 1; query.mask && p >= std::max(query.begin, query.end - kLookBack); --p)
    if (!seen(query, p)) return p;
  return std::nullopt;
}

// The first of a window, or any.
std::optional<std::int64_t> any_seen(const Query& query, std::int64_t row, bool first_of_window) {
  const bool first = first_of_window && query.begin > 0;
  const std::int64_t place = first ? query.begin : query.begin + row * 97 % (query.end - query.begin);
  for (std::int64_t p = place; p < std::min(query.end, place + kLookBack); ++p)
    if (seen(query, p)) return p;
  return std::nullopt;
}

// A key that a row looks for, and how far its score is above the sum of all others: it decides the row, or has about
// half of the weight, so that a wrong scale shows.
constexpr double kDecides = 6;
constexpr double kCompetes = 1.5;
struct Sought {
  std::optional<std::int64_t> position;
  double above = kCompetes;
};

// Every row looks for a key that it sees: the average over thousands of them is nothing beside its bound.
std::array<Sought, 2> sought(const KeyStore& store, const Query& query, std::int64_t row, std::int64_t inner) {
  switch ((row + row / inner) % 4) {
    case 0:
      return {Sought{last_seen(query), kDecides}, Sought{}};
    case 1:
      return {Sought{first_hidden(store, query, row), kDecides}, Sought{any_seen(query, row, false)}};
    case 2:
      return {Sought{any_seen(query, row, true)}, Sought{}};
    default:
      return {Sought{any_seen(query, row, false)}, Sought{}};
  }
}

double dot(const float* a, const float* b, std::int64_t count) {
  double sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// Adds so much of the key to a query of x that its score is `above` the sum of the others.
void seek(float* q, const float* key, std::int64_t dim, double scale, std::int64_t keys, double above) {
  const double size = std::abs(scale) * dot(key, key, dim);
  if (!(size > 0)) return;
  const double wanted = portable_log(static_cast<double>(std::max<std::int64_t>(keys, 1))) + above;
  const auto part = static_cast<float>(std::copysign((wanted - scale * dot(q, key, dim)) / size, scale));
  for (std::int64_t i = 0; i < dim; ++i) q[i] += part * key[i];
}

void raise_sinks(HostTensor& sinks, double scale) {
  if (!(std::abs(scale) > 0) || sinks.integer()) return;
  for (float& sink : sinks.floats) sink = static_cast<float>((2 * static_cast<double>(sink) + 10) / scale);
}

}  // namespace

void arrange_attention(const BoundCall& call, std::span<HostTensor> inputs,
                       Checked<Attending> (*queries)(const ReferenceJob& job)) {
  const auto at = call.slot("input_tensor_q");
  if (!at || inputs[*at].integer() || inputs[*at].spec.shape.size() != 4) return;
  HostTensor& q = inputs[*at];
  const Shape& shape = q.spec.shape;
  const std::int64_t dim = shape[3];
  Rows rows{.total = dim == 0 ? 0 : q.size() / dim, .length = dim, .picked = {}};
  double scale = 0;
  for (std::int64_t first = 0; first < rows.total; first += kRowsAtOnce) {
    rows.picked.clear();
    for (std::int64_t r = first; r < std::min(rows.total, first + kRowsAtOnce); ++r) rows.picked.push_back(r);
    const auto attending = queries({call, inputs, {}, 0, rows});
    if (!attending || row_length(attending->store.keys->spec.shape) != dim) return;
    scale = attending->scale;
    for (std::size_t i = 0; i < attending->queries.size(); ++i) {
      const Query& query = attending->queries[i];
      if (query.end <= query.begin) continue;
      const std::int64_t row = rows.picked[i];
      float* const values = q.floats.data() + row * dim;
      bool is_x = false;  // it was 3 x
      for (const Sought& one : sought(attending->store, query, row, shape[2])) {
        const std::int64_t key = one.position ? attending->store.row(query.user, query.kv_head, *one.position) : -1;
        if (key < 0) continue;
        for (std::int64_t c = 0; c < dim && !is_x; ++c) values[c] *= 1.0F / 3;
        is_x = true;
        seek(values, attending->store.keys->floats.data() + key * dim, dim, scale, query.end - query.begin, one.above);
      }
    }
  }
  if (const auto sinks = call.slot("attention_sink")) raise_sinks(inputs[*sinks], scale);
}

}  // namespace opwright
