// One vector of a vector file as text, before it is known what other vectors of its module pass.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.h"
#include "model/value.h"
#include "vectors/existing_form.h"
#include "vectors/test_vector.h"

namespace opwright::vectors {

// Texts that many vectors have in common (names of fields, memory configs, machines) are held once.
using SharedText = std::shared_ptr<const std::string>;

struct SweepColumn {
  std::string order;  // where the field stands among others
  std::string label;  // "\"input_a_dtype\": "
};

struct SweepCell {
  std::shared_ptr<const SweepColumn> column;
  SharedText text;  // the value, indented for its place in the file
};

struct SweepDescription {
  std::string_view label;
  SharedText text;
};

struct SweepEntry {
  std::string module;  // "model_traced.add_model_traced"
  std::string suite, group;
  std::string config_hash;
  std::string as_case_line;                    // why it is in our own form; "" it is in the existing one
  bool has_recipe = false;                     // it has a threshold, time-out or data of its own
  bool lost_origin = false;                    // its source or machine is no JSON
  std::vector<SweepCell> cells;                // parameters, by `order`
  std::vector<SweepDescription> descriptions;  // traced_source …, sweep_name, in their order
};

// Makes entries; keeps its parsers' memory and what it knows of texts that it met before. One a thread.
class EntryMaker {
 public:
  SweepEntry make(const TestVector& vector);

 private:
  // "" when the fields read back to the same configuration, else why not.
  std::string try_existing_form(const TestVector& vector, SweepEntry& entry);
  // Whether these `arguments` of an era-2 master are the vector's configuration. The same as normalizing them as one
  // text, but a value that stood in another vector already is not read again.
  bool is_same(const TestVector& vector, std::vector<NamedJson> arguments);
  const Value* value_of(const std::string& json);  // null: no JSON
  const SharedText& styled(const std::string& json);
  const std::shared_ptr<const SweepColumn>& column(const std::string& name);

  json::Document arguments_, fields_, text_;
  std::unordered_map<std::string, Value> values_;
  std::unordered_map<std::string, SharedText> styled_;
  std::unordered_map<std::string, std::shared_ptr<const SweepColumn>> columns_;
};

}  // namespace opwright::vectors
