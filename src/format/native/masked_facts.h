// Facts of a run as they may be written down: the recorder masks secrets in them; older ones and other writers did not.
#pragma once

#include <string>
#include <vector>

#include "format/native/value_table.h"

namespace opwright::format {

struct MaskedPart {
  const NativeValue* value = nullptr;  // a part of the fact, or all of it
  std::string key;                     // of a dict's part
  std::string text;                    // what may be shown of it
};

// A scalar is one part, a list has a part a word (one behind `--token` is a secret), a dict a part a value (`TOKEN=…`
// is one). A part that is a list or dict itself has parts of its own.
std::vector<MaskedPart> masked_parts(const NativeValue& fact);

}  // namespace opwright::format
