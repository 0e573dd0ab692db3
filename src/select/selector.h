// The selector language: one grammar for every `--where` (docs/formats/selector.md).
//
//   Result<Selector> selector = parse_selector("op=add and (dtype=bfloat8_b or rank>=3)");
//   if (!selector) … selector.error().message: "selector, column 7: unknown field 'dtyp'; did you mean 'dtype'?" …
//   to_text(*selector);                     // "op=add and (dtype=BFLOAT8_B or rank>=3)"
//   matches(*selector, subject);            // select/evaluate.h
//   required_terms(*selector);              // select/terms.h
//
// A Selector is a plain value: copy it, compare it, build it by hand. Parsing brings it into one form (names in their
// canonical spelling, texts in lower case, nested `and`s flattened), so that parse_selector(to_text(s)) == s.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace opwright::select {

enum class Field : std::uint8_t {
  // of the configuration
  kOp,
  kConvention,
  kKey,
  kTensors,
  kArgument,
  // of its provenance, from kModel to kError
  kModel,
  kMachine,
  kCalls,
  kRaised,
  kError,
  // of its tensors (and, from kMemory on, of memory configs that are arguments)
  kDtype,
  kLayout,
  kStorage,
  kShape,
  kRank,
  kDim,
  kVolume,
  kDevice,
  kStrides,
  kMemory,
  kBuffer,
  kOrientation,
  kShard,
  kSharded,
};

enum class FieldType : std::uint8_t {
  kText,   // = != ~ in
  kName,   // = != in with a name of a closed set; ~ with any text
  kWhole,  // = != < <= > >= in with a whole number
  kShape,  // = != in with a shape pattern
  kFlag,   // no relation: the field's name alone
  kKey,    // = != in with the first hex digits of a key
  kValue,  // of an argument: no relation, or all of them
};

// One row of the table of fields; help texts and the documentation are made from it.
struct FieldInfo {
  Field field;
  FieldType type;
  bool of_tensor;  // may have a prefix `inN.`
  std::string_view name;
  std::string_view example;
  std::string_view summary;
};
std::span<const FieldInfo> fields();
const FieldInfo& info_of(Field field);

enum class Relation : std::uint8_t {
  kHolds,
  kEqual,
  kNotEqual,
  kContains,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn
};
std::string_view symbol_of(Relation relation);  // "=", "in"; "" for kHolds

struct DimPattern {
  enum class Kind : std::uint8_t { kExactly, kAny /* `*` */, kAnyNumber /* `...` */ };
  Kind kind = Kind::kExactly;
  std::int64_t size = 0;  // of kExactly
  friend bool operator==(const DimPattern&, const DimPattern&) = default;
};
using ShapePattern = std::vector<DimPattern>;
bool matches(const ShapePattern& pattern, std::span<const std::int64_t> shape);
bool has_wildcards(const ShapePattern& pattern);

// What a field is compared with. Which alternative it is follows from the field's type (kValue: a text, or a shape that
// was written in brackets).
using Operand = std::variant<std::int64_t, std::string, ShapePattern>;

inline constexpr std::int32_t kAnyTensor = -1;

// One comparison, such as `in0.dim[-1]>1024`.
struct Predicate {
  Field field = Field::kOp;
  std::int32_t tensor = kAnyTensor;  // N of `inN.`
  std::int64_t dim = 0;              // I of `dim[I]`; negative counts from the end
  std::vector<std::string> path;     // of an argument: its name, then names or numbers of what lies in it; folded
  Relation relation = Relation::kHolds;
  std::vector<Operand> operands;  // none for kHolds, at least two for kIn, else one
  friend bool operator==(const Predicate&, const Predicate&) = default;
};

struct Selector {
  enum class Kind : std::uint8_t { kEverything, kPredicate, kAnd, kOr, kNot };
  Kind kind = Kind::kEverything;
  Predicate predicate;          // of kPredicate
  std::vector<Selector> parts;  // kAnd, kOr: at least two, none of the same kind; kNot: one
  friend bool operator==(const Selector& a, const Selector& b) {
    return a.kind == b.kind && a.predicate == b.predicate && a.parts == b.parts;
  }
};

// An empty text matches everything. Errors are ErrorCode::kUsage and name the column.
Result<Selector> parse_selector(std::string_view text);

std::string to_text(const Selector& selector);
std::string to_text(const Predicate& predicate);
std::string to_text(const ShapePattern& pattern);

// True when the answer depends on how a configuration was seen: model, machine, calls, raised or error occur.
bool needs_provenance(const Selector& selector);

}  // namespace opwright::select
