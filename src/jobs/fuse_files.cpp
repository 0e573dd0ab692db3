#include "jobs/fuse_files.h"

#include <fmt/format.h>

#include "fuse/emit_pytest.h"
#include "model/case_line.h"

namespace opwright::jobs {
namespace {

std::string cases_text(const fuse::FusedTest& test) {
  std::string out = fmt::format(
      "# {}: the calls of the fused test, a case line each; 'opwright run --case LINE' runs one\n", test.name);
  for (const fuse::ParameterSet& set : test.sets) {
    out += fmt::format("# set {}\n", set.id);
    for (std::size_t c = 0; c < set.calls.size(); ++c)
      if (!test.calls[c].is_transparent) out += case_line(set.calls[c].config) + "\n";
  }
  return out;
}

bool parse_hash(const std::string& text, Hash128& hash) {
  if (text.size() != 32 || text.find_first_not_of("0123456789abcdef") != std::string::npos) return false;
  hash.high = std::stoull(text.substr(0, 16), nullptr, 16);
  hash.low = std::stoull(text.substr(16), nullptr, 16);
  return true;
}

// Recorded contents, each once.
Status write_contents(FuseFolder& folder, const fuse::FusedTest& test, format::NativeTrace& trace) {
  for (const fuse::ParameterSet& set : test.sets)
    for (const std::string& hash : set.contents) {
      Hash128 wanted;
      if (!parse_hash(hash, wanted)) continue;
      if (const format::Blob* blob = trace.blob(wanted))
        OPWRIGHT_TRY(folder.write(fmt::format("data/{}.bin", hash), blob->bytes));
    }
  return {};
}

}  // namespace

Status write_fused_test(FuseFolder& folder, const fuse::FusedTest& test, format::NativeTrace* contents) {
  OPWRIGHT_TRY(folder.write(test.name + ".params.json", fuse::to_json(test)));
  OPWRIGHT_TRY(folder.write(test.name + ".cases", cases_text(test)));
  if (auto text = fuse::emit_pytest(test)) OPWRIGHT_TRY(folder.write(fmt::format("test_{}.py", test.name), *text));
  OPWRIGHT_TRY(folder.write("README.md", fuse::emit_readme(test)));
  return contents == nullptr ? Status{} : write_contents(folder, test, *contents);
}

}  // namespace opwright::jobs
