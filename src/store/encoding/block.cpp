#include "store/encoding/block.h"

#include <algorithm>
#include <tuple>

#include "base/bytes.h"
#include "base/hash.h"

namespace opwright::store {
namespace {

auto place_of(const Seen& seen) {
  return std::tie(seen.form, seen.source, seen.machine, seen.trace, seen.sweep_source_hash);
}

// Copies of one trace that differ in hashes only count once.
void join(std::vector<Seen>& seen) {
  if (seen.size() < 2) return;
  std::sort(seen.begin(), seen.end(), [](const Seen& a, const Seen& b) { return place_of(a) < place_of(b); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < seen.size(); ++i) {
    Seen& last = seen[kept];
    if (place_of(last) != place_of(seen[i])) {
      seen[++kept] = seen[i];
      continue;
    }
    last.count = std::max(last.count, seen[i].count);
    last.raised = std::max(last.raised, seen[i].raised);
  }
  seen.resize(kept + 1);
}

}  // namespace

// Layout: count; each: place in the group, operation, convention, key (32 bytes), number of sightings; each of these:
// form (as a step), source, machine, trace, sweep_source_hash (with its size), count + 1 (0: not counted), raised.
// Numbers are LEB128.
std::string card_block(std::span<CardRow> rows) {
  std::string out;
  append_varint(out, rows.size());
  std::int64_t last_form = 0;
  for (CardRow& row : rows) {
    join(row.seen);
    append_varint(out, static_cast<std::uint64_t>(row.id) % kBlockSize);
    append_varint(out, static_cast<std::uint64_t>(row.operation));
    append_varint(out, static_cast<std::uint64_t>(row.convention));
    out.append(reinterpret_cast<const char*>(row.key.data()), row.key.size());
    append_varint(out, row.seen.size());
    for (const Seen& seen : row.seen) {
      append_zigzag(out, seen.form.value - last_form);
      last_form = seen.form.value;
      append_varint(out, static_cast<std::uint64_t>(seen.source.value));
      append_varint(out, static_cast<std::uint64_t>(seen.machine.value));
      append_varint(out, static_cast<std::uint64_t>(seen.trace.value));
      append_sized(out, seen.sweep_source_hash);
      append_varint(out, seen.count == kUncounted ? 0 : static_cast<std::uint64_t>(seen.count) + 1);
      append_varint(out, static_cast<std::uint64_t>(seen.raised));
    }
  }
  return out;
}

bool CardBlock::open(std::string_view data) {
  bytes_.assign(data);
  entries_ = {};
  seen_.clear();
  ByteReader in(bytes_);
  const std::uint64_t count = in.count(sizeof(ConfigKey));
  std::int64_t last_form = 0;
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    Entry& entry = entries_[in.varint() % kBlockSize];
    if (entry.is_there) return false;
    entry.is_there = true;
    entry.operation = static_cast<std::int64_t>(in.varint());
    entry.convention = static_cast<std::int64_t>(in.varint());
    entry.key = in.raw(sizeof(ConfigKey));
    entry.first = seen_.size();
    entry.count = in.count(7);
    for (std::uint64_t k = 0; k < entry.count; ++k) {
      Seen seen;
      seen.form.value = last_form += in.zigzag();
      seen.source.value = static_cast<std::int64_t>(in.varint());
      seen.machine.value = static_cast<std::int64_t>(in.varint());
      seen.trace.value = static_cast<std::int64_t>(in.varint());
      seen.sweep_source_hash = in.text();
      const std::uint64_t counted = in.varint();
      seen.count = counted == 0 ? kUncounted : static_cast<std::int64_t>(counted - 1);
      seen.raised = static_cast<std::int64_t>(in.varint());
      seen_.push_back(seen);
    }
  }
  return in.ok() && in.at_end();
}

// Layout: number of parts, each with its size before it; number of records; each: place in the group, number of parts,
// their places in the list.
bool RecordBlock::open(std::string_view data) {
  bytes_.assign(data);
  entries_ = {};
  table_.clear();
  places_.clear();
  ByteReader in(bytes_);
  const std::uint64_t parts = in.count(1);
  table_.reserve(parts);
  for (std::uint64_t i = 0; i < parts; ++i) table_.push_back(in.text());
  const std::uint64_t count = in.count(2);
  for (std::uint64_t i = 0; i < count && in.ok(); ++i) {
    Entry& entry = entries_[in.varint() % kBlockSize];
    if (entry.is_there) return false;
    entry.is_there = true;
    entry.first = places_.size();
    entry.count = in.count(1);
    for (std::uint64_t k = 0; k < entry.count; ++k) {
      const std::uint32_t place = in.id();
      if (place >= table_.size()) return false;
      places_.push_back(place);
    }
  }
  return in.ok() && in.at_end();
}

void RecordBuilder::clear() {
  bytes_.clear();
  starts_.clear();
  known_.clear();
  places_.clear();
  ids_.clear();
}

std::uint32_t RecordBuilder::place_of(std::string_view part) {
  std::uint64_t hash = xxh64(part);
  while (true) {
    const auto [found, is_new] = known_.try_emplace(hash, static_cast<std::uint32_t>(starts_.size()));
    const std::uint32_t place = found->second;
    if (is_new) {
      starts_.push_back(static_cast<std::uint32_t>(bytes_.size()));
      bytes_ += part;
      return place;
    }
    const std::size_t end = place + 1 < starts_.size() ? starts_[place + 1] : bytes_.size();
    if (std::string_view(bytes_).substr(starts_[place], end - starts_[place]) == part) return place;
    ++hash;  // another part of the same hash
  }
}

void RecordBuilder::add(std::int64_t id, std::string_view parts) {
  ByteReader in(parts);
  const std::size_t first = places_.size();
  while (!in.at_end()) places_.push_back(place_of(in.text()));
  ids_.push_back({id, first, places_.size() - first});
}

void RecordBuilder::add(std::int64_t id, const RecordBlock& from) {
  const std::size_t first = places_.size();
  for (const std::uint32_t place : from.places(from.entry(id))) places_.push_back(place_of(from.table()[place]));
  ids_.push_back({id, first, places_.size() - first});
}

std::string RecordBuilder::block() const {
  std::string out;
  out.reserve(bytes_.size() + 2 * starts_.size() + 2 * places_.size());
  append_varint(out, starts_.size());
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    const std::size_t end = i + 1 < starts_.size() ? starts_[i + 1] : bytes_.size();
    append_sized(out, std::string_view(bytes_).substr(starts_[i], end - starts_[i]));
  }
  append_varint(out, ids_.size());
  for (const Record& record : ids_) {
    append_varint(out, static_cast<std::uint64_t>(record.id) % kBlockSize);
    append_varint(out, record.count);
    for (std::size_t i = 0; i < record.count; ++i) append_varint(out, places_[record.first + i]);
  }
  return out;
}

}  // namespace opwright::store
