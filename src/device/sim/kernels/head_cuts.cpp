// Heads cut out of rows, and rows made of heads: kernels of a row each.
#include <array>

#include "device/sim/kernels/families.h"
#include "device/sim/movement.h"

namespace opwright::sim {
namespace {

using Made = Checked<std::vector<HostTensor>>;

// One output: heads `stride` columns apart (in groups of `group`, which lie `group_stride` apart), from `first` on.
struct Cut {
  std::int64_t first = 0, group = 1, group_stride = 0;
};

HostTensor cut_heads(const HostTensor& input, const OutputSpec& output, const Cut& cut, bool turned) {
  HostTensor out = unwritten(output);
  const Shape& to = out.spec.shape;
  const std::int64_t width = row_length(input.spec.shape);
  const std::int64_t sequence = turned ? to[3] : to[2], dim = turned ? to[2] : to[3];
  const std::int64_t groups = to[1] / cut.group;
  copy_window(input,
              {.shape = {to[0], groups, cut.group, sequence, dim},
               .from_strides = {sequence * width, cut.group_stride, dim, width, 1},
               .from = cut.first,
               .to_strides = {to[1] * sequence * dim, cut.group * sequence * dim, sequence * dim, turned ? 1 : dim,
                              turned ? sequence : 1}},
              out);
  repack(out);
  return out;
}

Made cut(const KernelJob& job, bool grouped, bool turned) {
  const HostTensor& input = job.inputs[0];
  const Shape& q = job.outputs[0].spec.shape;
  const std::int64_t dim = q[3], queries = q[1];
  std::vector<HostTensor> out;
  const std::int64_t keys = job.outputs[2].spec.shape[1];
  for (std::size_t o = 0; o < 3; ++o) {
    Cut how;
    if (grouped) {
      const std::int64_t each = queries / keys;
      how = {.first = o == 0 ? 0 : (each + static_cast<std::int64_t>(o) - 1) * dim,
             .group = o == 0 ? each : 1,
             .group_stride = (each + 2) * dim};
    } else {
      how = {.first = o == 0 ? 0 : (queries + (o == 2 ? keys : 0)) * dim, .group = o == 0 ? queries : keys};
    }
    out.push_back(cut_heads(input, job.outputs[o], how, o == 1 && turned));
  }
  return out;
}

// The other two results are never written: they hold what was in memory.
Made queries_alone(const KernelJob& job) {
  const std::int64_t heads = job.outputs[0].spec.shape[1];
  std::vector<HostTensor> out;
  for (const OutputSpec& output : job.outputs) out.push_back(cut_heads(job.inputs[0], output, {.group = heads}, false));
  return out;
}

Made by_kind(const KernelJob& job) { return cut(job, false, false); }
Made by_kind_turned(const KernelJob& job) { return cut(job, false, true); }
Made by_group(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const bool turned, job.call.flag("transpose_k_heads", true));
  return cut(job, true, turned);
}
Made by_storage(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const bool turned, job.call.flag("transpose_key", true));
  const bool sharded = job.inputs[0].spec.memory && job.inputs[0].spec.memory->sharded();
  return cut(job, sharded, turned);
}

Made concatenate(const KernelJob& job) {
  const Shape& from = job.inputs[0].spec.shape;
  HostTensor out = unwritten(job.outputs[0]);
  const std::int64_t row = from[1] * from[3];
  copy_window(job.inputs[0],
              {.shape = from, .from_strides = row_major_strides(from), .to_strides = {from[2] * row, from[3], row, 1}},
              out);
  return std::vector{std::move(out)};
}

}  // namespace

std::span<const Kernel> head_kernels() {
  static constexpr std::array kRows{
      Kernel{.op = "ttnn.experimental.create_qkv_heads", .run = by_group},
      Kernel{.op = "ttnn.experimental.nlp_create_qkv_heads_falcon7b", .run = by_kind},
      Kernel{.op = "ttnn.experimental.nlp_create_qkv_heads_segformer", .run = queries_alone},
      Kernel{.op = "ttnn.experimental.nlp_create_qkv_heads_vit", .run = by_kind},
      Kernel{.op = "ttnn.experimental.split_query_key_value_and_split_heads", .run = by_kind_turned},
      Kernel{.op = "ttnn.transformer.concatenate_heads", .run = concatenate},
      Kernel{.op = "ttnn.transformer.split_query_key_value_and_split_heads", .run = by_storage},
  };
  return kRows;
}

}  // namespace opwright::sim
