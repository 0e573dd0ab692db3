#include "ops/shared/slice_config.h"

#include <algorithm>
#include <cctype>

namespace opwright {
namespace {

// C++ writes L1_FULL, Python L1Full.
bool is_whole(std::string_view name) {
  std::string plain;
  for (const char c : name)
    if (c != '_') plain.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  return plain == "l1full";
}

}  // namespace

Checked<Slicing> slicing_of(const BoundCall& call, std::string_view param) {
  if (!call.passed(param)) return Slicing::kLibrarys;
  const Struct* config = call.find(param)->as_struct();
  if (config == nullptr) return type_error(call.op, param, *call.find(param));
  const auto type = std::ranges::find(config->fields, "slice_type", &Fields::value_type::first);
  if (type == config->fields.end() || type->second.as_enum() == nullptr)
    return unsupported(std::string(param), "a slice config that does not say how to slice");
  return is_whole(type->second.as_enum()->name) ? Slicing::kNone : Slicing::kCallers;
}

}  // namespace opwright
