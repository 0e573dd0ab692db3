// Every identity has its own type, so that a configuration is never taken for a form.
#pragma once

#include <compare>
#include <cstdint>

namespace opwright {

template <class Tag>
struct Id {  // names one row of one store; the number means nothing outside it
  std::int64_t value = 0;
  friend auto operator<=>(const Id&, const Id&) = default;
};
using OperationId = Id<struct OperationTag>;
using ConfigId = Id<struct ConfigTag>;
using FormId = Id<struct FormTag>;
using SourceId = Id<struct SourceTag>;
using MachineId = Id<struct MachineTag>;
using TraceId = Id<struct TraceTag>;

}  // namespace opwright
