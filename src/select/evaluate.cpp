#include "select/evaluate.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <string>
#include <system_error>

#include "base/broken.h"
#include "base/hash.h"
#include "select/argument_key.h"
#include "select/fold.h"

namespace opwright::select {
namespace {

template <class T>
bool ordered(Relation relation, const T& left, const T& right) {
  switch (relation) {
    case Relation::kEqual:
      return left == right;
    case Relation::kLess:
      return left < right;
    case Relation::kLessEqual:
      return left <= right;
    case Relation::kGreater:
      return left > right;
    case Relation::kGreaterEqual:
      return left >= right;
    default:
      return false;
  }
}

const std::string& text_of(const Operand& operand) { return std::get<std::string>(operand); }

// --- one question about one thing; the relation is kEqual, kContains or an order -----------------------------------

bool holds_for_op(std::string_view op, Relation relation, const Operand& operand) {
  thread_local std::string name;  // asked of every configuration of a store: no allocation
  name.clear();
  append_folded_name(name, op);
  const std::string& wanted = text_of(operand);
  if (relation == Relation::kContains) return name.find(wanted) != std::string::npos;
  return name == wanted ||
         (name.size() > wanted.size() && name.ends_with(wanted) && name[name.size() - wanted.size() - 1] == '.');
}

bool holds_for_texts(std::span<const std::string_view> texts, Relation relation, const Operand& operand) {
  return std::any_of(texts.begin(), texts.end(), [&](std::string_view text) {
    return relation == Relation::kContains ? contains_folded(text, text_of(operand))
                                           : equals_folded(text, text_of(operand));
  });
}

// `name` is of a closed set and in its canonical spelling, as the operand of `=` is.
bool holds_for_name(std::string_view name, Relation relation, const Operand& operand) {
  return relation == Relation::kContains ? contains_folded(name, text_of(operand)) : name == text_of(operand);
}

template <class E>
bool holds_for_name(const Spelled<E>& name, Relation relation, const Operand& operand) {
  return name.present() && holds_for_name(name.name(), relation, operand);
}

bool holds_for_number(std::int64_t number, Relation relation, const Operand& operand) {
  return ordered(relation, number, std::get<std::int64_t>(operand));
}

bool holds_for_memory(const MemoryConfig& memory, const Predicate& predicate, Relation relation,
                      const Operand* operand) {
  const auto any_shard = [&](auto&& holds) {
    return (memory.shard && holds(*memory.shard)) || (memory.nd_shard && holds(*memory.nd_shard));
  };
  switch (predicate.field) {
    case Field::kMemory:
      return holds_for_name(memory.layout, relation, *operand);
    case Field::kBuffer:
      return holds_for_name(memory.buffer, relation, *operand);
    case Field::kSharded:
      return memory.sharded();
    case Field::kShard:
      return any_shard([&](const ShardSpec& shard) { return matches(std::get<ShapePattern>(*operand), shard.shape); });
    case Field::kOrientation:
      return any_shard([&](const ShardSpec& shard) { return holds_for_name(shard.orientation, relation, *operand); });
    default:
      return false;
  }
}

bool is_int_list(const Value& value, Shape& ints) {
  const List* list = value.as_list();
  if (list == nullptr) return false;
  ints.clear();
  for (const Value& item : *list) {
    const std::int64_t* number = item.as_int();
    if (number == nullptr) return false;
    ints.push_back(*number);
  }
  return true;
}

const Value* more_of(const TensorSpec& spec, std::string_view name) {
  for (const auto& [field, value] : spec.more)
    if (field == name) return &value;
  return nullptr;
}

bool holds_for_tensor(const TensorSpec& spec, const Predicate& predicate, Relation relation, const Operand* operand) {
  switch (predicate.field) {
    case Field::kDtype:
      return holds_for_name(spec.dtype, relation, *operand);
    case Field::kLayout:
      return holds_for_name(spec.layout, relation, *operand);
    case Field::kStorage:
      return holds_for_name(spec.storage, relation, *operand);
    case Field::kShape:
      return spec.has_shape && matches(std::get<ShapePattern>(*operand), spec.shape);
    case Field::kRank:
      return spec.has_shape && holds_for_number(static_cast<std::int64_t>(spec.shape.size()), relation, *operand);
    case Field::kDim: {
      const auto rank = static_cast<std::int64_t>(spec.shape.size());
      if (!spec.has_shape || predicate.dim >= rank || predicate.dim < -rank) return false;
      const std::int64_t index = predicate.dim < 0 ? predicate.dim + rank : predicate.dim;
      return holds_for_number(spec.shape[static_cast<std::size_t>(index)], relation, *operand);
    }
    case Field::kVolume:
      return spec.has_shape && holds_for_number(volume_of(spec.shape), relation, *operand);
    case Field::kDevice: {
      const Value* device = more_of(spec, "device");
      if (device == nullptr || device->as_string() == nullptr) return false;
      const std::string_view text = *device->as_string();
      return holds_for_texts({&text, 1}, relation, *operand);
    }
    case Field::kStrides: {
      const Value* strides = more_of(spec, "strides");
      Shape numbers;
      return strides != nullptr && is_int_list(*strides, numbers) && matches(std::get<ShapePattern>(*operand), numbers);
    }
    default:
      return spec.memory && holds_for_memory(*spec.memory, predicate, relation, operand);
  }
}

bool is_of_memory(Field field) { return field >= Field::kMemory; }

bool holds_for_tensors(const OpConfig& config, const Predicate& predicate, Relation relation, const Operand* operand) {
  bool found = false;
  std::int32_t number = 0;
  for (const Argument& argument : config.args) {
    for_each_tensor(argument.value, [&](const TensorSpec& spec) {
      if (!found && (predicate.tensor == kAnyTensor || predicate.tensor == number)) {
        found = holds_for_tensor(spec, predicate, relation, operand);
      }
      ++number;
    });
    if (!found && predicate.tensor == kAnyTensor && is_of_memory(predicate.field)) {
      for_each_memory(argument.value, [&](const MemoryConfig& memory) {
        found = found || holds_for_memory(memory, predicate, relation, operand);
      });
    }
    if (found) return true;
  }
  return false;
}

bool key_equals(const Value& value, const std::string& key) {
  std::string buffer;
  if (any_scalar_key(value, buffer, [&](std::string_view own) { return own == key; })) return true;
  if (!may_be_composite(key)) return false;
  buffer.clear();
  append_key(buffer, to_text(value));
  return buffer == key;
}

// Of a number's key or the digits of an integer of any size.
template <class Float>
Float number_of(std::string_view text) {
  Float number = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc::result_out_of_range) {
    return text.starts_with('-') ? -std::numeric_limits<Float>::infinity() : std::numeric_limits<Float>::infinity();
  }
  return number;
}

bool number_holds(const Value& value, Relation relation, const std::string& operand) {
  // A float is compared as the float that the operand reads as, an integer with all its digits.
  if (const double* d = value.as_float()) return ordered(relation, *d, number_of<double>(operand));
  long double number = 0;
  if (const std::int64_t* i = value.as_int())
    number = static_cast<long double>(*i);
  else if (const auto* big = std::get_if<BigInt>(&value.data()))
    number = number_of<long double>(big->digits);
  else
    return false;
  return ordered(relation, number, number_of<long double>(operand));
}

bool holds_for_value(const Value& value, Relation relation, const Operand* operand) {
  if (relation == Relation::kHolds) return !value.is_null();
  const Value& inner = unwrapped(value);
  if (const auto* pattern = std::get_if<ShapePattern>(operand)) {
    Shape ints;
    return is_int_list(inner, ints) && matches(*pattern, ints);
  }
  const std::string& text = text_of(*operand);
  if (relation == Relation::kEqual) return key_equals(value, text) || (&inner != &value && key_equals(inner, text));
  if (relation == Relation::kContains)
    return !value.is_null() && fold_name(to_text(value)).find(text) != std::string::npos;
  return number_holds(inner, relation, text);
}

// Asks about what lies at path[depth…] in `value`.
bool holds_in(const Value& value, const Predicate& predicate, std::size_t depth, Relation relation,
              const Operand* operand) {
  if (depth == predicate.path.size()) return holds_for_value(value, relation, operand);
  const std::string& name = predicate.path[depth];
  const bool numbered = std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; });
  const auto is_wanted = [&](std::size_t index) { return numbered && std::to_string(index) == name; };
  const auto in_fields = [&](const Fields& fields, bool by_position) {
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const auto& [key, item] = fields[i];
      const bool wanted = by_position && key.empty() ? is_wanted(i) : equals_folded(key, name);
      if (wanted && holds_in(item, predicate, depth + 1, relation, operand)) return true;
    }
    return false;
  };
  if (const Struct* s = value.as_struct()) return in_fields(s->fields, true);
  if (const Fields* dict = value.as_dict()) return in_fields(*dict, false);
  if (const List* list = value.as_list()) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      if (is_wanted(i)) return holds_in((*list)[i], predicate, depth + 1, relation, operand);
    }
  }
  return false;
}

bool holds_for_arguments(const OpConfig& config, const Predicate& predicate, Relation relation,
                         const Operand* operand) {
  return std::any_of(config.args.begin(), config.args.end(), [&](const Argument& argument) {
    return equals_folded(argument.name, predicate.path.front()) &&
           holds_in(argument.value, predicate, 1, relation, operand);
  });
}

std::int64_t count_tensors(const OpConfig& config) {
  std::int64_t count = 0;
  for (const Argument& argument : config.args) for_each_tensor(argument.value, [&](const TensorSpec&) { ++count; });
  return count;
}

bool holds(const Subject& subject, const Predicate& predicate, Relation relation, const Operand* operand) {
  switch (predicate.field) {
    case Field::kOp:
      return holds_for_op(subject.config.op, relation, *operand);
    case Field::kConvention:
      return holds_for_name(name_of(subject.config.convention), relation, *operand);
    case Field::kKey:
      return to_hex(subject.config.key).starts_with(text_of(*operand));
    case Field::kTensors:
      return holds_for_number(count_tensors(subject.config), relation, *operand);
    case Field::kArgument:
      return holds_for_arguments(subject.config, predicate, relation, operand);
    case Field::kModel:
      return holds_for_texts(subject.models, relation, *operand);
    case Field::kMachine:
      return holds_for_texts(subject.machines, relation, *operand);
    case Field::kCalls:
      return holds_for_number(subject.calls, relation, *operand);
    case Field::kRaised:
      return holds_for_number(subject.raised, relation, *operand);
    case Field::kError:
      return !subject.error.empty() && holds_for_texts({&subject.error, 1}, relation, *operand);
    default:
      return holds_for_tensors(subject.config, predicate, relation, operand);
  }
}

bool matches(const Predicate& predicate, const Subject& subject) {
  switch (predicate.relation) {
    case Relation::kHolds:
      return holds(subject, predicate, Relation::kHolds, nullptr);
    case Relation::kNotEqual:
      return !holds(subject, predicate, Relation::kEqual, &predicate.operands.front());
    case Relation::kIn:
      return std::any_of(predicate.operands.begin(), predicate.operands.end(),
                         [&](const Operand& operand) { return holds(subject, predicate, Relation::kEqual, &operand); });
    default:
      return holds(subject, predicate, predicate.relation, &predicate.operands.front());
  }
}

}  // namespace

std::int64_t volume_of(const Shape& shape) {
  std::int64_t volume = 1;
  bool overflow = false, zero = false;
  for (const std::int64_t size : shape) {
    zero = zero || size == 0;
    overflow = overflow || __builtin_mul_overflow(volume, size, &volume);
  }
  if (zero) return 0;
  return overflow ? std::numeric_limits<std::int64_t>::max() : volume;
}

bool matches(const Selector& selector, const Subject& subject) {
  const auto part_matches = [&](const Selector& part) { return matches(part, subject); };
  switch (selector.kind) {
    case Selector::Kind::kEverything:
      return true;
    case Selector::Kind::kPredicate:
      return matches(selector.predicate, subject);
    case Selector::Kind::kAnd:
      return std::all_of(selector.parts.begin(), selector.parts.end(), part_matches);
    case Selector::Kind::kOr:
      return std::any_of(selector.parts.begin(), selector.parts.end(), part_matches);
    case Selector::Kind::kNot:
      return !part_matches(selector.parts.front());
  }
  broken("a selector is of one of its kinds", std::to_string(static_cast<int>(selector.kind)));
}

}  // namespace opwright::select
