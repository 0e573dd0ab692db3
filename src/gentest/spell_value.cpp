#include "gentest/spell_value.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "dialect/ttnn/python_api.h"
#include "gentest/spell_parts.h"

namespace opwright::gentest {
namespace {

Python atom(std::string text) { return Python::atom(std::move(text)); }

// A member of which the trace does not say the enum, where only one enum has such a member.
Checked<Python> spell_member_of_any(std::string_view name) {
  const PythonClass* only = nullptr;
  for (const PythonClass& one : python_classes()) {
    if (!one.is_enum || std::ranges::find(one.members, name) == one.members.end()) continue;
    if (only != nullptr) return lost("", fmt::format("{}, of which the trace lost the enum", name));
    only = &one;
  }
  if (only == nullptr) return lost("", fmt::format("{}, of which the trace lost the enum", name));
  return atom(fmt::format("{}.{}", only->path, name));
}

bool mentions(std::string_view kind, std::string_view type) {
  const PythonParameter parameter{.name = {}, .kind = kind};
  return parameter.takes(type);
}

// The enum among the alternatives of a type; null: none.
const PythonClass* enum_in(std::string_view wanted) {
  for (const PythonClass& one : python_classes())
    if (one.is_enum && mentions(wanted, one.name)) return &one;
  return nullptr;
}

Checked<Python> spell_opaque(const Opaque& opaque) {
  if (opaque.type == "MeshDevice" || opaque.type == "Device") return atom("t.device");
  if (opaque.type == "global_semaphore") return Python::call("t.semaphore");
  const PythonClass* cls = opaque.type.empty() ? nullptr : find_python_class(opaque.type);
  if (cls != nullptr && !cls->is_enum) {
    const std::string_view text = opaque.text;
    std::int64_t number = 0;
    if (text.starts_with(opaque.type + "(") && text.ends_with(")")) {
      const std::string_view inside = text.substr(opaque.type.size() + 1, text.size() - opaque.type.size() - 2);
      const auto [end, error] = std::from_chars(inside.data(), inside.data() + inside.size(), number);
      if (error == std::errc() && end == inside.data() + inside.size())
        return Python::call(std::string(cls->path)).add(atom(std::to_string(number)));
    }
    if (cls->constructors.size() == 1 && cls->constructors.front().empty()) return Python::call(std::string(cls->path));
  }
  return lost("", fmt::format("a {} of which the trace has only a text", opaque.type.empty() ? "value" : opaque.type));
}

Checked<Python> spell_shard(const ShardSpec& shard, bool nd) {
  if (!shard.more.empty()) return unsupported("", fmt::format("a shard spec with {}", shard.more.front().first));
  if (shard.grid.empty() || shard.shape.empty() || !shard.orientation.present())
    return lost("", "a shard spec of which the trace lost a part");
  OPWRIGHT_CHECK_ASSIGN(Python orientation, spell_enum("ShardOrientation", shard.orientation.name()));
  if (!nd)
    return Python::call("ttnn.ShardSpec")
        .add(spell_core_range_set(shard.grid))
        .add(python_ints(shard.shape))
        .add(std::move(orientation));
  OPWRIGHT_CHECK_ASSIGN(
      Python strategy,
      spell_enum("ShardDistributionStrategy", shard.distribution.empty() ? "ROUND_ROBIN_1D" : shard.distribution));
  return Python::call("ttnn.NdShardSpec")
      .add(Python::call("ttnn.Shape").add(python_ints(shard.shape)))
      .add(spell_core_range_set(shard.grid))
      .add(std::move(orientation))
      .add(std::move(strategy));
}

Checked<Python> spell_dict(const Fields& fields, std::string_view wanted) {
  if (mentions(wanted, "CoreCoord") || mentions(wanted, "CoreRangeSet"))
    if (const auto place = as_core_coord(Value::dict(fields))) return spell_core_coord(*place);
  if (wanted.find("UnaryWithParam") != std::string_view::npos) return spell_unary_fields(fields);
  const PythonClass* cls = nullptr;
  for (const PythonClass& one : python_classes())
    if (!one.is_enum && mentions(wanted, one.name)) {
      if (cls != nullptr) return lost("", "a struct of which the trace lost the type");
      cls = &one;
    }
  if (cls == nullptr) return lost("", "a struct of which the trace lost the type");
  return spell_struct(cls->name, fields);
}

}  // namespace

Checked<Python> spell_enum(std::string_view type, std::string_view name) {
  if (type == "DataType") return spell_dtype(parse_dtype(name));
  if (type == "Layout") return spell_layout(parse_layout(name));
  const PythonClass* found = find_python_class(type);
  if (found == nullptr || !found->is_enum) found = find_python_class(std::string(type) + "Enum");
  if (found != nullptr && !found->is_enum) found = nullptr;
  if (found == nullptr) return unsupported("", fmt::format("ttnn has no enum {}", type));
  const std::string_view member = found->member(name);
  if (member.empty()) return unsupported("", fmt::format("ttnn has no {}.{}", type, name));
  return atom(fmt::format("{}.{}", found->path, member));
}

Checked<Python> spell_items(const List& list, std::string_view wanted, char open) {
  Python out{"", open};
  for (const Value& item : list) {
    OPWRIGHT_CHECK_ASSIGN(Python made, spell_value(item, inner_of(wanted)));
    out.add(std::move(made));
  }
  return out;
}

Checked<Python> spell_dtype(const Spelled<DType>& dtype) {
  if (!dtype.present()) return lost("", "a dtype that the trace lost");
  std::string name(dtype.name());
  const PythonClass* known = find_python_class("DataType");
  if (known == nullptr || known->member(name).empty())
    return unsupported("", fmt::format("ttnn has no dtype {}", name));
  if (!computed(dtype.value)) return atom("ttnn.DataType." + std::string(known->member(name)));
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return atom("ttnn." + name);
}

Checked<Python> spell_layout(const Spelled<Layout>& layout) {
  if (!layout.present()) return lost("", "a layout that the trace lost");
  if (layout.value == Layout::kTile) return atom("ttnn.TILE_LAYOUT");
  if (layout.value == Layout::kRowMajor) return atom("ttnn.ROW_MAJOR_LAYOUT");
  return unsupported("", fmt::format("ttnn has no layout {}", layout.name()));
}

Checked<Python> spell_memory(const MemoryConfig& memory) {
  if (!memory.layout.present() || !memory.buffer.present())
    return lost("", "a memory config of which the trace lost the layout or the buffer type");
  if (!memory.more.empty()) return unsupported("", fmt::format("a memory config with {}", memory.more.front().first));
  const bool plain = memory.layout.value == MemoryLayout::kInterleaved && !memory.shard && !memory.nd_shard;
  if (plain && memory.buffer.value == BufferType::kDram) return atom("ttnn.DRAM_MEMORY_CONFIG");
  if (plain && memory.buffer.value == BufferType::kL1) return atom("ttnn.L1_MEMORY_CONFIG");
  OPWRIGHT_CHECK_ASSIGN(Python buffer, spell_enum("BufferType", memory.buffer.name()));
  if (memory.nd_shard && (!memory.shard || memory.layout.value == MemoryLayout::kNdSharded)) {
    OPWRIGHT_CHECK_ASSIGN(Python shard, spell_shard(*memory.nd_shard, true));
    return Python::call("ttnn.MemoryConfig").add(std::move(buffer)).add(std::move(shard));
  }
  OPWRIGHT_CHECK_ASSIGN(Python layout, spell_enum("TensorMemoryLayout", memory.layout.name()));
  Python made = Python::call("ttnn.MemoryConfig").add(std::move(layout)).add(std::move(buffer));
  if (memory.shard) {
    OPWRIGHT_CHECK_ASSIGN(Python shard, spell_shard(*memory.shard, false));
    made.add(std::move(shard));
  }
  return made;
}

Checked<Python> spell_value(const Value& value, std::string_view wanted) {
  if (const std::int64_t* number = value.as_int()) {
    // Traces write flags as 0 and 1.
    if ((mentions(wanted, "bool")) && !mentions(wanted, "int") && (*number == 0 || *number == 1))
      return atom(*number == 1 ? "True" : "False");
    return atom(std::to_string(*number));
  }
  if (const List* list = value.as_list()) {
    if (mentions(wanted, "CoreCoord"))
      if (const auto place = as_core_coord(value)) return spell_core_coord(*place);
    if (mentions(wanted, "CoreRangeSet")) return spell_core_range_set(*list);
    return spell_items(*list, wanted, '[');
  }
  const bool is_function = wanted.find("UnaryWithParam") != std::string_view::npos;
  if (const Enum* e = value.as_enum()) {
    if (is_function && e->type == "UnaryOpType" && inner_of(wanted).empty()) return spell_unary(&value, {});
    return e->type.empty() ? spell_member_of_any(e->name) : spell_enum(e->type, e->name);
  }
  if (const std::string* text = value.as_string()) {
    if (is_function && !mentions(wanted, "str")) return spell_unary(&value, {});
    if (const PythonClass* names = enum_in(wanted); names != nullptr && !mentions(wanted, "str"))
      return spell_enum(names->name, *text);
    return atom(python_string(*text));
  }
  if (const Fields* dict = value.as_dict()) return spell_dict(*dict, wanted);
  if (const Struct* s = value.as_struct()) return spell_struct(s->type, s->fields);
  if (const MemoryConfig* memory = value.as_memory()) return spell_memory(*memory);
  if (const Opaque* opaque = value.as_opaque()) return spell_opaque(*opaque);
  if (value.as_tensor() != nullptr) return unsupported("", "a tensor inside of another object");
  if (const bool* flag = value.as_bool()) return atom(*flag ? "True" : "False");
  if (const double* real = value.as_float()) return atom(python_float(*real));
  if (value.is_null()) return atom("None");
  return atom(std::get<BigInt>(value.data()).digits);
}

}  // namespace opwright::gentest
