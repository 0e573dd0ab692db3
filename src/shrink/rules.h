// Whether a candidate is worth a trial: the operator's rules are asked before a device is. Of operators that nobody
// here knows, and where a refusal is the failure itself, every candidate is.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dialect/ttnn/board.h"
#include "model/data_recipe.h"
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
  // Inputs of floating-point numbers: "weight", "tensors#1". None of an operator that nobody here knows.
  struct Input {
    std::string name;
    std::int64_t elements = 0;
  };
  std::vector<Input> inputs_of(const OpConfig& config) const;
  // The number that is drawn there; nothing where nobody knows.
  std::optional<double> drawn(const OpConfig& config, const DataRecipe& recipe, const std::string& input,
                              std::int64_t at) const;

 private:
  Board board_;
  bool asked_ = false;
};

}  // namespace opwright::shrink
