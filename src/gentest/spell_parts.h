// Parts of a spelling that values and structs share: cores and grids, in every way that traces write them, fused
// functions, and what a type of a signature holds.
#pragma once

#include <optional>
#include <string_view>

#include "gentest/python_expression.h"
#include "model/refusal.h"
#include "model/value.h"

namespace opwright::gentest {

Python spell_core_coord(CoreCoord place);
Python spell_core_range_set(const std::vector<CoreRange>& ranges);
// Of a list of ranges, or of such a list in another one.
Checked<Python> spell_core_range_set(const List& list);
// (8, 7), {x: 8, y: 7} or CoreCoord(x=8, y=7)
std::optional<CoreCoord> as_core_coord(const Value& value);
// [0, 0, 7, 6], [(0, 0), (7, 6)], {start: …, end: …} or CoreRange(start=…, end=…)
std::optional<CoreRange> as_core_range(const Value& value);

// A fused function. A number as its type is refused: it means another function in another version of the library.
Checked<Python> spell_unary(const Value* type, const List& params);
Checked<Python> spell_unary_fields(const Fields& fields);

Checked<Python> spell_enum(std::string_view type, std::string_view name);
Checked<Python> spell_items(const List& list, std::string_view wanted, char open);

// What an element of a sequence is: `Sequence[int]|None` -> `int`; "" it is none.
std::string_view inner_of(std::string_view kind);

}  // namespace opwright::gentest
