#include "format/native/native_calls.h"

#include <fmt/format.h>

namespace opwright::format {

std::string error_text(NativeTrace& trace, ValueId error) {
  const NativeValue* raised = error != 0 ? trace.values().value(error) : nullptr;
  if (raised == nullptr) return error != 0 ? "?" : "";
  return fmt::format("{}: {}", text_of(raised->find("type")), text_of(raised->find("message")));
}

const json::Node* machine_of(const RunFacts& facts, json::Document& document) {
  if (facts.machine.empty()) return nullptr;
  const auto root = document.parse(facts.machine);
  return root && (*root)->is(json::Kind::kObject) ? *root : nullptr;
}

NativeCalls::NativeCalls(NativeTrace& trace)
    : trace_(trace),
      facts_(facts_of_run(trace)),
      machine_(machine_of(facts_, machine_document_)),
      arguments_(trace, machine_) {}

Result<Call> NativeCalls::call(const NativeCall& recorded, LiftNotes& notes) {
  std::string_view op;
  std::string wrong;
  switch (arguments_.make(recorded, made_, op, wrong)) {
    case NativeArguments::Outcome::kDone:
      break;
    case NativeArguments::Outcome::kNotWhole:
      return fail(ErrorCode::kBadInput,
                  fmt::format("call {}: the arguments of a call are not whole in the file", recorded.seq));
    case NativeArguments::Outcome::kNoJson:
      return fail(ErrorCode::kUnsupported, fmt::format("call {}: {}", recorded.seq, wrong));
  }
  OPWRIGHT_TRY_ASSIGN(Call call, lift_call(FormKind::kNative, op, made_.tree, notes));
  if (recorded.result != 0 && trace_.values().is_whole(recorded.result)) {
    call.has_result = true;
    call.result = lift_json(arguments_.result(recorded), notes);
  }
  call.error = error_text(trace_, recorded.error);
  call.sequence = recorded.seq;
  call.parent = recorded.parent;
  call.thread = recorded.thread;
  call.start_ns = recorded.start_ns;
  call.duration_ns = recorded.duration_ns;
  call.finished = recorded.finished;
  for (const TensorUse& use : recorded.tensors) call.tensors.push_back({use.id, use.version, 0, 0});
  for (const TensorResult& made : recorded.results)
    call.results.push_back({made.id, made.version, made.storage, made.view_of});
  for (const TensorWrite& write : recorded.writes) call.writes.push_back({write.slot, write.version});
  call.frees = recorded.frees;
  const CallContext context = trace_.context(recorded.context);
  call.phase = context.phase;
  call.label = context.label;
  call.source = facts_.source_of(context.test);
  call.machine = merged_machine(machine_, made_.mesh);
  return call;
}

}  // namespace opwright::format
