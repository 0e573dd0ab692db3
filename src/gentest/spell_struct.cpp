#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "dialect/ttnn/python_api.h"
#include "gentest/row_names.h"
#include "gentest/spell_parts.h"
#include "gentest/spell_value.h"

namespace opwright::gentest {
namespace {

const Value* field(const Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields)
    if (key == name) return &value;
  return nullptr;
}

// Members without a name; an export numbers them.
bool is_unnamed(std::string_view name) {
  return name.empty() || std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; });
}

Python atom(std::string text) { return Python::atom(std::move(text)); }

std::string_view alias(std::string_view type, std::string_view member) {
  struct Alias {
    std::string_view type, member, parameter;
  };
  // Members that a constructor takes under another name.
  static constexpr std::array kAliases{
      Alias{"CoreRangeSet", "ranges", "core_ranges"},
      Alias{"MeshCoordinate", "dims", "coords"},
      Alias{"MeshCoreCoord", "device", "device_coord"},
      Alias{"MeshCoreCoord", "core", "core_coord"},
      Alias{"MeshShape", "dims", "shape"},
      Alias{"Shape", "dims", "shape"},
      Alias{"ShardSpec", "shape", "shard_shape"},
      Alias{"ShardSpec", "orientation", "shard_orientation"},
      Alias{"Tile", "shape", "tile_shape"},
      Alias{"SDPAProgramConfig", "compute_grid", "compute_with_storage_grid_size"},
  };
  for (const Alias& one : kAliases)
    if (one.type == type && one.member == member) return one.parameter;
  return member;
}

// Members of one constructor: those it does not take are set afterwards.
Checked<Python> construct(const PythonClass& cls, const std::vector<PythonParameter>& way, const Fields& fields) {
  Python made = Python::call(std::string(cls.path));
  std::vector<const Value*> unnamed;
  for (const auto& [name, value] : fields)
    if (is_unnamed(name)) unnamed.push_back(&value);
  std::size_t next = 0;
  const auto named = [&](const PythonParameter& parameter) -> const Value* {
    for (const auto& [name, value] : fields)
      if (!is_unnamed(name) && (name == parameter.name || alias(cls.name, name) == parameter.name)) return &value;
    return nullptr;
  };
  for (const PythonParameter& parameter : way) {
    const Value* value = parameter.by_name ? named(parameter) : nullptr;
    const bool by_name = value != nullptr && parameter.by_name;
    Value rest;
    if (value == nullptr && parameter.by_position && next < unnamed.size()) {
      const bool takes_all = !inner_of(parameter.kind).empty() && unnamed[next]->as_list() == nullptr;
      if (takes_all) {  // Shape(1, 2) and Shape([1, 2])
        List all;
        for (; next < unnamed.size(); ++next) all.push_back(*unnamed[next]);
        rest = Value(std::move(all));
        value = &rest;
      } else {
        value = unnamed[next++];
      }
    }
    if (value == nullptr || value->is_null()) {
      if (parameter.required && (value == nullptr || !parameter.may_be_none()))
        return lost("", fmt::format("a {} without {}", cls.name, parameter.name));
      if (!parameter.required) continue;  // None is what these stand at
    }
    OPWRIGHT_CHECK_ASSIGN(Python item, spell_value(*value, parameter.kind));
    made.add(std::move(item), by_name && way.size() > 1 ? std::string(parameter.name) : "");
  }
  if (next < unnamed.size()) return lost("", fmt::format("a {} with members without a name", cls.name));
  Python more = Python::call("with_fields");
  for (const auto& [name, value] : fields) {
    if (is_unnamed(name) || value.is_null()) continue;
    const bool taken = std::ranges::any_of(way, [&](const PythonParameter& p) {
      return p.by_name && (p.name == name || alias(cls.name, name) == p.name);
    });
    if (taken) continue;
    if (!is_python_name(name))
      return unsupported("", fmt::format("a {} with a member that Python cannot name", cls.name));
    OPWRIGHT_CHECK_ASSIGN(Python item, spell_value(value));
    if (more.items.empty()) more.add(Python{});
    more.add(std::move(item), name);
  }
  if (more.items.empty()) return made;
  more.items.front().second = std::move(made);
  return more;
}

std::size_t covered(const std::vector<PythonParameter>& way, const Fields& fields) {
  return static_cast<std::size_t>(std::ranges::count_if(way, [&](const PythonParameter& parameter) {
    const Value* value = field(fields, parameter.name);
    return value != nullptr && !value->is_null();
  }));
}

Checked<Python> spell_set(const Fields& fields) {
  if (fields.empty()) return atom("set()");
  const List* items = fields.size() == 1 ? fields[0].second.as_list() : nullptr;
  List own;
  if (items == nullptr)
    for (const auto& [name, value] : fields) own.push_back(value);
  OPWRIGHT_CHECK_ASSIGN(Python made, spell_items(items != nullptr ? *items : own, "", '{'));
  return made.items.empty() ? atom("set()") : made;
}

Checked<Python> spell_mapper(const Fields& fields) {
  const Value* config = field(fields, "config");
  if (config == nullptr || config->as_struct() == nullptr)
    return lost("", "a mapper of tensors to the mesh of which the trace lost the configuration");
  OPWRIGHT_CHECK_ASSIGN(Python made, spell_value(*config));
  return Python::call("t.mesh_mapper").add(std::move(made));
}

}  // namespace

// A fused function. A number as its type means another function in another version of the library.
Checked<Python> spell_unary(const Value* type, const List& params) {
  std::string name;
  if (type != nullptr && type->as_enum() != nullptr) name = type->as_enum()->name;
  if (type != nullptr && type->as_string() != nullptr) {
    name = *type->as_string();
    if (const std::size_t at = name.find_last_of(".:"); at != std::string::npos) name = name.substr(at + 1);
    std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  }
  if (name.empty()) return lost("", "a fused function of which the trace lost the name");
  OPWRIGHT_CHECK_ASSIGN(Python function, spell_enum("UnaryOpType", name));
  Python made = Python::call("ttnn.UnaryWithParam").add(std::move(function));
  for (const Value& param : params) {
    if (const std::int64_t* number = param.as_int())
      made.add(atom(python_float(static_cast<double>(*number))));
    else if (const double* real = param.as_float())
      made.add(atom(python_float(*real)));
    else
      return lost("", fmt::format("a parameter of the fused function {}", name));
  }
  return made;
}

Checked<Python> spell_unary_fields(const Fields& fields) {
  const Value* type = field(fields, "op_type");
  List params;
  for (const auto& [name, value] : fields) {
    if (value.is_null() || name == "op_type") continue;
    if (is_unnamed(name) && type == nullptr) {
      type = &value;
    } else if (name == "param" || name == "params" || is_unnamed(name)) {
      const List* several = value.as_list();
      if (several != nullptr)
        params.insert(params.end(), several->begin(), several->end());
      else
        params.push_back(value);
    } else {
      return unsupported("", fmt::format("UnaryWithParam of ttnn cannot be made with {}", name));
    }
  }
  return spell_unary(type, params);
}

std::vector<std::string_view> classes_with(const Fields& fields, std::string_view ending) {
  std::vector<std::string_view> found;
  for (const PythonClass& cls : python_classes()) {
    if (cls.is_enum || !cls.name.ends_with(ending)) continue;
    const bool fits = std::ranges::any_of(cls.constructors, [&](const std::vector<PythonParameter>& way) {
      const auto is_taken = [&](const auto& member) {
        return std::ranges::any_of(way, [&](const PythonParameter& p) { return p.name == member.first; });
      };
      return std::ranges::all_of(fields, is_taken) && std::ranges::all_of(way, [&](const PythonParameter& parameter) {
               return !parameter.required || field(fields, parameter.name) != nullptr;
             });
    });
    if (fits) found.push_back(cls.name);
  }
  return found;
}

Checked<Python> spell_struct(std::string_view type, const Fields& fields) {
  if (type == "MeshDevice") return atom("t.device");
  if (type == "global_semaphore") return Python::call("t.semaphore");
  if (type == "CppTensorToMesh") return spell_mapper(fields);
  if (type == "set" || type == "frozenset") return spell_set(fields);
  if (type.find("UnaryWithParam") != std::string_view::npos) return spell_unary_fields(fields);
  if (type.ends_with("ComputeKernelConfig")) type = "WormholeComputeKernelConfig";  // architectures once had one each
  if (type == "slice" || type == "range") {
    Python made = Python::call(std::string(type));
    for (const auto& [name, value] : fields) {
      OPWRIGHT_CHECK_ASSIGN(Python item, spell_value(value));
      made.add(std::move(item));
    }
    return made;
  }
  const PythonClass* cls = find_python_class(type);
  if (cls == nullptr || cls->is_enum) return unsupported("", fmt::format("ttnn has no {}", type));
  if (cls->name == "CoreRangeSet") {
    List ranges;
    for (const auto& [name, value] : fields) {
      const List* several = value.as_list();
      if (several != nullptr && !as_core_range(value))
        ranges.insert(ranges.end(), several->begin(), several->end());
      else
        ranges.push_back(value);
    }
    return spell_core_range_set(ranges);
  }
  if (cls->name == "CoreCoord")
    if (const auto place = as_core_coord(Value::structure("CoreCoord", fields))) return spell_core_coord(*place);
  if (cls->constructors.empty()) return unsupported("", fmt::format("a {}: ttnn has no constructor for it", type));
  std::vector<const std::vector<PythonParameter>*> ways;
  for (const auto& way : cls->constructors) ways.push_back(&way);
  std::ranges::stable_sort(ways,
                           [&](const auto* a, const auto* b) { return covered(*a, fields) > covered(*b, fields); });
  Checked<Python> first = construct(*cls, *ways.front(), fields);
  for (std::size_t i = 1; i < ways.size() && !first; ++i)
    if (Checked<Python> made = construct(*cls, *ways[i], fields)) return made;
  return first;
}

}  // namespace opwright::gentest
