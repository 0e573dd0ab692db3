#include "perf/like.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>

#include "perf/positions.h"

namespace opwright::perf {
namespace {

struct Values {
  std::vector<double> kernel, gap;
};
using ByOp = std::map<std::string, Values, std::less<>>;

double or_zero(double value) { return has(value) ? value : 0; }

double sum_of(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum;
}
double mean_of(const std::vector<double>& values) { return sum_of(values) / static_cast<double>(values.size()); }

std::string op_code(const Recording& recording, const Sample& sample) {
  return std::string(recording.of(sample).parts.op_code);
}

template <class Take>
void for_each(const Recording& recording, const Window& window, Take&& take) {
  for (std::uint64_t i = window.begin; i < window.end && i < recording.samples.size(); ++i) take(recording.samples[i]);
}

// The original looks for these letters in the op code, and not into a table.
bool looks_collective(std::string_view op) {
  for (const std::string_view tag : {"AllGather", "ReduceScatter", "AllReduce", "AllToAll"})
    if (op.find(tag) != std::string_view::npos) return true;
  return false;
}

// Rows of the devices put together by the order in which each has them. A device whose next row is another operation is
// passed over, and its row goes together with a later one.
ByOp merged_by_order(const Recording& recording, const Window& window) {
  std::map<std::int32_t, std::deque<const Sample*>> queues;
  for_each(recording, window, [&](const Sample& sample) { queues[sample.device].push_back(&sample); });
  ByOp ops;
  while (true) {
    std::vector<const Sample*> block;
    std::string op;
    for (auto& [device, queue] : queues) {
      if (queue.empty()) continue;
      if (block.empty()) op = op_code(recording, *queue.front());
      if (op != op_code(recording, *queue.front())) continue;
      block.push_back(queue.front());
      queue.pop_front();
    }
    if (block.empty()) return ops;
    double kernel = block.front()->kernel_ns;
    const Sample* chosen = block.front();
    if (looks_collective(op)) {
      double sum = 0;
      std::int64_t count = 0;
      for (const Sample* sample : block)
        if (has(sample->kernel_ns)) sum += sample->kernel_ns, ++count;
      kernel = count > 0 ? sum / static_cast<double>(count) : kNoFigure;
    } else {
      for (const Sample* sample : block)
        if (sample->kernel_ns > chosen->kernel_ns) chosen = sample;  // of NaN first, NaN stays: as the original
      kernel = chosen->kernel_ns;
    }
    Values& values = ops[op];
    values.kernel.push_back(or_zero(kernel));
    values.gap.push_back(or_zero(chosen->op_to_op_ns));
  }
}

LikeResult gpt_oss(const Recording& recording, const Window& window) {
  LikeResult result;
  result.total_kernel_ns = result.total_op_to_op_ns = 0;
  for (const auto& [op, values] : merged_by_order(recording, window)) {
    result.ops.push_back({.op = op,
                          .count = static_cast<std::int64_t>(values.kernel.size()),
                          .avg_kernel_ns = mean_of(values.kernel),
                          .avg_op_to_op_ns = mean_of(values.gap),
                          .total_kernel_ns = sum_of(values.kernel),
                          .total_op_to_op_ns = sum_of(values.gap)});
    result.total_kernel_ns += result.ops.back().total_kernel_ns;
    result.total_op_to_op_ns += result.ops.back().total_op_to_op_ns;
  }
  return result;
}

LikeResult deepseek(const Recording& recording, const Window& window) {
  ByOp ops;
  for_each(recording, window, [&](const Sample& sample) {
    Values& values = ops[op_code(recording, sample)];
    values.kernel.push_back(or_zero(sample.kernel_ns));
    values.gap.push_back(or_zero(sample.op_to_op_ns));
  });
  for (std::uint64_t i = window.host_begin; i < window.host_end && i < recording.host.size(); ++i) {
    Values& values = ops[recording.host[i].op];
    values.kernel.push_back(0);
    values.gap.push_back(0);
  }
  LikeResult result;
  result.total_kernel_ns = result.total_op_to_op_ns = 0;
  for (const auto& [op, values] : ops) {
    result.ops.push_back({.op = op,
                          .count = static_cast<std::int64_t>(values.kernel.size()),
                          .avg_kernel_ns = mean_of(values.kernel),
                          .avg_op_to_op_ns = mean_of(values.gap)});
    result.total_kernel_ns += result.ops.back().avg_kernel_ns;
    result.total_op_to_op_ns += result.ops.back().avg_op_to_op_ns;
  }
  return result;
}

LikeOp detailed_op(const std::string& op, std::map<std::int32_t, std::vector<const Sample*>>& by_device,
                   std::size_t warmup) {
  LikeOp out{.op = op};
  std::vector<const std::vector<const Sample*>*> devices;
  for (const auto& [device, rows] : by_device) devices.push_back(&rows);
  std::stable_sort(devices.begin(), devices.end(),
                   [](const auto* a, const auto* b) { return a->front()->fw_start < b->front()->fw_start; });
  std::vector<double> values;
  std::size_t rows = 0;
  for (std::size_t i = 0; i < devices.front()->size(); ++i) {
    for (const auto* device : devices) {
      if (i >= device->size()) {
        out.refused =
            fmt::format("a device has {} rows of it and the first has {}: the original ends with an error here",
                        device->size(), devices.front()->size());
        return out;
      }
      if (rows++ >= warmup) values.push_back((*device)[i]->kernel_ns);
    }
  }
  const Statistics statistics = statistics_of(values);
  out.count = statistics.count;
  out.avg_kernel_ns = statistics.mean;
  out.min_kernel_ns = statistics.min;
  out.max_kernel_ns = statistics.max;
  out.std_kernel_ns = statistics.sd;
  return out;
}

LikeResult detailed(const Recording& recording, const Window& window, std::size_t warmup) {
  std::map<std::string, std::map<std::int32_t, std::vector<const Sample*>>> ops;
  for_each(recording, window,
           [&](const Sample& sample) { ops[op_code(recording, sample)][sample.device].push_back(&sample); });
  LikeResult result;
  for (auto& [op, by_device] : ops) result.ops.push_back(detailed_op(op, by_device, warmup));
  return result;
}

}  // namespace

std::optional<Like> like_of(std::string_view name) {
  if (name == "gpt-oss") return Like::kGptOss;
  if (name == "deepseek") return Like::kDeepSeek;
  if (name == "detailed") return Like::kDetailed;
  return std::nullopt;
}

LikeResult add_up_like(Like like, const Recording& recording, const Window& window, std::size_t warmup) {
  switch (like) {
    case Like::kGptOss:
      return gpt_oss(recording, window);
    case Like::kDeepSeek:
      return deepseek(recording, window);
    case Like::kDetailed:
      return detailed(recording, window, warmup);
  }
  return {};
}

}  // namespace opwright::perf
