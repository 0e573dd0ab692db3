// The values of a native trace: what repeats in calls (names, specs, configurations), written once and referred to.
//
// The table knows where each value lies and whether it is whole: its bytes are sound, everything it refers to is there,
// it does not contain itself, and it is not absurdly deep or large when its references are followed. Only whole values
// are decoded, so whoever walks a decoded value needs no checks of his own.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/layout.h"
#include "format/native/trace_damage.h"

namespace opwright {
class ByteReader;
}

namespace opwright::format {

using ValueId = std::uint32_t;  // 0 is none

// A decoded value, references followed. Texts point into the file.
struct NativeValue {
  capture::Tag tag = capture::Tag::kNull;
  ValueId id = 0;           // of the value that this is, where it is one of its own; of the spec for a tensor
  std::int64_t number = 0;  // integers
  double real = 0;          // floats
  std::string_view type;    // enums, structs, opaque values
  std::string_view text;  // strings, bytes, large integers; member of an enum; text of an opaque value; name of a call
  std::uint32_t positional = 0;               // calls: how many items are positional
  std::span<const NativeValue* const> items;  // lists; dicts: key, value, key, value …; structs; calls; tensors: spec
  std::span<const std::string_view> names;    // structs: fields; calls: keywords

  bool is(capture::Tag t) const { return tag == t; }
  bool is_null() const { return tag == capture::Tag::kNull; }
  bool is_list() const { return tag == capture::Tag::kList || tag == capture::Tag::kTuple; }
  bool is_struct(std::string_view name) const { return tag == capture::Tag::kStruct && type == name; }
  // The field of a struct, or the value of a dict's text key; null when there is none.
  const NativeValue* find(std::string_view name) const;
};

struct PrintedText {
  std::string_view text;
  bool has_dict = false;  // the Python object has a __dict__
};

class ValueTable {
 public:
  // Collecting: payloads of value and text records.
  void add_value(std::string_view payload, std::size_t offset, TraceDamage& damage);
  void add_text(std::string_view payload, std::size_t offset, TraceDamage& damage);
  // After the last one: sorts, and decides which values are whole.
  void finish(TraceDamage& damage);

  std::size_t size() const { return entries_.size(); }
  bool has(ValueId id) const { return index_of(id) != kNone; }
  bool is_whole(ValueId id) const;
  // The bytes of a value as they stand in the file; "" when it is not there.
  std::string_view encoded(ValueId id) const;
  // Decoded; null unless it is whole. Stays where it is until `forget()`.
  const NativeValue* value(ValueId id);
  // Whether a value is whole and a call: a record may refer to anything.
  bool is_call(ValueId id) const;
  // The value of a call record; null unless it is one.
  const NativeValue* call(ValueId id) { return is_call(id) ? value(id) : nullptr; }
  // Encoded bytes that are no table entry (facts, tests): null when they are damaged or refer to something not whole.
  const NativeValue* decode(std::string_view encoded);
  // What the value's owner prints for it (`str()`), or null.
  const PrintedText* printed(ValueId id) const;
  // Ids of all values that are there, ascending.
  template <class F>
  void for_each(F&& visit) const {
    for (const Entry& entry : entries_) visit(entry.id);
  }
  // Frees decoded values when they take more than `limit` bytes. Pointers handed out before are gone then.
  void forget(std::size_t limit = kDecodedLimit);

  static constexpr int kMaxDepth = 64;
  static constexpr std::size_t kMaxExpanded = 16 << 20;  // bytes that references of one value add up to
  static constexpr std::size_t kMaxParts = 2 << 20;      // values inside one value, references followed
  static constexpr std::size_t kDecodedLimit = 64 << 20;

 private:
  static constexpr std::size_t kNone = SIZE_MAX;
  enum class State : std::uint8_t { kUnknown, kVisiting, kWhole, kBroken };
  struct Entry {
    ValueId id = 0;
    State state = State::kUnknown;
    std::uint8_t depth = 0;
    std::uint32_t expanded = 0;
    std::uint32_t parts = 0;
    std::string_view bytes;
    std::size_t offset = 0;
  };
  struct Extent {  // of a value with its references followed
    bool whole = true;
    int depth = 0;
    std::size_t expanded = 0;
    std::size_t parts = 1;
  };

  std::size_t index_of(ValueId id) const;
  void check(std::size_t index, int depth, TraceDamage& damage);
  Extent measure(ByteReader& in, int depth, TraceDamage& damage, std::string& wrong);
  NativeValue* make(ByteReader& in);
  const NativeValue* shared(ValueId id);
  template <class T>
  std::span<T> room(std::size_t count);

  std::vector<Entry> entries_;  // by id once finished
  bool dense_ = false;          // entry i has id i + 1
  std::unordered_map<ValueId, PrintedText> texts_;
  std::unordered_map<ValueId, const NativeValue*> decoded_;
  std::unique_ptr<std::pmr::monotonic_buffer_resource> arena_ = std::make_unique<std::pmr::monotonic_buffer_resource>();
  std::size_t decoded_bytes_ = 0;
};

}  // namespace opwright::format
