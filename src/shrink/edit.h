// One fact of a call (exec/call_facts.h) changed, everything else as it was.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "model/op_config.h"

namespace opwright::shrink {

// The fact set to a value: a dimension, a rank (leading ones come or go), a dtype or layout by its name, a memory as
// the text of a memory config, a tile as "16x32", a placement taken away by "none", any other by its text. Nothing
// where the call has no such fact, or the text is none of it.
std::optional<OpConfig> with(const OpConfig& config, std::string_view fact, std::string_view value);
// An argument, a field of a struct or an item of a list taken away.
std::optional<OpConfig> without(const OpConfig& config, std::string_view fact);

// Every tensor, with the name of its fact; and every value that is not made of others (numbers, texts, enums, memory
// configs), the whole of a struct or list before its parts.
void for_each_tensor_fact(const OpConfig& config,
                          const std::function<void(const std::string&, const TensorSpec&)>& visit);
void for_each_value_fact(const OpConfig& config, const std::function<void(const std::string&, const Value&)>& visit);

}  // namespace opwright::shrink
