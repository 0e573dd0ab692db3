// What a replay holds of tensors' values in its own memory, now and at most. Contents that share values count once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "replay/chain_values.h"
#include "replay/packed_values.h"

namespace opwright::replay {

class HeldBytes {
 public:
  std::shared_ptr<const Packed> keep(Packed values) { return counted(std::move(values), &Counts::values); }
  std::shared_ptr<const ChainValues> keep(ChainValues values) { return counted(std::move(values), &Counts::chain); }

  std::int64_t values() const { return counts_->values; }
  std::int64_t chain() const { return counts_->chain; }
  std::int64_t most_values() const { return counts_->most_values; }  // without the chain
  std::int64_t most() const { return counts_->most; }                // of both together

 private:
  struct Counts {
    std::int64_t values = 0, chain = 0, most_values = 0, most = 0;
  };

  template <class T>
  std::shared_ptr<const T> counted(T value, std::int64_t Counts::* kind) {
    const auto bytes = static_cast<std::int64_t>(value.bytes());
    Counts& counts = *counts_;
    counts.*kind += bytes;
    counts.most_values = std::max(counts.most_values, counts.values);
    counts.most = std::max(counts.most, counts.values + counts.chain);
    return {new T(std::move(value)), [shared = counts_, kind, bytes](const T* held) {
              (*shared).*kind -= bytes;
              delete held;
            }};
  }

  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
};

}  // namespace opwright::replay
