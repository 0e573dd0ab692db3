// Where configurations were seen, by names, and how often: from the ids that a store gives. What follows from texts
// follows by the rules of this build: a store of an older one has its own in it.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "select/selected.h"
#include "store/reader.h"

namespace opwright::select {

class SeenNames {
 public:
  Status load(store::Reader& reader);

  struct Place {
    std::shared_ptr<const SeenIn> names;
    std::vector<std::string_view> models, machines;  // that a selector compares with
  };
  // One for each set of places: most configurations share a few. Valid as long as this object.
  Result<const Place*> place_of(std::span<const store::Seen> seen);

  struct Calls {
    std::int64_t calls = 0, uncounted = 0, raised = 0;
  };
  Calls calls_of(std::span<const store::Seen> seen);

  // The name of an operation of the store.
  const std::string& operation(std::string_view stored);
  // Model and machine of an occurrence, by the rules of this build.
  void complete(store::OccurrenceRow& row);

 private:
  struct Source {
    std::string text, hf_model;
    std::string model = {};  // made when it is first asked for; never empty then
  };
  struct Machine {
    std::string label;
    std::int64_t same_as;  // the first id of the same machine: in short and in whole it is one
  };
  using Key = std::vector<std::pair<std::int64_t, std::int64_t>>;  // source, machine

  Result<Place> make_place(const Key& key);

  std::unordered_map<std::int64_t, Source> sources_;
  std::unordered_map<std::int64_t, Machine> machines_;
  bool has_same_machines_ = false;
  std::map<Key, Place> places_;
  Key key_, last_key_;
  const Place* last_ = nullptr;
  std::vector<store::Seen> joined_;
  std::vector<std::pair<std::int64_t, std::int64_t>> uncounted_;  // form, trace
  std::map<std::string, std::string, std::less<>> operations_;
  std::string last_stored_;
  const std::string* last_operation_ = nullptr;
  std::unordered_map<std::string, std::string> models_;          // by source
  std::unordered_map<std::string, std::string> whole_machines_;  // by the text of the store
};

}  // namespace opwright::select
