// Numbers and texts as bytes, and back with every bound checked: nothing in a file is trusted.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace opwright {

// LEB128: seven bits a byte, the lowest first.
inline void append_varint(std::string& out, std::uint64_t value) {
  while (value >= 0x80) {
    out += static_cast<char>(value | 0x80);
    value >>= 7;
  }
  out += static_cast<char>(value);
}
inline void append_zigzag(std::string& out, std::int64_t value) {
  append_varint(out, (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63));
}
inline void append_sized(std::string& out, std::string_view text) {
  append_varint(out, text.size());
  out += text;
}
inline void append_real(std::string& out, double value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

// Reads from the front of `bytes`. After something did not fit, `ok()` is false and every read gives nothing.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  bool ok() const { return ok_; }
  bool at_end() const { return at_ == end_; }
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }
  const char* position() const { return at_; }

  std::uint8_t byte() {
    if (at_ == end_) return static_cast<std::uint8_t>(fail());
    return static_cast<std::uint8_t>(*at_++);
  }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == end_) return fail();
      const auto part = static_cast<std::uint8_t>(*at_++);
      if (shift == 63 && part > 1) return fail();  // more than 64 bits
      value |= static_cast<std::uint64_t>(part & 0x7f) << shift;
      if (part < 0x80) return value;
    }
    return fail();
  }

  std::int64_t zigzag() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1) ^ (~(value & 1) + 1));
  }

  // A count of things that take at least `least` bytes each: one that cannot be true fails here, before anybody makes
  // room for it.
  std::uint64_t count(std::size_t least) {
    const std::uint64_t value = varint();
    return value <= left() / least ? value : fail();
  }

  // A value id; ids have 32 bits.
  std::uint32_t id() {
    const std::uint64_t value = varint();
    return static_cast<std::uint32_t>(value <= UINT32_MAX ? value : fail());
  }

  std::string_view raw(std::uint64_t size) {
    if (size > left()) {
      fail();
      return {};
    }
    const std::string_view taken(at_, static_cast<std::size_t>(size));
    at_ += size;
    return taken;
  }
  std::string_view text() { return raw(varint()); }
  std::string_view rest() { return raw(left()); }

  double real() {
    double value = 0;
    const std::string_view bytes = raw(sizeof value);
    if (ok_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }

 private:
  std::uint64_t fail() {
    ok_ = false;
    at_ = end_;
    return 0;
  }

  const char* at_;
  const char* end_;
  bool ok_ = true;
};

}  // namespace opwright
