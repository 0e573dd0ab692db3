// The calls of one trace in their order, as something to keep: what is said of it beside the native trace that holds
// it.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>

#include "base/hash.h"

namespace opwright {

// Whether it is known which tensor of a call is which of another. In the store: never given a new meaning.
enum class DataFlow : std::int8_t {
  kNone = 0,      // the format names no tensors
  kInferred = 1,  // found where only one answer is possible
  kRecorded = 2,
};

struct Sequence {
  std::string uid;      // of the trace, and how it was cut out of a longer one
  Sha256 digest{};      // of the bytes of the native trace: its id
  std::string name;     // for people: tests, program or file
  std::string command;  // secrets masked; "" not known
  std::string machine;  // machine_info as traced; "" not known
  std::string started;  // UTC; "" not known
  std::string format;   // what it was before it was a native trace: "native", "per-op", …
  DataFlow flow = DataFlow::kNone;
  std::int64_t calls = 0;
  std::int64_t operations = 0;
  std::int64_t content = 0;  // bytes of its records: a trace that has grown has more
  std::int64_t size = 0;     // bytes of the native trace

  // Of two sequences of one uid the later one in this order stays, whoever came first.
  auto weight() const { return std::tie(flow, content, digest); }
};

}  // namespace opwright
