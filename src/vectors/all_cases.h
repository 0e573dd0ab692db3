// All combinations of what the recorded calls of an operation use.
//
// Parameters of an operation are: what its tensors are together (shapes, placements), then of each tensor dtype, layout
// and memory config, then each other argument, "not passed" being a value where some call leaves it out. Calls that
// pass other tensors (add(a, b) and add(a, 2)) have a space each, because a tensor is no value of a number.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "vectors/test_vector.h"

namespace opwright::vectors {

class CaseSpace {
 public:
  CaseSpace();
  ~CaseSpace();
  CaseSpace(CaseSpace&&) noexcept;
  CaseSpace& operator=(CaseSpace&&) noexcept;

  void add(const TestVector& traced);  // valid vectors of one operation
  std::int64_t size() const;           // of the product; INT64_MAX when it is larger
  // In product order, the first parameter slowest. A combination that was traced keeps its calls, models and sources.
  Status for_each(const std::string& suite, const UseVector& use) const;

 private:
  struct Part;
  std::map<std::string, std::unique_ptr<Part>> parts_;  // by which tensors a call passes
  std::map<std::string, TestVector> traced_;            // by key, without the configuration
};

// Counts that do not wrap.
std::int64_t saturating_product(std::int64_t a, std::int64_t b);
std::int64_t saturating_sum(std::int64_t a, std::int64_t b);

}  // namespace opwright::vectors
