// Any text as a case line. What is read is written and read again as the same case.
#include "laws.h"
#include "model/case_line.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto config = opwright::parse_case(opwright::fuzz::text_of(data, size));
  if (!config) {
    opwright::fuzz::require(!config.error().message.empty(), "an error says what is wrong");
    return 0;
  }
  const std::string line = opwright::case_line(*config);
  opwright::fuzz::require(line.find('\n') == std::string::npos, "a case is one line", line);
  const auto again = opwright::parse_case(line);
  opwright::fuzz::require(again.has_value(), "a case line can be read", line);
  opwright::fuzz::require(opwright::case_line(*again) == line, "a case line read is the same case", line);
  return 0;
}
