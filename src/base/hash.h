// The hashes we use: XXH3 to find things again inside one program or store, SHA-256 for identities that leave it,
// MD5 only because old trace files were deduplicated with it.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace opwright {

struct Hash128 {
  std::uint64_t high = 0;
  std::uint64_t low = 0;
  friend auto operator<=>(const Hash128&, const Hash128&) = default;
};

struct Hash128Hasher {
  std::size_t operator()(const Hash128& hash) const { return static_cast<std::size_t>(hash.low); }
};

using Sha256 = std::array<std::uint8_t, 32>;

Hash128 xxh128(std::string_view text, std::uint64_t seed = 0);
std::uint64_t xxh64(std::string_view text);
Sha256 sha256(std::string_view text);
std::string md5_hex(std::string_view text);

std::string to_hex(const std::uint8_t* bytes, std::size_t count);
std::string to_hex(const Sha256& hash);
std::string to_hex(const Hash128& hash);
// False when `text` is not exactly 64 lower-case hex digits.
bool from_hex(std::string_view text, Sha256& hash);

// XXH3-128 over a stream of pieces; equals xxh128 of their concatenation.
class StreamHash {
 public:
  StreamHash();
  ~StreamHash();
  StreamHash(const StreamHash&) = delete;
  StreamHash& operator=(const StreamHash&) = delete;
  void add(std::string_view piece);
  Hash128 digest() const;

 private:
  void* state_;
};

}  // namespace opwright
