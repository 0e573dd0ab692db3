// Bytes of an encoded value (docs/formats/native-trace.md), appended to a buffer that grows and is used again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "capture/layout.h"

namespace opwright::capture {

// A buffer of its own instead of std::string: a byte costs a comparison and a store, and this is all that most calls
// do.
class Encoder {
 public:
  Encoder() = default;
  Encoder(const Encoder&) = delete;
  Encoder& operator=(const Encoder&) = delete;

  void clear() { size_ = 0; }
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::string_view view() const { return {data_, size_}; }
  void cut(std::size_t size) { size_ = size; }

  void byte(std::uint8_t value) {
    room(1);
    data_[size_++] = static_cast<char>(value);
  }
  void record(Record kind) { byte(static_cast<std::uint8_t>(kind)); }
  void tag(Tag tag) { byte(static_cast<std::uint8_t>(tag)); }
  void raw(const void* data, std::size_t size) {
    room(size);
    if (size > 0) std::memcpy(data_ + size_, data, size);
    size_ += size;
  }
  void raw(std::string_view text) { raw(text.data(), text.size()); }
  void varint(std::uint64_t value) {
    room(10);
    while (value >= 0x80) {
      data_[size_++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    data_[size_++] = static_cast<char>(value);
  }
  void zigzag(std::int64_t value) {
    varint((static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
  }
  void text(std::string_view text) {
    varint(text.size());
    raw(text);
  }

  void null() { tag(Tag::kNull); }
  void boolean(bool value) { tag(value ? Tag::kTrue : Tag::kFalse); }
  void integer(std::int64_t value) {
    tag(Tag::kInt);
    zigzag(value);
  }
  void big_integer(std::string_view digits) {
    tag(Tag::kBigInt);
    text(digits);
  }
  void real(double value) {
    tag(Tag::kFloat);
    raw(&value, sizeof value);
  }
  void string(std::string_view value) {
    tag(Tag::kString);
    text(value);
  }
  void bytes(std::string_view value) {
    tag(Tag::kBytes);
    text(value);
  }
  void list(std::uint64_t count) {
    tag(Tag::kList);
    varint(count);
  }
  void tuple(std::uint64_t count) {
    tag(Tag::kTuple);
    varint(count);
  }
  void dict(std::uint64_t count) {
    tag(Tag::kDict);
    varint(count);
  }
  void enumerator(std::string_view type, std::string_view member) {
    tag(Tag::kEnum);
    text(type);
    text(member);
  }
  void structure(std::string_view type, std::uint64_t fields) {
    tag(Tag::kStruct);
    text(type);
    varint(fields);
  }
  void field(std::string_view name) { text(name); }
  void opaque(std::string_view type, std::string_view shown) {
    tag(Tag::kOpaque);
    text(type);
    text(shown);
  }
  void tensor(std::uint32_t spec) {
    tag(Tag::kTensor);
    varint(spec);
  }
  void reference(std::uint32_t value) {
    tag(Tag::kRef);
    varint(value);
  }

  // A count that is known only later: two bytes that `set_count` fills (a varint may be padded).
  static constexpr std::uint64_t kMaxLateCount = 0x3fff;
  std::size_t late_count() {
    const std::size_t at = size_;
    byte(0x80);
    byte(0);
    return at;
  }
  void set_count(std::size_t at, std::uint64_t count) {
    data_[at] = static_cast<char>(0x80 | (count & 0x7f));
    data_[at + 1] = static_cast<char>((count >> 7) & 0x7f);
  }

 private:
  void room(std::size_t more) {
    if (size_ + more > capacity_) grow(more);
  }
  void grow(std::size_t more) {
    const std::size_t capacity = std::max(2 * capacity_, size_ + more);
    std::unique_ptr<char[]> larger(new char[capacity]);
    std::memcpy(larger.get(), data_, size_);
    heap_ = std::move(larger);
    data_ = heap_.get();
    capacity_ = capacity;
  }

  char inline_[240];  // most values and records fit: those made on the stack never allocate
  char* data_ = inline_;
  std::size_t size_ = 0;
  std::size_t capacity_ = sizeof inline_;
  std::unique_ptr<char[]> heap_;
};

}  // namespace opwright::capture
