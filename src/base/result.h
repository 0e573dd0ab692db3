// An error is a value that says what, where and what next.
//
//   Result<Header> check(Header h) { if (bad) return fail(ErrorCode::kUnsupported, "what, where; what to do"); return
//   h; }
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace opwright {

enum class ErrorCode {
  kUsage,        // the caller asked for something that makes no sense (exit code 2)
  kNotFound,     // a path, name or row that is not there
  kBadInput,     // a file that is damaged or not what it says
  kNotATrace,    // a sound file of another kind
  kUnsupported,  // understood, but this build cannot do it
  kLocked,       // somebody else holds it; trying again may help
  kIo,           // the machine failed: disk full, no permission, read-only
};

struct Error {
  ErrorCode code;
  std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message) {
  return tl::unexpected<Error>(Error{code, std::move(message)});
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

}  // namespace opwright

// Leaves the function with the error of `expression`, a Result; otherwise goes on.
#define OPWRIGHT_TRY(expression) OPWRIGHT_TRY_INNER(expression, OPWRIGHT_CONCAT(opwright_status_, __LINE__))
#define OPWRIGHT_TRY_INNER(expression, name)            \
  do {                                                  \
    if (auto name = (expression); !name) {              \
      return ::opwright::fail(std::move(name).error()); \
    }                                                   \
  } while (false)

#define OPWRIGHT_CONCAT_INNER(a, b) a##b
#define OPWRIGHT_CONCAT(a, b) OPWRIGHT_CONCAT_INNER(a, b)
// `OPWRIGHT_TRY_ASSIGN(auto x, f())`: x becomes the value of f(), or the function returns its error.
#define OPWRIGHT_TRY_ASSIGN(target, expression) \
  OPWRIGHT_TRY_ASSIGN_INNER(target, expression, OPWRIGHT_CONCAT(opwright_result_, __LINE__))
#define OPWRIGHT_TRY_ASSIGN_INNER(target, expression, name)    \
  auto name = (expression);                                    \
  if (!name) return ::opwright::fail(std::move(name).error()); \
  target = std::move(*name)
