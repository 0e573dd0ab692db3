#include "model/value_number.h"

#include <charconv>
#include <cmath>

namespace opwright {

std::optional<double> number_of(const Value& value) {
  if (const std::int64_t* i = value.as_int()) return static_cast<double>(*i);
  if (const double* d = value.as_float()) return *d;
  if (const std::string* text = value.as_string()) {
    double out = 0;
    const char* end = text->data() + text->size();
    const auto [stop, error] = std::from_chars(text->data(), end, out);
    if (error == std::errc() && stop == end) return out;
    if (*text == "inf") return INFINITY;
    if (*text == "-inf") return -INFINITY;
  }
  return std::nullopt;
}

}  // namespace opwright
