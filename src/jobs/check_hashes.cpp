#include "jobs/check_hashes.h"

#include <fmt/format.h>

#include "base/json.h"
#include "format/read_trace.h"

namespace opwright::jobs {
namespace {

class HashChecker final : public format::TraceSink {
 public:
  Status observe(const Observed& observed) override {
    ++report.configurations;
    const auto arguments = document_.parse(observed.arguments);
    if (!arguments) {
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: the arguments of a configuration of {} at byte {} are not valid JSON: {}",
                              observed.path, observed.op, observed.offset, arguments.error().what));
    }
    if (observed.config_hash.empty()) {
      ++report.without_hash;
      // Era 1 told configurations apart by an MD5 of their arguments, inside one operation.
      if (observed.kind == FormKind::kEra1)
        report.era1_signatures.insert(std::string(observed.op) + " " + normalize::era1_signature(**arguments));
      return {};
    }
    const json::Node* machine = nullptr;
    std::string_view machine_text = observed.hashed_machine;
    if (machine_text.empty() && !observed.sightings.empty()) machine_text = observed.sightings.front().machine;
    if (!machine_text.empty()) {
      if (const auto parsed = machine_document_.parse(machine_text)) machine = *parsed;
    }
    const std::bitset<normalize::kGenerations> matching =
        normalize::matching_generations(observed.config_hash, observed.op, **arguments, machine);
    if (matching.none()) {
      report.mismatches.push_back(
          {std::string(observed.op), std::string(observed.config_hash),
           normalize::config_hash(normalize::Generation::kG5, observed.op, **arguments, machine), observed.offset});
      return {};
    }
    ++report.matched;
    report.common &= matching;
    for (std::size_t g = 0; g < matching.size(); ++g) report.per_generation[g] += matching.test(g) ? 1 : 0;
    return {};
  }
  void lose(const format::Loss& loss) override {
    const bool first = report.losses == 0;
    report.losses += static_cast<std::int64_t>(loss.count);
    if (first) report.loss_example = fmt::format("{}, byte {}: {}", loss.path, loss.offset, loss.example);
  }
  void leave_out(std::string_view, std::size_t) override {}
  void describe(const TraceInfo&) override {}
  Status end_trace(const TraceInfo&) override { return {}; }
  void add_bytes(std::size_t) override {}
  void add_file() override {}

  HashReport report;

 private:
  json::Document document_, machine_document_;
};

}  // namespace

std::string HashReport::generation() const {
  if (matched == 0) return "none";
  return common.any() ? normalize::to_text(common) : "mixed";
}

Result<HashReport> check_hashes(const std::string& path) {
  HashChecker checker;
  OPWRIGHT_TRY(format::read_trace(path, {}, checker));
  return std::move(checker.report);
}

}  // namespace opwright::jobs
