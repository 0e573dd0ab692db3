#include "jobs/fuse_make.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>

#include "base/json_object.h"
#include "base/json_write.h"
#include "base/words.h"
#include "exec/traced_board.h"
#include "format/native/run_facts.h"
#include "fuse/controls.h"
#include "fuse/describe.h"
#include "fuse/drift.h"
#include "fuse/emit_pytest.h"
#include "fuse/function.h"
#include "fuse/quality.h"
#include "fuse/report_page.h"
#include "fuse/single_chip.h"
#include "fuse/substitute.h"
#include "fuse/targets.h"
#include "jobs/fuse_files.h"
#include "jobs/fuse_folder.h"
#include "jobs/fuse_mock_proof.h"
#include "jobs/fuse_stage.h"
#include "jobs/replay_trace.h"
#include "normalize/provenance_names.h"

namespace opwright::jobs {
namespace {

using fuse::Finding;
using fuse::FindingCode;
using fuse::FusedTest;
using fuse::ParameterSet;
using fuse::Section;
using fuse::StageStatus;

constexpr std::string_view kMock = "ttnn:mock:";

// Numbers come from the simulated device of that board; the library's mock computes none.
std::string simulated(const std::string& device) {
  return device.starts_with(kMock) ? "sim:" + device.substr(kMock.size()) : device;
}

Result<std::unique_ptr<Device>> open_for(const std::string& device, const std::string& machine) {
  if (device == "sim" || device == "null") {
    if (auto board = traced_board(machine)) return open_device(device, *std::move(board));
    return open_device(device);
  }
  if (!device.starts_with("sim:"))
    return fail(ErrorCode::kUnsupported,
                fmt::format("--device {}: fused tests are proven on simulated devices (sim, sim:BOARD) and on the mock "
                            "device of the real library (ttnn:mock:BOARD); on others run the emitted test_N.py",
                            device));
  return open_device(device);
}

class Maker {
 public:
  Maker(const FuseMakeRequest& request, RecordedTrace& recorded, RecordedTrace* module)
      : request_(request),
        trace_(recorded.trace),
        module_(module != nullptr ? module->trace : recorded.trace),
        is_own_module_(module == nullptr) {}

  Result<FuseMade> make() {
    OPWRIGHT_TRY(find());
    if (made_.exit != kFusePassed) return std::move(made_);
    OPWRIGHT_TRY_ASSIGN(FuseFolder folder,
                        FuseFolder::open(request_.out.empty() ? request_.name : request_.out, request_.name));
    stages_.emplace(folder, key_, test().findings, request_.on_stage);
    OPWRIGHT_TRY(prove());
    OPWRIGHT_TRY(write_fused_test(folder, test(), request_.real_weights ? &trace_ : nullptr));
    if (request_.device.starts_with(kMock)) {
      const MockProofRequest mock{fmt::format("{}/test_{}.py", folder.path(), test().name),
                                  request_.device.substr(kMock.size()), request_.python};
      OPWRIGHT_TRY(stages_->run(
          "mock", [&](Section& section) { return mock_stage(test(), mock, section); },
          [](const json::Node&) { return Status{}; }));
    }
    made_.report.sections = stages_->sections();
    OPWRIGHT_TRY(tell(folder));
    made_.folder = folder.path();
    if (made_.report.failed()) made_.exit = kFuseFailed;
    return std::move(made_);
  }

 private:
  FusedTest& test() { return made_.report.test; }
  bool stopped() const { return request_.stop && request_.stop(); }

  Status find() {
    const auto start = std::chrono::steady_clock::now();
    auto graph = fuse::CallGraph::build(trace_);
    if (!graph) return fail(std::move(graph).error());
    graph_.emplace(*std::move(graph));
    auto matches = fuse::find_matches(*graph_, request_.wanted);
    if (!matches) {
      if (matches.error().code != ErrorCode::kNotFound) return fail(std::move(matches).error());
      made_.exit = kFuseNoMatch;
      made_.trouble = matches.error().message;
      return {};
    }
    const std::string machine = normalize::name_machine(format::facts_of_run(trace_).machine);
    OPWRIGHT_TRY_ASSIGN(device_, open_for(simulated(request_.device), machine));
    replay::KnownCalls known(trace_, device_->can().board, Layout::kAbsent, true);
    auto described = fuse::describe(trace_, *graph_, *matches, known, request_.name);
    if (!described) return fail(std::move(described).error());
    test() = std::move(described->test);
    if (request_.strict && (matches->is_ambiguous || described->other_graphs > 0)) {
      made_.exit = kFuseAmbiguous;
      made_.trouble = fmt::format("--strict: the sequence can be read in more than one way: {}",
                                  test().findings.empty() ? "" : test().findings.front().text);
      return {};
    }
    made_.report.name = request_.name;
    made_.report.trace = test().trace;
    made_.report.commit = OPWRIGHT_VERSION;
    std::set<std::string> phases;
    std::vector<std::string> sets;
    for (const ParameterSet& set : test().sets) {
      if (!set.mode.empty()) phases.insert(set.mode);
      made_.matches += static_cast<std::int64_t>(set.matches.size());
      sets.push_back(JsonObject()
                         .add("id", set.id)
                         .add("matches", static_cast<std::int64_t>(set.matches.size()))
                         .add("signature", set.signature)
                         .text());
    }
    made_.report.phases.assign(phases.begin(), phases.end());
    key_ = to_hex(sha256(fmt::format("{}|{}|{}|{}|{}|{}|{}", fuse::to_json(test()), format::digest_of(trace_.file()),
                                     format::digest_of(module_.file()), device_->can().name, request_.seeds,
                                     request_.most_work, OPWRIGHT_VERSION)));
    found_.metrics = JsonObject()
                         .add("calls", static_cast<std::int64_t>(graph_->size()))
                         .add("matches", made_.matches)
                         .add("refused", matches->refused)
                         .add("overlapping", matches->overlapping)
                         .add("other_graphs", described->other_graphs)
                         .add_raw("sets", json_array(sets, true))
                         .text();
    for (const ParameterSet& set : test().sets)
      for (const fuse::Match& match : set.matches)
        found_.evidence +=
            fmt::format("{}: calls {}{}{}\n", set.id, fmt::join(match.calls, ", "),
                        match.label.empty() ? "" : ", " + match.label, match.test.empty() ? "" : ", " + match.test);
    found_.status = StageStatus::kPass;
    found_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return {};
  }

  Status prove() {
    for (const std::string_view id : fuse::kStages) {
      if (stopped()) return fail(ErrorCode::kLocked, "stopped; the same command goes on where it was");
      OPWRIGHT_TRY(stages_->run(
          std::string(id), [&](Section& section) { return stage(section); },
          [&](const json::Node& kept) { return take_up(id, kept); }));
    }
    return {};
  }

  Status stage(Section& section) {
    if (section.id == "baseline") return baseline(section);
    if (section.id == "match") {
      const std::string id = section.id;
      section = found_;
      section.id = id;
      return {};
    }
    if (section.id == "boundary") return boundary(section);
    if (section.id == "emit") return emit(section);
    if (section.id == "unit") return unit(section);
    if (section.id == "substitute") return substitute(section);
    if (section.id == "config") return config(section);
    if (section.id == "perf") return perf(section);
    if (section.id == "single_device") return single_device(section);
    return negative(section);
  }

  fuse::ModuleOptions module_options() const {
    fuse::ModuleOptions options;
    options.most_work = request_.most_work;
    options.stop = request_.stop;
    return options;
  }

  Status baseline(Section& section) {
    OPWRIGHT_TRY_ASSIGN(baseline_, fuse::run_module(module_, *device_, module_options()));
    OPWRIGHT_TRY_ASSIGN(const fuse::ModuleRun again, fuse::run_module(module_, *device_, module_options()));
    section.metrics = JsonObject()
                          .add("calls", baseline_->calls)
                          .add("ran", baseline_->ran)
                          .add("not_run", baseline_->not_run)
                          .add("tensors", static_cast<std::int64_t>(baseline_->made.size()))
                          .add("digest", to_hex(baseline_->digest()))
                          .text();
    section.evidence =
        fmt::format("{} calls, {} ran, {} tensors, digest {}\nagain: digest {}\n", baseline_->calls, baseline_->ran,
                    baseline_->made.size(), to_hex(baseline_->digest()), to_hex(again.digest()));
    if (baseline_->not_run > 0)
      section.evidence +=
          fmt::format("not run: {} calls, the first: {}\n", baseline_->not_run, baseline_->first_not_run);
    if (baseline_->nonfinite > 0)
      add_finding(
          FindingCode::kNonfinite, {baseline_->first_nonfinite},
          fmt::format("{} tensors of the module hold NaN or infinity on data that was made up", baseline_->nonfinite));
    const bool same = baseline_->made == again.made;
    section.status = same ? StageStatus::kPass : StageStatus::kFail;
    if (!same) section.reason = "two replays of the module differ: nothing can be compared bit by bit";
    if (same && baseline_->ran == 0) {
      section.status = StageStatus::kSkip;
      section.reason = "no call of the module runs on this device: " + baseline_->first_not_run;
    }
    return {};
  }

  // A stage that is taken from an earlier run still has what it found.
  void add_finding(FindingCode code, std::vector<std::uint64_t> at, std::string text) {
    test().findings.push_back({code, std::move(at), std::move(text)});
  }

  Status boundary(Section& section) {
    std::map<std::string, std::int64_t> roles;
    for (const fuse::FusedInput& input : test().inputs) ++roles[std::string(fuse::name_of(input.role))];
    std::int64_t bytes = 0, peak = 0;
    for (const ParameterSet& set : test().sets) {
      bytes = std::max(bytes, set.internal_bytes);
      peak = std::max(peak, set.internal_peak_bytes);
    }
    for (std::size_t i = 0; i < test().inputs.size(); ++i)
      section.evidence += fmt::format("in   {} ({}): {}\n", test().inputs[i].name, fuse::name_of(test().inputs[i].role),
                                      to_text(test().sets.front().inputs[i]));
    for (std::size_t o = 0; o < test().outputs.size(); ++o)
      section.evidence += fmt::format("out  {}{}: {}\n", test().outputs[o].name,
                                      test().outputs[o].is_read_later ? "" : " (nobody reads it later)",
                                      to_text(test().sets.front().outputs[o]));
    section.metrics = JsonObject()
                          .add_raw("inputs", counts_json(roles))
                          .add("outputs", static_cast<std::int64_t>(test().outputs.size()))
                          .add("internal_bytes", bytes)
                          .add("internal_bytes_peak", peak)
                          .text();
    section.status = StageStatus::kPass;
    if (request_.real_weights) check_weights(section);
    return {};
  }

  void check_weights(Section& section) {
    std::vector<std::string> missing;
    for (const ParameterSet& set : test().sets)
      for (std::size_t i = 0; i < set.inputs.size(); ++i)
        if (test().inputs[i].role == fuse::Role::kWeight && set.contents[i].empty())
          missing.push_back(fmt::format("{} of {}", test().inputs[i].name, set.id));
    if (missing.empty()) return;
    section.status = StageStatus::kFail;
    section.reason = fmt::format("--weights real: the trace has no contents of {}; record it with --values weights",
                                 fmt::join(missing, ", "));
    add_finding(FindingCode::kNoWeights, {}, section.reason);
  }

  Status emit(Section& section) {
    const auto text = fuse::emit_pytest(test());
    section.status = text ? StageStatus::kPass : StageStatus::kFail;
    if (!text) section.reason = text.error().message;
    section.metrics = JsonObject().add("lines", text ? std::ranges::count(*text, '\n') : 0).text();
    section.evidence = fmt::format("test_{}.py: {}\n", test().name, text ? "written" : section.reason);
    return {};
  }

  Status unit(Section& section) {
    std::vector<std::string> rows, kept;
    section.status = StageStatus::kPass;
    for (ParameterSet& set : test().sets) {
      const auto function = fuse::Function::prepare(test(), set, device_->can().board);
      if (!function) {
        section.status = StageStatus::kFail;
        section.reason = function.error().message;
        section.evidence += function.error().message + "\n";
        continue;
      }
      const fuse::UnitTest tested = fuse::test_unit(*function, *device_, set, request_.seeds, request_.stop);
      if (!tested.trouble.empty()) {
        section.status = StageStatus::kFail;
        if (section.reason.empty()) section.reason = fmt::format("{}: {}", set.id, tested.trouble);
      }
      for (const auto* list : {&tested.measured, &tested.tested})
        for (const fuse::Quality& quality : *list)
          section.evidence += fmt::format("{}: {} PCC {:.7f}, {:.4g} beyond rtol{}\n", set.id,
                                          list == &tested.measured ? "measured" : "tested", quality.pcc(),
                                          quality.beyond(), quality.refused.empty() ? "" : ", " + quality.refused);
      if (tested.expected.seeds == 0) continue;
      set.expected = tested.expected;
      if (tested.expected.measured_pcc < fuse::kLeastPcc)
        add_finding(FindingCode::kBelowRule, {},
                    fmt::format("{}: PCC {:.5f} was measured; {} is expected of every fused operator", set.id,
                                tested.expected.measured_pcc, fuse::kLeastPcc));
      rows.push_back(JsonObject()
                         .add("set", set.id)
                         .add_raw("pcc", json::figure_text(set.expected->pcc))
                         .add_raw("atol", json::figure_text(set.expected->atol))
                         .add_raw("rtol", json::figure_text(set.expected->rtol))
                         .add_raw("measured_pcc", json::figure_text(set.expected->measured_pcc))
                         .add("seeds", std::int64_t{set.expected->seeds})
                         .text());
    }
    section.metrics = JsonObject().add_raw("sets", json_array(rows, true)).text();
    return {};
  }

  Status substitute(Section& section) {
    const Section* baseline = stages_->find("baseline");
    if (baseline == nullptr || baseline->status != StageStatus::kPass) {
      section.reason = "there is no baseline to compare with";
      return {};
    }
    if (!baseline_) {
      OPWRIGHT_TRY_ASSIGN(baseline_, fuse::run_module(module_, *device_, module_options()));
    }
    OPWRIGHT_TRY_ASSIGN(const auto in_module, module_test());
    if (!in_module) {
      section.status = StageStatus::kFail;
      section.reason = "the sequence is not in the module's trace with this data flow";
      return {};
    }
    const fuse::CallGraph& graph = module_graph_ ? *module_graph_ : *graph_;
    OPWRIGHT_TRY_ASSIGN(const fuse::Substitution done,
                        fuse::substitute(module_, graph, *in_module, *device_, module_options(), *baseline_));
    section.metrics = JsonObject()
                          .add("matches", done.matches)
                          .add("replaced", done.replaced)
                          .add_raw("not_replaced", counts_json(done.not_replaced))
                          .add("compared", done.compared)
                          .add("equal", done.equal)
                          .text();
    section.evidence = fmt::format("{} of {} matches replaced, {} tensors compared, {} equal\n", done.replaced,
                                   done.matches, done.compared, done.equal);
    for (const auto& [why, count] : done.not_replaced)
      section.evidence += fmt::format("not replaced: {}: {}\n", count, why);
    if (done.replaced == 0) {
      section.status = StageStatus::kFail;
      section.reason = done.not_replaced.empty() ? "no match was replaced" : done.not_replaced.begin()->first;
    } else if (done.equal != done.compared) {
      section.status = StageStatus::kFail;
      section.reason = fmt::format("{} of {} tensors differ, the first: {}", done.compared - done.equal, done.compared,
                                   done.first_difference);
    } else {
      section.status = done.compared > 0 ? StageStatus::kPass : StageStatus::kFail;
      if (done.compared == 0) section.reason = "nothing was compared";
    }
    return {};
  }

  // The test with the matches of the module's trace.
  Result<std::optional<FusedTest>> module_test() {
    if (is_own_module_) return test();
    OPWRIGHT_TRY_ASSIGN(module_graph_, fuse::CallGraph::build(module_));
    fuse::Wanted wanted;
    OPWRIGHT_TRY_ASSIGN(wanted.pattern, fuse::Pattern::parse(test().pattern));
    auto matches = fuse::find_matches(*module_graph_, wanted);
    if (!matches) return std::nullopt;
    replay::KnownCalls known(module_, device_->can().board, Layout::kAbsent, true);
    auto described = fuse::describe(module_, *module_graph_, *matches, known, test().name);
    if (!described) return std::nullopt;
    return std::move(described->test);
  }

  Status config(Section& section) {
    // What was written is read again: it is the file that is compared with the module, not what we have in mind.
    OPWRIGHT_TRY_ASSIGN(const FusedTest again, fuse::parse_fused_test(fuse::to_json(test()), "params.json"));
    OPWRIGHT_TRY_ASSIGN(const fuse::DriftReport drift, fuse::find_drift(module_, again));
    section.metrics = JsonObject()
                          .add("matches", drift.matches)
                          .add("equal", drift.equal)
                          .add("fields", static_cast<std::int64_t>(drift.drifts.size()))
                          .text();
    section.evidence = fmt::format("{} matches in the module, {} with exactly the arguments of the test\n",
                                   drift.matches, drift.equal);
    for (const fuse::Drift& one : drift.drifts) {
      section.evidence += fmt::format("{} call {} ({}) {}: test {}, module {}\n", one.set, one.call + 1, one.op,
                                      one.field, one.test, one.trace);
      add_finding(FindingCode::kConfigDrift, {},
                  fmt::format("{} {}: test {}, module {}", one.op, one.field, one.test, one.trace));
    }
    const bool same = drift.drifts.empty() && drift.no_match.empty();
    section.status = same ? StageStatus::kPass : StageStatus::kFail;
    if (!same)
      section.reason = drift.no_match.empty() ? fmt::format("{} fields differ", drift.drifts.size()) : drift.no_match;
    return {};
  }

  Status perf(Section& section) {
    std::vector<std::string> rows;
    section.status = StageStatus::kPass;
    for (ParameterSet& set : test().sets) {
      const auto function = fuse::Function::prepare(test(), set, device_->can().board);
      if (!function) {
        section.status = StageStatus::kSkip;
        section.reason = function.error().message;
        continue;
      }
      set.targets = fuse::modelled_targets(*function, set, device_->can().board);
      const fuse::Targets& targets = *set.targets;
      rows.push_back(JsonObject()
                         .add("set", set.id)
                         .add("source", targets.source)
                         .add_raw("kernel_us", fmt::format("{:.3f}", targets.kernel_ns / 1000))
                         .add_raw("op_to_op_us", fmt::format("{:.3f}", targets.op_to_op_ns / 1000))
                         .add_raw("roofline_us", fmt::format("{:.3f}", targets.roofline_ns / 1000))
                         .add("unmodelled", targets.unmodelled)
                         .text());
      section.evidence +=
          fmt::format("{}: kernels {:.3f} us, between them {:.3f} us, at best {:.3f} us; {} not modelled\n", set.id,
                      targets.kernel_ns / 1000, targets.op_to_op_ns / 1000, targets.roofline_ns / 1000,
                      plural(targets.unmodelled, "call"));
    }
    section.metrics = JsonObject().add_raw("sets", json_array(rows, true)).text();
    return {};
  }

  Status single_device(Section& section) {
    std::vector<std::string> rows;
    std::int64_t proven = 0;
    std::string skipped, failed;
    for (ParameterSet& set : test().sets) {
      const fuse::SingleChip chip = fuse::prove_single_chip(test(), set, device_->can().board);
      rows.push_back(JsonObject()
                         .add("set", set.id)
                         .add("skipped", chip.skipped)
                         .add("wrong", chip.wrong)
                         .add("tensors", chip.tensors)
                         .text());
      section.evidence += fmt::format("{}: {}\n", set.id,
                                      !chip.skipped.empty() ? "skipped: " + chip.skipped
                                      : !chip.wrong.empty()
                                          ? chip.wrong
                                          : fmt::format("{} tensors have the shape of one chip's part", chip.tensors));
      if (!chip.skipped.empty())
        skipped = chip.skipped;
      else if (!chip.wrong.empty())
        failed = fmt::format("{}: {}", set.id, chip.wrong);
      else
        ++proven;
      if (set.no_single_device.empty()) set.no_single_device = chip.skipped;
    }
    section.metrics = JsonObject().add_raw("sets", json_array(rows, true)).text();
    section.status = !failed.empty() ? StageStatus::kFail : proven > 0 ? StageStatus::kPass : StageStatus::kSkip;
    section.reason = !failed.empty() ? failed : skipped;
    return {};
  }

  Status negative(Section& section) {
    std::vector<std::string> rows;
    std::vector<std::string> vacuous;
    std::int64_t noticed = 0;
    for (const ParameterSet& set : test().sets) {
      if (!set.expected) continue;
      for (const fuse::Control& control :
           fuse::run_controls(test(), set, *device_, static_cast<std::uint64_t>(request_.seeds) + 1)) {
        rows.push_back(JsonObject()
                           .add("set", set.id)
                           .add("control", control.name)
                           .add("what", control.what)
                           .add("noticed", control.noticed)
                           .add("skipped", control.skipped)
                           .text());
        section.evidence +=
            fmt::format("{}: {}: {}: {}\n", set.id, control.name, control.what.empty() ? "-" : control.what,
                        !control.skipped.empty()   ? "skipped: " + control.skipped
                        : !control.noticed.empty() ? "the test fails: " + control.noticed
                                                   : "THE TEST PASSES");
        if (control.is_vacuous()) vacuous.push_back(fmt::format("{}: {} ({})", set.id, control.name, control.what));
        noticed += control.noticed.empty() ? 0 : 1;
      }
    }
    section.metrics = JsonObject()
                          .add("noticed", noticed)
                          .add("vacuous", static_cast<std::int64_t>(vacuous.size()))
                          .add_raw("controls", json_array(rows, true))
                          .text();
    if (!vacuous.empty()) {
      section.status = StageStatus::kFail;
      section.reason = fmt::format("vacuous: the test passes with {}", fmt::join(vacuous, "; "));
    } else if (noticed == 0) {
      section.reason = "no control could be made";
      section.status = StageStatus::kFail;
    } else {
      section.status = StageStatus::kPass;
    }
    return {};
  }

  // What later stages need of one that was not run again.
  Status take_up(std::string_view id, const json::Node& kept) {
    const json::Node* sets = kept.find("sets");
    if (sets == nullptr) return {};
    for (const json::Node& row : *sets)
      for (ParameterSet& set : test().sets) {
        if (row.string_field("set") != set.id) continue;
        const auto figure = [&](std::string_view name) {
          const json::Node* node = row.find(name);
          return node == nullptr ? 0.0 : json::figure_of(*node).value_or(0);
        };
        if (id == "unit")
          set.expected = fuse::Expected{figure("pcc"), figure("atol"), figure("rtol"), figure("measured_pcc"),
                                        static_cast<int>(figure("seeds"))};
      }
    return {};
  }

  Status tell(FuseFolder& folder) {
    OPWRIGHT_TRY(folder.write("report.html", fuse::report_page(made_.report)));
    OPWRIGHT_TRY(folder.write("report.json", fuse::report_json(made_.report)));
    return folder.write("report.md", fuse::report_markdown(made_.report));
  }

  const FuseMakeRequest& request_;
  format::NativeTrace& trace_;
  format::NativeTrace& module_;
  bool is_own_module_;
  std::optional<fuse::CallGraph> graph_, module_graph_;
  std::unique_ptr<Device> device_;
  std::optional<fuse::ModuleRun> baseline_;
  std::optional<FuseStages> stages_;
  Section found_;
  std::string key_;
  FuseMade made_;
};

}  // namespace

Result<FuseMade> make_fused(const FuseMakeRequest& request) {
  OPWRIGHT_TRY_ASSIGN(RecordedTrace recorded, open_recorded(request.trace, request.store, request.wait_ms));
  std::optional<RecordedTrace> module;
  if (!request.module_trace.empty()) {
    OPWRIGHT_TRY_ASSIGN(module, open_recorded(request.module_trace, request.store, request.wait_ms));
  }
  return Maker(request, recorded, module ? &*module : nullptr).make();
}

int fuse_exit_code(const Error& error) { return error.code == ErrorCode::kUsage ? kFuseUsage : kFuseUnreadable; }

}  // namespace opwright::jobs
