#include "dialect/aten/aten.h"

namespace opwright::embedded {
extern const std::string_view kAtenSignatures;
}

namespace opwright {

Value aten_normal_form(Value value);  // normal_form.cpp

namespace {

const OperationTables& tables() {
  static const OperationTables all({.signatures = embedded::kAtenSignatures});
  return all;
}

// PyTorch prints the overload that has no name as `default`; in its schemas it has none.
std::string without_default(std::string operation) {
  constexpr std::string_view kDefault = ".default";
  if (operation.ends_with(kDefault)) operation.resize(operation.size() - kDefault.size());
  return operation;
}

}  // namespace

const Dialect& aten_dialect() {
  static const Dialect aten{.name = "aten",
                            .overloads = true,
                            .keeps_unlisted = true,
                            .tables = tables,
                            .operation = without_default,
                            .dtype = parse_torch_dtype,
                            .normal_form = aten_normal_form};
  return aten;
}

}  // namespace opwright
