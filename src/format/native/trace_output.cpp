#include "format/native/trace_output.h"

namespace opwright::format {

// A trace tells what somebody runs: like the recorder's own, it is its owner's alone until he says otherwise.
Result<FileOutput> FileOutput::create(const std::string& path) {
  OPWRIGHT_TRY_ASSIGN(AtomicFile file, AtomicFile::create(path, Links::kFollow, 0600));
  return FileOutput(std::move(file));
}

}  // namespace opwright::format
