// What a conversion of a trace into another format did: how much of it there is, and what the poorer format has no
// place for, by name.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace opwright::format {

struct Conversion {
  std::uint64_t calls = 0;                       // written
  std::map<std::string, std::uint64_t> dropped;  // what has no place -> how often it was there
  struct Lost {
    std::uint64_t count = 0;
    std::string example;
  };
  std::map<std::string, Lost> losses;  // what could not be read of the input: kinds of docs/formats/README.md

  void drop(std::string_view what, std::uint64_t count = 1) {
    if (count > 0) dropped[std::string(what)] += count;
  }
  void lose(std::string_view kind, std::string_view example, std::uint64_t count = 1) {
    Lost& lost = losses[std::string(kind)];
    if (lost.count == 0) lost.example = example;
    lost.count += count;
  }
};

}  // namespace opwright::format
