// Configurations of a store that match a selector, with everything that is known of them.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "model/op_config.h"
#include "select/selector.h"
#include "store/reader.h"

namespace opwright::select {

struct Selected {
  ConfigId id;
  OpConfig config;
  std::int64_t calls = 0;
  std::int64_t uncounted = 0;  // forms of traces that do not count; each stands for one call a trace
  std::int64_t raised = 0;     // how many of the calls raised
  std::vector<store::FormRow> forms;
  std::vector<store::OccurrenceRow> occurrences;

  std::vector<std::string> models() const;  // sorted, unique; without "unknown" when anything is known
  std::vector<std::string> machines() const;
  std::vector<std::string> sources() const;
  std::string_view error() const;  // one example of what was raised; "" none
  bool only_raised() const { return raised > 0 && raised >= calls; }
};

// The versions of keys and index terms that this build writes and asks by.
std::string identity_of_this_build();
// The names that `machine=` finds a machine by: its label and each word of it ("Wormhole n300 x1", "n300").
void append_machine_names(std::string_view label, std::vector<std::string_view>& names);

// Calls `use` for each match, in the order of ids.
Status for_each_selected(store::Reader& reader, const Selector& selector, const std::function<Status(Selected&&)>& use);
// All matches in the order people read: operation, most calls first, then text.
Result<std::vector<Selected>> select_all(store::Reader& reader, const Selector& selector);

}  // namespace opwright::select
