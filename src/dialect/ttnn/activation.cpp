#include "dialect/ttnn/activation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include "base/text.h"
#include "model/value_number.h"

namespace opwright {
namespace {

// Other names of a function, with the parameters that the name stands for.
struct Synonym {
  std::string_view text;
  std::string_view name;
  std::vector<double> params;
};

const std::array<Synonym, 8>& synonyms() {
  static const std::array<Synonym, 8> list{{
      {"gelu_approx", "gelu", {1}},
      {"logical_not_unary", "logical_not", {}},
      {"pow", "power", {}},
      {"recip", "reciprocal", {}},
      {"sigmoid_approx", "sigmoid", {4, 1}},
      {"swish", "silu", {}},
      {"power_iterative", "power", {}},
      {"relu_6", "relu6", {}},
  }};
  return list;
}

// "UnaryOpType::SILU", "ttnn.UnaryOpType.SILU", "silu" -> "silu"
Activation of_name(std::string_view text) {
  std::string name;
  for (const char c : last_part(text)) name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Synonym& synonym : synonyms())
    if (synonym.text == name) return {std::string(synonym.name), synonym.params};
  return {std::move(name), {}};
}

bool is_word(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == ':';
  });
}

std::optional<double> number_in(const Value& value) {
  if (const bool* b = value.as_bool()) return *b ? 1.0 : 0.0;
  return number_of(value);
}

// A number or a list of numbers, appended; false when it is something else.
bool append_params(const Value& value, std::vector<double>& params) {
  if (value.is_null()) return true;
  if (const List* list = value.as_list())
    return std::ranges::all_of(*list, [&](const Value& item) { return append_params(item, params); });
  const auto number = number_in(value);
  if (number) params.push_back(*number);
  return number.has_value();
}

// `UnaryWithParam(op_type=UnaryOpType::GELU,param={1})`, as program configs print it.
std::optional<Activation> of_text(std::string_view text) {
  if (is_word(text)) return of_name(text);
  const std::size_t type = text.find("UnaryOpType");
  if (type == std::string_view::npos) return std::nullopt;
  const std::size_t end = text.find_first_of(",;)}] ", type);
  Activation out = of_name(text.substr(type, end == std::string_view::npos ? end : end - type));
  const std::size_t open = end == std::string_view::npos ? end : text.find_first_of("{[", end);
  if (open == std::string_view::npos) return out;
  for (std::size_t at = open + 1; at < text.size() && text[at] != '}' && text[at] != ']';) {
    double number = 0;
    const auto [stop, error] = std::from_chars(text.data() + at, text.data() + text.size(), number);
    if (error == std::errc()) out.params.push_back(number);
    at = error == std::errc() ? static_cast<std::size_t>(stop - text.data()) : at + 1;
  }
  return out;
}

std::optional<Activation> of_value(const Value& value) {
  if (const Enum* e = value.as_enum()) return of_name(e->name);
  if (const std::string* text = value.as_string()) return of_text(*text);
  const Struct* s = value.as_struct();
  const Fields* fields = s != nullptr ? &s->fields : value.as_dict();
  if (fields == nullptr) return std::nullopt;
  std::optional<Activation> out;
  std::vector<double> params;
  for (const auto& [name, item] : *fields) {
    if (!out && number_in(item) == std::nullopt && item.as_list() == nullptr)
      out = of_value(item);
    else if (!append_params(item, params))
      return std::nullopt;
  }
  if (out && !params.empty()) out->params = std::move(params);
  return out;
}

}  // namespace

Checked<std::vector<Activation>> activations_of(const Value& value, std::string_view argument) {
  std::vector<Activation> out;
  if (value.is_null()) return out;
  if (const std::string* text = value.as_string(); text != nullptr && text->empty()) return out;
  if (const List* list = value.as_list()) {
    for (const Value& item : *list) {
      OPWRIGHT_CHECK_ASSIGN(const auto some, activations_of(item, argument));
      out.insert(out.end(), some.begin(), some.end());
    }
    return out;
  }
  if (value.as_opaque() != nullptr)
    return lost(std::string(argument), fmt::format("the trace does not say which function {} is", argument));
  // The library prints the function of a program config as its number, which means another one in every version.
  if (const Fields* dict = value.as_dict())
    for (const auto& [name, item] : *dict)
      if (name == "op_type" && item.as_int() != nullptr)
        return lost(
            std::string(argument),
            fmt::format("the trace gives the function of {} only as number {}, which differs between versions of "
                        "the library",
                        argument, *item.as_int()));
  std::optional<Activation> read = of_value(value);
  if (!read)
    return refuse(fmt::format("incompatible function arguments: {} cannot be {}", argument, to_text(value)),
                  std::string(argument));
  out.push_back(*std::move(read));
  return out;
}

bool is_approximate(const Activation& activation) {
  static constexpr std::array kFlagged{"erf",   "erfc",  "exp",     "gelu", "log",
                                       "log1p", "rsqrt", "sigmoid", "sqrt", "tanh"};
  return !activation.params.empty() && activation.params.back() == 1.0 &&
         std::ranges::find(kFlagged, activation.name) != kFlagged.end();
}

}  // namespace opwright
