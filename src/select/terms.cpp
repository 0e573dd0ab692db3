#include "select/terms.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "base/hash.h"
#include "select/argument_key.h"
#include "select/facts.h"
#include "select/fold.h"

namespace opwright::select {
namespace {

Term named_term(std::string_view kind, std::string_view name) {
  std::string text(kind);
  text += name;
  return xxh64(text);
}

constexpr std::string_view kDtypeKind = "dtype:";
constexpr std::string_view kLayoutKind = "layout:";
constexpr std::string_view kStorageKind = "storage:";
constexpr std::string_view kMemoryKind = "memory:";
constexpr std::string_view kBufferKind = "buffer:";
constexpr std::string_view kShapeKind = "shape:";
constexpr std::string_view kShardKind = "shard:";
constexpr std::size_t kCachedRanks = 16;

// Import asks for the terms of the same few names millions of times: they are hashed once.
template <class E>
struct NameTerms {
  std::string_view kind;
  std::array<Term, static_cast<std::size_t>(E::kUnknown)> terms{};

  explicit NameTerms(std::string_view k) : kind(k) {
    for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = named_term(kind, name_of(static_cast<E>(i)));
  }
  void append(const Spelled<E>& name, std::vector<Term>& out) const {
    if (!name.present()) return;
    const auto index = static_cast<std::size_t>(name.value);
    out.push_back(index < terms.size() ? terms[index] : named_term(kind, name.name()));
  }
};

struct Cache {
  NameTerms<DType> dtype{kDtypeKind};
  NameTerms<Layout> layout{kLayoutKind};
  NameTerms<StorageType> storage{kStorageKind};
  NameTerms<MemoryLayout> memory{kMemoryKind};
  NameTerms<BufferType> buffer{kBufferKind};
  std::array<Term, kCachedRanks> rank;
  Term sharded = xxh64("sharded");

  Cache() {
    for (std::size_t i = 0; i < rank.size(); ++i) rank[i] = named_term("rank:", std::to_string(i));
  }
};
const Cache& cache() {
  static const Cache instance;
  return instance;
}

Term rank_term(std::size_t rank) {
  return rank < kCachedRanks ? cache().rank[rank] : named_term("rank:", std::to_string(rank));
}

// `kind[1,1,32,32]`, in a buffer on the stack for every shape of real life.
template <class Sizes, class SizeOf>
Term shape_term(std::string_view kind, const Sizes& sizes, SizeOf size_of) {
  constexpr std::size_t kLongestNumber = 21;  // with its comma
  std::array<char, 256> small;
  std::string large;
  char* begin = small.data();
  const std::size_t room = kind.size() + 2 + kLongestNumber * sizes.size();
  if (room > small.size()) {
    large.resize(room);
    begin = large.data();
  }
  char* at = std::copy(kind.begin(), kind.end(), begin);
  *at++ = '[';
  bool first = true;
  for (const auto& size : sizes) {
    if (!first) *at++ = ',';
    first = false;
    at = std::to_chars(at, begin + room, size_of(size)).ptr;
  }
  *at++ = ']';
  return xxh64(std::string_view(begin, static_cast<std::size_t>(at - begin)));
}

Term shape_term(std::string_view kind, const Shape& shape) {
  return shape_term(kind, shape, [](std::int64_t size) { return size; });
}
Term shape_term(std::string_view kind, const ShapePattern& pattern) {  // of one without wildcards
  return shape_term(kind, pattern, [](const DimPattern& dim) { return dim.size; });
}

void append_memory_terms(const MemoryConfig& memory, std::vector<Term>& out) {
  cache().memory.append(memory.layout, out);
  cache().buffer.append(memory.buffer, out);
  if (memory.sharded()) out.push_back(cache().sharded);
  if (memory.shard) out.push_back(shape_term(kShardKind, memory.shard->shape));
  if (memory.nd_shard) out.push_back(shape_term(kShardKind, memory.nd_shard->shape));
}

void append_tensor_terms(const TensorSpec& spec, std::vector<Term>& out) {
  cache().dtype.append(spec.dtype, out);
  cache().layout.append(spec.layout, out);
  cache().storage.append(spec.storage, out);
  if (spec.has_shape) {
    out.push_back(rank_term(spec.shape.size()));
    out.push_back(shape_term(kShapeKind, spec.shape));
  }
  if (spec.memory) append_memory_terms(*spec.memory, out);
}

void append_op_terms(std::string_view op, std::string& buffer, std::vector<Term>& out) {
  // Every end of the name is a term of its own: `op:` is written over what stands before it.
  constexpr std::string_view kKind = "op:";
  buffer.assign(kKind);
  append_folded_name(buffer, op);
  std::size_t start = kKind.size();
  while (true) {
    std::copy(kKind.begin(), kKind.end(), buffer.begin() + static_cast<std::ptrdiff_t>(start - kKind.size()));
    out.push_back(xxh64(std::string_view(buffer).substr(start - kKind.size())));
    const std::size_t dot = buffer.find('.', start);
    if (dot == std::string::npos) return;
    start = dot + 1;
  }
}

// The text of `arg:<name>`, into `buffer`.
void write_argument_term(std::string_view name, std::string& buffer) {
  buffer.assign("arg:");
  for (const char c : name) buffer += fold(c);
}

// `<buffer>=<key>` for each key of a value that has a short one; `buffer` comes back as it was.
void append_key_terms(const Value& wrapped, std::string& buffer, std::string& key_buffer, std::vector<Term>& out) {
  const std::size_t name = buffer.size();
  buffer += '=';
  const std::size_t prefix = buffer.size();
  const auto add_key = [&](std::string_view key) {
    if (key.size() <= kLongestKey) {
      buffer += key;
      out.push_back(xxh64(buffer));
      buffer.resize(prefix);
    }
    return false;
  };
  const Value& value = unwrapped(wrapped);
  any_scalar_key(value, key_buffer, add_key);
  const List* list = value.as_list();
  if (list != nullptr && list->size() <= kLongestKey / 2 &&
      std::all_of(list->begin(), list->end(), [](const Value& item) { return item.as_int() != nullptr; })) {
    key_buffer.clear();
    append_text(key_buffer, value);
    add_key(key_buffer);
  }
  buffer.resize(name);
}

void append_argument_terms(const Argument& argument, std::string& buffer, std::string& key_buffer,
                           std::vector<Term>& out) {
  write_argument_term(argument.name, buffer);
  if (!argument.value.is_null()) out.push_back(xxh64(buffer));
  append_key_terms(argument.value, buffer, key_buffer, out);
  // What lies directly in a config object, such as program_config.per_core_M.
  const Struct* s = argument.value.as_struct();
  const Fields* fields = s != nullptr ? &s->fields : argument.value.as_dict();
  if (fields == nullptr) return;
  const std::size_t prefix = buffer.size();
  for (const auto& [name, member] : *fields) {
    if (name.empty()) continue;
    buffer += '.';
    for (const char c : name) buffer += fold(c);
    append_key_terms(member, buffer, key_buffer, out);
    buffer.resize(prefix);
  }
}

std::vector<Term> sorted_unique(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end());
  terms.erase(std::unique(terms.begin(), terms.end()), terms.end());
  return terms;
}

// What every argument has that equals `operand`.
std::vector<Term> equal_argument_terms(const Predicate& predicate, const Operand& operand) {
  std::string text;
  write_argument_term(predicate.path.front(), text);
  const Term present = xxh64(text);
  if (predicate.path.size() > 1) {  // none has nothing in it
    const std::string& member = predicate.path[1];
    const bool named = !std::all_of(member.begin(), member.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (predicate.path.size() > 2 || !named) return {present};
    text += '.';
    for (const char c : member) text += fold(c);
  }
  std::string key;
  if (const auto* pattern = std::get_if<ShapePattern>(&operand)) {
    if (has_wildcards(*pattern)) return {present};
    key = to_text(*pattern);
    if (key.size() > kLongestKey || pattern->size() > kLongestKey / 2) return {present};
  } else {
    key = std::get<std::string>(operand);
    if (key.size() > kLongestKey || may_be_composite(key)) return {present};
  }
  if (predicate.path.size() > 1) return sorted_unique({present, xxh64(text + "=" + key)});
  return {xxh64(text + "=" + key)};
}

std::vector<Term> equal_terms(const Predicate& predicate, const Operand& operand) {
  const auto named = [&](std::string_view kind) {
    return std::vector<Term>{named_term(kind, std::get<std::string>(operand))};
  };
  switch (predicate.field) {
    case Field::kOp:
      return named("op:");
    case Field::kDtype:
      return named(kDtypeKind);
    case Field::kLayout:
      return named(kLayoutKind);
    case Field::kStorage:
      return named(kStorageKind);
    case Field::kMemory:
      return named(kMemoryKind);
    case Field::kBuffer:
      return named(kBufferKind);
    case Field::kArgument:
      return equal_argument_terms(predicate, operand);
    case Field::kRank: {
      const std::int64_t rank = std::get<std::int64_t>(operand);
      return {named_term("rank:", std::to_string(rank))};
    }
    case Field::kShape:
    case Field::kShard: {
      const auto& pattern = std::get<ShapePattern>(operand);
      if (!has_wildcards(pattern)) {
        return {shape_term(predicate.field == Field::kShape ? kShapeKind : kShardKind, pattern)};
      }
      const bool fixed_rank = std::none_of(pattern.begin(), pattern.end(), [](const DimPattern& dim) {
        return dim.kind == DimPattern::Kind::kAnyNumber;
      });
      if (predicate.field == Field::kShape && fixed_rank) return {rank_term(pattern.size())};
      return {};
    }
    default:
      return {};
  }
}

// The terms that are in all of `sets`, each of them sorted.
std::vector<Term> common(std::vector<std::vector<Term>> sets) {
  std::vector<Term> result = std::move(sets.front());
  for (std::size_t i = 1; i < sets.size() && !result.empty(); ++i) {
    std::vector<Term> both;
    std::set_intersection(result.begin(), result.end(), sets[i].begin(), sets[i].end(), std::back_inserter(both));
    result = std::move(both);
  }
  return result;
}

std::vector<Term> predicate_terms(const Predicate& predicate) {
  switch (predicate.relation) {
    case Relation::kEqual:
      return sorted_unique(equal_terms(predicate, predicate.operands.front()));
    case Relation::kNotEqual:
      return {};
    case Relation::kIn: {
      std::vector<std::vector<Term>> sets;
      sets.reserve(predicate.operands.size());
      for (const Operand& operand : predicate.operands) sets.push_back(sorted_unique(equal_terms(predicate, operand)));
      return common(std::move(sets));
    }
    case Relation::kHolds:
      if (predicate.field == Field::kSharded) return {cache().sharded};
      [[fallthrough]];
    case Relation::kContains:
    case Relation::kLess:
    case Relation::kLessEqual:
    case Relation::kGreater:
    case Relation::kGreaterEqual: {
      if (predicate.field != Field::kArgument) return {};
      std::string text;
      write_argument_term(predicate.path.front(), text);
      return {xxh64(text)};
    }
  }
  return {};
}

}  // namespace

void append_terms(const OpConfig& config, std::vector<Term>& out) {
  thread_local std::string buffer, key_buffer;
  const auto start = static_cast<std::ptrdiff_t>(out.size());
  append_op_terms(config.op, buffer, out);
  for (const Argument& argument : config.args) {
    append_argument_terms(argument, buffer, key_buffer, out);
    for_each_tensor(argument.value, [&](const TensorSpec& spec) { append_tensor_terms(spec, out); });
    for_each_memory(argument.value, [&](const MemoryConfig& memory) { append_memory_terms(memory, out); });
  }
  std::sort(out.begin() + start, out.end());
  out.erase(std::unique(out.begin() + start, out.end()), out.end());
}

std::vector<Term> required_terms(const Selector& selector) {
  switch (selector.kind) {
    case Selector::Kind::kEverything:
    case Selector::Kind::kNot:
      return {};
    case Selector::Kind::kPredicate:
      return predicate_terms(selector.predicate);
    case Selector::Kind::kAnd: {
      std::vector<Term> all;
      for (const Selector& part : selector.parts) {
        const std::vector<Term> terms = required_terms(part);
        all.insert(all.end(), terms.begin(), terms.end());
      }
      return sorted_unique(std::move(all));
    }
    case Selector::Kind::kOr: {
      std::vector<std::vector<Term>> sets;
      sets.reserve(selector.parts.size());
      for (const Selector& part : selector.parts) sets.push_back(required_terms(part));
      return common(std::move(sets));
    }
  }
  return {};
}

namespace {

// Both ways at once.
store::Way joined(const store::Way& a, const store::Way& b) {
  store::Way way = a;
  way.is_exact = a.is_exact && b.is_exact;
  way.terms.insert(way.terms.end(), b.terms.begin(), b.terms.end());
  way.facts.insert(way.facts.end(), b.facts.begin(), b.facts.end());
  return way;
}

// Whether terms and facts say all that the predicate asks for: of any tensor, with whole numbers and closed names. What
// they are too short for is doubtful (facts.cpp), or not here.
bool is_exact(const Predicate& predicate) {
  if (predicate.tensor != kAnyTensor) return false;
  const bool equal = predicate.relation == Relation::kEqual, contains = predicate.relation == Relation::kContains;
  switch (predicate.field) {
    case Field::kOp:
    case Field::kDtype:
    case Field::kLayout:
    case Field::kStorage:
    case Field::kMemory:
    case Field::kBuffer:
    case Field::kModel:
    case Field::kMachine:
      return equal || contains;
    case Field::kRank:
    case Field::kDim:
    case Field::kTensors:
      return equal || (predicate.relation >= Relation::kLess && predicate.relation <= Relation::kGreaterEqual);
    case Field::kShape:
    case Field::kShard:
      return equal && !has_wildcards(std::get<ShapePattern>(predicate.operands.front()));
    case Field::kSharded:
      return true;
    case Field::kArgument:
      return contains && predicate.path.size() == 1;
    default:
      return false;
  }
}

store::Way way_of(const Predicate& predicate, const Vocabulary& vocabulary) {
  store::Way way{predicate_terms(predicate), predicate_facts(predicate, vocabulary)};
  way.is_exact = is_exact(predicate);
  return way;
}

}  // namespace

std::vector<store::Way> alternatives(const Selector& selector, const Vocabulary& vocabulary) {
  constexpr std::size_t kMost = 16;  // more ways than this are not worth their lookups
  std::vector<store::Way> ways;
  switch (selector.kind) {
    case Selector::Kind::kEverything:
    case Selector::Kind::kNot:
      return {};
    case Selector::Kind::kPredicate: {
      if (selector.predicate.relation != Relation::kIn) {
        ways.push_back(way_of(selector.predicate, vocabulary));
      } else {
        for (const Operand& operand : selector.predicate.operands) {
          Predicate one = selector.predicate;
          one.relation = Relation::kEqual;
          one.operands = {operand};
          ways.push_back(way_of(one, vocabulary));
        }
      }
      break;
    }
    case Selector::Kind::kOr:
      for (const Selector& part : selector.parts) {
        const auto more = alternatives(part, vocabulary);
        if (more.empty()) return {};
        ways.insert(ways.end(), more.begin(), more.end());
      }
      break;
    case Selector::Kind::kAnd:
      ways.emplace_back().is_exact = true;
      for (const Selector& part : selector.parts) {
        auto more = alternatives(part, vocabulary);
        if (ways.size() * more.size() > kMost) more.assign(1, {required_terms(part), {}});
        if (more.empty()) more.emplace_back();  // the others narrow, and it is asked of what they leave
        std::vector<store::Way> product;
        for (const auto& way : ways) {
          for (const auto& other : more) product.push_back(joined(way, other));
        }
        ways = std::move(product);
      }
      break;
  }
  const bool open =
      std::any_of(ways.begin(), ways.end(), [](const auto& way) { return way.terms.empty() && way.facts.empty(); });
  if (open) return {};
  for (auto& way : ways) way.terms = sorted_unique(std::move(way.terms));
  return ways;
}

std::string required_key(const Selector& selector) {
  if (selector.kind == Selector::Kind::kPredicate && selector.predicate.field == Field::kKey &&
      selector.predicate.relation == Relation::kEqual) {
    return std::get<std::string>(selector.predicate.operands.at(0));
  }
  if (selector.kind != Selector::Kind::kAnd) return "";
  for (const Selector& part : selector.parts) {
    if (std::string key = required_key(part); !key.empty()) return key;
  }
  return "";
}

}  // namespace opwright::select
