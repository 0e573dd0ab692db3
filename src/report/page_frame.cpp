#include "report/page_frame.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>

#include "base/hash.h"

namespace opwright::report {

std::string json_in_html(std::string_view json) {
  std::string out;
  for (const char c : json) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

std::string allowed(std::string_view source) {
  const Sha256 hash = sha256(source);
  std::array<unsigned char, 48> text{};
  const int size = EVP_EncodeBlock(text.data(), hash.data(), static_cast<int>(hash.size()));
  return fmt::format("'sha256-{}'",
                     std::string_view(reinterpret_cast<const char*>(text.data()), static_cast<std::size_t>(size)));
}

std::string policy_of(std::string_view style, const std::vector<std::string_view>& scripts) {
  std::string sources;
  for (const std::string_view script : scripts) sources += " " + allowed(script);
  return fmt::format("default-src 'none'; style-src {}; script-src{}; base-uri 'none'; form-action 'none'",
                     allowed(style), sources);
}

std::string filled(std::string_view text, const std::vector<std::pair<std::string_view, std::string>>& values) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t open = std::min(text.find("{{", at), text.size());
    out += text.substr(at, open - at);
    if (open == text.size()) break;
    const std::size_t close = text.find("}}", open);
    const std::string_view name = text.substr(open + 2, close - open - 2);
    for (const auto& [key, value] : values) {
      if (key == name) out += value;
    }
    at = close + 2;
  }
  return out;
}

}  // namespace opwright::report
