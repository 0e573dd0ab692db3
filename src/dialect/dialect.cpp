#include "dialect/dialect.h"

#include <array>

#include "dialect/aten/aten.h"
#include "dialect/ttnn/ttnn.h"
#include "model/op_config.h"

namespace opwright {
namespace {

const OperationTables& no_tables() {
  static const OperationTables none({});
  return none;
}

const Dialect kNeutral{.name = "", .tables = no_tables};

}  // namespace

std::span<const Dialect* const> dialects() {
  static const std::array<const Dialect*, 2> all{&ttnn_dialect(), &aten_dialect()};
  return all;
}

const Dialect& dialect_of(std::string_view operation) {
  for (const Dialect* dialect : dialects()) {
    if (!operation.starts_with(dialect->name)) continue;
    const std::string_view rest = operation.substr(dialect->name.size());
    if (rest.starts_with('.') || rest.starts_with("::")) return *dialect;
  }
  return kNeutral;
}

std::string why_not_run(std::string_view operation) {
  const Dialect& dialect = dialect_of(operation);
  if (dialect.executed || dialect.name.empty()) return "";
  return "the dialect " + std::string(dialect.name) + " is recorded, not run";
}

std::string operation_name(std::string_view spelled) {
  std::string name = dotted(spelled);
  const Dialect& dialect = dialect_of(name);
  return dialect.operation == nullptr ? name : dialect.operation(std::move(name));
}

std::vector<std::string> possible_operations(std::string_view name) {
  std::vector<std::string> names{operation_name(name)};
  for (const Dialect* dialect : dialects())
    names.push_back(operation_name(std::string(dialect->name) + "." + names[0]));
  return names;
}

bool is_handle_argument(const Dialect& dialect, std::string_view argument) {
  return dialect.is_handle != nullptr && dialect.is_handle(argument);
}

std::span<const std::string_view> signature_of(std::string_view operation) {
  return dialect_of(operation).tables().signature(operation);
}

}  // namespace opwright
