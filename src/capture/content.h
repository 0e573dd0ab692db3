// Content of a tensor of a call into the trace: what was asked for of sketch, hash and bytes, each content once.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "capture/recorder.h"

namespace opwright::capture {

struct Content {
  std::uint64_t seq = 0;    // of the call
  std::uint32_t slot = 0;   // of the tensor in the arguments or in the result
  std::uint64_t flags = 0;  // kDataResult, kDataAfter
  std::string_view dtype;
  std::span<const std::int64_t> shape;
  const void* elements = nullptr;
  std::uint64_t count = 0;
};

// `what`: OPWRIGHT_SKETCH, OPWRIGHT_HASH, OPWRIGHT_CONTENT. Less at a lower level of detail.
void record_content(Recorder& recorder, const Content& content, unsigned what);

}  // namespace opwright::capture
