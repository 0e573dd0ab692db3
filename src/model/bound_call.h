// A call with its arguments bound to parameter names of the Python signature, whichever era recorded it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/op_config.h"
#include "model/refusal.h"
#include "model/value.h"

namespace opwright {

struct TensorSlot {
  std::string param;
  std::size_t item = 0;  // position in a list of tensors; 0 for a tensor alone
  TensorSpec spec;
};

class BoundCall {
 public:
  BoundCall() = default;
  BoundCall(std::string op, Convention convention, std::vector<Argument> args);

  std::string op;  // canonical name, dots
  Convention convention = Convention::kPython;
  std::vector<Argument> args;        // named, in parameter order
  std::vector<TensorSlot> tensors;   // every tensor of the call, in that order
  std::vector<std::string> assumed;  // parameters that the trace lost and that are taken as not passed

  // The argument's value; null when it was not passed. `passed` also asks that it is not None.
  const Value* find(std::string_view param) const;
  bool passed(std::string_view param) const;
  void set(std::string_view param, Value value);  // replaces or adds; `tensors` follows
  void erase(std::string_view param);

  const TensorSpec* tensor(std::string_view param) const;                    // null when absent, None or no tensor
  std::vector<const TensorSpec*> tensor_list(std::string_view param) const;  // [] when absent; a lone tensor counts
  const MemoryConfig* memory(std::string_view param) const;
  // Index into `tensors`, or nothing.
  std::optional<std::size_t> slot(std::string_view param, std::size_t item = 0) const;

  // Typed arguments in every spelling of both eras (numbers as text, 0/1 for bools, enum names). Absent and None give
  // `otherwise`; another kind is refused as the library does, naming the parameter.
  Checked<std::int64_t> integer(std::string_view param, std::int64_t otherwise) const;
  Checked<std::optional<std::int64_t>> integer(std::string_view param) const;
  Checked<double> number(std::string_view param, double otherwise) const;
  Checked<bool> flag(std::string_view param, bool otherwise) const;
  Checked<DType> dtype(std::string_view param, DType otherwise) const;
  Checked<Layout> layout(std::string_view param, Layout otherwise) const;
  Checked<std::string> text(std::string_view param, std::string_view otherwise) const;  // strings and enum names
  Checked<std::optional<Shape>> ints(std::string_view param) const;  // list, tuple, Shape, or one int
};

// The library's words for an argument of the wrong type.
tl::unexpected<Refusal> type_error(std::string_view op, std::string_view param, const Value& value);

}  // namespace opwright
