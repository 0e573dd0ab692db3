#include "perf/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "base/near_names.h"

namespace opwright::perf {
namespace {

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

constexpr std::array<std::string_view, 2> kStarts{"start", "begin"};
constexpr std::array<std::string_view, 2> kEnds{"stop", "end"};

bool is_separator(char c) { return c == '_' || c == '-' || c == ' ' || c == ':' || c == '.'; }

// The names that remain when one of `words` is taken off either side: "NAME_END" -> "name".
std::vector<std::string> without(const std::string& name, const std::array<std::string_view, 2>& words) {
  std::vector<std::string> bases;
  for (const std::string_view word : words) {
    if (name == word) bases.emplace_back();
    if (name.size() <= word.size() + 1) continue;
    if (name.ends_with(word) && is_separator(name[name.size() - word.size() - 1]))
      bases.push_back(name.substr(0, name.size() - word.size() - 1));
    if (name.starts_with(word) && is_separator(name[word.size()])) bases.push_back(name.substr(word.size() + 1));
  }
  return bases;
}

struct Open {
  std::size_t mark;
  std::vector<std::string> bases;  // what its end may be called
  bool looks_like_end;
};

Window between(const Mark* first, const Mark* last, std::uint64_t samples, std::uint64_t host_samples) {
  Window window;
  window.begin = first != nullptr ? first->before : 0;
  window.host_begin = first != nullptr ? first->host_before : 0;
  window.end = last != nullptr ? last->before : samples;
  window.host_end = last != nullptr ? last->host_before : host_samples;
  window.first_row = first != nullptr ? first->row : 0;
  window.last_row = last != nullptr ? last->row : 0;
  window.host_start = first != nullptr ? first->host_start : std::nan("");
  window.host_end_ts = last != nullptr ? last->host_start : std::nan("");
  return window;
}

std::string list_of(const Windows& windows) {
  std::string text;
  for (const Window& window : windows.all)
    text += fmt::format("\n  {}  rows {} to {}", window.name, window.first_row, window.last_row);
  for (const Mark& mark : windows.singles) text += fmt::format("\n  {}  row {}, in no pair", mark.name, mark.row);
  return text;
}

// "NAME" or "NAME#2" among the signposts; an error where it names none or several.
Result<const Mark*> find_mark(const std::vector<Mark>& marks, std::string_view wanted, std::string_view file) {
  std::string_view name = wanted;
  std::size_t nth = 0;
  const auto named = [&](std::string_view text) {
    return std::count_if(marks.begin(), marks.end(), [&](const Mark& mark) { return mark.name == text; });
  };
  if (const std::size_t at = wanted.rfind('#'); at != std::string_view::npos && named(wanted) == 0) {
    const auto [end, error] = std::from_chars(wanted.data() + at + 1, wanted.data() + wanted.size(), nth);
    if (error == std::errc() && end == wanted.data() + wanted.size()) name = wanted.substr(0, at);
  }
  const auto count = static_cast<std::size_t>(named(name));
  if (count == 0 || nth > count) {
    std::vector<std::string_view> names;
    for (const Mark& mark : marks) names.push_back(mark.name);
    return fail(ErrorCode::kUsage, fmt::format("{}: no signpost '{}'{}; 'perf FILE --windows' lists them", file, wanted,
                                               did_you_mean(near_names(wanted, names))));
  }
  if (count > 1 && nth == 0)
    return fail(ErrorCode::kUsage, fmt::format("{}: {} signposts are called '{}': say {}#1 to {}#{}", file, count, name,
                                               name, name, count));
  std::size_t seen = 0;
  for (const Mark& mark : marks)
    if (mark.name == name && ++seen == std::max<std::size_t>(nth, 1)) return &mark;
  return fail(ErrorCode::kUsage, fmt::format("{}: no signpost '{}'", file, wanted));
}

}  // namespace

Windows find_windows(const std::vector<Mark>& marks, std::uint64_t samples, std::uint64_t host_samples,
                     const std::string& file, Troubles& troubles) {
  struct Pair {
    std::size_t first, last;
    int depth;
  };
  std::vector<Pair> pairs;
  std::vector<Open> open;
  std::vector<std::size_t> unpaired;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const std::string name = lower(marks[i].name);
    const std::vector<std::string> ends = without(name, kEnds);
    const auto begins = [&](const Open& candidate) {
      return std::any_of(ends.begin(), ends.end(), [&](const std::string& base) {
        return std::find(candidate.bases.begin(), candidate.bases.end(), base) != candidate.bases.end();
      });
    };
    if (const auto found = std::find_if(open.rbegin(), open.rend(), begins); found != open.rend()) {
      const std::size_t at = static_cast<std::size_t>(std::distance(found, open.rend())) - 1;
      for (std::size_t inner = at + 1; inner < open.size(); ++inner) unpaired.push_back(open[inner].mark);
      open.resize(at + 1);
      pairs.push_back({open.back().mark, i, 0});
      open.pop_back();
      continue;
    }
    std::vector<std::string> bases = without(name, kStarts);
    bases.push_back(name);
    open.push_back({i, std::move(bases), !ends.empty()});
  }
  for (const Open& left : open) unpaired.push_back(left.mark);
  std::sort(unpaired.begin(), unpaired.end());
  std::sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) { return a.first < b.first; });
  Windows windows;
  std::map<std::string, int> of_name, seen;
  std::vector<std::size_t> ends_of_outer;
  for (const Pair& pair : pairs) ++of_name[marks[pair.first].name];
  for (const Pair& pair : pairs) {
    while (!ends_of_outer.empty() && ends_of_outer.back() < pair.first) ends_of_outer.pop_back();
    Window window = between(&marks[pair.first], &marks[pair.last], samples, host_samples);
    window.depth = static_cast<int>(ends_of_outer.size());
    ends_of_outer.push_back(pair.last);
    window.name = marks[pair.first].name;
    if (of_name[window.name] > 1) window.name += fmt::format("#{}", ++seen[marks[pair.first].name]);
    windows.all.push_back(std::move(window));
  }
  for (const std::size_t at : unpaired) {
    const Mark& mark = marks[at];
    const bool is_end = !without(lower(mark.name), kEnds).empty();
    troubles.count(is_end ? Trouble::kEndWithoutStart : Trouble::kOpenWindow, {file, mark.row, "OP CODE", mark.name});
    windows.singles.push_back(mark);
  }
  return windows;
}

Result<Window> choose_window(const Windows& windows, const std::vector<Mark>& marks, std::uint64_t samples,
                             std::uint64_t host_samples, std::string_view wanted, std::string_view file) {
  const auto whole = [&] {
    Window window = between(nullptr, nullptr, samples, host_samples);
    window.name = kWholeFile;
    window.whole_file = true;
    return window;
  };
  if (wanted == kWholeFile || (wanted.empty() && marks.empty())) return whole();
  if (wanted.empty()) {
    if (windows.all.size() == 1) return windows.all.front();
    if (windows.all.empty())
      return fail(ErrorCode::kUsage,
                  fmt::format("{}: its signposts make no window{}\nchoose with --window 'FROM..TO' (either side may be "
                              "empty), or --window '*' for the whole file",
                              file, list_of(windows)));
    return fail(ErrorCode::kUsage, fmt::format("{}: {} windows; choose one with --window NAME, or '*' for the whole "
                                               "file{}",
                                               file, windows.all.size(), list_of(windows)));
  }
  std::vector<const Window*> fitting;
  for (const Window& window : windows.all)
    if (window.name == wanted || window.name.substr(0, window.name.rfind('#')) == wanted) fitting.push_back(&window);
  if (fitting.size() == 1) return *fitting.front();
  if (fitting.size() > 1)
    return fail(ErrorCode::kUsage, fmt::format("{}: {} windows are called '{}': say {} to {}", file, fitting.size(),
                                               wanted, fitting.front()->name, fitting.back()->name));
  if (const std::size_t dots = wanted.find(".."); dots != std::string_view::npos) {
    const std::string_view from = wanted.substr(0, dots), to = wanted.substr(dots + 2);
    const Mark* first = nullptr;
    const Mark* last = nullptr;
    if (!from.empty()) {
      OPWRIGHT_TRY_ASSIGN(first, find_mark(marks, from, file));
    }
    if (!to.empty()) {
      OPWRIGHT_TRY_ASSIGN(last, find_mark(marks, to, file));
    }
    if (first != nullptr && last != nullptr && last->row <= first->row)
      return fail(ErrorCode::kUsage, fmt::format("{}: signpost '{}' (row {}) comes before '{}' (row {})", file, to,
                                                 last->row, from, first->row));
    Window window = between(first, last, samples, host_samples);
    window.name = wanted;
    return window;
  }
  std::vector<std::string_view> names;
  for (const Window& window : windows.all) names.push_back(window.name);
  const bool is_mark = std::any_of(marks.begin(), marks.end(), [&](const Mark& mark) { return mark.name == wanted; });
  return fail(
      ErrorCode::kUsage,
      fmt::format(
          "{}: no window '{}'{}{}{}", file, wanted, did_you_mean(near_names(wanted, names)),
          is_mark ? fmt::format("; the signpost is there, but makes no pair: say '{}..' or '{}..END'", wanted, wanted)
                  : "",
          windows.all.empty() && windows.singles.empty() ? "; it has no signposts" : "; it has" + list_of(windows)));
}

}  // namespace opwright::perf
