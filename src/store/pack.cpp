#include "store/pack.h"

#include <fmt/format.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "base/limits.h"

namespace opwright::store {
namespace {

constexpr int kLevel = 1;
constexpr unsigned long long kMaxBytes = 1ull << 32;

Error damaged() {
  return {ErrorCode::kBadInput,
          "a pack of the store is damaged; restore a copy of the store or import the traces again"};
}

}  // namespace

// Layout before compression: u32 count, count x u32 length, the texts; little-endian.
std::string pack(std::span<const std::string_view> texts) {
  std::string plain;
  const auto put = [&](std::uint32_t number) { plain.append(reinterpret_cast<const char*>(&number), sizeof number); };
  put(static_cast<std::uint32_t>(texts.size()));
  for (const std::string_view text : texts) put(static_cast<std::uint32_t>(text.size()));
  for (const std::string_view text : texts) plain += text;
  thread_local const std::unique_ptr<ZSTD_CCtx, decltype(&ZSTD_freeCCtx)> context(ZSTD_createCCtx(), ZSTD_freeCCtx);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  const std::size_t size =
      ZSTD_compressCCtx(context.get(), packed.data(), packed.size(), plain.data(), plain.size(), kLevel);
  if (ZSTD_isError(size)) std::abort();  // the buffer is large enough by construction
  packed.resize(size);
  return packed;
}

Result<Unpacked> Unpacked::open(std::string_view data) {
  Unpacked unpacked;
  const unsigned long long size = ZSTD_getFrameContentSize(data.data(), data.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size < 4 || size > kMaxBytes)
    return fail(damaged());
  if (size > limits().document)  // before room is made for it
    return fail(
        over_limit("a pack of the store", &Limits::document, fmt::format("it unpacks to {}", size_words(size))));
  unpacked.bytes_.resize(size);
  const std::size_t got = ZSTD_decompress(unpacked.bytes_.data(), size, data.data(), data.size());
  if (ZSTD_isError(got) || got != size) return fail(damaged());
  const auto number = [&](std::size_t index) {
    std::uint32_t value = 0;
    std::memcpy(&value, unpacked.bytes_.data() + 4 * index, sizeof value);
    return value;
  };
  const std::size_t count = number(0);
  std::size_t offset = 4 * (count + 1);
  if (offset > size) return fail(damaged());
  unpacked.offsets_.reserve(count + 1);
  unpacked.offsets_.push_back(offset);
  for (std::size_t i = 0; i < count; ++i) {
    offset += number(i + 1);
    unpacked.offsets_.push_back(offset);
  }
  if (offset != size) return fail(damaged());
  return unpacked;
}

}  // namespace opwright::store
