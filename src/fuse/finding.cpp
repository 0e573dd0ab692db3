#include "fuse/finding.h"

#include <array>
#include <utility>

namespace opwright::fuse {
namespace {

constexpr auto kNames = std::to_array<std::pair<FindingCode, std::string_view>>({
    {FindingCode::kInplaceArg, "INPLACE_ARG"},
    {FindingCode::kDeallocatedInput, "DEALLOCATED_INPUT"},
    {FindingCode::kHostFallback, "HOST_FALLBACK"},
    {FindingCode::kNotTraceable, "NOT_TRACEABLE"},
    {FindingCode::kAmbiguous, "AMBIGUOUS"},
    {FindingCode::kNonfinite, "NONFINITE"},
    {FindingCode::kNoPrefill, "NO_PREFILL"},
    {FindingCode::kEdgeInferred, "EDGE_INFERRED"},
    {FindingCode::kConfigDrift, "CONFIG_DRIFT"},
    {FindingCode::kNoReference, "NO_REFERENCE"},
    {FindingCode::kPhaseCut, "PHASE_CUT"},
    {FindingCode::kNoWeights, "NO_WEIGHTS"},
    {FindingCode::kBelowRule, "BELOW_RULE"},
});

}  // namespace

std::string_view name_of(FindingCode code) {
  for (const auto& [known, name] : kNames)
    if (known == code) return name;
  return "";
}

std::optional<FindingCode> parse_finding_code(std::string_view text) {
  for (const auto& [code, name] : kNames)
    if (name == text) return code;
  return std::nullopt;
}

}  // namespace opwright::fuse
