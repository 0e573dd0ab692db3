#include "format/native/value_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace opwright::format {

using capture::Tag;

const NativeValue* NativeValue::find(std::string_view name) const {
  if (tag == Tag::kStruct) {
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (names[i] == name) return items[i];
    }
  } else if (tag == Tag::kDict) {
    for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
      if (items[i]->tag == Tag::kString && items[i]->text == name) return items[i + 1];
    }
  }
  return nullptr;
}

void ValueTable::add_value(std::string_view payload, std::size_t offset, TraceDamage& damage) {
  ByteReader in(payload);
  Entry entry;
  entry.id = in.id();
  entry.bytes = in.rest();
  entry.offset = offset;
  if (!in.ok() || entry.id == 0 || entry.bytes.empty()) {
    damage.add("damaged_value", offset, [] { return "a value record without an id or without a value"; });
    return;
  }
  entries_.push_back(entry);
}

void ValueTable::add_text(std::string_view payload, std::size_t offset, TraceDamage& damage) {
  ByteReader in(payload);
  const ValueId id = in.id();
  PrintedText printed;
  printed.has_dict = (in.varint() & capture::kTextHasDict) != 0;
  printed.text = in.rest();
  if (!in.ok() || id == 0) {
    damage.add("damaged_value", offset, [] { return "a text record without an id"; });
    return;
  }
  texts_.try_emplace(id, printed);
}

void ValueTable::finish(TraceDamage& damage) {
  std::stable_sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (kept > 0 && entries_[kept - 1].id == entries_[i].id) {
      if (entries_[kept - 1].bytes != entries_[i].bytes)
        damage.add("damaged_value", entries_[i].offset,
                   [&] { return fmt::format("value {} is there twice with two meanings", entries_[i].id); });
      continue;
    }
    entries_[kept++] = entries_[i];
  }
  entries_.resize(kept);
  dense_ = entries_.empty() || entries_.back().id == entries_.size();
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    if (entries_[i].state == State::kUnknown) check(i, 0, damage);
  }
}

std::size_t ValueTable::index_of(ValueId id) const {
  if (dense_) return id >= 1 && id <= entries_.size() ? id - 1 : kNone;
  const auto found = std::lower_bound(entries_.begin(), entries_.end(), id,
                                      [](const Entry& e, ValueId wanted) { return e.id < wanted; });
  return found != entries_.end() && found->id == id ? static_cast<std::size_t>(found - entries_.begin()) : kNone;
}

bool ValueTable::is_whole(ValueId id) const {
  const std::size_t index = index_of(id);
  return index != kNone && entries_[index].state == State::kWhole;
}

bool ValueTable::is_call(ValueId id) const {
  const std::size_t index = index_of(id);
  return index != kNone && entries_[index].state == State::kWhole &&
         static_cast<Tag>(entries_[index].bytes.front()) == Tag::kCall;
}

std::string_view ValueTable::encoded(ValueId id) const {
  const std::size_t index = index_of(id);
  return index == kNone ? std::string_view() : entries_[index].bytes;
}

const PrintedText* ValueTable::printed(ValueId id) const {
  const auto found = texts_.find(id);
  return found == texts_.end() ? nullptr : &found->second;
}

// ------------------------------------------------------------------------------------------------------------ checking

void ValueTable::check(std::size_t index, int depth, TraceDamage& damage) {
  entries_[index].state = State::kVisiting;
  ByteReader in(entries_[index].bytes);
  std::string wrong;
  Extent extent = measure(in, depth, damage, wrong);
  if (extent.whole && (!in.ok() || !in.at_end())) {
    extent.whole = false;
    wrong = "its bytes are not an encoded value";
  }
  Entry& entry = entries_[index];
  if (!extent.whole) {
    entry.state = State::kBroken;
    damage.add("damaged_value", entry.offset, [&] { return fmt::format("value {}: {}", entry.id, wrong); });
    return;
  }
  entry.state = State::kWhole;
  entry.depth = static_cast<std::uint8_t>(extent.depth);
  entry.expanded =
      static_cast<std::uint32_t>(std::min<std::size_t>(entry.bytes.size() + extent.expanded, kMaxExpanded + 1));
  entry.parts = static_cast<std::uint32_t>(extent.parts);
}

// Walks one encoded value and the values it refers to. `depth` is how deep the walk is already; `expanded` counts what
// the references add.
ValueTable::Extent ValueTable::measure(ByteReader& in, int depth, TraceDamage& damage, std::string& wrong) {
  Extent extent;
  const auto broken = [&](std::string what) {
    extent.whole = false;
    if (wrong.empty()) wrong = std::move(what);
    return extent;
  };
  if (depth > kMaxDepth) return broken(fmt::format("nested more than {} levels deep", kMaxDepth));
  const auto tag = static_cast<Tag>(in.byte());
  const auto inner = [&] {
    const Extent part = measure(in, depth + 1, damage, wrong);
    extent.whole = extent.whole && part.whole;
    extent.depth = std::max(extent.depth, part.depth + 1);
    extent.expanded += part.expanded;
    extent.parts += part.parts;
    return extent.whole && extent.expanded <= kMaxExpanded && extent.parts <= kMaxParts;
  };
  const auto referred = [&](ValueId id) {
    const std::size_t index = in.ok() ? index_of(id) : kNone;
    if (index == kNone) return broken(fmt::format("it refers to value {}, which is not in the file", id));
    if (entries_[index].state == State::kUnknown) check(index, depth + 1, damage);
    const Entry& entry = entries_[index];
    if (entry.state == State::kVisiting) return broken(fmt::format("it contains itself, by value {}", id));
    if (entry.state == State::kBroken) return broken(fmt::format("it refers to value {}, which is damaged", id));
    extent.depth = entry.depth + 1;
    extent.expanded = entry.expanded;
    extent.parts += entry.parts;
    if (depth + extent.depth > kMaxDepth) return broken(fmt::format("nested more than {} levels deep", kMaxDepth));
    return extent;
  };
  bool going = true;
  switch (tag) {
    case Tag::kNull:
    case Tag::kTrue:
    case Tag::kFalse:
      break;
    case Tag::kInt:
      in.varint();
      break;
    case Tag::kFloat:
      in.real();
      break;
    case Tag::kBigInt:
    case Tag::kString:
    case Tag::kBytes:
      in.text();
      break;
    case Tag::kEnum:
    case Tag::kOpaque:
      in.text();
      in.text();
      break;
    case Tag::kList:
    case Tag::kTuple:
      for (std::uint64_t left = in.count(1); left > 0 && going; --left) going = inner();
      break;
    case Tag::kDict:
      for (std::uint64_t left = in.count(2); left > 0 && going; --left) {
        const bool key = inner();
        going = key && inner();
      }
      break;
    case Tag::kStruct:
      in.text();
      for (std::uint64_t left = in.count(2); left > 0 && going; --left) {
        in.text();
        going = inner();
      }
      break;
    case Tag::kTensor:
    case Tag::kRef:
      return referred(in.id());
    case Tag::kCall: {
      if (depth > 0) return broken("a call stands inside another value");
      const ValueId name = in.id();
      if (const std::size_t index = in.ok() ? index_of(name) : kNone;
          index == kNone || static_cast<Tag>(entries_[index].bytes.front()) != Tag::kString)
        return broken(fmt::format("the name of a call is value {}, which is no text of the file", name));
      for (std::uint64_t left = in.count(1); left > 0 && going; --left) going = inner();
      for (std::uint64_t left = going ? in.count(2) : 0; left > 0 && going; --left) {
        in.text();
        going = inner();
      }
      break;
    }
    default:
      return broken(fmt::format("no value begins with byte {}", static_cast<int>(static_cast<unsigned char>(tag))));
  }
  if (!extent.whole) return extent;
  if (!in.ok()) return broken("its bytes end too early");
  if (extent.expanded > kMaxExpanded)
    return broken(fmt::format("what it refers to adds up to more than {} bytes", kMaxExpanded));
  if (extent.parts > kMaxParts) return broken(fmt::format("it has more than {} parts", kMaxParts));
  return extent;
}

// ------------------------------------------------------------------------------------------------------------ decoding

template <class T>
std::span<T> ValueTable::room(std::size_t count) {
  if (count == 0) return {};
  const std::size_t bytes = count * sizeof(T);  // NOLINT(bugprone-sizeof-expression): pointers are stored here too
  decoded_bytes_ += bytes;
  T* first = static_cast<T*>(arena_->allocate(bytes, alignof(T)));
  std::uninitialized_default_construct_n(first, count);
  return {first, count};
}

const NativeValue* ValueTable::shared(ValueId id) {
  if (const auto found = decoded_.find(id); found != decoded_.end()) return found->second;
  ByteReader in(entries_[index_of(id)].bytes);
  NativeValue* value = make(in);
  // A value that is nothing but a reference is what it refers to, under the id that has the text.
  if (value->id == 0) value->id = id;
  decoded_.emplace(id, value);
  return value;
}

// Of checked bytes only: what it refers to is whole.
NativeValue* ValueTable::make(ByteReader& in) {
  const auto tag = static_cast<Tag>(in.byte());
  if (tag == Tag::kRef) return const_cast<NativeValue*>(shared(in.id()));  // handed out as const only
  NativeValue& value = room<NativeValue>(1).front();
  value.tag = tag;
  const auto fill = [&](std::size_t count) {
    const auto items = room<const NativeValue*>(count);
    for (auto& item : items) item = make(in);
    value.items = items;
  };
  const auto fill_named = [&](std::size_t positional, std::size_t named) {
    const auto items = room<const NativeValue*>(positional + named);
    const auto names = room<std::string_view>(named);
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i >= positional) names[i - positional] = in.text();
      items[i] = make(in);
    }
    value.items = items;
    value.names = names;
  };
  switch (tag) {
    case Tag::kNull:
    case Tag::kTrue:
    case Tag::kFalse:
    case Tag::kRef:
      break;
    case Tag::kInt:
      value.number = in.zigzag();
      break;
    case Tag::kFloat:
      value.real = in.real();
      break;
    case Tag::kBigInt:
    case Tag::kString:
    case Tag::kBytes:
      value.text = in.text();
      break;
    case Tag::kEnum:
    case Tag::kOpaque:
      value.type = in.text();
      value.text = in.text();
      break;
    case Tag::kList:
    case Tag::kTuple:
      fill(in.count(1));
      break;
    case Tag::kDict:
      fill(2 * in.count(2));
      break;
    case Tag::kStruct:
      value.type = in.text();
      fill_named(0, in.count(2));
      break;
    case Tag::kTensor: {
      const ValueId spec = in.id();
      const auto items = room<const NativeValue*>(1);
      items[0] = shared(spec);
      value.id = spec;
      value.items = items;
      break;
    }
    case Tag::kCall: {
      value.text = shared(in.id())->text;
      // The counts stand before each group, so the groups are decoded one after the other.
      const auto positional = static_cast<std::size_t>(in.count(1));
      std::vector<const NativeValue*> all;
      std::vector<std::string_view> names;
      for (std::size_t i = 0; i < positional; ++i) all.push_back(make(in));
      for (std::uint64_t left = in.count(2); left > 0; --left) {
        names.push_back(in.text());
        all.push_back(make(in));
      }
      const auto items = room<const NativeValue*>(all.size());
      std::copy(all.begin(), all.end(), items.begin());
      const auto kept_names = room<std::string_view>(names.size());
      std::copy(names.begin(), names.end(), kept_names.begin());
      value.positional = static_cast<std::uint32_t>(positional);
      value.items = items;
      value.names = kept_names;
      break;
    }
  }
  return &value;
}

const NativeValue* ValueTable::value(ValueId id) { return is_whole(id) ? shared(id) : nullptr; }

const NativeValue* ValueTable::decode(std::string_view encoded) {
  TraceDamage ignored;
  std::string wrong;
  ByteReader checked(encoded);
  const Extent extent = measure(checked, 0, ignored, wrong);
  if (!extent.whole || !checked.ok() || !checked.at_end()) return nullptr;
  ByteReader in(encoded);
  return make(in);
}

void ValueTable::forget(std::size_t limit) {
  if (decoded_bytes_ <= limit) return;
  decoded_.clear();
  arena_ = std::make_unique<std::pmr::monotonic_buffer_resource>();
  decoded_bytes_ = 0;
}

}  // namespace opwright::format
