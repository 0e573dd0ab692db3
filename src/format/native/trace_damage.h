// What of a native trace could not be read: counted by kind, with the first example. Reported once, by whoever read it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "format/trace_sink.h"

namespace opwright::format {

class TraceDamage {
 public:
  struct Entry {
    std::uint64_t count = 0;
    std::size_t offset = 0;
    std::string example;
  };

  // `what` is called for the first of a kind only.
  template <class F>
  void add(std::string_view kind, std::size_t offset, F&& what, std::uint64_t count = 1) {
    auto found = entries_.find(kind);
    if (found == entries_.end()) {
      found = entries_.emplace(std::string(kind), Entry{}).first;
      found->second.offset = offset;
      found->second.example = what();
    }
    found->second.count += count;
  }

  bool empty() const { return entries_.empty(); }
  const std::map<std::string, Entry, std::less<>>& entries() const { return entries_; }

  // Each kind once; the count stands in the example where it is more than one.
  void tell(const std::string& path, TraceSink& sink) const {
    for (const auto& [kind, entry] : entries_) {
      Loss loss{kind, path, entry.offset, entry.example};
      loss.count = static_cast<std::size_t>(entry.count);
      sink.lose(loss);
    }
  }

 private:
  std::map<std::string, Entry, std::less<>> entries_;
};

}  // namespace opwright::format
