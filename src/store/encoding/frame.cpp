#include "store/encoding/frame.h"

#include <zstd.h>

#include <memory>

#include "base/broken.h"

namespace opwright::store {

constexpr int kLevel = 1;

std::string compress(std::string_view bytes) {
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  const std::size_t size =
      ZSTD_compressCCtx(context.get(), packed.data(), packed.size(), bytes.data(), bytes.size(), kLevel);
  if (ZSTD_isError(size)) broken("a text can be packed into a buffer of zstd's own bound", ZSTD_getErrorName(size));
  packed.resize(size);
  return packed;
}

std::optional<std::uint64_t> unpacked_size(std::string_view frame) {
  const unsigned long long size = ZSTD_getFrameContentSize(frame.data(), frame.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN) return std::nullopt;
  return size;
}

std::optional<std::string> decompress(std::string_view frame, std::uint64_t most) {
  const auto size = unpacked_size(frame);
  if (!size || *size > most) return std::nullopt;
  std::string bytes(static_cast<std::size_t>(*size), '\0');
  thread_local const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), ZSTD_freeDCtx);
  const std::size_t got = ZSTD_decompressDCtx(context.get(), bytes.data(), bytes.size(), frame.data(), frame.size());
  if (ZSTD_isError(got) || got != *size) return std::nullopt;
  return bytes;
}

}  // namespace opwright::store
