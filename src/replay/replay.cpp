#include "replay/replay.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <unordered_set>

#include "dialect/ttnn/carrying_calls.h"
#include "exec/case_line.h"
#include "format/native/call_stream.h"
#include "replay/call_runner.h"
#include "replay/save_tensors.h"

namespace opwright::replay {
namespace {

// What has to be known before the first call: until when each tensor is needed, and which calls have others inside.
struct Ahead {
  std::unordered_map<std::uint64_t, std::uint64_t> last_use;  // tensor -> call
  std::unordered_set<std::uint64_t> parents;
  std::uint64_t last_call = 0;  // chosen or not
};

Ahead look_ahead(format::NativeTrace& trace, format::CallChooser& chooser, std::uint64_t until) {
  Ahead out;
  format::CallStream stream(trace);
  while (const format::NativeCall* call = stream.next()) {
    out.last_call = std::max(out.last_call, call->seq);
    if (call->seq > until || !chooser.takes(*call)) continue;
    if (call->parent != 0) out.parents.insert(call->parent);
    const auto used = [&](std::uint64_t id) {
      if (id == 0) return;
      std::uint64_t& last = out.last_use[id];
      last = std::max(last, call->seq);
    };
    for (const format::TensorUse& tensor : call->tensors) used(tensor.id);
    for (const format::TensorResult& tensor : call->results) used(tensor.id);
  }
  return out;
}

bool has_one_chip(const Capabilities& device) {
  return !device.recorded_calls && !device.mesh && device.numerics != Numerics::kNone;
}

// An operator that is described runs. Of the others, what they do to tensors tells what they are.
Part part_of(const format::NativeCall& call, const KnownCall& known, bool has_inner) {
  const bool returns = !call.results.empty() && known.results.size() == call.results.size();
  if (known.plan) return Part::kRun;
  if (carries_values(known.op) && !call.tensors.empty() && returns) return Part::kCarried;
  if (known.described) return Part::kRun;
  if (has_inner) return Part::kInside;
  if (!call.finished || call.raised()) return Part::kRun;
  if (call.results.empty()) {
    if (!call.writes.empty()) return Part::kRun;
    return !call.frees.empty() ? Part::kFreed : !call.tensors.empty() ? Part::kRead : Part::kOther;
  }
  return call.tensors.empty() ? Part::kSource : Part::kRun;
}

// Of calls that nothing was computed for.
std::string_view why_not_run(Part part) {
  switch (part) {
    case Part::kSource:
      return "it makes tensors from outside: their values are made when a call takes them";
    case Part::kFreed:
      return "it gives memory back";
    case Part::kRead:
      return "it takes a tensor out, and returns none";
    case Part::kOther:
      return "it touches no tensor";
    case Part::kInside:
      return "nothing is known of it: the calls inside of it are replayed";
    default:
      return "";
  }
}

class Replayer {
 public:
  Replayer(format::NativeTrace& trace, Device& device, const Options& options, const OnStep& on_step)
      : trace_(trace),
        device_(device),
        options_(options),
        on_step_(on_step),
        known_(trace, device.can().board, options.assume_layout, has_one_chip(device.can())),
        chooser_(trace, options.filter),
        runner_(trace, device, options_, report_) {
    if (options.instead == nullptr) return;
    for (std::size_t i = 0; i < options.instead->groups.size(); ++i)
      for (const std::uint64_t call : options.instead->groups[i].calls) replaced_.emplace(call, i);
  }

  Result<Report> all() {
    const auto start = std::chrono::steady_clock::now();
    report_.device = device_.can().name;
    if (!options_.save.empty()) {
      OPWRIGHT_TRY_ASSIGN(saver_, TensorFolder::create(options_.save));
    }
    ahead_ = look_ahead(trace_, chooser_, options_.until);
    format::CallsInOrder calls(trace_);
    while (const format::NativeCall* call = calls.next()) {
      if (call->seq > options_.until) break;
      if (options_.stop && options_.stop()) {
        report_.stopped = true;
        break;
      }
      if (chooser_.takes(*call)) OPWRIGHT_TRY(one(*call));
    }
    report_.copied_views = runner_.table().copied_views();
    report_.unusable = runner_.outside().unusable();
    report_.missing = runner_.outside().missing();
    const std::uint64_t wanted = std::min(options_.filter.last, options_.until);
    if (wanted != UINT64_MAX && ahead_.last_call < wanted) report_.ends_early = ahead_.last_call;
    report_.peak = runner_.table().peak();
    report_.held.values = runner_.held().most_values();
    report_.held.all = runner_.held().most();
    for (const auto& [kind, entry] : trace_.damage().entries())
      report_.losses[kind] += static_cast<std::int64_t>(entry.count);
    report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(report_);
  }

 private:
  Status one(const format::NativeCall& call) {
    runner_.outside().see(call);
    if (covered_.contains(call.parent)) {  // the call around it did this already
      cover(call.seq);
      let_go(call);
      ++report_.nested;
      return {};
    }
    end_inside(call.parent);
    KnownCall& known = known_.of(call);
    if (const auto group = replaced_.find(call.seq); group != replaced_.end())
      return leave_out(call, known, group->second);
    Step step;
    step.call = call.seq;
    step.op = known.op;
    step.raised = call.raised();
    if (known.assumed_layout) step.notes.emplace_back("a layout is assumed (--assume-layout)");
    const format::CallContext context = trace_.context(call.context);
    runner_.begin_test(context.test);
    step.phase = context.phase;
    step.label = context.label;
    step.part = part_of(call, known, ahead_.parents.contains(call.seq));
    switch (step.part) {
      case Part::kRun:
        runner_.run(call, known, step);
        break;
      case Part::kCarried:
        step.reason = "it moves or converts a tensor on the host: its values go on";
        runner_.carry(call, known, step);
        break;
      default:
        runner_.leave_open(call, known);
        step.reason = why_not_run(step.part);
        break;
    }
    step.live = runner_.table().live();
    if (step.part == Part::kInside)
      inside_.push_back(call);
    else
      cover(call.seq);
    judge(known, step);
    if (saver_) OPWRIGHT_TRY(saver_->keep(call, known, runner_.table(), step));
    if (step.part != Part::kInside) let_go(call);
    on_step_(step);
    return {};
  }

  // A call that somebody else makes.
  Status leave_out(const format::NativeCall& call, const KnownCall& known, std::size_t number) {
    const Instead::Group& group = options_.instead->groups[number];
    LeftOut& left = left_out_[number];
    runner_.supply(call, known, left.made);
    for (const format::TensorResult& made : call.results) left.made.insert(made.id);
    left.calls.push_back(call);
    cover(call.seq);
    if (call.seq != group.calls.back()) return {};
    OPWRIGHT_TRY(group.make(runner_.table(), runner_.held()));
    for (const format::NativeCall& done : left.calls) let_go(done);
    left_out_.erase(number);
    return {};
  }

  void cover(std::uint64_t seq) {
    if (ahead_.parents.contains(seq)) covered_.insert(seq);
  }

  // A call whose inner calls are replayed ends when another one begins that is not inside of it.
  void end_inside(std::uint64_t parent) {
    while (!inside_.empty() && inside_.back().seq != parent) {
      const format::NativeCall ended = std::move(inside_.back());
      inside_.pop_back();
      let_go(ended);
    }
  }

  void let_go(const format::NativeCall& call) {
    LiveTensors& table = runner_.table();
    for (const std::uint32_t slot : call.frees)
      if (slot < call.tensors.size()) table.free(call.tensors[slot].id);
    if (runner_.keeps_latest()) return;
    const auto retire = [&](std::uint64_t id) {
      if (const auto last = ahead_.last_use.find(id); last != ahead_.last_use.end() && last->second <= call.seq)
        table.retire(id);
    };
    for (const format::TensorUse& tensor : call.tensors) retire(tensor.id);
    for (const format::TensorResult& tensor : call.results) retire(tensor.id);
  }

  void count(const Agreement& agreement, std::uint64_t call) {
    if (agreement.made_up && agreement.by != Agreement::By::kSketch) {
      ++report_.made_up;
      return;
    }
    Report::Agreements& counts = agreement.by == Agreement::By::kContents ? report_.contents
                                 : agreement.by == Agreement::By::kHash   ? report_.hashes
                                                                          : report_.sketches;
    ++(agreement.same ? counts.same : counts.differ);
    if (!agreement.same && !report_.first_differ) report_.first_differ = call;
  }

  void judge(const KnownCall& known, Step& step) {
    ++report_.calls;
    ++report_.outcomes[std::string(step.word())];
    report_.device_seconds += step.device_seconds;
    report_.reference_seconds += step.reference_seconds;
    report_.chain_seconds += step.chain_seconds;
    if (step.recorded) count(*step.recorded, step.call);
    if (step.part != Part::kRun) return;
    const bool failed = standing_of(step.outcome) == Standing::kFailed;
    // What was refused when it was recorded may be refused again.
    step.beyond_local = failed && (!step.raised || step.outcome == Outcome::kFailed);
    if (step.global)
      step.beyond_global =
          !step.global->is_finite ||
          (std::isnan(step.global->pcc) ? step.global->rel_rms > 0.1 : step.global->pcc < options_.global_pcc);
    if (step.beyond_local) {
      ++report_.failed;
      if (!report_.first_local) report_.first_local = step.call;
    }
    if (failed && !known.config.op.empty()) step.line = case_line(known.config);
    if (step.beyond_global && !report_.first_global) report_.first_global = step.call;
    if ((step.beyond_local || step.beyond_global) && !report_.first_beyond) report_.first_beyond = step.call;
  }

  format::NativeTrace& trace_;
  Device& device_;
  const Options& options_;
  const OnStep& on_step_;
  Report report_;
  KnownCalls known_;
  format::CallChooser chooser_;
  CallRunner runner_;
  Ahead ahead_;
  std::optional<TensorFolder> saver_;
  struct LeftOut {  // calls of a group that were due
    std::vector<format::NativeCall> calls;
    std::unordered_set<std::uint64_t> made;  // tensors that they return
  };
  std::unordered_map<std::uint64_t, std::size_t> replaced_;  // call -> group
  std::unordered_map<std::size_t, LeftOut> left_out_;
  std::unordered_set<std::uint64_t> covered_;
  std::vector<format::NativeCall> inside_;  // calls whose inner calls are being replayed, the innermost last
};

}  // namespace

std::string_view name_of(Part part) {
  switch (part) {
    case Part::kRun:
      return "run";
    case Part::kSkipped:
      return "skipped";
    case Part::kCarried:
      return "carried";
    case Part::kSource:
      return "source";
    case Part::kFreed:
      return "freed";
    case Part::kRead:
      return "read";
    case Part::kOther:
      return "other";
    case Part::kInside:
      return "inside";
  }
  return "";
}

std::string_view name_of(Agreement::By by) {
  switch (by) {
    case Agreement::By::kContents:
      return "contents";
    case Agreement::By::kHash:
      return "hash";
    case Agreement::By::kSketch:
      return "sketch";
  }
  return "";
}

std::string_view Step::word() const { return part == Part::kRun ? opwright::name_of(outcome) : name_of(part); }

Result<Report> replay(format::NativeTrace& trace, Device& device, const Options& options, const OnStep& on_step) {
  return Replayer(trace, device, options, on_step).all();
}

}  // namespace opwright::replay
