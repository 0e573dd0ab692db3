// A folder of per-op files, or a single one, as a native trace.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/hash.h"
#include "base/json.h"
#include "base/result.h"
#include "format/conversion.h"
#include "format/native/trace_output.h"
#include "format/per_op/listing.h"

namespace opwright::format {

// Calls keep their numbers and times, tests their outcomes; the trace has the uid that an import of the folder gives
// it, so both count as one.
Result<Conversion> per_op_to_native(const std::string& path, TraceOutput& output);

// Record by record, for whoever reads and parses the files of a folder himself, in the order of their numbers: those of
// the folder and of the folders of its tests, whose calls interleave.
class PerOpConverter {
 public:
  static Result<std::unique_ptr<PerOpConverter>> of_folder(const std::string& folder, TraceOutput& output);
  ~PerOpConverter();
  PerOpConverter(const PerOpConverter&) = delete;
  PerOpConverter& operator=(const PerOpConverter&) = delete;

  // The number under which it knows a folder; none where its records are no part of the trace.
  std::optional<std::size_t> number_of(const std::string& folder) const;
  void record(std::size_t folder, const PerOpFile& file, const json::Node& record);
  // `digest` of the metadata and all records names a trace without tests and without a uid of its own.
  Result<Conversion> finish(const Hash128& digest);

  class Folder;

 private:
  PerOpConverter();
  std::unique_ptr<Folder> folder_;
};

}  // namespace opwright::format
