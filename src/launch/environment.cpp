#include "launch/environment.h"

#include <algorithm>

namespace opwright::launch {
namespace {

bool names(std::string_view entry, std::string_view name) {
  return entry.size() > name.size() && entry.starts_with(name) && entry[name.size()] == '=';
}

}  // namespace

std::optional<std::string> Environment::get(std::string_view name) const {
  for (const std::string& entry : entries_) {
    if (names(entry, name)) return entry.substr(name.size() + 1);
  }
  return std::nullopt;
}

void Environment::set(std::string_view name, std::string_view value, std::string_view why) {
  std::optional<std::string> was = get(name);
  std::erase_if(entries_, [&](const std::string& entry) { return names(entry, name); });
  entries_.push_back(std::string(name) + "=" + std::string(value));
  if (was == value) was.reset();
  changes_.push_back({std::string(name), Action::kSet, std::string(value), std::move(was), std::string(why)});
}

void Environment::set_default(std::string_view name, std::string_view value, std::string_view why) {
  if (get(name))
    keep(name, why);
  else
    set(name, value, why);
}

void Environment::keep(std::string_view name, std::string_view why) {
  if (const auto mine = get(name))
    changes_.push_back({std::string(name), Action::kKept, *mine, std::nullopt, std::string(why)});
}

void Environment::remove(std::string_view name, std::string_view why) {
  std::optional<std::string> was = get(name);
  if (!was) return;
  std::erase_if(entries_, [&](const std::string& entry) { return names(entry, name); });
  changes_.push_back({std::string(name), Action::kRemoved, "", std::move(was), std::string(why)});
}

}  // namespace opwright::launch
