// How large a case is before anybody runs it: what it needs of this machine's memory and time, and which of the things
// that a budget wants to see covered it has. Estimates order and choose cases; they never decide an outcome.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exec/run_case.h"
#include "model/op_config.h"
#include "model/tensor_spec.h"

namespace opwright {

// By the elements of all tensors of the call, in and out. A tile has 2^10; outputs beyond 2^22 are judged by a sample.
enum class SizeClass : std::uint8_t {
  kTiny,    // up to 2^16: 64 tiles
  kSmall,   // up to 2^20
  kMedium,  // up to 2^22
  kLarge,   // up to 2^26
  kHuge,
};
inline constexpr std::size_t kSizeClasses = 5;
std::string_view name_of(SizeClass size);  // "tiny", …
SizeClass size_class(std::int64_t elements);

// What a case covers for its operator. Dtype, layout and memory are those of the first tensor, as in CaseRecord.
struct CaseFeatures {
  DType dtype = DType::kAbsent;
  Layout layout = Layout::kAbsent;
  BufferType buffer = BufferType::kAbsent;
  MemoryLayout memory = MemoryLayout::kAbsent;
  SizeClass size = SizeClass::kTiny;
  friend bool operator==(const CaseFeatures&, const CaseFeatures&) = default;
};
// "L1 HEIGHT_SHARDED"; "HOST" for a tensor without a memory config
std::string memory_text(const CaseFeatures& features);

// Who runs it: that decides what a case costs.
enum class CostModel : std::uint8_t {
  kAccept,     // checks and answers, makes no data: the null device
  kSimulated,  // in process: what our rules refuse costs next to nothing
  kExternal,   // a program of its own, which may run what our rules refuse
};

struct CaseEstimate {
  std::int64_t elements = 0;  // of all tensors, in and out; without outputs where they are not known
  std::int64_t bytes = 0;     // peak of the worker, beyond what it has when idle
  double seconds = 0;         // in a warm worker on one core
  bool outputs_known = false;
  CaseFeatures features;
};

CaseEstimate estimate(const OpConfig& config, const Board& board, CostModel cost, const RunOptions& options = {});

}  // namespace opwright
