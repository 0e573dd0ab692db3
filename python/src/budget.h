// How much of one value is recorded, in one place. What is beyond is cut, counted and noted in the trace.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opwright::python {

constexpr int kMaxDepth = 40;                      // levels; readers of the trace go down 64
constexpr std::size_t kMaxNodes = 20'000;          // objects in one argument or result
constexpr std::size_t kMaxValueBytes = 1U << 20U;  // of one argument or result, encoded
constexpr std::uint64_t kMaxMilliseconds = 50;     // spent on one argument or result
constexpr std::size_t kNodesBetweenLooks = 256;    // at the clock
constexpr std::ptrdiff_t kMaxText = 64 * 1024;     // characters of a str
constexpr std::size_t kMaxError = 8192;            // bytes of an error's message
constexpr std::ptrdiff_t kMaxRawBytes = 256;       // of a bytes object: longer ones are data
constexpr std::size_t kMaxNumbers = 256;           // in one list or dict: more of them are data
constexpr std::size_t kMaxRemembered = 10'000;     // objects of a class that are recognised again
constexpr std::size_t kMaxNotes = 200;             // different notes about cuts in one trace

}  // namespace opwright::python
