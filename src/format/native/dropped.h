// What calls of a native trace say that another format has no place for: counted by name, for the user to read.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "format/conversion.h"
#include "format/native/native_trace.h"

namespace opwright::format {

enum class Target : std::uint8_t { kPerOp, kOpJsonl };

class DroppedCounter {
 public:
  DroppedCounter(NativeTrace& trace, Target target) : trace_(trace), target_(target) {}

  void add(const NativeCall& call);
  // Adds the counts: how many calls had each.
  void tell(Conversion& conversion) const;

 private:
  enum What : std::uint8_t {
    kNesting,
    kDurations,
    kThreads,
    kPhases,
    kIdentity,
    kChanges,
    kThinned,
    kHashes,
    kContents,
    kDevice,
    kTuples,
    kNdShards,
    kTiles,
    kPadding,
    kLayouts,
    kPlacements,
    kStorage,
    kTorch,
    kCount
  };
  static std::string_view name_of(What what);
  // Bits of What that the arguments of a call have.
  std::uint32_t of_value(ValueId id);
  static std::uint32_t scan(const NativeValue& value);

  NativeTrace& trace_;
  Target target_;
  std::uint64_t first_thread_ = 0;
  std::array<std::uint64_t, kCount> counts_{};
  std::unordered_map<ValueId, std::uint32_t> known_;
};

}  // namespace opwright::format
