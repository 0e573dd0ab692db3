// One call of a native trace, as it was when it ended.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "format/native/value_table.h"

namespace opwright::format {

// A tensor that a call got; its number in the list is its slot: the order of the tensors in the call's value.
struct TensorUse {
  std::uint64_t id = 0;
  std::uint64_t version = 0;
};

// A tensor that a call returned, in the order of the tensors in the result's value.
struct TensorResult {
  std::uint64_t id = 0;
  std::uint64_t version = 0;
  std::uint64_t storage = 0;
  std::uint64_t address = 0;
  std::uint64_t view_of = 0;  // the tensor whose storage it shares; 0 none
};

// An argument whose state after the call is another than before.
struct TensorWrite {
  std::uint32_t slot = 0;
  ValueId spec = 0;
  std::uint64_t version = 0;
};

// What a tensor of a call held.
struct TensorData {
  std::uint32_t slot = 0;
  bool of_result = false;  // the slot counts the result's tensors
  bool after = false;      // state after the call
  std::optional<Hash128> hash;
  ValueId sketch = 0;
};

struct NativeCall {
  std::uint64_t seq = 0;     // in the order in which calls began, over all threads
  std::uint64_t parent = 0;  // the call around it; 0 none
  std::uint32_t lane = 0;
  std::uint64_t thread = 0;   // as the system numbers threads
  std::int64_t start_ns = 0;  // since the trace began
  std::int64_t duration_ns = 0;
  ValueId context = 0;  // when it began: NativeTrace::context
  ValueId call = 0;     // operation and arguments
  std::vector<TensorUse> tensors;
  bool finished = true;  // false: the process ended during the call, or its end is lost
  bool thinned = false;  // recorded with less detail
  bool direct = false;   // a function of the library that is no registered operation
  ValueId error = 0;     // 0: it did not raise
  ValueId result = 0;    // 0: it returned nothing, or nobody looked
  std::vector<TensorResult> results;
  std::vector<TensorWrite> writes;
  std::vector<std::uint32_t> frees;  // slots
  std::size_t offset = 0;            // of its begin in the file

  bool raised() const { return error != 0; }
};

}  // namespace opwright::format
