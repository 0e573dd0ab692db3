#include "vectors/validity.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dialect/dialect.h"
#include "ops/all_ops.h"

namespace opwright::vectors {
namespace {

// The first complaint of `check` about a tensor of the call.
template <class Check>
std::string first_complaint(const OpConfig& config, Check check) {
  std::string complaint;
  for (const Argument& argument : config.args) {
    for_each_tensor(argument.value, [&](const TensorSpec& spec) {
      if (complaint.empty()) complaint = check(argument.name, spec);
    });
  }
  return complaint;
}

std::string dialect(const Candidate& candidate) { return why_not_run(candidate.config.op); }

std::string raised(const Candidate& candidate) {
  if (!candidate.only_raised) return "";
  return fmt::format("every recorded call raised{}{}", candidate.error.empty() ? "" : ", e.g. ",
                     candidate.error.substr(0, 200));
}

bool is_lost(const Value& value) {
  if (value.as_opaque() != nullptr) return true;
  const List* list = value.as_list();
  return list != nullptr && std::any_of(list->begin(), list->end(), is_lost);
}

// An operator we know says which lost arguments it can do without; of any other, none.
std::string lost_argument(const Candidate& candidate) {
  const OpSpec* op = find_op(candidate.config.op);
  for (const Argument& argument : candidate.config.args) {
    if (!is_lost(argument.value)) continue;
    const Param* param = op != nullptr ? find_param(*op, candidate.config.convention, argument.name) : nullptr;
    if (param != nullptr && param->lost != Lost::kRefuse) continue;
    return fmt::format("the trace lost {}: {}", argument.name, to_text(argument.value).substr(0, 120));
  }
  return "";
}

std::string no_shape(const Candidate& candidate) {
  return first_complaint(candidate.config, [](const std::string& name, const TensorSpec& spec) {
    return spec.has_shape ? "" : fmt::format("the trace does not say the shape of {}", name);
  });
}

std::string unknown_dtype(const Candidate& candidate) {
  return first_complaint(candidate.config, [](const std::string& name, const TensorSpec& spec) {
    if (!spec.type.empty()) return std::string();  // a tensor of another library has other dtypes
    if (!spec.dtype.present()) return fmt::format("the trace does not say the dtype of {}", name);
    if (!computed(spec.dtype.value)) return fmt::format("{} has dtype {}", name, spec.dtype.name());
    return std::string();
  });
}

std::string unknown_memory(const Candidate& candidate) {
  const auto check = [](const std::string& name, const MemoryConfig& memory) {
    if (memory.layout.value == MemoryLayout::kUnknown)
      return fmt::format("{} has memory layout {}", name, memory.layout.name());
    if (memory.buffer.value == BufferType::kUnknown)
      return fmt::format("{} lies in buffer {}", name, memory.buffer.name());
    for (const auto& [field, value] : memory.more)
      if (value.as_opaque() != nullptr) return fmt::format("{} of {} could not be read", field, name);
    return std::string();
  };
  std::string complaint = first_complaint(candidate.config, [&](const std::string& name, const TensorSpec& spec) {
    return spec.memory ? check(name, *spec.memory) : std::string();
  });
  for (const Argument& argument : candidate.config.args) {
    for_each_memory(argument.value, [&](const MemoryConfig& memory) {
      if (complaint.empty()) complaint = check(argument.name, memory);
    });
  }
  return complaint;
}

std::string host_tensor_only(const Candidate& candidate) {
  std::size_t tensors = 0, host = 0;
  for (const Argument& argument : candidate.config.args) {
    for_each_tensor(argument.value, [&](const TensorSpec& spec) {
      ++tensors;
      host += spec.storage.value == StorageType::kHost || !spec.type.empty() ? 1 : 0;
    });
  }
  if (tensors == 0 || host < tensors) return "";
  return fmt::format("{} on the host: no device runs it", tensors == 1 ? "its tensor is" : "all its tensors are");
}

// Tensors of one call lie on one mesh, and no dimension of a tensor is spread over more devices than the mesh has.
std::string mesh(const Candidate& candidate) {
  const auto product = [](const Shape& shape) {
    std::int64_t all = 1;
    for (const std::int64_t n : shape) all = n <= 0 || all > 100'000 ? 0 : all * n;
    return all;
  };
  Shape first;
  return first_complaint(candidate.config, [&](const std::string& name, const TensorSpec& spec) {
    if (!spec.placement || spec.placement->mesh.empty()) return std::string();
    const Placement& placement = *spec.placement;
    if (product(placement.mesh) <= 0)
      return fmt::format("{} lies on a mesh of shape {}", name, to_text(placement.mesh));
    if (product(placement.distribution) > product(placement.mesh))
      return fmt::format("{} is spread over {} devices of a mesh of shape {}", name, to_text(placement.distribution),
                         to_text(placement.mesh));
    if (first.empty()) first = placement.mesh;
    if (placement.mesh != first)
      return fmt::format("{} lies on a mesh of shape {}, another tensor on {}", name, to_text(placement.mesh),
                         to_text(first));
    return std::string();
  });
}

constexpr std::array kRules{
    ValidityRule{"dialect", "its operator is of a dialect that is recorded, not run", dialect},
    ValidityRule{"raised", "every recorded call of the configuration raised", raised},
    ValidityRule{"lost_argument", "the trace lost an argument that the operator needs", lost_argument},
    ValidityRule{"no_shape", "the trace does not say the shape of a tensor", no_shape},
    ValidityRule{"unknown_dtype", "a tensor has no dtype, or one that nobody computes with", unknown_dtype},
    ValidityRule{"unknown_memory", "a memory config that could not be read", unknown_memory},
    ValidityRule{"host_tensor_only", "no tensor of the call lies on a device", host_tensor_only},
    ValidityRule{"mesh", "its tensors do not lie on one mesh", mesh},
};

}  // namespace

std::span<const ValidityRule> validity_rules() { return kRules; }

std::string why_invalid(const Candidate& candidate) {
  for (const ValidityRule& rule : kRules)
    if (const std::string reason = rule.broken(candidate); !reason.empty())
      return fmt::format("{}: {}", rule.name, reason);
  return "";
}

}  // namespace opwright::vectors
