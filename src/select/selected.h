// Configurations of a store that match a selector, with what is wanted of them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/op_config.h"
#include "select/selector.h"
#include "store/reader.h"

namespace opwright::select {

// What somebody needs of a match besides operation, convention, key, counts and names: the rest costs time.
struct Wanted {
  bool arguments = false;  // of the configuration
  bool error = false;      // one example of what its calls raised
  bool forms = false;      // its texts and its occurrences, as they were imported
};
inline constexpr Wanted kAllOfIt{true, true, true};

// Names of where configurations were seen: sorted, each once; without "unknown" when anything is known. Shared by all
// that were seen in the same places.
struct SeenIn {
  std::vector<std::string> models, machines, sources;
};

struct Selected {
  ConfigId id;
  OpConfig config;  // its arguments where they are wanted
  std::int64_t calls = 0;
  std::int64_t uncounted = 0;  // forms of traces that do not count; each stands for one call a trace
  std::int64_t raised = 0;     // how many of the calls raised
  std::string error;           // one example; "" none, or not wanted
  std::string text;            // canonical; of select_all
  std::shared_ptr<const SeenIn> seen_in;
  std::vector<store::FormRow> forms;              // where they are wanted
  std::vector<store::OccurrenceRow> occurrences;  // likewise

  const std::vector<std::string>& models() const { return seen_in->models; }
  const std::vector<std::string>& machines() const { return seen_in->machines; }
  const std::vector<std::string>& sources() const { return seen_in->sources; }
  bool only_raised() const { return raised > 0 && raised >= calls; }
};

// The versions of keys and index terms that this build writes and asks by.
std::string identity_of_this_build();
// The names that `machine=` finds a machine by: its label and each word of it ("Wormhole n300 x1", "n300").
void append_machine_names(std::string_view label, std::vector<std::string_view>& names);

// Calls `use` for each match, in the order of ids.
Status for_each_selected(store::Reader& reader, const Selector& selector, Wanted wanted,
                         const std::function<Status(Selected&&)>& use);
// All matches with their arguments, in the order people read: operation, most calls first, then text.
Result<std::vector<Selected>> select_all(store::Reader& reader, const Selector& selector, Wanted wanted);

}  // namespace opwright::select
