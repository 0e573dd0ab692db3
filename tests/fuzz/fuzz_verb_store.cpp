// Any bytes as a store, given to every verb that reads one.
#include "verbs.h"

namespace {

const std::vector<std::vector<std::string>>& verbs() {
  static const std::vector<std::vector<std::string>> all{
      {"ops", "--format", "json"},
      {"show", "--sources"},
      {"show", "--format", "json"},
      {"show", "--where", "dtype=bfloat16 and rank=4", "--format", "jsonl"},
      {"stats", "--format", "json"},
      {"export", "--to", "master", "--include-raised"},
      {"export", "--to", "master1"},
      {"export", "--to", "csv"},
      {"vectors", "--format", "jsonl"},
      {"vectors", "--export", "exported"},
      {"run", "--dry-run"},
      {"results", "--runs", "--format", "json"},
      {"results", "--format", "json"},
      {"results"},
      {"results", "--list", "--format", "csv"},
      {"results", "--coverage"},
      {"results", "--export", "jsonl:r.jsonl", "--export", "junit:r.xml", "--export", "csv:r.csv", "--export",
       "sweep:sweep"},
      {"report", "--html", "page"},
      {"diff", "opwright.db", "opwright.db", "--format", "json"},
      {"import", "opwright.db", "--store", "other.db", "--format", "json"},
      {"traces", "--format", "json"},
      {"calls", "0", "--format", "jsonl"},
      {"gentest", "-o", "op_tests"},
      {"gentest", "--failed", "last", "-o", "op_tests", "--format", "json"},
      {"gentest", "--to", "cases", "-o", "cases"},
      {"replay", "0", "--device", "null"},
      {"replay", "0", "--max-work", "10000", "--max-elements", "5000", "--format", "json"},
      {"shrink", "--op", "none"},  // no worker can be started here
      {"forget", "0"},
      {"doctor", "--format", "json"},
      {"doctor", "--deep", "--format", "json"},
      {"doctor", "--repair", "-o", "repaired.db", "--format", "json"},
  };
  return all;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto choice = opwright::fuzz::choose(data, size);
  for (const std::size_t verb : choice.of(verbs().size())) {
    const opwright::fuzz::World& world = opwright::fuzz::World::fresh();
    world.write("opwright.db", choice.bytes);
    world.run(verbs()[verb]);
  }
  return 0;
}
