#include "dialect/ttnn/python_api.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>

#include "base/text.h"

namespace opwright::embedded {
extern const std::string_view kTtnnClasses;
extern const std::string_view kTtnnGoldenFunctions;
extern const std::string_view kTtnnSemaphores;
}  // namespace opwright::embedded

namespace opwright {
namespace {

std::string_view take(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view part = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return part;
}

template <class F>
void for_each_row(std::string_view text, F&& use) {
  while (!text.empty())
    if (const std::string_view line = take(text, '\n'); !line.empty() && line.front() != '#') use(line);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty())
    if (const std::string_view word = take(text, ' '); !word.empty()) words.push_back(word);
  return words;
}

PythonParameter parameter_of(std::string_view text) {
  PythonParameter parameter;
  if (text.starts_with('/')) {
    parameter.by_name = false;
    text.remove_prefix(1);
  }
  if (text.starts_with('*')) {
    parameter.by_position = false;
    text.remove_prefix(1);
  }
  parameter.required = !text.ends_with('=');
  if (!parameter.required) text.remove_suffix(1);
  parameter.name = take(text, ':');
  parameter.kind = text;
  return parameter;
}

std::vector<PythonClass> read_classes() {
  std::vector<PythonClass> all;
  for_each_row(embedded::kTtnnClasses, [&](std::string_view line) {
    const std::string_view name = take(line, '\t');
    const std::string_view path = take(line, '\t');
    const bool is_enum = take(line, '\t') == "enum";
    if (all.empty() || all.back().name != name) all.push_back({name, path, is_enum, {}, {}});
    if (is_enum) {
      all.back().members = words_of(line);
    } else {
      std::vector<PythonParameter>& parameters = all.back().constructors.emplace_back();
      for (const std::string_view word : words_of(line)) parameters.push_back(parameter_of(word));
    }
  });
  std::ranges::sort(all, {}, &PythonClass::name);
  return all;
}

bool upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
bool lower(char c) { return std::islower(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

// `DRAM_HEIGHT` and `DRAMHeight` -> dram, height
std::vector<std::string> words_in(std::string_view name) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < name.size();) {
    std::size_t end = i;
    if (digit(name[i])) {
      while (end < name.size() && digit(name[end])) ++end;
    } else if (upper(name[i])) {
      while (end < name.size() && upper(name[end])) ++end;
      if (end < name.size() && lower(name[end])) {
        if (end - i > 1) --end;  // the last capital begins the next word
        if (end - i == 1) {
          while (end < name.size() && lower(name[end])) ++end;
        }
      }
    } else if (lower(name[i])) {
      while (end < name.size() && lower(name[end])) ++end;
    } else {
      ++i;
      continue;
    }
    std::string& word = words.emplace_back(name.substr(i, end - i));
    std::ranges::transform(word, word.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    i = end;
  }
  return words;
}

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) all += word;
  return all;
}

bool is_spread_in(const std::vector<std::string>& words, const std::vector<std::string>& others) {
  std::size_t at = 0;
  for (const std::string& word : words) {
    while (at < others.size() && others[at] != word) ++at;
    if (at++ >= others.size()) return false;
  }
  return true;
}

}  // namespace

bool PythonParameter::takes(std::string_view type) const {
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= kind.size(); ++i) {
    if (i == kind.size() || (kind[i] == '|' && depth == 0)) {
      if (kind.substr(start, i - start) == type) return true;
      start = i + 1;
    } else {
      depth += kind[i] == '[' ? 1 : kind[i] == ']' ? -1 : 0;
    }
  }
  return false;
}

bool PythonParameter::may_be_none() const { return takes("None"); }

std::string_view PythonClass::member(std::string_view written) const {
  const std::string_view wanted = last_part(written);
  for (const std::string_view own : members)
    if (own == wanted) return own;
  const std::vector<std::string> words = words_in(wanted);
  for (const bool whole : {true, false}) {
    std::vector<std::string_view> found;
    for (const std::string_view candidate : members) {
      const std::vector<std::string> own = words_in(candidate);
      if (whole ? joined(own) == joined(words) : is_spread_in(words, own)) found.push_back(candidate);
    }
    if (found.size() == 1) return found.front();
  }
  return {};
}

std::span<const PythonClass> python_classes() {
  static const std::vector<PythonClass> all = read_classes();
  return all;
}

const PythonClass* find_python_class(std::string_view name) {
  const std::string_view wanted = last_part(name);
  const std::span<const PythonClass> all = python_classes();
  const auto found = std::ranges::lower_bound(all, wanted, {}, &PythonClass::name);
  return found != all.end() && found->name == wanted ? &*found : nullptr;
}

bool has_golden_function(std::string_view op) {
  static const std::set<std::string_view> all = [] {
    std::set<std::string_view> names;
    for_each_row(embedded::kTtnnGoldenFunctions, [&](std::string_view line) { names.insert(line); });
    return names;
  }();
  return all.contains(op);
}

std::span<const PythonHandle> semaphores_of(std::string_view op) {
  static const std::map<std::string_view, std::vector<PythonHandle>> all = [] {
    std::map<std::string_view, std::vector<PythonHandle>> handles;
    for_each_row(embedded::kTtnnSemaphores, [&](std::string_view line) {
      std::vector<PythonHandle>& own = handles[take(line, '\t')];
      for (std::string_view word : words_of(line)) {
        const std::string_view parameter = take(word, ':');
        own.push_back({parameter, word.empty() ? 0 : word.front() - '0'});
      }
    });
    return handles;
  }();
  const auto found = all.find(op);
  return found == all.end() ? std::span<const PythonHandle>() : found->second;
}

}  // namespace opwright
