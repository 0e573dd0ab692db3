#include "vectors/suites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "base/near_names.h"
#include "base/words.h"
#include "select/evaluate.h"
#include "vectors/all_cases.h"
#include "vectors/dedupe.h"
#include "vectors/read_vectors.h"
#include "vectors/sample.h"
#include "vectors/traced.h"
#include "vectors/user_suites.h"

namespace opwright::vectors {
namespace {

constexpr std::array<std::string_view, 3> kSuites{"model_traced", "all_cases", "sample"};

// A generator whose numbers are the same on every machine (std::shuffle's are not).
class SplitMix {
 public:
  explicit SplitMix(std::uint64_t seed) : state_(seed) {}
  std::uint64_t next() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15U;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31U);
  }

 private:
  std::uint64_t state_;
};

// What stands between making a vector and using it: counts, merging, shuffling.
class Output {
 public:
  Output(const SuiteOptions& options, const UseVector& use, SuiteReport* report)
      : options_(options), use_(use), report_(report != nullptr ? *report : own_) {}

  // Vectors of one operation, among which equal inputs are looked for.
  Status operation(std::vector<TestVector>&& vectors) {
    if (options_.dedupe && !vectors.empty()) {
      const std::int64_t merged = merge_equal_inputs(vectors);
      if (merged > 0) report_.counts[{vectors.front().suite, vectors.front().config.op}].merged += merged;
    }
    for (TestVector& vector : vectors) OPWRIGHT_TRY(one(std::move(vector)));
    return {};
  }

  Status one(TestVector&& vector) {
    SuiteCounts& counts = report_.counts[{vector.suite, vector.config.op}];
    ++counts.vectors;
    if (!vector.invalid.empty()) ++counts.invalid[std::string(rule_of(vector))];
    if (!options_.randomize) return use_(std::move(vector));
    held_.push_back(std::move(vector));
    return {};
  }

  Status finish() {
    if (!options_.randomize) return {};
    SplitMix random(*options_.randomize);
    for (std::size_t i = held_.size(); i > 1; --i) std::swap(held_[i - 1], held_[random.next() % i]);
    for (TestVector& vector : held_) OPWRIGHT_TRY(use_(std::move(vector)));
    return {};
  }

  void merged_one(const TestVector& vector) { ++report_.counts[{vector.suite, vector.config.op}].merged; }

 private:
  const SuiteOptions& options_;
  const UseVector& use_;
  SuiteReport own_;
  SuiteReport& report_;
  std::vector<TestVector> held_;
};

Status check_limit(std::string_view what, std::int64_t size, const SuiteOptions& options,
                   const std::map<std::string, std::int64_t>& by_operation) {
  if (options.announce) options.announce(size, by_operation.size());
  if (size <= options.limit) return {};
  return fail(ErrorCode::kUsage,
              fmt::format("{}: {}{} vectors of {}, the limit is {} (largest: {}); choose fewer operations with --op or "
                          "--where, or raise it with --limit N",
                          what, size == INT64_MAX ? "more than " : "", grouped(size),
                          plural(static_cast<std::int64_t>(by_operation.size()), "operation"), grouped(options.limit),
                          count_list(by_operation, 3)));
}

// A combination lies where its recorded twin was seen, else where its placement says.
void regroup(TestVector& vector, GroupBy group, Machines& machines) {
  const MachineFacts& machine = machines.of(vector.machine_info);
  vector.group = group_suffix(group, machine, machine.mesh.empty() ? placement_mesh(vector.config) : machine.mesh);
  name_vector(vector);
}

Status all_cases(store::Reader& reader, const select::Selector& selector, const SuiteOptions& options, Output& output) {
  std::map<std::string, CaseSpace> spaces;
  std::map<std::string, std::int64_t> sizes;
  std::vector<std::pair<std::string, std::vector<TestVector>>> left;  // invalid ones: they stay what they are
  OPWRIGHT_TRY(for_each_traced_operation(reader, selector, GroupBy::kNone, options.suite,
                                         [&](const std::string& op, std::vector<TestVector>&& vectors) -> Status {
                                           std::vector<TestVector> invalid;
                                           CaseSpace space;
                                           for (TestVector& vector : vectors) {
                                             if (vector.invalid.empty())
                                               space.add(vector);
                                             else
                                               invalid.push_back(std::move(vector));
                                           }
                                           sizes[op] =
                                               saturating_sum(space.size(), static_cast<std::int64_t>(invalid.size()));
                                           spaces.emplace(op, std::move(space));
                                           left.emplace_back(op, std::move(invalid));
                                           return {};
                                         }));
  std::int64_t total = 0;
  for (const auto& [op, size] : sizes) total = saturating_sum(total, size);
  OPWRIGHT_TRY(check_limit(options.suite, total, options, sizes));
  Machines machines;
  for (auto& [op, invalid] : left) {
    std::vector<TestVector> vectors;  // of one operation: only --dedupe needs them together
    const auto take = [&](TestVector&& vector) -> Status {
      vector.recipe.seed = options.seed;
      regroup(vector, options.group, machines);
      if (!options.dedupe) return output.one(std::move(vector));
      vectors.push_back(std::move(vector));
      return {};
    };
    std::set<std::string> made;
    OPWRIGHT_TRY(spaces.at(op).for_each(options.suite, [&](TestVector&& vector) -> Status {
      if (!invalid.empty()) made.insert(vector.key);
      return take(std::move(vector));
    }));
    for (TestVector& vector : invalid)
      if (!made.contains(vector.key)) OPWRIGHT_TRY(take(std::move(vector)));
    OPWRIGHT_TRY(output.operation(std::move(vectors)));
  }
  return {};
}

Status sample(store::Reader& reader, const select::Selector& selector, const SuiteOptions& options, Output& output) {
  Sample chosen(options.count, options.seed);
  OPWRIGHT_TRY(for_each_traced_operation(reader, selector, options.group, options.suite,
                                         [&](const std::string& op, std::vector<TestVector>&& vectors) -> Status {
                                           for (TestVector& vector : vectors) chosen.offer(op, std::move(vector));
                                           return {};
                                         }));
  for (auto& vectors : std::move(chosen).take()) {
    for (TestVector& vector : vectors) vector.recipe.seed = options.seed;
    OPWRIGHT_TRY(output.operation(std::move(vectors)));
  }
  return {};
}

Status model_traced(store::Reader& reader, const select::Selector& selector, const SuiteOptions& options,
                    Output& output) {
  return for_each_traced_operation(reader, selector, options.group, options.suite,
                                   [&](const std::string&, std::vector<TestVector>&& vectors) -> Status {
                                     for (TestVector& vector : vectors) vector.recipe.seed = options.seed;
                                     return output.operation(std::move(vectors));
                                   });
}

Status user_suites(const select::Selector& chosen, const SuiteOptions& options, Output& output) {
  OPWRIGHT_TRY_ASSIGN(std::vector<UserSuite> suites, read_user_suites(options.file, options.seed));
  if (!options.suite.empty()) {
    std::vector<std::string_view> names;
    for (const UserSuite& suite : suites) names.push_back(suite.name);
    if (std::find(names.begin(), names.end(), options.suite) == names.end())
      return fail(ErrorCode::kUsage, fmt::format("{}: no suite '{}'{}", options.file, options.suite,
                                                 did_you_mean(near_names(options.suite, names))));
    std::erase_if(suites, [&](const UserSuite& suite) { return suite.name != options.suite; });
  }
  std::map<std::string, std::int64_t> sizes;
  std::int64_t total = 0;
  for (const UserSuite& suite : suites) {
    for (const UserCases& cases : suite.cases) {
      sizes[cases.op] = saturating_sum(sizes[cases.op], cases.size());
      total = saturating_sum(total, cases.size());
    }
  }
  OPWRIGHT_TRY(check_limit(options.file, total, options, sizes));
  Machines machines;
  for (const UserSuite& suite : suites) {
    std::set<std::string> seen;                           // a suite has each test once
    std::map<std::string, std::vector<TestVector>> held;  // by operation: only --dedupe needs them together
    OPWRIGHT_TRY(for_each_user_vector(suite, [&](TestVector&& vector) -> Status {
      if (!matches(chosen, {vector.config})) return {};
      regroup(vector, options.group, machines);
      if (!seen.insert(vector.id).second) {
        output.merged_one(vector);
        return {};
      }
      if (!options.dedupe) return output.one(std::move(vector));
      held[vector.config.op].push_back(std::move(vector));
      return {};
    }));
    for (auto& [op, vectors] : held) OPWRIGHT_TRY(output.operation(std::move(vectors)));
  }
  return {};
}

// Vectors that somebody wrote down before.
Status read_suites(const select::Selector& chosen, const SuiteOptions& options, Output& output) {
  std::map<std::string, std::vector<TestVector>> held;  // by operation, for --dedupe
  OPWRIGHT_TRY(read_vectors(options.vectors, [&](TestVector&& vector) -> Status {
    if (!options.suite.empty() && vector.suite != options.suite) return {};
    if (!matches(chosen, {vector.config})) return {};
    if (!options.dedupe) return output.one(std::move(vector));
    held[vector.config.op].push_back(std::move(vector));
    return {};
  }));
  for (auto& [op, vectors] : held) OPWRIGHT_TRY(output.operation(std::move(vectors)));
  return {};
}

void add_counts(SuiteCounts& to, const SuiteCounts& from) {
  to.vectors += from.vectors;
  to.merged += from.merged;
  for (const auto& [rule, count] : from.invalid) to.invalid[rule] += count;
}

}  // namespace

std::int64_t SuiteCounts::invalid_total() const {
  std::int64_t all = 0;
  for (const auto& [rule, count] : invalid) all += count;
  return all;
}

SuiteCounts SuiteReport::total() const {
  SuiteCounts all;
  for (const auto& [name, one] : counts) add_counts(all, one);
  return all;
}

Status for_each_vector(store::Reader& reader, const select::Selector& selector, const SuiteOptions& options,
                       const UseVector& use, SuiteReport* report) {
  if (!options.file.empty() || !options.vectors.empty()) return for_each_vector_of_file(selector, options, use, report);
  OPWRIGHT_TRY_ASSIGN(const select::Selector chosen, with_ops(selector, options.ops));
  Output output(options, use, report);
  if (options.suite == "model_traced") {
    OPWRIGHT_TRY(model_traced(reader, chosen, options, output));
  } else if (options.suite == "all_cases") {
    OPWRIGHT_TRY(all_cases(reader, chosen, options, output));
  } else if (options.suite == "sample") {
    OPWRIGHT_TRY(sample(reader, chosen, options, output));
  } else {
    const auto near = near_names(options.suite, kSuites);
    return fail(ErrorCode::kUsage,
                fmt::format("no suite '{}'{} The store has model_traced, all_cases and sample; others "
                            "come from a file: --suites FILE.yaml",
                            options.suite, near.empty() ? "." : did_you_mean(near)));
  }
  return output.finish();
}

Status for_each_vector_of_file(const select::Selector& selector, const SuiteOptions& options, const UseVector& use,
                               SuiteReport* report) {
  if (needs_provenance(selector))
    return fail(ErrorCode::kUsage,
                "--where: vectors of a file do not tell who called them: no model, machine, calls, raised, error");
  OPWRIGHT_TRY_ASSIGN(const select::Selector chosen, with_ops(selector, options.ops));
  Output output(options, use, report);
  if (!options.vectors.empty()) {
    OPWRIGHT_TRY(read_suites(chosen, options, output));
  } else {
    OPWRIGHT_TRY(user_suites(chosen, options, output));
  }
  return output.finish();
}

}  // namespace opwright::vectors
