// One vector of a vector file as text, before it is known what other vectors of its module pass.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "normalize/normalize.h"
#include "vectors/test_vector.h"

namespace opwright::vectors {

struct SweepCell {
  std::string order, name;
  std::string text;  // the value, indented for its place in the file
};

struct SweepEntry {
  std::string module;  // "model_traced.add_model_traced"
  std::string suite, group, key;
  std::string config_hash;
  std::string as_case_line;             // why it is in our own form; "" it is in the existing one
  bool has_recipe = false;              // it has a threshold, time-out or data of its own
  std::vector<SweepCell> cells;         // parameters, by `order`
  std::vector<SweepCell> descriptions;  // traced_source …, sweep_name, in their order
};

// Makes entries; keeps its parsers' memory. One a thread.
class EntryMaker {
 public:
  SweepEntry make(const TestVector& vector);

 private:
  // Whether the fields read back to the same configuration, or why not.
  std::string try_existing_form(const TestVector& vector, SweepEntry& entry);

  json::Document arguments_, fields_;
  normalize::Normalizer normalizer_;
};

}  // namespace opwright::vectors
