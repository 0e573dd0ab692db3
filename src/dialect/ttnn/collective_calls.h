// Calls that exchange parts of a tensor between the chips of a mesh. Facts alone: what an exchange is, never how it is
// computed; references (ops/collectives) and kernels (device/sim/kernels/collectives) each do that for themselves.
//
// A device of this process has one chip. For such a call its first tensor holds, in place of one part, the parts of all
// chips that take part, one after the other: this chip's own first, then those of its neighbours in their order along
// the ring. Outputs are those of this chip, the first of them.
#pragma once

#include <algorithm>
#include <array>
#include <string_view>

namespace opwright {

enum class Collective : unsigned char {
  kNone,
  kGather,         // all parts, one after the other along one dimension
  kReduceScatter,  // the sum of all parts, of which each chip gets a slice of one dimension
  kAllReduce,      // the sum of all parts
  kAllBroadcast,   // all parts, as tensors of their own
  kBroadcast,      // the part of one chip, everywhere
  kPointToPoint,   // the part of one chip, on one other
  kPartition,      // a slice of what every chip holds
};

struct CollectiveCall {
  std::string_view operation;
  Collective collective;
  bool reversed = false;  // the parts come in the reverse order
};

inline constexpr auto kCollectiveCalls = std::to_array<CollectiveCall>({
    {"ttnn.all_broadcast", Collective::kAllBroadcast},
    {"ttnn.all_gather", Collective::kGather},
    {"ttnn.all_reduce", Collective::kAllReduce},
    {"ttnn.broadcast", Collective::kBroadcast},
    {"ttnn.experimental.all_gather_async", Collective::kGather},
    {"ttnn.experimental.all_gather_async_reversed", Collective::kGather, true},
    {"ttnn.experimental.all_reduce", Collective::kAllReduce},
    {"ttnn.experimental.all_reduce_async", Collective::kAllReduce},
    {"ttnn.experimental.high_bw_all_gather", Collective::kGather},
    {"ttnn.experimental.reduce_scatter_minimal_async", Collective::kReduceScatter},
    {"ttnn.experimental.reduce_scatter_minimal_direct", Collective::kReduceScatter},
    {"ttnn.experimental.strided_all_gather_async", Collective::kGather},
    {"ttnn.mesh_partition", Collective::kPartition},
    {"ttnn.point_to_point", Collective::kPointToPoint},
    {"ttnn.reduce_scatter", Collective::kReduceScatter},
});

constexpr bool adds_up(Collective collective) {
  return collective == Collective::kReduceScatter || collective == Collective::kAllReduce;
}

inline CollectiveCall collective_call(std::string_view operation) {
  const auto* const found = std::ranges::find(kCollectiveCalls, operation, &CollectiveCall::operation);
  return found == kCollectiveCalls.end() ? CollectiveCall{operation, Collective::kNone} : *found;
}
inline Collective collective_of(std::string_view operation) { return collective_call(operation).collective; }

}  // namespace opwright
