// Test vectors of a suite, one after another.
//
//   SuiteReport report;
//   Status done = for_each_vector(reader, selector, {.suite = "sample", .count = 50}, use, &report);
//
// Suites of a store: `model_traced` (exactly the recorded configurations), `all_cases` (every combination of what an
// operation was recorded with), `sample` (some of model_traced, spread over the operations). Others come from a file.
// Vectors that break a validity rule are handed over too, with the reason in `invalid`: who runs them decides.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "select/selector.h"
#include "store/reader.h"
#include "vectors/groups.h"
#include "vectors/test_vector.h"

namespace opwright::vectors {

inline constexpr std::int64_t kDefaultLimit = 100'000;

struct SuiteOptions {
  std::string suite = "model_traced";      // of the store; with `file` or `vectors` one of theirs, "" all
  std::string file;                        // of user suites (YAML); "" a suite of the store
  std::string vectors;                     // vector files to read (read_vectors.h); `suite`: one of them, "" all
  std::vector<std::string> ops;            // only these operations; empty: all
  std::int64_t limit = kDefaultLimit;      // the largest product that is made
  std::int64_t count = 100;                // of `sample`
  std::uint64_t seed = 1;                  // of `sample`, and of the input data
  std::optional<std::uint64_t> randomize;  // shuffled; then all vectors are held in memory
  bool dedupe = false;                     // merge equal inputs (vectors/dedupe.h)
  GroupBy group = GroupBy::kNone;
  // Told the size of a product before it is made.
  std::function<void(std::int64_t vectors, std::size_t operations)> announce;
};

struct SuiteCounts {
  std::int64_t vectors = 0;                     // handed over, invalid ones included
  std::map<std::string, std::int64_t> invalid;  // rule -> count
  std::int64_t merged = 0;                      // vectors that went into equal ones

  std::int64_t invalid_total() const;
};

struct SuiteReport {
  std::map<std::pair<std::string, std::string>, SuiteCounts> counts;  // suite and operation
  SuiteCounts total() const;
};

// The order is operation, then key (all_cases and user suites: the order of the product), or the shuffled one.
Status for_each_vector(store::Reader& reader, const select::Selector& selector, const SuiteOptions& options,
                       const UseVector& use, SuiteReport* report = nullptr);
// Suites of options.file or options.vectors alone; needs no store. The selector sees configurations, not where they
// were recorded.
Status for_each_vector_of_file(const select::Selector& selector, const SuiteOptions& options, const UseVector& use,
                               SuiteReport* report = nullptr);

}  // namespace opwright::vectors
