// How much of an input is read before we stop. Every reader asks here, so a limit is one number in one place; the
// command line raises them (docs/formats/limits.md).
//
//   if (size > limits().document) return fail(over_limit(path, &Limits::document, "it has 3.0 GiB"));
//
// Memory: no input makes the program take more than about twice `document`.
// Threads: set_limits() before the first reader starts; limits() from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace opwright {

struct Limits {
  std::uint64_t document = std::uint64_t{1} << 30;  // bytes of what is held in memory at once, and of its parsed form
  std::uint64_t line = std::uint64_t{64} << 20;     // bytes of one line
  std::uint64_t total = std::uint64_t{16} << 30;    // bytes of one input that is read piece by piece
  std::uint64_t ratio = 500;                        // unpacked bytes a packed byte; asked beyond kRatioFloor only
  std::uint64_t files = 1'000'000;                  // files of one folder, with the folders in it
  std::uint64_t depth = 256;                        // brackets inside brackets
  std::uint64_t distinct = 4'000'000;               // different things that are remembered of one input
};

// What is unpacked to less than this harms nobody, however well it was packed.
inline constexpr std::uint64_t kRatioFloor = std::uint64_t{64} << 20;
// Deeper texts would need more stack than a thread has: `depth` cannot be raised beyond it.
inline constexpr std::uint64_t kDeepestJson = 1000;

using Limit = std::uint64_t Limits::*;

struct LimitFlag {
  std::string_view flag;   // "--max-line"
  std::string_view value;  // "SIZE"
  std::string_view help;
  Limit limit;
  bool is_size;  // written with a unit: 64M, 2G
};
extern const std::array<LimitFlag, 7> kLimitFlags;

const Limits& limits();
void set_limits(const Limits& limits);

// "512", "64k", "500M", "2G", "1T": bytes, in units of 1024; without `is_size` a whole number. An error says what is
// wrong with the text.
Result<std::uint64_t> parse_limit(std::string_view text, const LimitFlag& flag);
// "1 GiB", "64 MiB", "1.5 KiB", "12 bytes".
std::string size_words(std::uint64_t bytes);
// "WHERE: SEEN; the limit is 64 MiB (--max-line raises it)"
Error over_limit(std::string_view where, Limit limit, std::string_view seen);
// The same without a place, for messages that name it themselves.
std::string limit_words(Limit limit, std::string_view seen);

// Other limits while it lives. For tests.
class ScopedLimits {
 public:
  explicit ScopedLimits(const Limits& changed) : before_(limits()) { set_limits(changed); }
  ScopedLimits(const ScopedLimits&) = delete;
  ScopedLimits& operator=(const ScopedLimits&) = delete;
  ~ScopedLimits() { set_limits(before_); }

 private:
  Limits before_;
};

}  // namespace opwright
