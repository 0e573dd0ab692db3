// Which words of a trace are ttnn's, and what they stand for.
#include "dialect/ttnn/lift_tensor.h"

namespace opwright {

using namespace lifting;

namespace {

bool is_coord(const Fields& fields) {
  return fields.size() == 2 && find(fields, "x") != nullptr && find(fields, "y") != nullptr;
}

// {"type": T, "repr": text}: the object printed itself, and nothing else is known of it.
bool is_printed(const Fields& fields) {
  return fields.size() == 2 && (text_of(fields, "repr") != nullptr || text_of(fields, "value") != nullptr);
}

bool is_list_type(std::string_view type) {
  return type == "Shape" || type == "SmallVector" || type == "Alignment" || type == "MeshShape" || type == "Strides";
}

}  // namespace

std::optional<Value> lift_ttnn(Written how, const std::string& type, const Value& content, Lifter& lifter) {
  const Fields* const fields = members(content);
  switch (how) {
    case Written::kTyped:
      if (type.empty() && fields != nullptr && is_coord(*fields))  // `(x=8,y=8)` says what `8-8` says
        return Value::structure("CoreCoord", lifter.lift_members(*fields, {}));
      if (is_list_type(type))
        if (const auto shape = read_shape(content, lifter)) return numbers(*shape);
      if (fields == nullptr) return std::nullopt;
      if (type == "Tensor") {
        const bool is_python = find(*fields, "original_shape") != nullptr || find(*fields, "tensor_id") != nullptr;
        return Value::tensor(is_python ? read_python_tensor("", *fields, lifter) : read_cpp_tensor(*fields, lifter));
      }
      if (type == "MemoryConfig") return Value::memory(read_memory(*fields, lifter));
      return std::nullopt;
    case Written::kTagged:
      if (type == "ttnn.Tensor") return Value::tensor(read_python_tensor("", *fields, lifter));
      if (type == "torch.Tensor") return Value::tensor(read_python_tensor(type, *fields, lifter));
      if (type == "MeshDevice")
        return Value::structure(type, lifter.lift_members(*fields, {"type", "repr", "value", "device_ids"}));
      if (type == "MemoryConfig" && !is_printed(*fields)) return Value::memory(read_memory(*fields, lifter));
      return std::nullopt;
    case Written::kMarked:
      if (type == "ttnn.TensorRef") return Value::tensor(read_python_tensor("", *fields, lifter));
      if (type == "ttnn.MemoryConfig") return Value::memory(read_memory(*fields, lifter));
      if (type == "ttnn.MeshDevice")
        return Value::structure("MeshDevice", lifter.lift_members(*fields, {"__type__", "device_ids"}));
      return std::nullopt;
    case Written::kPlain:
      // A fused function of our own traces: {"op_type": 2, "param": [1.0], "@text": "UnaryWithParam(op_type=…, …)"}
      if (const std::string* text = text_of(*fields, "@text")) return lifter.lift_printed("UnaryWithParam", *text);
      if (find(*fields, "memory_layout") != nullptr && find(*fields, "buffer_type") != nullptr)
        return Value::memory(read_memory(*fields, lifter));
      if (find(*fields, "tensor_spec") != nullptr) return Value::tensor(read_cpp_tensor(*fields, lifter));
      if (is_coord(*fields)) return Value::structure("CoreCoord", lifter.lift_members(*fields, {}));
      if (find(*fields, "math_fidelity") != nullptr)
        return Value::structure("ComputeKernelConfig", lifter.lift_members(*fields, {}));
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace opwright
