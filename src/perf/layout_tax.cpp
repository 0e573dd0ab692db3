#include "perf/layout_tax.h"

#include <algorithm>

namespace opwright::perf {
namespace {

bool changes_layout(DeviceWork work) {
  switch (work) {
    case DeviceWork::kShard:
    case DeviceWork::kUnshard:
    case DeviceWork::kReshard:
    case DeviceWork::kTilize:
    case DeviceWork::kUntilize:
    case DeviceWork::kTypecast:
      return true;
    default:
      return false;
  }
}

bool undoes(DeviceWork away, DeviceWork back) {
  return (away == DeviceWork::kUnshard && back == DeviceWork::kShard) ||
         (away == DeviceWork::kShard && back == DeviceWork::kUnshard) ||
         (away == DeviceWork::kReshard && back == DeviceWork::kReshard) ||
         (away == DeviceWork::kTilize && back == DeviceWork::kUntilize) ||
         (away == DeviceWork::kUntilize && back == DeviceWork::kTilize) ||
         (away == DeviceWork::kTypecast && back == DeviceWork::kTypecast);
}

DeviceWork work_of(const Signature& signature) {
  return signature.known == nullptr ? DeviceWork::kUnknown : signature.known->work;
}

// The same values could lie in both: shape, dtype, layout and memory.
bool same_place(const RowTensor& a, const RowTensor& b) {
  return a.sound && b.sound && a.logical == b.logical && a.dtype == b.dtype && a.layout == b.layout &&
         a.memory == b.memory;
}

double or_zero(double value) { return has(value) ? value : 0; }

}  // namespace

double LayoutTax::trips_kernel_ns() const {
  double sum = 0;
  for (const RoundTrip& trip : trips) sum += trip.kernel_ns;
  return sum;
}

LayoutTax layout_tax(const Recording& recording, const Reduced& reduced) {
  LayoutTax tax;
  const auto signature = [&](std::size_t at) -> const Signature& {
    return *recording.signatures[reduced.positions[at].signature];
  };
  const auto kernel = [&](std::size_t at) { return or_zero(statistics_of(reduced.positions[at].kernel_ns).mean); };
  // The gap of the first position is a wait for the host, whatever runs there.
  const auto gap = [&](std::size_t at) {
    return at == 0 ? 0 : or_zero(statistics_of(reduced.positions[at].op_to_op_ns).mean);
  };
  std::vector<bool> taken(reduced.positions.size());
  for (std::size_t away = 0; away < reduced.positions.size(); ++away) {
    const Signature& first = signature(away);
    if (!changes_layout(work_of(first))) continue;
    ++tax.operations;
    tax.kernel_ns += kernel(away);
    tax.gaps_ns += gap(away);
    if (taken[away] || first.parts.inputs.empty() || first.parts.outputs.empty()) continue;
    for (std::size_t back = away + 1; back < reduced.positions.size() && back - away <= kLongestTrip; ++back) {
      const Signature& second = signature(back);
      if (taken[back] || second.parts.inputs.empty() || second.parts.outputs.empty()) continue;
      if (!undoes(work_of(first), work_of(second))) continue;
      if (!same_place(first.parts.inputs.front(), second.parts.outputs.front()) ||
          !same_place(first.parts.outputs.front(), second.parts.inputs.front()))
        continue;
      RoundTrip trip{.away = away, .back = back};
      for (std::size_t between = away + 1; between < back; ++between) {
        if (changes_layout(work_of(signature(between)))) continue;
        trip.for_whom += (trip.for_whom.empty() ? "" : ", ") + signature(between).name;
      }
      trip.kernel_ns = kernel(away) + kernel(back);
      trip.gaps_ns = gap(away) + gap(back);
      taken[away] = taken[back] = true;
      tax.trips.push_back(std::move(trip));
      break;
    }
  }
  return tax;
}

}  // namespace opwright::perf
