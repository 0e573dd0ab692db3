// CRC-32C (Castagnoli), by the processor's instruction where it has one. Header-only: the reader of native traces uses
// it too and must not link the recorder.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace opwright::capture {

namespace detail {

constexpr std::array<std::uint32_t, 256> crc32c_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82f63b78U : 0U);
    table[i] = crc;
  }
  return table;
}
inline constexpr auto kCrcTable = crc32c_table();

inline std::uint32_t crc32c_portable(const unsigned char* bytes, std::size_t size, std::uint32_t crc) {
  for (std::size_t i = 0; i < size; ++i) crc = kCrcTable[(crc ^ bytes[i]) & 0xff] ^ (crc >> 8);
  return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) inline std::uint32_t crc32c_sse(const unsigned char* bytes, std::size_t size,
                                                                  std::uint32_t crc) {
  std::uint64_t wide = crc;
  for (; size >= 8; bytes += 8, size -= 8) {
    std::uint64_t word;
    std::memcpy(&word, bytes, 8);
    wide = _mm_crc32_u64(wide, word);
  }
  crc = static_cast<std::uint32_t>(wide);
  for (; size > 0; ++bytes, --size) crc = _mm_crc32_u8(crc, *bytes);
  return crc;
}
#endif

}  // namespace detail

inline std::uint32_t crc32c(const void* data, std::size_t size, std::uint32_t seed = 0) {
  const auto* bytes = static_cast<const unsigned char*>(data);
#if defined(__x86_64__)
  static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
  if (has_instruction) return ~detail::crc32c_sse(bytes, size, ~seed);
#endif
  return ~detail::crc32c_portable(bytes, size, ~seed);
}

}  // namespace opwright::capture
