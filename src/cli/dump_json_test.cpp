#include "cli/dump_json.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/json.h"
#include "format/native/test_trace.h"

namespace opwright::cli {
namespace {

using namespace format::testing;  // NOLINT(google-build-using-namespace): the words of the builder

std::string dumped(const TestTrace& trace, bool lines) {
  auto opened = format::NativeTrace::from_bytes(trace.bytes(), "x.opwt");
  EXPECT_TRUE(opened) << opened.error().message;
  std::ostringstream out;
  dump_json(*opened, {}, SIZE_MAX, lines, out);
  return out.str();
}

// A call record may refer to any value: each kind in turn, as the call, its result, its error, its context, the spec of
// what it wrote and of what it got.
TEST(DumpJson, ACallThatRefersToAValueOfAnotherKindIsALoss) {
  TestTrace values;
  const std::vector<std::string> kinds{none(),
                                       boolean(true),
                                       integer(-5),
                                       real(0.5),
                                       string("text"),
                                       enumerator("Layout", "TILE"),
                                       opaque("Thing", "thing"),
                                       list({}),
                                       list({integer(1), string("a"), list({none()})}),
                                       list({integer(1), integer(2)}, '('),
                                       dict({{"a", integer(1)}, {"b", none()}}),
                                       structure("Thing", {}),
                                       structure("Thing", {{"a", integer(1)}, {"b", tensor(1)}}),
                                       tensor(1),
                                       ref(1)};
  for (const std::string& kind : kinds) {
    for (const bool lines : {false, true}) {
      TestTrace trace;
      trace.value(structure("ttnn.Tensor", {{"shape", numbers({1, 2})}}));
      const std::uint32_t odd = trace.value(kind);
      const std::uint32_t call = trace.call_value("ttnn.add", {tensor(odd), list({tensor(1)})}, {{"x", ref(odd)}});
      trace.call(odd, {{1, 0}});
      trace.call(odd + 1000);
      trace.context(odd);
      const End end{
          .error = odd, .result = odd, .tensors = {{5, 0}}, .writes = {{0, odd, 1}, {9, odd, 1}}, .frees = {7}};
      trace.call(call, {{1, 0}}, end);
      const std::string text = dumped(trace, lines);
      EXPECT_NE(text.find("\"ttnn.add\""), std::string::npos);
      EXPECT_NE(text.find("\"missing_value\""), std::string::npos) << kind;
      json::Document document;
      std::istringstream stream(text);
      for (std::string line; lines && std::getline(stream, line);) EXPECT_TRUE(document.parse(line)) << line;
      EXPECT_TRUE(lines || document.parse(text)) << text;
    }
  }
}

}  // namespace
}  // namespace opwright::cli
