// An argument of an operator call. The set of kinds is closed (DESIGN §5).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "model/tensor_spec.h"

namespace opwright {

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

struct BigInt {  // an integer beyond 64 bits, as its decimal digits with an optional '-'
  std::string digits;
  friend bool operator==(const BigInt&, const BigInt&) = default;
};

struct Enum {  // `DataType.BFLOAT16`: type "DataType", name "BFLOAT16"
  std::string type;
  std::string name;
  friend bool operator==(const Enum&, const Enum&) = default;
};

struct Opaque {  // something whose inside the trace does not show: kept as text, never interpreted
  std::string type;
  std::string text;
  friend bool operator==(const Opaque&, const Opaque&) = default;
};

struct Struct;
class Value;
using Fields = std::vector<std::pair<std::string, Value>>;  // an empty name is a positional member
using List = std::vector<Value>;
struct Dict;  // unlike a struct it has no type, and its keys are data

class Value {
 public:
  using Data = std::variant<std::monostate, bool, std::int64_t, BigInt, double, std::string, Enum, List,
                            std::shared_ptr<const Dict>, std::shared_ptr<const Struct>, Opaque,
                            std::shared_ptr<const TensorSpec>, std::shared_ptr<const MemoryConfig>>;

  Value() = default;  // null: passed as None / nullopt (an argument that was not passed is not in the call at all)
  template <class T>
    requires(!std::is_same_v<std::decay_t<T>, Value> && !std::is_same_v<std::decay_t<T>, const char*>)
  explicit Value(T&& data) : data_(std::forward<T>(data)) {}
  explicit Value(const char* text) : data_(std::string(text)) {}
  Value(const Value&);
  Value(Value&&) noexcept;
  Value& operator=(const Value&);
  Value& operator=(Value&&) noexcept;
  ~Value();

  static Value dict(Fields entries);
  static Value structure(std::string type, Fields fields);
  static Value tensor(TensorSpec spec);
  static Value memory(MemoryConfig config);
  static Value opaque(std::string type, std::string text) { return Value(Opaque{std::move(type), std::move(text)}); }

  const Data& data() const { return data_; }
  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  // Typed views: a pointer, or null when the value is of another kind.
  const bool* as_bool() const { return std::get_if<bool>(&data_); }
  const std::int64_t* as_int() const { return std::get_if<std::int64_t>(&data_); }
  const double* as_float() const { return std::get_if<double>(&data_); }
  const std::string* as_string() const { return std::get_if<std::string>(&data_); }
  const Enum* as_enum() const { return std::get_if<Enum>(&data_); }
  const List* as_list() const { return std::get_if<List>(&data_); }
  const Fields* as_dict() const;
  const Struct* as_struct() const;
  const Opaque* as_opaque() const { return std::get_if<Opaque>(&data_); }
  const TensorSpec* as_tensor() const;
  const MemoryConfig* as_memory() const;

 private:
  Data data_;
};

struct Dict {
  Fields entries;
};
struct Struct {
  std::string type;
  Fields fields;
};

// The one text of a value: readable, unambiguous, independent of spelling and of the order of named fields.
// It is what identity is taken over, what `show` prints and what a selector compares with.
//   none  true  3  0.5  inf  "text"  DataType.BFLOAT16  [1,2]  {"k":1}  Type(a=1,b=2)  opaque(Type,"text")
//   memory(L1 HEIGHT_SHARDED shard [224,32] on (0,0)-(7,6) ROW_MAJOR)
//   tensor([1,1,12544,32] BFLOAT8_B TILE DEVICE memory(DRAM INTERLEAVED))
std::string to_text(const Value& value);
// A name as it stands in such a text: quoted where it has other than letters, digits and _ . : < >
void append_name(std::string& out, std::string_view name);
void append_text(std::string& out, const Value& value);
void append_text(std::string& out, const Shape& shape);
std::string to_text(const Shape& shape);
std::string to_text(const TensorSpec& spec);
std::string to_text(const MemoryConfig& config);
bool operator==(const Value& a, const Value& b);

// Calls visit(spec) for each tensor inside `value`, in order, lists and structs included.
template <class F>
void for_each_tensor(const Value& value, F&& visit) {
  if (const TensorSpec* spec = value.as_tensor())
    visit(*spec);
  else if (const List* list = value.as_list())
    for (const Value& item : *list) for_each_tensor(item, visit);
  else if (const Fields* dict = value.as_dict())
    for (const auto& [key, item] : *dict) for_each_tensor(item, visit);
  else if (const Struct* s = value.as_struct())
    for (const auto& [key, item] : s->fields) for_each_tensor(item, visit);
}
// The same for memory configs that are arguments themselves (those of tensors belong to the tensors).
template <class F>
void for_each_memory(const Value& value, F&& visit) {
  if (const MemoryConfig* config = value.as_memory())
    visit(*config);
  else if (const List* list = value.as_list())
    for (const Value& item : *list) for_each_memory(item, visit);
  else if (const Fields* dict = value.as_dict())
    for (const auto& [key, item] : *dict) for_each_memory(item, visit);
  else if (const Struct* s = value.as_struct())
    for (const auto& [key, item] : s->fields) for_each_memory(item, visit);
}

}  // namespace opwright
