#include "model/test_id.h"

#include <algorithm>

namespace opwright {
namespace {

// Where the tags at the end of a source begin: " [HF_MODEL:…] [LLAMA_DIR:…]".
std::size_t start_of_tags(std::string_view source) {
  std::size_t start = source.size();
  for (const std::string_view tag : {" [HF_MODEL:", " [LLAMA_DIR:"}) start = std::min(start, source.find(tag));
  return start;
}

}  // namespace

std::string test_function(std::string_view source) {
  const std::size_t tags = start_of_tags(source);
  const std::string_view test = source.substr(0, tags);
  const std::size_t name = test.find("::");  // a folder may have brackets in its name, too
  if (name == std::string_view::npos || !test.ends_with(']')) return std::string(source);
  const std::size_t parameters = test.find('[', name);
  if (parameters == std::string_view::npos) return std::string(source);
  return std::string(test.substr(0, parameters)) + std::string(source.substr(tags));
}

bool takes_model_from_environment(std::string_view source, bool all_of_it) {
  return source.find(all_of_it ? "models/tt_transformers/" : "models/tt_transformers/demo/simple_text_demo.py") !=
         std::string_view::npos;
}

std::string with_model_tags(std::string source, const ModelTags& tags) {
  for (const auto& [name, value] : tags) {
    const std::string tag = "[" + name + ":";
    if (source.find(tag) == std::string::npos) source += " " + tag + value + "]";
  }
  return source;
}

}  // namespace opwright
