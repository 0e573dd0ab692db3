#include "store/encoding/pack.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "base/limits.h"
#include "store/encoding/frame.h"

namespace opwright::store {
namespace {

constexpr std::uint64_t kMaxBytes = std::uint64_t{1} << 32;

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
  return compress(plain);
}

Result<Unpacked> Unpacked::open(std::string_view data) {
  Unpacked unpacked;
  const std::uint64_t size = unpacked_size(data).value_or(0);
  if (size < 4 || size > kMaxBytes) return fail(damaged());
  if (size > limits().document)  // before room is made for it
    return fail(
        over_limit("a pack of the store", &Limits::document, fmt::format("it unpacks to {}", size_words(size))));
  auto bytes = decompress(data, size);
  if (!bytes) return fail(damaged());
  unpacked.bytes_ = *std::move(bytes);
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
