// What the tensors of a generated test are filled with: the roles of the operator's data recipe (ops/roles.h), as the
// functions of templates/op_data.py.
#pragma once

#include "gentest/python_expression.h"
#include "ops/op.h"

namespace opwright::gentest {

// The fill of tensor `slot` of the call, `op_data.pages(64)`; no text: plain numbers, which need no word. Where numbers
// must lie in a range that another argument gives, the range is that of the recipe's own values.
Python fill_of(const OpSpec& op, const BoundCall& call, std::size_t slot);

}  // namespace opwright::gentest
