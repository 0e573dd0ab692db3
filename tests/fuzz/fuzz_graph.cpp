// Any bytes as a file of any format, the way `import` opens it: graph captures, and all that tells formats apart.
#include "format/read_trace.h"
#include "laws.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = opwright::fuzz::text_of(data, size);
  const std::size_t bound = opwright::fuzz::is_packed(text) ? std::size_t{1} << 40 : size;
  const opwright::fuzz::MemoryFile file(text);
  opwright::fuzz::Recorder first(bound);
  opwright::fuzz::Recorder second(bound);
  const auto status = opwright::format::read_trace(file.path(), {}, first);
  opwright::fuzz::require_sound(status);
  const auto again = opwright::format::read_trace(file.path(), {}, second);
  opwright::fuzz::require(status.has_value() == again.has_value(), "reading again gives the same");
  opwright::fuzz::require_same(first, second, "reading again gives the same");
  return 0;
}
