// Any bytes as op JSONL. A line stands for itself: a file cut in two at a newline gives what the whole gives.
#include <algorithm>
#include <string>

#include "base/input.h"
#include "format/jsonl/jsonl_reader.h"
#include "laws.h"

namespace {

std::vector<std::string> lines_of(std::string_view text) {
  const opwright::fuzz::MemoryFile file(text);
  auto input = opwright::Input::open(file.path());
  if (!input) return {"not opened"};
  opwright::fuzz::Recorder recorder(opwright::fuzz::is_packed(text) ? std::size_t{1} << 40 : text.size());
  opwright::fuzz::require_sound(opwright::format::read_op_jsonl(*input, "ops.jsonl", recorder));
  opwright::fuzz::require(recorder.ended() == 1, "a file is one trace");
  return recorder.lines();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = opwright::fuzz::text_of(data, size);
  const std::vector<std::string> whole = lines_of(text);
  const std::size_t cut = text.find('\n', size / 2);
  if (cut == std::string_view::npos || opwright::fuzz::is_packed(text) ||
      opwright::fuzz::is_packed(text.substr(cut + 1)))
    return 0;
  std::vector<std::string> parts = lines_of(text.substr(0, cut + 1));
  const std::vector<std::string> rest = lines_of(text.substr(cut + 1));
  parts.insert(parts.end(), rest.begin(), rest.end());
  opwright::fuzz::require(parts == whole, "a line stands for itself");
  return 0;
}
