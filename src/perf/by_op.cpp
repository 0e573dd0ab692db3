#include "perf/by_op.h"

#include <algorithm>
#include <map>

namespace opwright::perf {
namespace {

std::string group_name(const Signature& signature, GroupBy by) {
  switch (by) {
    case GroupBy::kOp:
      return signature.name;
    case GroupBy::kWork:
      return std::string(name_of(signature.known == nullptr ? DeviceWork::kUnknown : signature.known->work));
    case GroupBy::kMemory:
      return signature.parts.inputs.empty() ? "no input" : std::string(signature.parts.inputs.front().memory);
  }
  return {};
}

double or_zero(double value) { return has(value) ? value : 0; }

}  // namespace

std::vector<Group> groups_of(const Report& report, GroupBy by) {
  std::map<std::string, Group> groups;
  for (std::size_t j = 0; j < report.reduced.positions.size(); ++j) {
    const Position& position = report.reduced.positions[j];
    Group& group = groups[group_name(report.signature(position), by)];
    ++group.positions;
    group.kernel_ns += or_zero(statistics_of(position.kernel_ns).mean);
    if (j > 0) group.gaps_ns += or_zero(statistics_of(position.op_to_op_ns).mean);
    if (j >= report.explanations.size()) continue;
    group.flops += or_zero(report.explanations[j].flops);
    group.dram_bytes += or_zero(report.explanations[j].dram_bytes);
  }
  std::vector<Group> out;
  for (auto& [name, group] : groups) {
    group.name = name;
    if (report.reduced.kernel_ns > 0) group.share = 100 * group.kernel_ns / report.reduced.kernel_ns;
    out.push_back(std::move(group));
  }
  std::stable_sort(out.begin(), out.end(), [](const Group& a, const Group& b) { return a.kernel_ns > b.kernel_ns; });
  return out;
}

}  // namespace opwright::perf
