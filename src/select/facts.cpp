#include "select/facts.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <string>
#include <system_error>

#include "base/hash.h"
#include "normalize/provenance_names.h"
#include "select/argument_key.h"
#include "select/evaluate.h"
#include "select/fields.h"
#include "select/fold.h"
#include "select/selected.h"
#include "select/terms.h"

namespace opwright::select {
namespace {

using store::AnyOf;
using store::Range;
using Number = std::numeric_limits<std::int64_t>;

constexpr std::size_t kMostRanges = 64;  // more are asked for as one that covers them

struct Kinds {
  std::array<std::array<std::uint64_t, kDeepest>, kDeepest + 1> dim{};  // by rank, then place
  std::uint64_t deep = xxh64("deep"), volume = xxh64("volume"), tensors = xxh64("tensors");
  std::uint64_t odd_dtype = xxh64("odd:dtype"), odd_layout = xxh64("odd:layout"), odd_storage = xxh64("odd:storage"),
                odd_memory = xxh64("odd:memory"), odd_buffer = xxh64("odd:buffer");
  Kinds() {
    for (std::size_t rank = 1; rank <= kDeepest; ++rank) {
      for (std::size_t i = 0; i < rank; ++i)
        dim[rank][i] = xxh64("dim:" + std::to_string(rank) + ":" + std::to_string(i));
    }
  }
};
const Kinds& kinds() {
  static const Kinds instance;
  return instance;
}

void append_folded(std::string& out, std::string_view text) {
  for (const char c : text) out += fold(c);
}

std::uint64_t argument_kind(std::string_view sort, std::string_view name, std::string_view member = "") {
  thread_local std::string text;
  text.assign(sort);
  append_folded(text, name);
  if (!member.empty()) {
    text += '.';
    append_folded(text, member);
  }
  return xxh64(text);
}

std::int64_t rounded_down(long double number) {
  if (number >= static_cast<long double>(Number::max())) return Number::max();
  if (number <= static_cast<long double>(Number::min())) return Number::min();
  return static_cast<std::int64_t>(std::floor(number));
}

long double number_in(std::string_view text) {
  long double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc::result_out_of_range) return number;
  const long double infinity = std::numeric_limits<long double>::infinity();
  return text.starts_with('-') ? -infinity : infinity;
}

std::int64_t bits_of(std::int64_t volume) {
  return volume <= 0 ? 0 : std::bit_width(static_cast<std::uint64_t>(volume));
}

// --- of a configuration --------------------------------------------------------------------------------------------

class Collector {
 public:
  Collector(ConfigId id, std::vector<store::Fact>& facts, std::vector<store::Word>& words)
      : id_(id), facts_(facts), words_(words), start_(static_cast<std::ptrdiff_t>(facts.size())) {}

  void add(std::uint64_t kind, std::int64_t value) { facts_.push_back({kind, value, id_}); }

  void add(const TensorSpec& spec) {
    add_odd(spec.dtype, kinds().odd_dtype);
    add_odd(spec.layout, kinds().odd_layout);
    add_odd(spec.storage, kinds().odd_storage);
    if (spec.memory) add(*spec.memory);
    if (!spec.has_shape) return;
    const std::size_t rank = spec.shape.size();
    if (rank > kDeepest) {
      add(kinds().deep, static_cast<std::int64_t>(rank));
    } else {
      for (std::size_t i = 0; i < rank; ++i) add(kinds().dim[rank][i], spec.shape[i]);
    }
    add(kinds().volume, bits_of(volume_of(spec.shape)));
  }

  void add(const MemoryConfig& memory) {
    add_odd(memory.layout, kinds().odd_memory);
    add_odd(memory.buffer, kinds().odd_buffer);
  }

  void add(const Argument& argument, bool has_tensor) {
    if (argument.value.is_null()) return;
    add_number(argument_kind_or(argument.value, "num:", argument.name, ""), argument.value);
    add_text(argument, has_tensor);
    const Struct* s = argument.value.as_struct();
    const Fields* fields = s != nullptr ? &s->fields : argument.value.as_dict();
    if (fields == nullptr) return;
    for (const auto& [name, member] : *fields) {
      if (!name.empty()) add_number(argument_kind_or(member, "num:", argument.name, name), member);
    }
  }

  void settle() {
    const auto less = [](const store::Fact& a, const store::Fact& b) {
      return a.kind != b.kind ? a.kind < b.kind : a.value < b.value;
    };
    std::sort(facts_.begin() + start_, facts_.end(), less);
    facts_.erase(std::unique(facts_.begin() + start_, facts_.end()), facts_.end());
  }

 private:
  template <class E>
  void add_odd(const Spelled<E>& name, std::uint64_t kind) {
    if (name.value == E::kUnknown) add(kind, 1);
  }

  static bool is_number(const Value& value) {
    const Value& inner = unwrapped(value);
    return inner.as_int() != nullptr || inner.as_float() != nullptr || std::holds_alternative<BigInt>(inner.data());
  }

  // Most values are no numbers, and need no kind.
  static std::uint64_t argument_kind_or(const Value& value, std::string_view sort, std::string_view name,
                                        std::string_view member) {
    return is_number(value) ? argument_kind(sort, name, member) : 0;
  }

  void add_number(std::uint64_t kind, const Value& value) {
    const Value& inner = unwrapped(value);
    if (const std::int64_t* i = inner.as_int()) {
      add(kind, *i);
    } else if (const double* d = inner.as_float()) {
      if (!std::isnan(*d)) add(kind, rounded_down(*d));
    } else if (const auto* big = std::get_if<BigInt>(&inner.data())) {
      add(kind, rounded_down(number_in(big->digits)));
    }
  }

  void add_text(const Argument& argument, bool has_tensor) {
    const std::uint64_t kind = argument_kind("text:", argument.name);
    std::string text = has_tensor ? std::string() : fold_name(to_text(argument.value));
    if (has_tensor || text.size() > kLongestWord) return add(kind, kOtherText);
    const std::int64_t word = word_of(text);
    add(kind, word);
    words_.push_back({kind, word, std::move(text)});
  }

  static std::int64_t word_of(std::string_view text) {
    return static_cast<std::int64_t>(xxh64(text) >> 1 | 1);  // none is kOtherText
  }

  ConfigId id_;
  std::vector<store::Fact>& facts_;
  std::vector<store::Word>& words_;
  std::ptrdiff_t start_;
};

// --- of a question -------------------------------------------------------------------------------------------------

// The numbers that a relation to `number` leaves, of whole ones.
bool bounds_of(Relation relation, std::int64_t number, std::int64_t& low, std::int64_t& high) {
  low = Number::min();
  high = Number::max();
  switch (relation) {
    case Relation::kEqual:
      low = high = number;
      return true;
    case Relation::kLess:
      high = number == Number::min() ? number : number - 1;
      return true;
    case Relation::kLessEqual:
      high = number;
      return true;
    case Relation::kGreater:
      low = number == Number::max() ? number : number + 1;
      return true;
    case Relation::kGreaterEqual:
      low = number;
      return true;
    default:
      return false;
  }
}

AnyOf dim_facts(std::int64_t dim, std::int64_t low, std::int64_t high) {
  AnyOf any;
  const std::size_t needed = static_cast<std::size_t>(dim < 0 ? -dim : dim + 1);
  for (std::size_t rank = needed; rank <= kDeepest; ++rank) {
    const std::size_t place = dim < 0 ? rank - needed : needed - 1;
    any.ranges.push_back({kinds().dim[rank][place], low, high});
  }
  any.doubtful.push_back({kinds().deep, 0, Number::max()});
  return any;
}

AnyOf rank_facts(std::int64_t low, std::int64_t high) {
  AnyOf any;
  for (std::int64_t rank = std::max<std::int64_t>(low, 0); rank <= std::min<std::int64_t>(high, kDeepest); ++rank)
    any.terms.push_back(xxh64("rank:" + std::to_string(rank)));
  any.ranges.push_back({kinds().deep, low, high});
  return any;
}

// Names of a closed set that hold the text, and whatever is outside of the set.
AnyOf name_facts(const Predicate& predicate, std::string_view kind, std::uint64_t odd) {
  AnyOf any;
  for (const std::string_view name : names_of(predicate.field).names) {
    if (contains_folded(name, std::get<std::string>(predicate.operands.front())))
      any.terms.push_back(xxh64(std::string(kind) + std::string(name)));
  }
  any.doubtful.push_back({odd, Number::min(), Number::max()});
  return any;
}

// Single values of a kind, neighbours together; all of the kind when there are too many.
AnyOf value_facts(std::uint64_t kind, std::vector<std::int64_t> values) {
  AnyOf any;
  std::sort(values.begin(), values.end());
  for (const std::int64_t value : values) {
    if (!any.ranges.empty() && value <= any.ranges.back().high + 1)
      any.ranges.back().high = value;
    else
      any.ranges.push_back({kind, value, value});
  }
  if (any.ranges.size() > kMostRanges) {
    any.doubtful = {{kind, any.ranges.front().low, any.ranges.back().high}};
    any.ranges.clear();
  }
  return any;
}

bool is_one_name(const Predicate& predicate) {
  const auto is_number = [](const std::string& name) {
    return std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return predicate.path.size() == 1 || (predicate.path.size() == 2 && !is_number(predicate.path[1]));
}

std::vector<AnyOf> argument_facts(const Predicate& predicate, const Vocabulary& vocabulary) {
  const auto* text = std::get_if<std::string>(&predicate.operands.front());
  if (text == nullptr || !is_one_name(predicate)) return {};
  const std::string_view member = predicate.path.size() > 1 ? std::string_view(predicate.path[1]) : "";
  if (predicate.relation == Relation::kContains) {
    if (!member.empty()) return {};
    const std::uint64_t kind = argument_kind("text:", predicate.path.front());
    std::vector<std::int64_t> values;
    for (const store::Word& word : vocabulary.words) {
      if (word.kind == kind && word.text.find(*text) != std::string::npos) values.push_back(word.value);
    }
    AnyOf any = value_facts(kind, std::move(values));
    any.doubtful.push_back({kind, kOtherText, kOtherText});
    return {any};
  }
  if (!is_order(predicate.relation)) return {};
  // Floats are compared as the float that the operand reads as: one more on either side covers both.
  const std::int64_t number = rounded_down(number_in(*text));
  std::int64_t low = Number::min(), high = Number::max();
  if (predicate.relation == Relation::kLess || predicate.relation == Relation::kLessEqual)
    high = number == Number::max() ? number : number + 1;
  else
    low = number == Number::min() ? number : number - 1;
  return {AnyOf{{}, {{argument_kind("num:", predicate.path.front(), member), low, high}}}};
}

// Sources or machines of which the predicate is true.
template <class Row, class NamesOf>
std::vector<AnyOf> seen_facts(const Predicate& predicate, std::uint64_t kind, const std::vector<Row>& rows,
                              const NamesOf& names_of) {
  Selector selector;
  selector.kind = Selector::Kind::kPredicate;
  selector.predicate = predicate;
  static const OpConfig none;
  std::vector<std::int64_t> values;
  for (const Row& row : rows) {
    std::vector<std::string_view> names;
    names_of(row, names);
    const bool of_model = predicate.field == Field::kModel;
    Subject subject{none};
    (of_model ? subject.models : subject.machines) = names;
    if (matches(selector, subject)) values.push_back(row.id.value);
  }
  return {value_facts(kind, std::move(values))};
}

template <class Visit>
void for_each_predicate(const Selector& selector, const Visit& visit) {
  if (selector.kind == Selector::Kind::kPredicate) visit(selector.predicate);
  for (const Selector& part : selector.parts) for_each_predicate(part, visit);
}

}  // namespace

void append_facts(const OpConfig& config, ConfigId id, std::vector<store::Fact>& facts,
                  std::vector<store::Word>& words) {
  Collector collector(id, facts, words);
  std::int64_t tensors = 0;
  for (const Argument& argument : config.args) {
    const std::int64_t before = tensors;
    for_each_tensor(argument.value, [&](const TensorSpec& spec) {
      collector.add(spec);
      ++tensors;
    });
    for_each_memory(argument.value, [&](const MemoryConfig& memory) { collector.add(memory); });
    collector.add(argument, tensors > before);
  }
  collector.add(kinds().tensors, tensors);
  collector.settle();
}

Result<Vocabulary> vocabulary_of(const Selector& selector, store::Reader& reader) {
  bool operations = false, sources = false, machines = false;
  std::vector<std::uint64_t> texts;
  for_each_predicate(selector, [&](const Predicate& predicate) {
    const bool contains = predicate.relation == Relation::kContains;
    operations = operations || (contains && predicate.field == Field::kOp);
    sources = sources || predicate.field == Field::kModel;
    machines = machines || predicate.field == Field::kMachine;
    if (contains && predicate.field == Field::kArgument && predicate.path.size() == 1)
      texts.push_back(argument_kind("text:", predicate.path.front()));
  });
  Vocabulary vocabulary;
  if (operations) {
    OPWRIGHT_TRY_ASSIGN(vocabulary.operations, reader.operation_names());
  }
  if (sources) {
    OPWRIGHT_TRY_ASSIGN(vocabulary.sources, reader.sources());
  }
  if (machines) {
    OPWRIGHT_TRY_ASSIGN(vocabulary.machines, reader.machines());
  }
  if (!texts.empty()) {
    OPWRIGHT_TRY_ASSIGN(vocabulary.words, reader.words(texts));
  }
  return vocabulary;
}

std::vector<store::AnyOf> predicate_facts(const Predicate& predicate, const Vocabulary& vocabulary) {
  if (predicate.relation == Relation::kNotEqual || predicate.operands.empty()) return {};
  const bool contains = predicate.relation == Relation::kContains;
  const auto* number = std::get_if<std::int64_t>(&predicate.operands.front());
  std::int64_t low = 0, high = 0;
  const bool bounded = number != nullptr && bounds_of(predicate.relation, *number, low, high);
  switch (predicate.field) {
    case Field::kDim:
      return bounded ? std::vector{dim_facts(predicate.dim, low, high)} : std::vector<AnyOf>();
    case Field::kRank:
      return bounded ? std::vector{rank_facts(low, high)} : std::vector<AnyOf>();
    case Field::kVolume:
      if (!bounded) return {};
      return {AnyOf{{}, {{kinds().volume, bits_of(low), bits_of(high)}}}};
    case Field::kTensors:
      if (!bounded) return {};
      return {AnyOf{{}, {{kinds().tensors, low, high}}}};
    case Field::kArgument:
      return argument_facts(predicate, vocabulary);
    case Field::kDtype:
      return contains ? std::vector{name_facts(predicate, "dtype:", kinds().odd_dtype)} : std::vector<AnyOf>();
    case Field::kLayout:
      return contains ? std::vector{name_facts(predicate, "layout:", kinds().odd_layout)} : std::vector<AnyOf>();
    case Field::kStorage:
      return contains ? std::vector{name_facts(predicate, "storage:", kinds().odd_storage)} : std::vector<AnyOf>();
    case Field::kMemory:
      return contains ? std::vector{name_facts(predicate, "memory:", kinds().odd_memory)} : std::vector<AnyOf>();
    case Field::kBuffer:
      return contains ? std::vector{name_facts(predicate, "buffer:", kinds().odd_buffer)} : std::vector<AnyOf>();
    case Field::kOp: {
      if (!contains) return {};
      AnyOf any;
      for (const std::string& name : vocabulary.operations) {
        const std::string folded = fold_name(name);
        if (folded.find(std::get<std::string>(predicate.operands.front())) != std::string::npos)
          any.terms.push_back(xxh64("op:" + folded));
      }
      return {any};
    }
    case Field::kModel:
      return seen_facts(predicate, store::kSourceFact, vocabulary.sources,
                        [](const store::SourceRow& row, std::vector<std::string_view>& names) {
                          thread_local std::string model;  // by the rules of this build
                          model = normalize::name_source(row.text).model;
                          names = {model, row.text, row.hf_model};
                        });
    case Field::kMachine:
      return seen_facts(predicate, store::kMachineFact, vocabulary.machines,
                        [](const store::MachineRow& row, std::vector<std::string_view>& names) {
                          append_machine_names(row.label, names);
                        });
    default:
      return {};
  }
}

}  // namespace opwright::select
