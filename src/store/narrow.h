// What an index leaves of a question, for every implementation: lists of ids, united and intersected.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "store/reader.h"

namespace opwright::store {

// The lists of a store. Ids are configurations.
class Index {
 public:
  virtual ~Index() = default;
  virtual Result<std::vector<std::int64_t>> all() = 0;                          // ascending
  virtual Result<std::vector<std::int64_t>> with_term(std::uint64_t term) = 0;  // ascending
  // Those with a fact in one of these ranges, appended; unordered, and possibly more than once.
  virtual Status with_facts(std::span<const Range> ranges, std::vector<std::int64_t>& ids) = 0;
  virtual std::int64_t first_with_facts() const = 0;  // of those before it nobody knows the facts
};

// Reader::narrow() over such lists.
Result<Candidates> narrow(Index& index, std::span<const Way> ways);

// The number of test functions among these sources: parametrisations of a test are one source, "" is none.
std::int64_t count_functions(std::span<const std::string_view> sources);

// Sorted, each once. Ids are dense and lists are long: marks in a row are faster than sorting.
std::vector<std::int64_t> ascending(std::vector<std::int64_t> ids);

}  // namespace opwright::store
