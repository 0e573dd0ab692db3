// Values that go on without being computed: moved or converted on the host, exchanged between chips.
#pragma once

#include <optional>

#include "dialect/ttnn/carrying_calls.h"
#include "replay/live_tensors.h"

namespace opwright::replay {

// The same values in the shape and dtype of `result`; nothing where it has another number of elements.
std::optional<Content> carried(const Content& from, const TensorSpec& result);

// What a collective gives one chip, when every chip holds what this one holds: its part once for each chip, or the sum
// of its first part over all. How many there are is told by the one dimension in which the shapes differ; nothing where
// they do not tell it.
std::optional<Content> over_chips(const Content& from, const TensorSpec& given, const TensorSpec& result,
                                  Collective collective);

}  // namespace opwright::replay
