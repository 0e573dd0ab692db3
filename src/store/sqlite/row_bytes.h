// Keys and fingerprints as the bytes of a row.
#pragma once

#include <cstring>
#include <string_view>

#include "base/hash.h"
#include "model/op_config.h"

namespace opwright::store::sqlite {

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

}  // namespace opwright::store::sqlite
