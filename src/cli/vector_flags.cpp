#include "cli/vector_flags.h"

#include <fmt/format.h>

#include "base/words.h"
#include "cli/query.h"
#include "vectors/read_vectors.h"

namespace opwright::cli {

Result<vectors::SuiteOptions> suite_options_of(const ParsedArgs& args) {
  vectors::SuiteOptions options;
  options.file = args.value("--suites");
  options.suite = args.value("--suite", options.file.empty() ? "model_traced" : "");
  options.ops = args.all("--op");
  OPWRIGHT_TRY_ASSIGN(const std::size_t limit,
                      count_of(args, "--limit", static_cast<std::size_t>(vectors::kDefaultLimit)));
  options.limit = static_cast<std::int64_t>(limit);
  OPWRIGHT_TRY_ASSIGN(const std::size_t count, count_of(args, "--count", static_cast<std::size_t>(options.count)));
  options.count = static_cast<std::int64_t>(count);
  OPWRIGHT_TRY_ASSIGN(options.seed, count_of(args, "--seed", 1));
  if (!args.value("--randomize").empty()) {
    OPWRIGHT_TRY_ASSIGN(options.randomize, count_of(args, "--randomize", 1));
  }
  options.dedupe = args.is_set("--dedupe");
  return options;
}

Status for_each_vector_of(const ParsedArgs& args, CommandEnv& env, const vectors::UseVector& use) {
  if (const std::string path = args.value("--vectors"); !path.empty()) return vectors::read_vectors(path, use);
  OPWRIGHT_TRY_ASSIGN(vectors::SuiteOptions options, suite_options_of(args));
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, selector_of(args));
  options.announce = [&](std::int64_t count, std::size_t operations) {
    env.err << fmt::format("opwright: {} of {}\n", plural(count, "combination"),
                           plural(static_cast<std::int64_t>(operations), "operation"));
  };
  if (!options.file.empty()) return vectors::for_each_vector_of_file(selector, options, use);
  OPWRIGHT_TRY_ASSIGN(store::Reader reader, open_store(args, env));
  return vectors::for_each_vector(reader, selector, options, use);
}

}  // namespace opwright::cli
