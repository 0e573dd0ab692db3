// Op JSONL as a native trace.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/input.h"
#include "format/conversion.h"
#include "format/native/trace_output.h"

namespace opwright::format {

// Line by line, for whoever reads the lines himself.
class JsonlConverter {
 public:
  explicit JsonlConverter(TraceOutput& output);
  ~JsonlConverter();
  JsonlConverter(const JsonlConverter&) = delete;
  JsonlConverter& operator=(const JsonlConverter&) = delete;

  void line(std::string_view text, std::size_t offset);  // the offset of the line in the input
  Result<Conversion> finish();

 private:
  class Lines;
  std::unique_ptr<Lines> lines_;
};

Result<Conversion> jsonl_to_native(Input& input, TraceOutput& output);

}  // namespace opwright::format
