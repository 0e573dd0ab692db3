// The calls of a native trace as typed calls: the value table's values understood, the order, identities and times as
// they were recorded.
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "format/lift.h"
#include "format/native/native_arguments.h"
#include "format/native/run_facts.h"
#include "model/call.h"

namespace opwright::format {

class NativeCalls {
 public:
  explicit NativeCalls(NativeTrace& trace);

  // Fails with kBadInput where the call is not whole in the file, with kUnsupported where it cannot be understood.
  Result<Call> call(const NativeCall& recorded, LiftNotes& notes);

  const RunFacts& facts() const { return facts_; }

 private:
  NativeTrace& trace_;
  RunFacts facts_;
  json::Document machine_document_;
  const json::Node* machine_;
  NativeArguments arguments_;
  CallArguments made_;
};

// "RuntimeError: …" of what a call raised; "" when it did not, "?" when it is not in the file.
std::string error_text(NativeTrace& trace, ValueId error);
// The machine of a run as an object, in `document`; null when it names none.
const json::Node* machine_of(const RunFacts& facts, json::Document& document);

}  // namespace opwright::format
