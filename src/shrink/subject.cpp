#include "shrink/subject.h"

#include <fmt/format.h>

#include "model/case_line.h"

namespace opwright::shrink {

std::string key_of(const Subject& subject) {
  std::string key;
  for (const OpConfig& config : subject.before) key += case_line(config) + '\n';
  return key + fmt::format("{}\n{} {}", case_line(subject.config), data_text(subject.recipe), subject.recipe.seed);
}

}  // namespace opwright::shrink
