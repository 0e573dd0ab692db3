// Values that go on without being computed: moved or converted on the host.
#pragma once

#include <optional>

#include "replay/live_tensors.h"

namespace opwright::replay {

// The same values in the shape and dtype of `result`; nothing where it has another number of elements.
std::optional<Content> carried(const Content& from, const TensorSpec& result, HeldBytes& held);

}  // namespace opwright::replay
