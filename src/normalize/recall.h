// Arguments that were understood before, found again by their text. Traces write the same memory configs, program
// configs and tensors in ever new calls; what was lifted once is not parsed again. Keeps a bounded number; use one a
// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "format/lift.h"
#include "model/call.h"

namespace opwright::normalize {

class Recall {
 public:
  // The arguments of `{"arg0":…,"dim":3}`, as format::lift_call gives them for such a text, notes included. Nothing
  // where the text is no such object, has white space between its members, a name twice or a name with an escape: the
  // parser then says what it is.
  std::optional<std::vector<CallArgument>> arguments(std::string_view text, const Dialect& dialect,
                                                     format::LiftNotes& notes);

 private:
  struct Member {
    std::string_view name, text;
  };
  bool split(std::string_view text);
  const Value* lifted(std::string_view text, const Dialect& dialect, format::LiftNotes& notes);

  std::vector<Member> members_;
  std::unordered_map<Hash128, Value, Hash128Hasher> known_;  // by text and dialect
  json::Document document_;
  std::string wrapped_;
  Value noted_;  // the last one that is not kept, because there is something to say about it each time
};

}  // namespace opwright::normalize
