// Bytes made to look like a native trace, so that the fuzzer gets behind the checksums.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>

#include "capture/crc32c.h"
#include "capture/layout.h"

namespace opwright::fuzz {

// Headers and records with the checksums that their bytes ask for.
inline std::string with_checksums(std::string bytes) {
  using namespace capture;  // NOLINT(google-build-using-namespace)
  if (bytes.size() < kHeaderSize) bytes.resize(kHeaderSize);
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  const auto put = [&bytes](std::size_t at, std::uint32_t value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  put(offsetof(Header, version), kTraceVersion);
  put(offsetof(Header, header_size), kHeaderSize);
  put(offsetof(Header, unit), kUnit);
  put(offsetof(Header, header_crc), crc32c(bytes.data(), offsetof(Header, header_crc)));
  for (std::size_t at = kHeaderSize; at + sizeof(ChunkHeader) <= bytes.size(); at += kUnit) {
    std::memcpy(bytes.data() + at, &kChunkMagic, sizeof kChunkMagic);
    if (bytes[at + offsetof(ChunkHeader, units)] == 0) put(at + offsetof(ChunkHeader, units), 1);
    put(at + offsetof(ChunkHeader, crc), crc32c(bytes.data() + at, offsetof(ChunkHeader, crc)));
    for (std::size_t record = at + sizeof(ChunkHeader); record + sizeof(RecordHeader) < bytes.size();) {
      std::uint32_t length = 0;
      std::memcpy(&length, bytes.data() + record, sizeof length);
      const std::size_t payload = record + sizeof(RecordHeader);
      if (length == 0 || length > bytes.size() - payload) break;
      put(record + offsetof(RecordHeader, crc), crc32c(bytes.data() + payload, length));
      record = payload + (length + 3) / 4 * 4;
    }
  }
  return bytes;
}

}  // namespace opwright::fuzz
