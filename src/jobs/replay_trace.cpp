#include "jobs/replay_trace.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/large_memory.h"
#include "exec/noise_canary.h"
#include "exec/traced_board.h"
#include "format/native/run_facts.h"
#include "jobs/convert_trace.h"
#include "jobs/kept_trace.h"
#include "jobs/profile_run.h"
#include "jobs/question.h"
#include "normalize/provenance_names.h"

namespace opwright::jobs {
namespace {

Result<RecordedTrace> open_kept(const std::string& wanted, const std::string& store, int wait_ms) {
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_reader(store, wait_ms));
  OPWRIGHT_TRY_ASSIGN(const store::SequenceRow row, find_trace(*reader, wanted));
  OPWRIGHT_TRY_ASSIGN(std::string bytes, reader->trace_bytes(row));
  OPWRIGHT_TRY_ASSIGN(format::NativeTrace trace,
                      format::NativeTrace::from_bytes(std::move(bytes), "trace " + short_id(row)));
  return RecordedTrace{std::move(trace), "@" + short_id(row), {}};
}

Result<std::unique_ptr<Device>> open_for(format::NativeTrace& trace, const ReplayRequest& request) {
  if (request.device == "sim" || request.device == "null")
    if (auto board = traced_board(normalize::name_machine(format::facts_of_run(trace).machine)))
      return open_device(request.device, *std::move(board));
  return open_any_device(request.device, request.program);
}

}  // namespace

Result<RecordedTrace> open_recorded(const std::string& wanted, const std::string& store, int wait_ms) {
  if (wanted.starts_with('@')) return open_kept(wanted.substr(1), store, wait_ms);
  std::error_code ignored;
  if (wanted == "-" || std::filesystem::exists(wanted, ignored)) {
    format::Conversion conversion;
    OPWRIGHT_TRY_ASSIGN(format::NativeTrace trace, open_as_native(wanted, conversion));
    return RecordedTrace{std::move(trace), wanted, std::move(conversion)};
  }
  auto kept = open_kept(wanted, store, wait_ms);
  if (!kept) return fail(kept.error().code, fmt::format("{}: no such file, and {}", wanted, kept.error().message));
  return kept;
}

Result<ReplayOutcome> replay_trace(RecordedTrace& recorded, const ReplayRequest& request,
                                   const replay::OnStep& on_step) {
  give_back_large_blocks();
  OPWRIGHT_TRY_ASSIGN(const auto device, open_for(recorded.trace, request));
  replay::Options options = request.options;
  std::optional<ProfileCsv> csv;
  Status kept;
  if (!request.profile_csv.empty()) {
    OPWRIGHT_TRY(check_profiled(request.device));
    auto made = ProfileCsv::create(request.profile_csv);
    if (!made) return fail(std::move(made).error());
    csv.emplace(*std::move(made));
    options.on_ran = [&](const PlannedCall& plan) {
      if (kept) kept = csv->add(plan, device->can().board);
    };
  }
  // Modelled times are the same on any machine.
  const bool listens = options.perf && device->can().recorded_calls && !request.perf_force;
  if (listens)
    if (const std::string why = too_busy(listen_to_machine()); !why.empty())
      return fail(ErrorCode::kUnsupported, fmt::format("the machine is too busy to time anything: {}; wait until it is "
                                                       "quiet, or measure all the same with --perf-force",
                                                       why));
  OPWRIGHT_TRY_ASSIGN(replay::Report report, replay::replay(recorded.trace, *device, options, on_step));
  for (const auto& [kind, lost] : recorded.conversion.losses)
    report.losses[kind] += static_cast<std::int64_t>(lost.count);
  std::optional<ProfileCsv::Counts> profile;
  if (csv) {
    OPWRIGHT_TRY(kept);
    OPWRIGHT_TRY(csv->commit());
    profile = csv->counts();
  }
  std::string busy = listens ? too_busy(listen_to_machine()) : "";
  return ReplayOutcome{std::move(report), device->can(), std::move(profile), std::move(busy)};
}

}  // namespace opwright::jobs
