// The attention operators as the kernels cut them: blocks of queries over all cores, users and heads over groups of
// them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "device/sim/attention.h"
#include "dialect/ttnn/attention_program.h"

namespace opwright::sim {
namespace {

constexpr float kHidden = -std::numeric_limits<float>::infinity();
// Rows of a block of queries. The kernels take those of the program config, which changes no value.
constexpr std::int64_t kQueryRows = 128;
constexpr std::int64_t kSampledRows = 32;  // where only some rows are looked at

struct Operands {
  Flash flash;
  KeyBlocks store;
  const HostTensor* q = nullptr;
  const HostTensor* mask = nullptr;
  const HostTensor* sink = nullptr;
  std::optional<AttentionProgram> program;
  bool causal = true;
  std::int64_t window = 0;
  std::int64_t group = 1;  // query heads that share keys
};

Checked<Operands> read(const KernelJob& job, std::size_t head_dim) {
  Operands out;
  out.q = job.input("input_tensor_q");
  out.store = {job.input("input_tensor_k"), job.input("input_tensor_v"), job.input("page_table_tensor")};
  out.mask = job.input("attn_mask");
  out.sink = job.input("attention_sink");
  const Shape& q = out.q->spec.shape;
  const Shape& k = out.store.keys->spec.shape;
  OPWRIGHT_CHECK_ASSIGN(out.program, attention_program(job.call, "program_config"));
  OPWRIGHT_CHECK_ASSIGN(out.causal, job.call.flag("is_causal", true));
  OPWRIGHT_CHECK_ASSIGN(out.window, job.call.integer("sliding_window_size", 0));
  OPWRIGHT_CHECK_ASSIGN(const double scale, job.call.number("scale", 1.0 / std::sqrt(static_cast<double>(q[3]))));
  out.flash = {.compute = {.fidelity = Fidelity::kHiFi2, .approx = true},
               .scale = static_cast<float>(scale),
               .dim = q[3],
               .value_dim = out.store.values->spec.shape[3],
               .q = out.q->spec.dtype.value,
               .k = out.store.keys->spec.dtype.value,
               .v = out.store.values->spec.dtype.value};
  if (job.call.passed("compute_kernel_config"))
    out.flash.compute =
        compute_config_of(*job.call.find("compute_kernel_config"), out.flash.compute).value_or(out.flash.compute);
  out.group = std::max<std::int64_t>(q[head_dim] / std::max<std::int64_t>(k[1], 1), 1);
  return out;
}

// A mask's value for a query and a key; masks of one user or head count for all.
float mask_at(const HostTensor& mask, std::int64_t user, std::int64_t head, std::int64_t row, std::int64_t key) {
  const Shape& m = mask.spec.shape;
  if (key >= m[3]) return 0.0F;
  const std::int64_t matrix = (m[0] == 1 ? 0 : user) * m[1] + (m[1] == 1 ? 0 : head);
  return mask.floats[static_cast<std::size_t>((matrix * m[2] + row) * m[3] + key)];
}

// The decode kernel takes as many tiles of keys at a time as the position has, a power of two, at most 8.
std::int64_t dynamic_chunk(std::int64_t keys) {
  std::int64_t tiles = 1;
  while (tiles < 8 && tiles * 32 < keys) tiles *= 2;
  return tiles * 32;
}

struct Block {
  std::int64_t user;
  std::int64_t head;
  std::int64_t first;  // of the queries of this head
  std::int64_t rows;
};

void run_block(const Operands& op, const Block& block, std::int64_t start, std::int64_t chunk, float* out) {
  const Shape& q = op.q->spec.shape;
  const std::int64_t row = (block.user * q[1] + block.head) * q[2] + block.first;
  FlashRows rows(op.flash, op.q->floats.data() + row * q[3], block.rows);
  const std::int64_t keys = op.store.length();
  const std::int64_t position = start + block.first;
  const std::int64_t around = op.causal ? 0 : op.window / 2;
  std::int64_t begin = 0;
  std::int64_t end = op.causal ? std::min(keys, position + block.rows) : keys;
  if (op.window > 0) begin = std::max<std::int64_t>(0, op.causal ? position + 1 - op.window : position - around);
  if (op.window > 0 && !op.causal) end = std::min(keys, position + block.rows + around);
  std::vector<float> key_buffer;
  std::vector<float> value_buffer;
  std::vector<float> bias;
  for (std::int64_t k = begin / chunk * chunk; k < end; k += chunk) {
    const std::int64_t count = std::min(chunk, keys - k);
    const bool cut = (op.causal && k + count > position + 1) || op.window > 0 || op.mask != nullptr;
    if (cut) {
      bias.assign(static_cast<std::size_t>(block.rows * count), 0.0F);
      for (std::int64_t r = 0; r < block.rows; ++r)
        for (std::int64_t i = 0; i < count; ++i) {
          const std::int64_t key = k + i;
          float& value = bias[static_cast<std::size_t>(r * count + i)];
          if (op.causal && (key > position + r || (op.window > 0 && key + op.window <= position + r))) value = kHidden;
          if (!op.causal && op.window > 0 && std::abs(key - position - r) > around) value = kHidden;
          if (op.mask != nullptr) value = mask_at(*op.mask, block.user, block.head, block.first + r, key);
        }
    }
    const std::int64_t head = block.head / op.group;
    rows.add(op.store.rows(*op.store.keys, block.user, head, k, count, key_buffer),
             op.store.rows(*op.store.values, block.user, head, k, count, value_buffer), count,
             cut ? bias.data() : nullptr);
  }
  if (op.sink != nullptr) {
    const std::vector<float> sinks(static_cast<std::size_t>(block.rows),
                                   op.sink->floats[static_cast<std::size_t>(block.head)]);
    rows.add_sink(sinks.data());
  }
  rows.finish(out + row * op.flash.value_dim);
}

HostTensor packed(HostTensor out) {
  const DType dtype = out.spec.dtype.value;
  if (dtype != DType::kBfloat16)
    parallel_for(0, static_cast<std::int64_t>(out.floats.size()) / row_length(out.spec.shape), 4096,
                 [&](std::int64_t first, std::int64_t last) {
                   const std::int64_t width = row_length(out.spec.shape);
                   pack({out.floats.data() + first * width, static_cast<std::size_t>((last - first) * width)}, width,
                        dtype, Dst::kBf16);
                 });
  return out;
}

}  // namespace

Checked<void> admit_attention(const BoundCall& call, std::span<const OutputSpec>, const Board&) {
  const TensorSpec* q = call.tensor("input_tensor_q");
  if (q == nullptr || q->shape.size() != 4)
    return unsupported("input_tensor_q", "attention of a rank other than 4 is not modelled");
  return {};
}

Checked<std::vector<HostTensor>> prefill(const KernelJob& job, std::int64_t start) {
  OPWRIGHT_CHECK_ASSIGN(const Operands op, read(job, 1));
  const Shape& q = op.q->spec.shape;
  const std::int64_t chunk = std::max<std::int64_t>(op.program ? op.program->k_chunk : 32, 32);
  HostTensor out = unwritten(job.outputs[0]);
  const std::int64_t blocks = (q[2] + kQueryRows - 1) / kQueryRows;
  const bool sampled = !job.rows.empty() && !job.rows[0].empty();
  // The last queries see most keys: they go first.
  parallel_for(0, q[0] * q[1] * blocks, 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t at = (blocks - 1 - i / (q[0] * q[1])) * kQueryRows;
      const std::int64_t head = i % (q[0] * q[1]);
      const std::int64_t end = std::min(at + kQueryRows, q[2]);
      const std::int64_t step = sampled ? kSampledRows : kQueryRows;
      for (std::int64_t row = at; row < end; row += step) {
        const std::int64_t count = std::min(step, end - row);
        if (job.wanted(0, head * q[2] + row, count))
          run_block(op, {head / q[1], head % q[1], row, count}, start, chunk, out.floats.data());
      }
    }
  });
  return std::vector{packed(std::move(out))};
}

Checked<std::vector<HostTensor>> decode(const KernelJob& job) {
  OPWRIGHT_CHECK_ASSIGN(const Operands op, read(job, 2));
  OPWRIGHT_CHECK_ASSIGN(const bool shared, job.call.flag("share_cache", false));
  const HostTensor* positions = job.input("cur_pos_tensor");
  Shape listed;
  if (job.call.passed("cur_pos")) {
    OPWRIGHT_CHECK_ASSIGN(const auto read, job.call.ints("cur_pos"));
    listed = *read;
  }
  HostTensor out = unwritten(job.outputs[0]);
  const Shape& q = op.q->spec.shape;
  const std::int64_t users = std::min(out.spec.shape[1], q[1]);
  const std::int64_t kv_heads = op.store.keys->spec.shape[1];
  const std::int64_t keys = op.store.length();
  parallel_for(0, users * kv_heads, 1, [&](std::int64_t first, std::int64_t last) {
    std::vector<float> key_buffer;
    std::vector<float> value_buffer;
    std::vector<float> bias;
    for (std::int64_t i = first; i < last; ++i) {
      const std::int64_t user = i / kv_heads;
      const std::int64_t head = i % kv_heads;
      std::int64_t end = keys;
      if (op.causal) {
        const auto at = static_cast<std::size_t>(user);
        std::int64_t position = -1;
        if (positions != nullptr && at < positions->ints.size()) position = positions->ints[at];
        if (positions == nullptr && at < listed.size()) position = listed[at];
        end = std::clamp<std::int64_t>(position + 1, 0, keys);
      }
      const std::int64_t begin = op.causal && op.window > 0 ? std::max<std::int64_t>(0, end - op.window) : 0;
      const std::int64_t chunk = op.program && op.program->k_chunk > 0 ? op.program->k_chunk : dynamic_chunk(end);
      const std::int64_t row = user * q[2] + head * op.group;
      FlashRows rows(op.flash, op.q->floats.data() + row * q[3], op.group);
      for (std::int64_t k = begin / chunk * chunk; k < end; k += chunk) {
        const std::int64_t count = std::min(chunk, keys - k);
        const bool cut = k < begin || k + count > end || op.mask != nullptr;
        if (cut) {
          bias.assign(static_cast<std::size_t>(op.group * count), 0.0F);
          for (std::int64_t r = 0; r < op.group; ++r)
            for (std::int64_t j = 0; j < count; ++j) {
              float& value = bias[static_cast<std::size_t>(r * count + j)];
              if (op.mask != nullptr) value = mask_at(*op.mask, user, 0, head * op.group + r, k + j);
              if (k + j < begin || k + j >= end) value = kHidden;
            }
        }
        const std::int64_t holder = shared ? 0 : user;
        rows.add(op.store.rows(*op.store.keys, holder, head, k, count, key_buffer),
                 op.store.rows(*op.store.values, holder, head, k, count, value_buffer), count,
                 cut ? bias.data() : nullptr);
      }
      if (op.sink != nullptr) {
        std::vector<float> sinks;
        const std::int64_t width = row_length(op.sink->spec.shape);
        for (std::int64_t r = 0; r < op.group; ++r)
          sinks.push_back(op.sink->floats[static_cast<std::size_t>((head * op.group + r) * width)]);
        rows.add_sink(sinks.data());
      }
      rows.finish(out.floats.data() + row * op.flash.value_dim);
    }
  });
  return std::vector{packed(std::move(out))};
}

}  // namespace opwright::sim
