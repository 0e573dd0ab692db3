#include "format/native/masked_facts.h"

#include "base/secrets.h"
#include "format/native/made_text.h"

namespace opwright::format {

std::vector<MaskedPart> masked_parts(const NativeValue& fact) {
  std::vector<MaskedPart> parts;
  if (fact.is_list()) {
    std::vector<std::string> words;
    for (const NativeValue* item : fact.items) words.push_back(made_text(*item));
    const std::vector<std::string> shown = masked_words(words);
    for (std::size_t i = 0; i < shown.size(); ++i) parts.push_back({fact.items[i], "", shown[i]});
  } else if (fact.is(capture::Tag::kDict)) {
    for (std::size_t i = 0; i + 1 < fact.items.size(); i += 2) {
      MaskedPart part{fact.items[i + 1], made_text(*fact.items[i]), ""};
      part.text = masked_words({part.key + "=" + made_text(*part.value)}).front().substr(part.key.size() + 1);
      parts.push_back(std::move(part));
    }
  } else {
    parts.push_back({&fact, "", masked(made_text(fact))});
  }
  return parts;
}

}  // namespace opwright::format
