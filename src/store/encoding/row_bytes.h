// Keys and fingerprints as the bytes of a row.
#pragma once

#include <cstring>
#include <optional>
#include <string_view>

#include "base/hash.h"
#include "model/op_config.h"

namespace opwright::store {

inline std::string_view bytes_of(const ConfigKey& key) {
  return {reinterpret_cast<const char*>(key.data()), key.size()};
}

struct FingerprintBytes {
  char bytes[16];
  explicit FingerprintBytes(const Hash128& hash) {
    std::memcpy(bytes, &hash.high, 8);
    std::memcpy(bytes + 8, &hash.low, 8);
  }
  std::string_view view() const { return {bytes, sizeof bytes}; }
};

// Nothing where these are no fingerprint.
inline std::optional<Hash128> fingerprint_of(std::string_view bytes) {
  Hash128 hash;
  if (bytes.size() != sizeof(FingerprintBytes::bytes)) return std::nullopt;
  std::memcpy(&hash.high, bytes.data(), 8);
  std::memcpy(&hash.low, bytes.data() + 8, 8);
  return hash;
}

}  // namespace opwright::store
