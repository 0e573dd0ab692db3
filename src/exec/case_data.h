// Input data of a case: seeded, by role, the same bytes for every device.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "exec/plan_call.h"
#include "model/data_recipe.h"
#include "model/host_tensor.h"
#include "ops/op.h"

namespace opwright {

// Rows, groups and corners of N(0,1) that show which data was used (data_marks.h), or N(0,1) alone, as records of real
// kernels speak of it.
enum class Marks : bool { kOff, kOn };

// One tensor for each of call.tensors, with values that its dtype can hold (rounded as the host encodes them). Of a
// recipe that keeps some numbers, the rest plain.
std::vector<HostTensor> make_inputs(const OpSpec& op, const BoundCall& call, const DataRecipe& recipe,
                                    Marks marks = Marks::kOn);

// The same for a planned call; of an exchange between chips the first tensor also holds the parts of the others
// (chip_parts.h).
std::vector<HostTensor> make_inputs(const PlannedCall& plan, const DataRecipe& recipe, Marks marks = Marks::kOn);

// The tensor `slot` of them alone, as its role asks; nothing is arranged for the others.
HostTensor make_input(const OpSpec& op, const BoundCall& call, std::size_t slot, const DataRecipe& recipe,
                      Marks marks = Marks::kOn);

// make_input without marks, for a tensor that is too large to be there as a whole: the same values, some rows at a
// time, about `elements` in all. False where it is not plain numbers: nothing was given then.
bool make_input_rows(const OpSpec& op, const BoundCall& call, std::size_t slot, const DataRecipe& recipe,
                     std::int64_t elements, const std::function<void(std::span<float> rows)>& take);

}  // namespace opwright
