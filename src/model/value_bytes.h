// An argument in few bytes, to be read back without parsing: what a store keeps of a configuration for questions.
//
// The bytes are in files. A tag or a number of a name never gets another meaning; new ones come behind the others
// (`value_bytes_test.cpp` holds them). Who changes what a text is read as, by knowing a new dtype, say, without another
// key, raises kBytesVersion: bytes of another version are nobody's, and the text is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/op_config.h"

namespace opwright {

inline constexpr std::uint8_t kBytesVersion = 1;  // the first byte

void append_bytes(std::string& out, const Argument& argument);
// Nothing where these are not the bytes of an argument, all of them, or are of another version.
std::optional<Argument> argument_of(std::string_view bytes);

}  // namespace opwright
