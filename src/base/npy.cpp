#include "base/npy.h"

#include <fmt/format.h>

namespace opwright {

std::string npy_header(std::string_view type, std::span<const std::int64_t> shape) {
  std::string dims;
  for (const std::int64_t n : shape) dims += fmt::format("{}, ", n);
  if (shape.size() > 1) dims.resize(dims.size() - 2);   // (2, 3)
  if (shape.size() == 1) dims.resize(dims.size() - 1);  // (2,)
  std::string text = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", type, dims);
  constexpr std::size_t kBefore = 10, kAlignment = 64;  // magic, version, length
  while ((kBefore + text.size() + 1) % kAlignment != 0) text += ' ';
  text += '\n';
  std::string out = "\x93NUMPY";
  out += '\x01';
  out += '\0';
  out += static_cast<char>(text.size() & 0xff);
  out += static_cast<char>(text.size() >> 8);
  return out + text;
}

}  // namespace opwright
