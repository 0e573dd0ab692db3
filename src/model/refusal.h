// Why a call will not run: a rule that it breaks, memory it does not find, something that nobody handles, or something
// that the trace has lost. A refusal is an answer, not a failure of ours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace opwright {

struct Refusal {
  enum class Kind : std::uint8_t {
    kRule,         // the real library refuses it too, in these words
    kMemory,       // no room in L1 or DRAM
    kUnsupported,  // valid perhaps, but nobody here handles it: `argument` names what
    kLost,         // the trace does not say what `argument` was
  };
  Kind kind = Kind::kRule;
  std::string argument;  // the parameter at fault; "" when it is none in particular
  std::string message;
};
std::string_view name_of(Refusal::Kind kind);  // "rule", "memory", "unsupported", "lost"

template <class T>
using Checked = tl::expected<T, Refusal>;

[[nodiscard]] inline tl::unexpected<Refusal> refuse(std::string message, std::string argument = "") {
  return tl::unexpected<Refusal>(Refusal{Refusal::Kind::kRule, std::move(argument), std::move(message)});
}
[[nodiscard]] inline tl::unexpected<Refusal> refuse_memory(std::string message) {
  return tl::unexpected<Refusal>(Refusal{Refusal::Kind::kMemory, "", std::move(message)});
}
[[nodiscard]] inline tl::unexpected<Refusal> unsupported(std::string argument, std::string message) {
  return tl::unexpected<Refusal>(Refusal{Refusal::Kind::kUnsupported, std::move(argument), std::move(message)});
}
[[nodiscard]] inline tl::unexpected<Refusal> lost(std::string argument, std::string message) {
  return tl::unexpected<Refusal>(Refusal{Refusal::Kind::kLost, std::move(argument), std::move(message)});
}
[[nodiscard]] inline tl::unexpected<Refusal> refuse(Refusal refusal) {
  return tl::unexpected<Refusal>(std::move(refusal));
}

}  // namespace opwright

// `OPWRIGHT_CHECK(f())`: leaves the function with the refusal of f(), a Checked; otherwise goes on.
#define OPWRIGHT_CHECK(expression) OPWRIGHT_CHECK_INNER(expression, OPWRIGHT_CHECK_NAME(opwright_check_, __LINE__))
#define OPWRIGHT_CHECK_INNER(expression, name)            \
  do {                                                    \
    if (auto name = (expression); !name) {                \
      return ::opwright::refuse(std::move(name).error()); \
    }                                                     \
  } while (false)
#define OPWRIGHT_CHECK_NAME_INNER(a, b) a##b
#define OPWRIGHT_CHECK_NAME(a, b) OPWRIGHT_CHECK_NAME_INNER(a, b)
// `OPWRIGHT_CHECK_ASSIGN(auto x, f())`: x becomes the value of f(), or the function returns its refusal.
#define OPWRIGHT_CHECK_ASSIGN(target, expression) \
  OPWRIGHT_CHECK_ASSIGN_INNER(target, expression, OPWRIGHT_CHECK_NAME(opwright_checked_, __LINE__))
#define OPWRIGHT_CHECK_ASSIGN_INNER(target, expression, name)    \
  auto name = (expression);                                      \
  if (!name) return ::opwright::refuse(std::move(name).error()); \
  target = std::move(*name)
// `OPWRIGHT_REQUIRE(condition, "text {}", value)`: refuses with the library's words where the condition does not hold.
#define OPWRIGHT_REQUIRE(condition, ...)                                     \
  do {                                                                       \
    if (!(condition)) return ::opwright::refuse(::fmt::format(__VA_ARGS__)); \
  } while (false)
