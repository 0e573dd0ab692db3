#include "device/sim/broadcast.h"

namespace opwright::sim {
namespace {

std::int64_t from_end(const Shape& shape, std::size_t i) { return i < shape.size() ? shape[shape.size() - 1 - i] : 1; }

}  // namespace

BroadcastRows::BroadcastRows(const Shape& from, const Shape& to) {
  length_ = to.empty() ? 1 : to.back();
  step_ = from_end(from, 0) == length_;
  plain_ = step_;
  std::int64_t stride = from_end(from, 0);
  for (std::size_t i = 1; i < to.size(); ++i) {
    const std::int64_t size = from_end(to, i);
    const bool stretched = from_end(from, i) != size;
    plain_ = plain_ && !stretched;
    dims_.insert(dims_.begin(), {size, stretched ? 0 : stride});
    stride *= from_end(from, i);
  }
}

std::int64_t BroadcastRows::offset(std::int64_t row) const {
  if (plain_) return row * length_;
  std::int64_t out = 0;
  for (std::size_t i = dims_.size(); i-- > 0 && row > 0;) {
    out += row % dims_[i].size * dims_[i].stride;
    row /= dims_[i].size;
  }
  return out;
}

}  // namespace opwright::sim
