#include "gentest/spell_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "dialect/dialect.h"
#include "dialect/ttnn/matmul_program.h"
#include "dialect/ttnn/python_api.h"
#include "exec/python_call.h"
#include "exec/traced_board.h"
#include "gentest/input_fill.h"
#include "gentest/row_names.h"
#include "gentest/spell_value.h"
#include "model/position_name.h"
#include "ops/all_ops.h"

namespace opwright::gentest {
namespace {

constexpr std::string_view kMethods = "ttnn.Tensor.";

std::string missing_of(const TensorSpec& spec) {
  std::string missing;
  const auto need = [&](bool there, std::string_view name) {
    if (!there) missing += fmt::format("{}{}", missing.empty() ? "" : ", ", name);
  };
  need(spec.has_shape, "shape");
  need(spec.dtype.present(), "dtype");
  need(spec.layout.present(), "layout");
  need(spec.storage.present(), "storage");
  return missing;
}

// One chip, as a tensor from the host has it: needs no word.
bool is_usual(const Placement& placement) {
  return placement.dims.empty() ||
         (volume(placement.mesh) == 1 && placement.dims == std::vector<std::string>{"Replicate"} &&
          placement.distribution == Shape{1});
}

Checked<void> add_placement(const TensorSpec& spec, Python& made) {
  if (!spec.placement || is_usual(*spec.placement)) return {};
  Python placements = Python::list();
  for (const std::string& dim : spec.placement->dims) {
    OPWRIGHT_CHECK_ASSIGN(Python one, spell_placement(dim));
    placements.add(std::move(one));
  }
  made.add(std::move(placements), "placements");
  if (!spec.placement->distribution.empty() && spec.placement->distribution != spec.placement->mesh)
    made.add(python_ints(spec.placement->distribution), "distribution");
  return {};
}

Checked<Python> spell_tensor(const TensorSpec& spec, Python fill) {
  if (!spec.type.empty()) return unsupported("", fmt::format("a {}: only tensors of ttnn are made", spec.type));
  if (const std::string missing = missing_of(spec); !missing.empty())
    return lost("", fmt::format("a tensor of which the trace lost the {}", missing));
  if (spec.storage.value == StorageType::kUnknown)
    return unsupported("", fmt::format("a tensor in storage {}", spec.storage.name()));
  bool freed = false;
  for (const auto& [name, value] : spec.more) {
    if (name != "deallocated") return unsupported("", fmt::format("a tensor with {}", name));
    freed = value.as_bool() != nullptr && *value.as_bool();
  }
  const bool on_host = spec.storage.value == StorageType::kHost;
  Python made = Python::call(on_host ? "t.host_tensor" : "t.tensor");
  made.add(python_ints(spec.device_shape.value_or(spec.shape)));  // of one chip
  OPWRIGHT_CHECK_ASSIGN(Python dtype, spell_dtype(spec.dtype));
  OPWRIGHT_CHECK_ASSIGN(Python layout, spell_layout(spec.layout));
  made.add(std::move(dtype)).add(std::move(layout));
  Python memory = Python::atom("ttnn.DRAM_MEMORY_CONFIG");
  if (spec.memory) {
    OPWRIGHT_CHECK_ASSIGN(memory, spell_memory(*spec.memory));
  }
  // What every host tensor says needs no word; one that came from a device remembers where it lay there.
  if (!on_host || memory.text != "ttnn.DRAM_MEMORY_CONFIG") made.add(std::move(memory));
  if (!fill.text.empty()) made.add(std::move(fill), "fill");
  OPWRIGHT_CHECK(add_placement(spec, made));
  if (spec.tile && *spec.tile != Shape{32, 32}) made.add(python_tuple(*spec.tile), "tile");
  if (freed) made.add(Python::atom("True"), "freed");
  return made;
}

// Spells the arguments of one call; knows which tensor of the description each tensor is.
class Speller {
 public:
  Speller(const Understood& understood, const TensorSpelling& tensor) : understood_(understood), tensor_(tensor) {}

  std::vector<std::string> remarks;

  Checked<Python> argument(const Argument& argument) {
    const Param* param =
        understood_.op != nullptr ? find_param(*understood_.op, Convention::kPython, argument.name) : nullptr;
    param_ = param != nullptr ? param->name : std::string_view(argument.name);
    item_ = 0;
    if (const Fields* dict = argument.value.as_dict()) return untyped(argument.name, *dict);
    return value(argument.value);
  }

 private:
  Checked<Python> value(const Value& value) {
    if (value.as_tensor() != nullptr && tensor_) return tensor_(tensors_++);
    if (const TensorSpec* spec = value.as_tensor()) return spell_tensor(*spec, fill(item_++));
    const List* list = value.as_list();
    bool holds_tensors = false;
    if (list != nullptr) for_each_tensor(value, [&](const TensorSpec&) { holds_tensors = true; });
    if (!holds_tensors) return spell_value(value);
    Python out = Python::list();
    for (const Value& item : *list) {
      OPWRIGHT_CHECK_ASSIGN(Python made, this->value(item));
      out.add(std::move(made));
    }
    return out;
  }

  Python fill(std::size_t item) const {
    if (!understood_.bound) return {};
    const auto slot = understood_.bound->slot(param_, item);
    return slot ? fill_of(*understood_.op, *understood_.bound, *slot) : Python{};
  }

  // A struct that the trace wrote without its type: the only class that has these members; among programs of a product
  // the one that its operands ask for.
  Checked<Python> untyped(const std::string& name, const Fields& fields) {
    const std::string_view ending = name.find("program_config") != std::string::npos ? "ProgramConfig"
                                    : name.find("compute") != std::string::npos      ? "ComputeKernelConfig"
                                                                                     : "Config";
    const std::vector<std::string_view> classes = classes_with(fields, ending);
    std::string_view cls = classes.size() == 1 ? classes.front() : std::string_view();
    if (classes.size() > 1 && understood_.bound && understood_.bound->passed("program_config"))
      cls = product_program(classes);
    if (cls.empty()) return lost("", "a struct of which the trace lost the type");
    remarks.push_back(fmt::format("the trace lost the type of {}: its members say which", name));
    return spell_struct(cls, fields);
  }

  // Of a product the one that its operands ask for.
  std::string_view product_program(const std::vector<std::string_view>& classes) const {
    const auto program = matmul_program(*understood_.bound, understood_.board.value_or(*find_board("n150")));
    const std::string_view name = program ? name_of(program->kind) : std::string_view();
    return std::ranges::find(classes, name) != classes.end() ? name : std::string_view();
  }

  const Understood& understood_;
  const TensorSpelling& tensor_;
  std::size_t tensors_ = 0;
  std::string_view param_;
  std::size_t item_ = 0;
};

void find_mesh(const Value& value, Shape& mesh) {
  for_each_tensor(value, [&](const TensorSpec& spec) {
    if (mesh.empty() && spec.placement && !spec.placement->mesh.empty()) mesh = spec.placement->mesh;
  });
  const Struct* s = value.as_struct();
  if (!mesh.empty() || s == nullptr || s->type != "MeshDevice") return;
  for (const auto& [name, dims] : s->fields)
    if (const List* list = dims.as_list(); name == "shape" && list != nullptr)
      for (const Value& dim : *list)
        if (const std::int64_t* n = dim.as_int()) mesh.push_back(*n);
}

Checked<std::vector<Argument>> python_arguments(const OpConfig& config) {
  if (config.convention == Convention::kPython) return config.args;
  OPWRIGHT_CHECK_ASSIGN(const BoundCall call, python_call(config));
  return call.args;
}

Checked<void> check_op(const std::string& op) {
  const Dialect& dialect = dialect_of(op);
  if (dialect.name.empty()) return unsupported("", "an operation of no library that is known here");
  if (!dialect.executed) return unsupported("", fmt::format("an operation of {}, not of ttnn", dialect.name));
  if (dialect.tables().is_known(op)) return {};
  if (op.starts_with(kMethods) && is_python_name(std::string_view(op).substr(kMethods.size()))) return {};
  return unsupported("", "an operation that the tables of ttnn do not have");
}

}  // namespace

Checked<Python> spell_placement(const std::string& dim) {
  if (dim == "Replicate") return Python::call("ttnn.PlacementReplicate");
  std::int64_t axis = 0;
  if (dim.starts_with("Shard(") && dim.ends_with(")")) {
    const char* end = dim.data() + dim.size() - 1;
    const auto [last, error] = std::from_chars(dim.data() + 6, end, axis);
    if (error == std::errc() && last == end)
      return Python::call("ttnn.PlacementShard").add(Python::atom(std::to_string(axis)));
  }
  return unsupported("", fmt::format("a tensor placed on the mesh as {}", dim));
}

Understood understand(const Recorded& recorded) {
  Understood known;
  known.op = find_op(dotted(recorded.config.op));
  known.board = traced_board(recorded.machine);
  if (known.op == nullptr) return known;
  if (Checked<BoundCall> bound = bind(*known.op, recorded.config)) known.bound = *std::move(bound);
  return known;
}

Checked<SpelledCall> spell_call(const Recorded& recorded, const Understood& understood, const TensorSpelling& tensor) {
  SpelledCall out;
  out.op = dotted(recorded.config.op);
  OPWRIGHT_CHECK(check_op(out.op));
  OPWRIGHT_CHECK_ASSIGN(out.args, python_arguments(recorded.config));
  for (std::size_t i = 0; i < out.args.size(); ++i) {
    const int position = position_of_name(out.args[i].name);
    if (position < 0 && !is_python_name(out.args[i].name))
      return unsupported(out.args[i].name, "an argument whose name Python does not take");
    if (position < 0) continue;
    if (static_cast<std::size_t>(position) != i)
      return lost(out.args[i].name, "an argument before it is not in the trace");
    out.positional = i + 1;
  }
  out.call = Python::call("lambda t: t.call");
  Speller speller(understood, tensor);
  for (std::size_t i = 0; i < out.args.size(); ++i) {
    const Argument& argument = out.args[i];
    Checked<Python> made = speller.argument(argument);
    if (!made) {
      Refusal refusal = made.error();
      refusal.argument = argument.name;
      return refuse(std::move(refusal));
    }
    out.call.add(*std::move(made), i < out.positional ? "" : argument.name);
    find_mesh(argument.value, out.mesh);
  }
  for (const PythonHandle& handle : semaphores_of(out.op)) {
    const bool given = std::ranges::any_of(out.args, [&](const Argument& a) { return a.name == handle.parameter; });
    if (given) continue;
    Python made = handle.count == 0 ? Python::call("t.semaphore")
                                    : Python::call("t.semaphores").add(Python::atom(std::to_string(handle.count)));
    out.call.add(std::move(made), std::string(handle.parameter));
  }
  if (out.mesh.empty()) out.mesh = {1, 1};
  if (out.mesh.size() == 1) out.mesh.insert(out.mesh.begin(), 1);
  out.remarks = std::move(speller.remarks);
  if (recorded.config.convention == Convention::kCpp)
    out.remarks.emplace_back("recorded in C++: names are those of Python's parameters");
  return out;
}

}  // namespace opwright::gentest
