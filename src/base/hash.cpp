#include "base/hash.h"

#include <openssl/evp.h>
#include <xxhash.h>

#include "base/broken.h"

namespace opwright {
namespace {

// EVP_MD_fetch costs more than hashing a small record, so each algorithm is fetched once.
const EVP_MD* fetched(const char* name) {
  const EVP_MD* md = EVP_MD_fetch(nullptr, name, nullptr);
  if (md == nullptr) broken("the crypto library has the standard hashes", name);
  return md;
}

struct Digester {
  EVP_MD_CTX* context = EVP_MD_CTX_new();
  ~Digester() { EVP_MD_CTX_free(context); }
};

void digest(const EVP_MD* md, std::string_view text, std::uint8_t* out) {
  thread_local Digester digester;
  unsigned size = 0;
  if (EVP_DigestInit_ex2(digester.context, md, nullptr) != 1 ||
      EVP_DigestUpdate(digester.context, text.data(), text.size()) != 1 ||
      EVP_DigestFinal_ex(digester.context, out, &size) != 1) {
    broken("the crypto library computes what it has", std::to_string(text.size()) + " bytes");
  }
}

int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

}  // namespace

Hash128 xxh128(std::string_view text, std::uint64_t seed) {
  const XXH128_hash_t hash = XXH3_128bits_withSeed(text.data(), text.size(), seed);
  return {hash.high64, hash.low64};
}

std::uint64_t xxh64(std::string_view text) { return XXH3_64bits(text.data(), text.size()); }

Sha256 sha256(std::string_view text) {
  static const EVP_MD* md = fetched("SHA256");
  Sha256 hash;
  digest(md, text, hash.data());
  return hash;
}

std::string md5_hex(std::string_view text) {
  static const EVP_MD* md = fetched("MD5");
  std::array<std::uint8_t, 16> hash{};
  digest(md, text, hash.data());
  return to_hex(hash.data(), hash.size());
}

std::string to_hex(const std::uint8_t* bytes, std::size_t count) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text(count * 2, '0');
  for (std::size_t i = 0; i < count; ++i) {
    text[2 * i] = kDigits[bytes[i] >> 4];
    text[2 * i + 1] = kDigits[bytes[i] & 15];
  }
  return text;
}

std::string to_hex(const Sha256& hash) { return to_hex(hash.data(), hash.size()); }

std::string to_hex(const Hash128& hash) {
  std::array<std::uint8_t, 16> bytes{};
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(hash.high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<std::uint8_t>(hash.low >> (56 - 8 * i));
  }
  return to_hex(bytes.data(), bytes.size());
}

bool from_hex(std::string_view text, Sha256& hash) {
  if (text.size() != 64) return false;
  for (std::size_t i = 0; i < 32; ++i) {
    const int high = nibble(text[2 * i]);
    const int low = nibble(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    hash[i] = static_cast<std::uint8_t>(high * 16 + low);
  }
  return true;
}

StreamHash::StreamHash() : state_(XXH3_createState()) { XXH3_128bits_reset(static_cast<XXH3_state_t*>(state_)); }
StreamHash::~StreamHash() { XXH3_freeState(static_cast<XXH3_state_t*>(state_)); }
void StreamHash::add(std::string_view piece) {
  XXH3_128bits_update(static_cast<XXH3_state_t*>(state_), piece.data(), piece.size());
}
Hash128 StreamHash::digest() const {
  const XXH128_hash_t hash = XXH3_128bits_digest(static_cast<const XXH3_state_t*>(state_));
  return {hash.high64, hash.low64};
}

}  // namespace opwright
