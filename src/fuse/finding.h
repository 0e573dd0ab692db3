// What a person must know of a fused operator beside its verdict: findings with codes, which scripts may depend on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace opwright::fuse {

enum class FindingCode : std::uint8_t {
  kInplaceArg,        // an argument is written in place
  kDeallocatedInput,  // an input is freed inside
  kHostFallback,      // a tensor is read by the host, or made there, inside
  kNotTraceable,      // a call that the library cannot put into a trace
  kAmbiguous,         // more than one reading of the data flow, or matches that overlap
  kNonfinite,         // NaN or infinity where numbers are due
  kNoPrefill,         // no match in prefill: decode only
  kEdgeInferred,      // the trace does not say which tensor is which
  kConfigDrift,       // test and module differ
  kNoReference,       // an operator whose exact result nobody here computes
  kPhaseCut,          // the sequence crosses the border of a phase or a test
  kNoWeights,         // real weights were asked for, and the trace has no contents
  kBelowRule,         // measured PCC is below 0.99: the expectation follows it, and a person should look
};
std::string_view name_of(FindingCode code);  // "INPLACE_ARG", …
std::optional<FindingCode> parse_finding_code(std::string_view text);

struct Finding {
  FindingCode code = FindingCode::kAmbiguous;
  std::vector<std::uint64_t> at;  // calls of the trace
  std::string text;
};

}  // namespace opwright::fuse
