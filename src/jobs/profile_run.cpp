#include "jobs/profile_run.h"

#include <fmt/format.h>

#include <vector>

#include "base/words.h"
#include "exec/case_line.h"
#include "exec/job.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

bool is_simulated(const std::string& device) { return device == "sim" || device.starts_with("sim:"); }

// It was run, or would have been: the device took it.
bool came_to_its_call(const CaseRecord& record) {
  return record.outcome == Outcome::kAccepted || record.judged > 0 || !record.verdicts.empty();
}

}  // namespace

Status check_profiled(const std::string& device) {
  if (is_simulated(device)) return {};
  return fail(
      ErrorCode::kUsage,
      fmt::format("--profile-csv: {} has no modelled clock; simulated devices have one (--device sim:n150), and "
                  "a real chip's report comes from its own profiler",
                  device));
}

std::string words_of(const RunProfile& profile) {
  std::string text = fmt::format("{}: {}", profile.path, words_of(profile.counts));
  if (profile.not_run > 0) text += fmt::format("; {} did not run", plural(profile.not_run, "case"));
  return text;
}

Result<RunProfile> profile_run(const std::string& path, const PlanOptions& options, RunPlan& plan,
                               const std::string& uid) {
  std::vector<bool> ran(plan.spool.size());
  OPWRIGHT_TRY_ASSIGN(const auto reader, store::open_results(options.place.store, options.place.wait_ms));
  OPWRIGHT_TRY(reader->for_each(uid, [&](CaseRecord&& record) -> Status {
    if (came_to_its_call(record)) ran.at(static_cast<std::size_t>(record.index)) = true;
    return {};
  }));
  OPWRIGHT_TRY_ASSIGN(const auto device, open_device(options.device()));
  OPWRIGHT_TRY_ASSIGN(ProfileCsv csv, ProfileCsv::create(path));
  RunProfile profile{.path = path, .counts = {}};
  for (std::size_t index = 0; index < plan.spool.size(); ++index) {  // in the order of the plan, whatever ran first
    if (!ran[index]) {
      ++profile.not_run;
      continue;
    }
    OPWRIGHT_TRY_ASSIGN(const std::string line, plan.spool.read(index));
    OPWRIGHT_TRY_ASSIGN(const Job job, parse_job(line));
    Board board = device->can().board;
    if (options.own_board() && !job.board.empty()) {
      OPWRIGHT_TRY_ASSIGN(board, find_board(job.board));
    }
    OPWRIGHT_TRY_ASSIGN(const OpConfig config, parse_case(job.record.line));
    const auto call = plan_call(config, board);
    if (!call) return fail(ErrorCode::kBadInput, fmt::format("{}: {}", job.record.line, call.error().message));
    OPWRIGHT_TRY(csv.add(*call, board));
  }
  OPWRIGHT_TRY(csv.commit());
  profile.counts = csv.counts();
  return profile;
}

}  // namespace opwright::jobs
