// Tables that are found by a hash and lie in one piece each: millions of small entries without a block of memory for
// each of them, and without the time it takes to give them back one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string_view>
#include <utility>
#include <vector>

#include "base/hash.h"

namespace opwright {

// Places in a list of the caller's, by hash: whether the thing there is the one that is looked for, he says.
class HashIndex {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  template <class IsIt>
  std::uint32_t find(std::uint64_t hash, const IsIt& is_it) const {
    if (slots_.empty()) return kNone;
    const std::uint64_t tag = tag_of(hash);
    for (std::size_t at = tag & mask();; at = (at + 1) & mask()) {
      const std::uint64_t slot = slots_[at];
      if (slot == 0) return kNone;
      if (slot >> 32 == tag && is_it(static_cast<std::uint32_t>(slot) - 1)) return static_cast<std::uint32_t>(slot) - 1;
    }
  }
  // What is not there yet. At most 2^32 - 2 things.
  void add(std::uint64_t hash, std::uint32_t place) {
    if (2 * ++count_ > slots_.size()) grow();
    put(tag_of(hash) << 32 | (place + 1));
  }
  void clear() {
    slots_.assign(slots_.size(), 0);
    count_ = 0;
  }

 private:
  std::size_t mask() const { return slots_.size() - 1; }
  static std::uint64_t tag_of(std::uint64_t hash) { return hash >> 32; }
  void put(std::uint64_t slot) {
    std::size_t at = (slot >> 32) & mask();
    while (slots_[at] != 0) at = (at + 1) & mask();
    slots_[at] = slot;
  }
  void grow() {
    std::vector<std::uint64_t> old(slots_.empty() ? 64 : 2 * slots_.size());
    old.swap(slots_);
    for (const std::uint64_t slot : old) {
      if (slot != 0) put(slot);
    }
  }

  std::vector<std::uint64_t> slots_;  // high half: of the hash; low half: the place + 1; 0: free
  std::size_t count_ = 0;
};

// Entries lie in the order in which they came.
template <class Key, class T, class Hasher>
class FlatMap {
 public:
  using Entry = std::pair<Key, T>;
  // Null: it is not there. Good until the next emplace().
  T* find(const Key& key) {
    const std::uint32_t place = index_.find(Hasher()(key), [&](std::uint32_t at) { return entries_[at].first == key; });
    return place == HashIndex::kNone ? nullptr : &entries_[place].second;
  }
  // Of a key that is not there.
  T& add(const Key& key, T value) {
    index_.add(Hasher()(key), static_cast<std::uint32_t>(entries_.size()));
    return entries_.emplace_back(key, std::move(value)).second;
  }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  void clear() {
    index_.clear();
    entries_.clear();
  }

 private:
  HashIndex index_;
  std::vector<Entry> entries_;
};

// Copies of texts in large blocks. A view stays good as long as this lives.
class TextStore {
 public:
  std::string_view keep(std::string_view text) {
    if (blocks_.empty() || blocks_.back().capacity() - blocks_.back().size() < text.size())
      blocks_.emplace_back().reserve(text.size() > kBlock / 4 ? text.size() : kBlock);
    std::vector<char>& block = blocks_.back();
    const std::size_t at = block.size();
    block.insert(block.end(), text.begin(), text.end());
    return {block.data() + at, text.size()};
  }

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 16;
  std::deque<std::vector<char>> blocks_;
};

}  // namespace opwright
