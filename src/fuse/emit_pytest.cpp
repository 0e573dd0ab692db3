#include "fuse/emit_pytest.h"

#include <fmt/format.h>

namespace opwright::fuse {

Result<std::string> emit_pytest(const FusedTest& test) {
  return fail(ErrorCode::kUnsupported, fmt::format("{}: this build writes no pytest file", test.name));
}

std::string emit_readme(const FusedTest& test) {
  return fmt::format("# {}\n\nA fused test of `{}`, made by `opwright fuse make`.\n", test.name, test.pattern);
}

}  // namespace opwright::fuse
