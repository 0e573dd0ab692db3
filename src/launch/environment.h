// The environment of a program to be started, and every change to it with its reason: what `--explain` shows is what is
// used.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opwright::launch {

enum class Action { kSet, kKept, kRemoved };

struct Change {
  std::string name;
  Action action = Action::kSet;
  std::string value;               // after the change; "" when removed
  std::optional<std::string> was;  // what the user had, where it differs
  std::string why;
};

class Environment {
 public:
  // `inherited`: "NAME=value" each.
  explicit Environment(std::vector<std::string> inherited) : entries_(std::move(inherited)) {}

  // The value, or nothing where the variable is not there.
  std::optional<std::string> get(std::string_view name) const;

  // What the program cannot do without: replaces what the user has set.
  void set(std::string_view name, std::string_view value, std::string_view why);
  // A wish: what the user has set stays.
  void set_default(std::string_view name, std::string_view value, std::string_view why);
  // Told, not changed: what the user has set and the program goes on to see. No change where it is not there.
  void keep(std::string_view name, std::string_view why);
  // What would be in the way. No change where it is not there.
  void remove(std::string_view name, std::string_view why);

  const std::vector<Change>& changes() const { return changes_; }
  const std::vector<std::string>& entries() const { return entries_; }

 private:
  std::vector<std::string> entries_;
  std::vector<Change> changes_;
};

}  // namespace opwright::launch
