// Arguments that were understood before, found again by their text. Traces write the same memory configs, program
// configs and tensors in ever new calls; what was lifted once is not parsed again, nor is a
// tensor of which only the sizes are new. Keeps a bounded number; use one a thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flat_table.h"
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
  // A text with holes where numbers stood.
  struct Outline {
    Hash128 hash;
    std::string_view before, behind;  // the list of numbers
    Shape numbers;
  };
  bool split(std::string_view text);
  // Nothing where the text is no object with one list of sizes right in it.
  static std::optional<Outline> outline_of(std::string_view text, const Dialect& dialect);
  const Value* filled(const Outline& outline);
  void learn(const Outline& outline, const Value& value, const Dialect& dialect);
  std::optional<Value> parsed(std::string_view text, format::LiftNotes& notes);
  const Value* lifted(std::string_view text, const Dialect& dialect, format::LiftNotes& notes);

  std::vector<Member> members_;
  FlatMap<Hash128, Value, Hash128Hasher> known_;  // by text and dialect
  // Tensors by their text without the sizes: whoever traces a model at another size writes the same in all else.
  // Nothing: sizes of such a text go elsewhere than into the shape, too.
  FlatMap<Hash128, std::optional<Value>, Hash128Hasher> outlines_;
  Value filled_;
  json::Document document_;
  std::string wrapped_;
  Value noted_;  // the last one that is not kept, because there is something to say about it each time
};

}  // namespace opwright::normalize
