// Vector files of the existing tooling: `<module>[.group].json` = {suite: {input_hash: vector}}, and
// generation_manifest.json beside them (docs/formats/vectors.md).
//
//   SweepWriter writer({.folder = "vectors_export", .tag = "nightly", .time = now});
//   for_each_vector(reader, selector, options, [&](TestVector&& vector) { return writer.add(std::move(vector)); });
//   Result<SweepReport> report = writer.finish();
//
// What the existing form has no place for (C++ arguments, tensors with more than it can say) is written as a case line
// into modules of its own, and counted with the reason: what was written always reads back to the same configuration.
#pragma once

#include <cstdint>
#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "vectors/groups.h"
#include "vectors/test_vector.h"

namespace opwright::vectors {

inline constexpr std::string_view kManifestName = "generation_manifest.json";
inline constexpr std::string_view kCaseLineField = "case_line";

struct SweepOptions {
  std::string folder;  // made when it is not there
  std::string tag;
  std::time_t time = 0;  // of the vectors' timestamps and of the manifest
  GroupBy group = GroupBy::kMesh;
  std::string suite;   // for the manifest; "" several
  std::string module;  // for the manifest: the operation that was asked for; "" all
};

struct SweepReport {
  std::int64_t vectors = 0;
  std::vector<std::string> files;                     // of the manifest
  std::int64_t written = 0;                           // of the files; the others had the same content already
  std::int64_t bytes = 0;                             // written
  std::map<std::string, std::int64_t> as_case_lines;  // reason -> vectors written in our own form
  std::map<std::string, std::int64_t> notes;          // what the files do not say: reason -> vectors
};

class SweepWriter {
 public:
  explicit SweepWriter(SweepOptions options);
  ~SweepWriter();
  SweepWriter(SweepWriter&&) noexcept;

  Status add(TestVector&& vector);
  // Writes the files, each whole or not at all, and the manifest last. A file that cannot be read is never replaced.
  Result<SweepReport> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace opwright::vectors
