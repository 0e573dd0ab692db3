// What a call of a replay made, beside what the trace has of it: contents, their hash, or a sketch.
#pragma once

#include <optional>

#include "replay/outside_data.h"
#include "replay/replay.h"

namespace opwright::replay {

class RecordedResults {
 public:
  RecordedResults(format::NativeTrace& trace, OutsideData& outside) : trace_(trace), outside_(outside) {}

  // Of result `place` of the call, or of the argument in that slot after it. Nothing where the trace has nothing of it.
  std::optional<Agreement> compare(std::uint64_t seq, std::size_t place, bool of_result, const TensorSpec& spec,
                                   const Values& made) const;

 private:
  format::NativeTrace& trace_;
  OutsideData& outside_;
};

// The worse of two results of a call.
void worsen(std::optional<Agreement>& worst, const Agreement& other);

// The hash that a recorder gives these values as elements of that type ("float32", …): docs/formats/native-trace.md,
// record 9. Nothing where the type does not hold them.
std::optional<Hash128> content_hash(std::string_view type, const Shape& shape, const Values& values);

}  // namespace opwright::replay
