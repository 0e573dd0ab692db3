// Any bytes as one of the other files that verbs read: vectors, suites, results, ground truth, boards, lists, a case.
#include "verbs.h"

namespace {

const std::vector<std::vector<std::string>>& verbs() {
  static const std::vector<std::vector<std::string>> all{
      {"vectors", "--from", "file.json", "--format", "jsonl"},
      {"vectors", "--suites", "file.json", "--limit", "1000", "--format", "jsonl"},
      {"run", "--vectors", "file.json", "--dry-run"},
      {"run", "--suites", "file.json", "--limit", "1000", "--dry-run"},
      {"results", "--import", "file.json", "--format", "json"},
      {"device", "conform", "--oracle", "file.json", "--format", "json"},
      {"run", "--device", "sim:file.json", "--check", "--case",
       "ttnn.relu(tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))"},
      {"import", "trace.json", "--dry-run", "--ops-list", "file.json"},
  };
  return all;
}

constexpr std::string_view kTrace =
    R"({"operations":{"ttnn.relu":{"configurations":[{"arguments":{"arg0":1},"executions":[]}]}}})";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto choice = opwright::fuzz::choose(data, size);
  for (const std::size_t verb : choice.of(verbs().size() + 2)) {
    const opwright::fuzz::World& world = opwright::fuzz::World::fresh();
    if (verb < verbs().size()) {
      world.write("file.json", choice.bytes);
      world.write("trace.json", kTrace);
      world.run(verbs()[verb]);
    } else if (choice.bytes.find('\0') == std::string_view::npos) {  // a word of a command line has none
      const std::string flag = verb == verbs().size() ? "--case" : "--where";
      world.run({"run", "--check", flag, std::string(choice.bytes), "--format", "json"});
    }
  }
  return 0;
}
