// Any bytes as a master file. Reading twice, and behind white space, gives the same configurations.
#include <string>

#include "format/master/master_reader.h"
#include "laws.h"

namespace {

opwright::Status read(std::string_view text, opwright::fuzz::Recorder& recorder) {
  std::string padded(text);
  padded.append(64, '\0');  // the reader asks for these
  const auto status = opwright::format::read_master({padded.data(), text.size()}, "master.json", recorder);
  opwright::fuzz::require_sound(status);
  return status;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = opwright::fuzz::text_of(data, size);
  opwright::fuzz::Recorder first(size);
  const auto status = read(text, first);
  opwright::fuzz::Recorder second(size + 3);
  const auto moved = read("\n  " + std::string(text), second);
  opwright::fuzz::require(status.has_value() == moved.has_value(), "white space before a file changes nothing");
  opwright::fuzz::require_same(first, second, "white space before a file changes nothing");
  return 0;
}
