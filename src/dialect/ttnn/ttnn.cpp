#include "dialect/ttnn/ttnn.h"

#include "dialect/ttnn/lift_tensor.h"

namespace opwright::embedded {
extern const std::string_view kTtnnOperations;
extern const std::string_view kTtnnExclusions;
extern const std::string_view kTtnnSignatures;
}  // namespace opwright::embedded

namespace opwright {
namespace {

const OperationTables& tables() {
  static const OperationTables all({.operations = embedded::kTtnnOperations,
                                    .exclusions = embedded::kTtnnExclusions,
                                    .signatures = embedded::kTtnnSignatures});
  return all;
}

bool is_semaphore(std::string_view argument) {
  return argument == "multi_device_global_semaphore" || argument == "barrier_semaphore";
}

}  // namespace

const Dialect& ttnn_dialect() {
  static const Dialect ttnn{.name = "ttnn",
                            .executed = true,
                            .in_masters = true,
                            .names_values = true,
                            .tables = tables,
                            .is_handle = is_semaphore,
                            .lift = lift_ttnn};
  return ttnn;
}

}  // namespace opwright
