// Any text as a YAML file of suites, and the first of the vectors that it means.
#include "laws.h"
#include "vectors/user_suites.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(opwright::fuzz::text_of(data, size));
  const auto suites = opwright::vectors::parse_user_suites(text, "suites.yaml");
  if (!suites) {
    opwright::fuzz::require(suites.error().message.starts_with("suites.yaml"), "an error names the file",
                            suites.error().message);
    return 0;
  }
  constexpr int kEnough = 200;
  for (const opwright::vectors::UserSuite& suite : *suites) {
    opwright::fuzz::require(!suite.name.empty(), "a suite has a name");
    int made = 0;
    const auto status =
        opwright::vectors::for_each_user_vector(suite, [&](opwright::vectors::TestVector&& vector) -> opwright::Status {
          opwright::fuzz::require(vector.suite == suite.name, "a vector names its suite", vector.suite);
          if (++made < kEnough) return {};
          return opwright::fail(opwright::ErrorCode::kUsage, "enough");
        });
    opwright::fuzz::require_sound(status);
  }
  return 0;
}
