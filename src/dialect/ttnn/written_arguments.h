// Which tensors a call of the library writes into: what the recorder needs to know while the user's program runs, and
// what descriptions (ops/) infer of each operator that they know. A test compares both. Nothing else of ours is
// included: the recorder's hook is built without it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace opwright {

struct WrittenArgument {
  std::string_view operation;
  int position = 0;
  std::string_view name = {};  // of the parameter, for calls that give it by keyword
  // Some write only when they are asked: a keyword that is a flag, or has a field that is one.
  std::string_view flag = {};   // "": always
  std::string_view field = {};  // of the flag's value; "": the value is the flag
  bool without_flag = false;    // what a call means that does not pass it
};

// Sorted by operation. Where the library's documentation says "in place", "updates", "writes", or the parameter is
// called an output. Suffixes, below, are not listed.
inline constexpr auto kWrittenArguments = std::to_array<WrittenArgument>({
    {.operation = "ttnn.Tensor.update_tensor_topology", .position = 0},
    {.operation = "ttnn.copy", .position = 1, .name = "input_b"},
    {.operation = "ttnn.copy_device_to_host_tensor", .position = 1, .name = "host_tensor"},
    {.operation = "ttnn.copy_host_to_device_tensor", .position = 1, .name = "device_tensor"},
    {.operation = "ttnn.copy_host_to_device_tensor_partial", .position = 1, .name = "device_tensor"},
    {.operation = "ttnn.experimental.all_gather_matmul_async", .position = 2, .name = "persistent_output_buffer"},
    {.operation = "ttnn.experimental.all_to_all_async", .position = 1, .name = "persistent_intermediate_buffer"},
    {.operation = "ttnn.experimental.all_to_all_async", .position = 2, .name = "persistent_output_buffer"},
    {.operation = "ttnn.experimental.deepseek_prefill.update_padded_kv_cache", .position = 0, .name = "cache"},
    {.operation = "ttnn.experimental.deepseek_prefill.zero_padded_kv_cache", .position = 0, .name = "cache"},
    {.operation = "ttnn.experimental.high_bw_all_gather", .position = 2, .name = "output_tensor"},
    {.operation = "ttnn.experimental.indexed_fused_update_cache", .position = 0, .name = "cache_tensor1"},
    {.operation = "ttnn.experimental.indexed_fused_update_cache", .position = 2, .name = "cache_tensor2"},
    {.operation = "ttnn.experimental.matmul_reduce_scatter_async",
     .position = 2,
     .name = "persistent_intermediate_buffer"},
    {.operation = "ttnn.experimental.matmul_reduce_scatter_async", .position = 3, .name = "persistent_output_buffer"},
    {.operation = "ttnn.experimental.paged_fill_cache", .position = 0, .name = "cache_tensor"},
    {.operation = "ttnn.experimental.paged_fused_update_cache", .position = 0, .name = "cache_tensor1"},
    {.operation = "ttnn.experimental.paged_fused_update_cache", .position = 2, .name = "cache_tensor2"},
    {.operation = "ttnn.experimental.paged_update_cache", .position = 0, .name = "cache_tensor"},
    {.operation = "ttnn.experimental.quasar.reshard", .position = 2, .name = "output_tensor"},
    {.operation = "ttnn.experimental.quasar.slice_write", .position = 1, .name = "output_tensor"},
    {.operation = "ttnn.experimental.quasar.to_memory_config", .position = 3, .name = "output_tensor"},
    {.operation = "ttnn.experimental.recv_async", .position = 0, .name = "output_tensor"},
    {.operation = "ttnn.experimental.recv_async_h2d", .position = 0, .name = "output_tensor"},
    {.operation = "ttnn.experimental.recv_direct_async", .position = 0, .name = "output_tensor"},
    {.operation = "ttnn.experimental.reduce_scatter_minimal_async", .position = 1, .name = "persistent_output_buffers"},
    {.operation = "ttnn.experimental.ring_attention_all_gather_async",
     .position = 1,
     .name = "persistent_output_buffer"},
    {.operation = "ttnn.experimental.slice_write", .position = 1, .name = "output_tensor"},
    {.operation = "ttnn.experimental.strided_all_gather_async", .position = 1, .name = "persistent_output_buffer"},
    {.operation = "ttnn.experimental.strided_all_gather_minimal_matmul_async",
     .position = 2,
     .name = "persistent_output_buffer"},
    {.operation = "ttnn.experimental.strided_reduce_scatter_async", .position = 1, .name = "persistent_output_buffers"},
    {.operation = "ttnn.experimental.typecast", .position = 3, .name = "optional_output_tensor"},
    {.operation = "ttnn.experimental.update_cache", .position = 0, .name = "cache"},
    {.operation = "ttnn.fill_cache", .position = 0, .name = "cache_tensor"},
    {.operation = "ttnn.full", .position = 6, .name = "optional_tensor"},
    {.operation = "ttnn.full_like", .position = 6, .name = "optional_tensor"},
    {.operation = "ttnn.group_norm", .position = 0, .name = "input_tensor", .flag = "inplace", .without_flag = true},
    {.operation = "ttnn.layer_norm",
     .position = 0,
     .name = "input_tensor",
     .flag = "program_config",
     .field = "inplace"},
    {.operation = "ttnn.moreh_clip_grad_norm", .position = 0, .name = "inputs"},
    {.operation = "ttnn.moreh_fold", .position = 1, .name = "output"},
    {.operation = "ttnn.moreh_sgd", .position = 3, .name = "param_out"},
    {.operation = "ttnn.moreh_sgd", .position = 4, .name = "momentum_buffer_out"},
    {.operation = "ttnn.ones_like", .position = 5, .name = "optional_tensor"},
    {.operation = "ttnn.plus_one", .position = 0, .name = "input_tensor"},
    {.operation = "ttnn.reshard", .position = 2, .name = "output_tensor"},
    {.operation = "ttnn.rms_norm", .position = 0, .name = "input_tensor", .flag = "program_config", .field = "inplace"},
    {.operation = "ttnn.sharded_to_interleaved_partial", .position = 1, .name = "cache_tensor"},
    {.operation = "ttnn.to_memory_config", .position = 3, .name = "output_tensor"},
    {.operation = "ttnn.update_cache", .position = 0, .name = "cache"},
    {.operation = "ttnn.zeros_like", .position = 5, .name = "optional_tensor"},
});

// Names that end so write into their first argument. "__" is Python's own.
inline bool writes_first(std::string_view operation) {
  return (operation.ends_with('_') && !operation.ends_with("__")) || operation.ends_with("_in_place");
}

// What the first argument of such an operation is called.
inline constexpr std::array<std::string_view, 5> kFirstNames{"input_tensor_a", "input_a", "input_tensor", "tensor",
                                                             "cache"};

// Keywords that give a call a tensor for its result, whichever operation it is, but that of a gradient: there they are
// what the operation itself returned.
inline bool names_an_output(std::string_view operation, std::string_view keyword) {
  constexpr std::array<std::string_view, 10> kNames{"output_tensor",
                                                    "optional_output_tensor",
                                                    "optional_tensor",
                                                    "out",
                                                    "output",
                                                    "output_tensors",
                                                    "optional_output_tensors",
                                                    "persistent_output_buffer",
                                                    "persistent_output_buffers",
                                                    "persistent_intermediate_buffer"};
  return std::find(kNames.begin(), kNames.end(), keyword) != kNames.end() && !operation.ends_with("_backward");
}

// Every argument that a call of this operation may write into, but those that names_an_output() finds.
inline std::vector<WrittenArgument> written_arguments(std::string_view operation) {
  std::vector<WrittenArgument> out;
  for (const WrittenArgument& row : kWrittenArguments)
    if (row.operation == operation) out.push_back(row);
  if (out.empty() && writes_first(operation))
    for (const std::string_view name : kFirstNames) out.push_back({.operation = {}, .position = 0, .name = name});
  return out;
}

}  // namespace opwright
