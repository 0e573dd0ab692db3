// Content of a tensor as the nested lists that Python's numpy gives for it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/native/native_trace.h"

namespace opwright::format {

struct TensorContent {
  std::string_view dtype;  // as numpy names it; bfloat16 is widened to float32
  std::vector<std::int64_t> shape;
  std::string_view bytes;
  bool widen = false;  // bytes are bfloat16
};

// What a blob holds; false when its description does not fit its bytes, or its element type has no numpy name.
bool read_content(const NativeValue* description, const Blob& blob, TensorContent& content);
// Appends the lists, laid out as json.dump(…, indent=2) does at `level`.
void append_values(const TensorContent& content, int level, std::string& out);

}  // namespace opwright::format
