// Bytes as one zstd frame that says how long they are: what packs and pieces of the store lie in.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace opwright::store {

std::string compress(std::string_view bytes);

// What the frame says that it unpacks to; nothing where it says nothing or is no frame.
std::optional<std::uint64_t> unpacked_size(std::string_view frame);
// Nothing where that is not what comes out, or is more than `most`.
std::optional<std::string> decompress(std::string_view frame, std::uint64_t most);

}  // namespace opwright::store
