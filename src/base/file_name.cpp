#include "base/file_name.h"

#include <algorithm>

#include "base/hash.h"

namespace opwright {
namespace {

constexpr std::size_t kHash = 13;  // '_' and 12 digits

std::string made(std::string_view text, std::string_view name, std::size_t most, bool hashed) {
  std::string out(name);
  if (out.size() > most || hashed) {
    out.resize(std::min(out.size(), most - kHash));
    out += "_" + to_hex(sha256(text)).substr(0, kHash - 1);
  }
  return out;
}

bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

std::string plain(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const bool good = (c >= 'a' && c <= 'z') || is_upper(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
    if (!good) c = '_';
  }
  return out;
}

}  // namespace

std::string file_name_part(std::string_view text, std::size_t most) { return made(text, plain(text), most, false); }

std::string lower_file_name_part(std::string_view text, std::size_t most) {
  std::string name = plain(text);
  bool changed = false;
  for (char& c : name) {
    if (!is_upper(c)) continue;
    c = static_cast<char>(c - 'A' + 'a');
    changed = true;
  }
  return made(text, name, most, changed);
}

}  // namespace opwright
