// Whether a candidate is worth a trial: the operator's rules are asked before a device is. Of operators that nobody
// here knows, and where a refusal is the failure itself, every candidate is.
#pragma once

#include <functional>
#include <optional>

#include "dialect/ttnn/board.h"
#include "model/op_config.h"

namespace opwright::shrink {

class Rules {
 public:
  Rules() = default;  // everything goes
  explicit Rules(Board board) : board_(std::move(board)), asked_(true) {}

  bool asked() const { return asked_; }
  bool allow(const OpConfig& config) const;
  // The first output, where the rules say it.
  std::optional<TensorSpec> output_of(const OpConfig& config) const;

 private:
  Board board_;
  bool asked_ = false;
};

}  // namespace opwright::shrink
