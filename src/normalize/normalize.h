// The one definition of "the same configuration" (DESIGN law 3).
//
// Two observed calls are the same configuration when their canonical texts are equal: operation, calling convention,
// and every argument with its name and value. Addresses, hashes of one build, device ids, tensor ids, times and the way
// a value was spelled never enter; operation parameters always do. See docs/formats/identity.md.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "format/lift.h"
#include "model/call.h"
#include "model/observed.h"
#include "model/op_config.h"
#include "normalize/recall.h"

namespace opwright::normalize {

inline constexpr int kKeyVersion =
    1;  // bump when canonical_text changes meaning; the store then re-keys from its forms

// "1:python:ttnn.add(input_tensor_a=tensor(…),input_tensor_b=tensor(…))"
std::string canonical_text(const OpConfig& config);
ConfigKey key_of(std::string_view canonical_text);

// A configuration that a person or a program put together: arguments get the names and the order that normalize()
// gives them, handles are left out, and the key is taken.
void settle(OpConfig& config);

// The one way from a call to its configuration, key and all.
OpConfig config_of(Call call);

// Turns forms into configurations. Keeps its parser's memory between calls; use one a thread.
class Normalizer {
 public:
  // `op` as spelled, `arguments` as the JSON text of the form. Fails with kBadInput when the text is
  // no JSON, with kUnsupported when it is not of the form's shape.
  Result<OpConfig> normalize(FormKind kind, std::string_view op, std::string_view arguments, format::LiftNotes& notes);
  // What a reader gives: its tree where it has one, else its text.
  Result<OpConfig> normalize(const Observed& observed, format::LiftNotes& notes);

 private:
  json::Document document_;
  Recall recall_;
};

}  // namespace opwright::normalize
