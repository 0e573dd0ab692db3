// Element types by name. The set is open: a row of the table is a dtype, and a name without a row stays as its text
// (`Spelled::unknown`). Knowing a dtype is not computing with it: see `computed`.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "model/spelled.h"

namespace opwright {

enum class DType : std::uint8_t {
  kAbsent,
  kBfloat16,
  kFloat32,
  kBfloat8B,
  kBfloat4B,
  kInt32,
  kUint32,
  kUint16,
  kUint8,
  kFloat16,
  kFloat64,
  kFloat8E4m3fn,
  kFloat8E5m2,
  kInt8,
  kInt16,
  kInt64,
  kUint64,
  kBool,
  kComplex64,
  kComplex128,
  kUnknown
};

enum class DTypeKind : std::uint8_t { kNone, kFloat, kBlockFloat, kSigned, kUnsigned, kBool, kComplex };

struct DTypeInfo {
  DType value = DType::kAbsent;
  std::string_view name;
  DTypeKind kind = DTypeKind::kNone;
  int bits = 0;         // of one element; an exponent that a block shares is not counted
  int significand = 0;  // bits of it, the leading one counted, where the elements are floats
  // The simulated device computes with it, HostTensor holds its values, references and judge know its rounding. Also
  // the set of the first key version: a name outside it stands as `dtype=NAME` in the text of a configuration, for
  // ever.
  bool computed = false;
};

inline constexpr std::array<DTypeInfo, static_cast<std::size_t>(DType::kUnknown) + 1> kDTypes{{
    {DType::kAbsent, "absent"},
    {DType::kBfloat16, "BFLOAT16", DTypeKind::kFloat, 16, 8, true},
    {DType::kFloat32, "FLOAT32", DTypeKind::kFloat, 32, 24, true},
    {DType::kBfloat8B, "BFLOAT8_B", DTypeKind::kBlockFloat, 8, 7, true},
    {DType::kBfloat4B, "BFLOAT4_B", DTypeKind::kBlockFloat, 4, 3, true},
    {DType::kInt32, "INT32", DTypeKind::kSigned, 32, 0, true},
    {DType::kUint32, "UINT32", DTypeKind::kUnsigned, 32, 0, true},
    {DType::kUint16, "UINT16", DTypeKind::kUnsigned, 16, 0, true},
    {DType::kUint8, "UINT8", DTypeKind::kUnsigned, 8, 0, true},
    {DType::kFloat16, "FLOAT16", DTypeKind::kFloat, 16, 11},
    {DType::kFloat64, "FLOAT64", DTypeKind::kFloat, 64, 53},
    {DType::kFloat8E4m3fn, "FLOAT8_E4M3FN", DTypeKind::kFloat, 8, 4},
    {DType::kFloat8E5m2, "FLOAT8_E5M2", DTypeKind::kFloat, 8, 3},
    {DType::kInt8, "INT8", DTypeKind::kSigned, 8},
    {DType::kInt16, "INT16", DTypeKind::kSigned, 16},
    {DType::kInt64, "INT64", DTypeKind::kSigned, 64},
    {DType::kUint64, "UINT64", DTypeKind::kUnsigned, 64},
    {DType::kBool, "BOOL", DTypeKind::kBool, 8},
    {DType::kComplex64, "COMPLEX64", DTypeKind::kComplex, 64, 24},
    {DType::kComplex128, "COMPLEX128", DTypeKind::kComplex, 128, 53},
    {DType::kUnknown, "unknown"},
}};
static_assert(
    [] {
      for (std::size_t i = 0; i < kDTypes.size(); ++i)
        if (static_cast<std::size_t>(kDTypes[i].value) != i) return false;
      return true;
    }(),
    "the rows are found by the number of their dtype");

constexpr const DTypeInfo& info(DType dtype) { return kDTypes[static_cast<std::size_t>(dtype)]; }
constexpr std::string_view name_of(DType dtype) { return info(dtype).name; }  // "BFLOAT16"

// May a case with it be run? Everything else is recorded, shown, selected and compared by name, and refused by name
// where it would be executed.
constexpr bool computed(DType dtype) { return info(dtype).computed; }

constexpr bool is_integer(DType dtype) {
  return info(dtype).kind == DTypeKind::kSigned || info(dtype).kind == DTypeKind::kUnsigned;
}
constexpr bool is_block_float(DType dtype) { return info(dtype).kind == DTypeKind::kBlockFloat; }

// Every spelling of real traces: `DataType::BFLOAT16`, `DataType.BFLOAT16`, `ttnn.bfloat16`, `BFLOAT16`, `bfloat16`,
// `torch.bfloat16`. A name without a row becomes kUnknown with its text; an empty text is absent. What else a library
// calls a dtype (`Long`, `half`) is its dialect's business.
Spelled<DType> parse_dtype(std::string_view text);

}  // namespace opwright
