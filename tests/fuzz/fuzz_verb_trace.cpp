// Any bytes as a trace, given to every verb that reads one, and to those that read what an import left in the store.
#include "native_bytes.h"
#include "verbs.h"

namespace {

using Words = std::vector<std::string>;

const std::vector<Words>& on_a_trace() {
  static const std::vector<Words> verbs{
      {"dump", "trace"},
      {"dump", "trace", "--format", "json"},
      {"dump", "trace", "--format", "jsonl"},
      {"dump", "trace", "--format", "csv"},
      {"trim", "trace", "-o", "trimmed.opwt"},
      {"trim", "trace", "--only", "*a*", "--range", "0:3", "-o", "trimmed.opwt"},
      {"convert", "trace", "--to", "native", "-o", "converted.opwt"},
      {"convert", "trace", "--to", "per-op", "-o", "per_op"},
      {"convert", "trace", "--to", "jsonl"},
      {"import", "trace", "--dry-run", "--format", "json"},
      {"import", "trace", "--all-ops", "--format", "json"},
      {"verify", "trace", "--format", "json"},
      {"diff", "trace", "trace", "--format", "json"},
      {"gentest", "trace", "--all-ops", "--include-failed", "-o", "op_tests", "--format", "json"},
      {"gentest", "trace", "--all-ops", "--to", "cases", "-o", "cases"},
      {"replay", "trace", "--device", "null", "--format", "json"},
      // Of a few elements: the time of a call is not what is looked for.
      {"replay", "trace", "--assume-recent", "--assume-layout", "tile", "--max-work", "10000", "--max-elements",
       "5000"},
      {"replay", "--jsonl", "trace", "--index", "0", "--assume-layout", "tile", "--max-elements", "5000"},
  };
  return verbs;
}

const std::vector<Words>& on_a_store() {
  static const std::vector<Words> verbs{
      {"ops"},
      {"ops", "--format", "csv"},
      {"show", "--sources"},
      {"show", "--format", "json"},
      {"show", "--format", "csv"},
      {"stats"},
      {"stats", "--format", "json"},
      {"export", "--to", "master", "--include-raised"},
      {"export", "--to", "master1", "--include-raised"},
      {"export", "--to", "jsonl"},
      {"export", "--to", "csv"},
      {"vectors", "--format", "jsonl"},
      {"vectors", "--export", "exported"},
      {"vectors", "--suite", "all_cases", "--limit", "100", "--format", "jsonl"},
      {"run", "--dry-run"},
      {"diff", "opwright.db", "trace", "--format", "json"},
      {"traces", "--format", "json"},
      {"calls", "trace"},
      {"calls", "trace", "--format", "json"},
      {"gentest", "-o", "op_tests"},
      {"gentest", "--to", "cases", "-o", "cases", "--format", "json"},
      {"replay", "trace", "--range", "0:4", "--max-work", "10000", "--max-elements", "5000", "--save", "kept"},
      {"forget", "trace"},
      {"doctor", "--deep", "--format", "json"},
  };
  return verbs;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto choice = opwright::fuzz::choose(data, size);
  for (const std::size_t verb : choice.of(on_a_trace().size() + on_a_store().size())) {
    opwright::fuzz::World& world = opwright::fuzz::World::fresh();
    // Odd choices get the checksums that a native trace needs.
    const std::string bytes(choice.bytes);
    world.write("trace",
                choice.number % 2 == 1 && choice.number != choice.kAll ? opwright::fuzz::with_checksums(bytes) : bytes);
    if (verb < on_a_trace().size()) {
      world.run(on_a_trace()[verb]);
    } else if (world.run({"import", "trace", "--all-ops"}) == 0) {
      world.run(on_a_store()[verb - on_a_trace().size()]);
    }
  }
  return 0;
}
