// What questions ask of configurations, 64 of them in one row: read and verified at once, without a statement a row.
//
// A card has what is known of a configuration but its arguments: operation, convention, key, and where it was seen. It
// is a copy of the tables configuration, form and occurrence, made again whenever these change. A record has the parts
// of a configuration as they were given (rows.h); equal parts of the 64 are kept once.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "store/encoding/range.h"
#include "store/reader.h"

namespace opwright::store {

inline constexpr std::size_t kBlockSize = std::size_t{1} << kRangeBits;

// ---- cards

struct CardRow {
  std::int64_t id = 0, operation = 0, convention = 0;
  ConfigKey key{};
  std::vector<Seen> seen;  // any order; what differs in nothing but counts becomes one
};
// `rows` by id.
std::string card_block(std::span<CardRow> rows);

class CardBlock {
 public:
  struct Entry {
    bool is_there = false;
    std::int64_t operation = 0, convention = 0;
    std::string_view key;
    std::size_t first = 0, count = 0;  // in seen_
  };
  // False when the bytes are no cards.
  bool open(std::string_view data);
  const Entry& entry(std::int64_t id) const { return entries_[static_cast<std::size_t>(id) % kBlockSize]; }
  std::span<const Seen> seen(const Entry& entry) const { return std::span(seen_).subspan(entry.first, entry.count); }

 private:
  std::string bytes_;
  std::array<Entry, kBlockSize> entries_;
  std::vector<Seen> seen_;
};

// ---- records

class RecordBlock {
 public:
  struct Entry {
    bool is_there = false;
    std::size_t first = 0, count = 0;  // in places_
  };
  bool open(std::string_view data);
  const Entry& entry(std::int64_t id) const { return entries_[static_cast<std::size_t>(id) % kBlockSize]; }
  std::span<const std::string_view> table() const { return table_; }
  std::span<const std::uint32_t> places(const Entry& entry) const {
    return std::span(places_).subspan(entry.first, entry.count);
  }

 private:
  std::string bytes_;
  std::vector<std::string_view> table_;
  std::array<Entry, kBlockSize> entries_;
  std::vector<std::uint32_t> places_;
};

class RecordBuilder {
 public:
  bool is_empty() const { return ids_.empty(); }
  void clear();
  bool has(std::int64_t id) const {
    return std::ranges::any_of(ids_, [&](const Record& record) { return record.id == id; });
  }
  // `parts`: each with its size before it.
  void add(std::int64_t id, std::string_view parts);
  void add(std::int64_t id, const RecordBlock& from);
  std::string block() const;

 private:
  std::uint32_t place_of(std::string_view part);
  struct Record {
    std::int64_t id;
    std::size_t first, count;
  };
  std::string bytes_;                                       // the parts, one behind the other
  std::vector<std::uint32_t> starts_;                       // in bytes_
  std::unordered_map<std::uint64_t, std::uint32_t> known_;  // by hash
  std::vector<std::uint32_t> places_;
  std::vector<Record> ids_;
};

}  // namespace opwright::store
