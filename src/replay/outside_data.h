// What a tensor holds that no call of a replay has made: the contents that the trace recorded, else values like those
// that it saw (sketch), else what the recipe of the operator that takes it says.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "format/native/native_trace.h"
#include "model/data_recipe.h"
#include "ops/op.h"
#include "replay/live_tensors.h"

namespace opwright::replay {

// A tensor that a call takes.
struct Wanted {
  const OpSpec* op = nullptr;  // null: nobody knows the operator, plain numbers
  const BoundCall& call;
  std::size_t slot = 0;  // in call.tensors
  std::uint64_t id = 0;  // recorded; 0 not known
  std::uint64_t version = 0;
  std::uint64_t seq = 0;     // of the call
  std::size_t recorded = 0;  // its slot among the recorded tensors
};

// A number of a trace, whole or not; 0 where there is none.
double number_of(const format::NativeValue* value);

// An input of a call as a recipe makes it: by its role, weights of a size that keeps sums as large as their terms.
HostTensor recipe_input(const OpSpec& op, const BoundCall& call, std::size_t slot, const DataRecipe& recipe);

class OutsideData {
 public:
  OutsideData(format::NativeTrace& trace, const DataRecipe& recipe, HeldBytes& held)
      : trace_(trace), recipe_(recipe), held_(held) {}

  // Remembers what the trace says of the tensors of a call, made or not.
  void see(const format::NativeCall& call);
  Content make(const Wanted& wanted);
  // Contents of the trace as the values of a tensor; nothing where it holds another size or type, which is counted.
  std::optional<HostTensor> contents(const Hash128& hash, const TensorSpec& spec);

  std::int64_t unusable() const { return unusable_; }  // recorded contents of another size or type
  std::int64_t missing() const { return missing_; }    // inputs of which the trace has a hash, and not the contents

 private:
  struct Known {
    std::uint64_t version = 0;
    std::optional<Hash128> hash;
    format::ValueId sketch = 0;
  };
  std::optional<HostTensor> like_sketch(format::ValueId sketch, const TensorSpec& spec, std::uint64_t seed);
  Content by_recipe(const Wanted& wanted, std::uint64_t seed);
  Content kept(HostTensor tensor, Origin origin);
  std::uint64_t seed_of(const Wanted& wanted) const;

  format::NativeTrace& trace_;
  DataRecipe recipe_;
  HeldBytes& held_;
  std::unordered_map<std::uint64_t, Known> known_;  // by tensor
  std::int64_t unusable_ = 0, missing_ = 0;
};

}  // namespace opwright::replay
