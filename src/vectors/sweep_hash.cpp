#include "vectors/sweep_hash.h"

#include <openssl/evp.h>

#include <array>

#include "base/hash.h"
#include "base/json_write.h"

namespace opwright::vectors {

std::string compact_sorted(const json::Node& node) {
  std::string out;
  json::append_python(out, node, {.sort_keys = true, .ascii = false, .blanks = false});
  return out;
}

std::string sweep_hash(const json::Node& vector) {
  const std::string text = compact_sorted(vector);
  std::array<unsigned char, 28> digest{};
  EVP_Digest(text.data(), text.size(), digest.data(), nullptr, EVP_sha224(), nullptr);
  return to_hex(digest.data(), digest.size());
}

}  // namespace opwright::vectors
