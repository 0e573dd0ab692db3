// Names that a person can read: ids of rows, labels of groups, names of files. Stable: they depend on the configuration
// alone, never on what else is generated with it.
#pragma once

#include <string>

#include "gentest/spell_call.h"

namespace opwright::gentest {

// "1x1x32x2048_bf16_l1ws-2048x512_bf8_dram-a3f29c": tensors in their order, then the first digits of the key.
std::string row_id(const std::vector<Argument>& args, std::string_view key);
// "tensor_float_memory_config": what stands at each position, then names. Rows with one label have one signature.
std::string group_label(const SpelledCall& call);
// "input_tensor_a: tensor, input_tensor_b: float, memory_config: MemoryConfig"
std::string signature_text(const SpelledCall& call);

// "ttnn.experimental.add" -> "experimental_add"
std::string op_label(std::string_view op);
// Whether text may stand in a program as a name.
bool is_python_name(std::string_view text);

}  // namespace opwright::gentest
