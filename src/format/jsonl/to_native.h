// Op JSONL as a native trace.
#pragma once

#include <memory>
#include <string_view>

#include "base/hash.h"
#include "base/input.h"
#include "base/json.h"
#include "format/conversion.h"
#include "format/native/trace_output.h"

namespace opwright::format {

// Line by line, for whoever reads and parses the lines himself.
class JsonlConverter {
 public:
  explicit JsonlConverter(TraceOutput& output);
  ~JsonlConverter();
  JsonlConverter(const JsonlConverter&) = delete;
  JsonlConverter& operator=(const JsonlConverter&) = delete;

  // A line with an `op_name` and a list of `inputs`.
  void record(const json::Node& record, std::string_view op, const json::Node& inputs);
  // `digest` of all lines names a trace whose first line has no run id.
  Result<Conversion> finish(const Hash128& digest);

 private:
  class Lines;
  std::unique_ptr<Lines> lines_;
};

Result<Conversion> jsonl_to_native(Input& input, TraceOutput& output);

}  // namespace opwright::format
