// What the calls that a store keeps in their order returned, by the configuration they are of. A store holds it once,
// in the traces themselves: nothing is written, and what two traces say of one configuration stands side by side.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "exec/recorded_return.h"
#include "store/reader.h"

namespace opwright::jobs {

class RecordedReturns {
 public:
  // All traces of the store. Calls that raised, that returned no tensor, or of which no configuration can be made say
  // nothing.
  static Result<RecordedReturns> read(store::Reader& reader);

  // Most calls first; empty: nobody recorded any. `key` is the configuration's, in hex.
  const std::vector<RecordedReturn>& of(const std::string& key) const;
  std::size_t size() const { return returns_.size(); }

 private:
  Status add_trace(store::Reader& reader, const store::SequenceRow& row);
  void add(const std::string& key, RecordedReturn found);

  std::unordered_map<std::string, std::vector<RecordedReturn>> returns_;
};

}  // namespace opwright::jobs
