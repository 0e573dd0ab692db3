// The list of operators we know.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "ops/op.h"

namespace opwright {

std::span<const OpSpec* const> all_ops();  // by the last part of their names
// Those of them that are no rows of a family (families.h).
std::span<const OpSpec* const> ops_with_files();
// By name or alias (dots); null when nobody knows it.
const OpSpec* find_op(std::string_view name);

// The parameter that an argument of a recorded call stands for: by its name, or by the place that `argN` tells in that
// convention's list. Null when the operator has none.
const Param* find_param(const OpSpec& op, Convention convention, std::string_view name);

// What the tensor of a parameter is filled with; nothing where it takes none.
std::optional<Role> role_of(const OpSpec& op, std::string_view param);

// Binds the arguments of a recorded call to the operator's parameters. Refuses unknown arguments by name, lost ones as
// the operator says, and missing required ones.
Checked<BoundCall> bind(const OpSpec& op, const OpConfig& config);

}  // namespace opwright
