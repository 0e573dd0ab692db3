#include "exec/conform.h"

#include <fmt/format.h>

#include "device/device.h"
#include "exec/case_line.h"
#include "exec/conform_values.h"
#include "exec/output_fields.h"
#include "exec/plan_call.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

std::string first_line(std::string_view text) {
  std::string line(text.substr(0, text.find('\n')));
  return line.size() > 300 ? line.substr(0, 297) + "..." : line;
}

}  // namespace

Result<Conform> Conform::on(std::string device) {
  OPWRIGHT_TRY(open_device(device));  // the name must be a device's; each case then opens one on its own board
  return Conform(device.substr(0, device.find(':')));
}

Result<Conform> Conform::on(Device& program) {
  Conform conform(program.can().name);
  conform.program_ = &program;
  return conform;
}

std::string Conform::why_not(const OracleCase& oracle) const {
  if (!oracle.not_run.empty()) return oracle.not_run;
  if (program_ == nullptr) {
    if (find_op(oracle.config.op) == nullptr) return fmt::format("unknown operator {}", oracle.config.op);
    return "";
  }
  const Board& board = program_->can().board;
  if (oracle.board.name != board.name || oracle.board.grid != board.grid)
    return fmt::format("recorded on {} of {}x{} cores, the device is {} of {}x{}", oracle.board.name,
                       oracle.board.grid.x, oracle.board.grid.y, board.name, board.grid.x, board.grid.y);
  if (!oracle.results.empty() || oracle.accuracy) return "numbers are compared only for devices of this process";
  return "";
}

// What the device answers: the outputs it promises, or why not.
Checked<std::vector<OutputSpec>> Conform::ask(const OracleCase& oracle) {
  if (program_ != nullptr) {
    const BoundCall call(oracle.config.op, oracle.config.convention, oracle.config.args);
    OPWRIGHT_CHECK_ASSIGN(DeviceResult answer, program_->run({.call = call, .outputs = {}, .memory = false}, {}));
    return std::move(answer.reported);
  }
  OPWRIGHT_CHECK_ASSIGN(PlannedCall plan, plan_call(oracle.config, oracle.board));
  if (plan.op->ccl) return std::move(plan.outputs);  // rules and specs only: a single chip has no other to talk to
  auto device = open_device(device_, oracle.board);
  OPWRIGHT_CHECK(device->admit({plan.call, plan.outputs}));
  return std::move(plan.outputs);
}

void Conform::disagree(const OracleCase& oracle, std::string what, std::string text) {
  const std::string line = case_line(oracle.config);
  report_.disagreements.push_back(
      {oracle.id, oracle.config.op, std::move(what), oracle.kind, std::move(text),
       repeat_command(line, program_ != nullptr ? device_ : fmt::format("{}:{}", device_, oracle.board.name), {})});
}

void Conform::add(const OracleCase& oracle) {
  ++report_.cases;
  if (std::string reason = why_not(oracle); !reason.empty()) {
    ++report_.skipped[std::move(reason)];
    return;
  }
  const OpSpec* known = find_op(oracle.config.op);
  OpAgreement& op = report_.per_op[known == nullptr ? oracle.config.op : std::string(known->name)];
  ++op.cases;
  ++report_.total.cases;
  if (!oracle.results.empty() || oracle.accuracy)
    add_values(oracle, op);
  else
    add_answer(oracle, op);
}

void Conform::add_answer(const OracleCase& oracle, OpAgreement& op) {
  const auto answer = ask(oracle);
  const bool expected = oracle.answer == OracleCase::Answer::kOk;
  if (oracle.guessed || oracle.kind == "l1" || oracle.kind == "big") {
    report_.uncounted[oracle.guessed ? "guessed" : oracle.kind].add(answer.has_value() == expected);
    return;
  }
  op.outcome.add(answer.has_value() == expected);
  report_.total.outcome.add(answer.has_value() == expected);
  if (!answer && !expected && answer.error().kind == Refusal::Kind::kUnsupported) ++report_.agreed_unsupported;
  if (answer.has_value() != expected) {
    disagree(oracle, "outcome",
             expected
                 ? fmt::format("accepted by the library, refused here ({}): {}", name_of(answer.error().kind),
                               first_line(answer.error().message))
                 : fmt::format("accepted here, the library: {}",
                               oracle.answer == OracleCase::Answer::kCrash ? "crashes" : first_line(oracle.message)));
    return;
  }
  if (!expected || !oracle.has_outputs) return;
  std::string differences;
  if (answer->size() != oracle.outputs.size())
    differences = fmt::format("{} outputs expected, {} here", oracle.outputs.size(), answer->size());
  for (std::size_t i = 0; i < std::min(answer->size(), oracle.outputs.size()); ++i)
    for (const FieldTexts& field : output_fields(oracle.outputs[i], (*answer)[i])) {
      report_.fields[field.name].add(field.first == field.second);
      if (field.first != field.second)
        differences += fmt::format("{}output {} {}: expected {}, here {}", differences.empty() ? "" : "; ", i,
                                   field.name, field.first, field.second);
    }
  op.specs.add(differences.empty());
  report_.total.specs.add(differences.empty());
  if (!differences.empty()) disagree(oracle, "spec", differences);
}

void Conform::add_values(const OracleCase& oracle, OpAgreement& op) {
  const ValueFinding finding = judge_values(oracle, device_);
  if (!finding.skipped.empty()) {
    ++report_.skipped[finding.skipped];
    return;
  }
  for (OpAgreement* sum : {&op, &report_.total}) {
    sum->elements += finding.elements;
    sum->exact_elements += finding.exact_elements;
    switch (finding.grade) {
      case ValueFinding::Grade::kExact:
        ++sum->values.exact;
        break;
      case ValueFinding::Grade::kWithin:
        ++sum->values.within;
        break;
      case ValueFinding::Grade::kBeyond:
        ++sum->values.beyond;
        break;
    }
  }
  if (finding.grade == ValueFinding::Grade::kBeyond) disagree(oracle, "value", finding.text);
}

}  // namespace opwright
