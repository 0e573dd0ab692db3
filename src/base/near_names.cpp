#include "base/near_names.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <tuple>

#include "base/text.h"

namespace opwright {
namespace {

constexpr std::size_t kLongestName = 256;  // beyond it, nobody mistyped a name

std::string folded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == ':' && i + 1 < text.size() && text[i + 1] == ':') {
      out += '.';
      ++i;
    } else {
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }
  }
  return out;
}

// Takes the components both begin with away, so that `ttnn.` does not make all names of a library alike.
void drop_common_components(std::string_view& a, std::string_view& b) {
  for (std::size_t at = a.find('.'); at != std::string_view::npos; at = a.find('.')) {
    if (!b.starts_with(a.substr(0, at + 1)) || at + 1 == a.size() || at + 1 == b.size()) return;
    a.remove_prefix(at + 1);
    b.remove_prefix(at + 1);
  }
}

// Insertions, deletions, replacements and swaps of neighbours that lead from a to b; `limit` + 1 when there are more.
std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
  const std::size_t difference = a.size() > b.size() ? a.size() - b.size() : b.size() - a.size();
  if (difference > limit) return limit + 1;
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, replace});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return std::min(above[b.size()], limit + 1);
}

// How far a name is from the wanted one, in half typing errors.
struct Distance {
  std::size_t halves = 0;
  bool mistyped = false;  // by typing errors, not as a beginning or a part
};

// Nothing when `name` is not near.
std::optional<Distance> distance(std::string_view wanted, std::string_view name) {
  // One error in a short word, three at most: with more, everything is near.
  const std::size_t limit = std::clamp<std::size_t>(wanted.size() / 3, 1, 3);
  const std::size_t errors = edit_distance(wanted, name, limit);
  std::optional<Distance> best;
  // A short word with an error in it must keep its first letter: `ad` is not `or`.
  if (errors <= limit && errors < wanted.size() && (wanted.size() > 3 || wanted.front() == name.front())) {
    best = {2 * errors, true};
  }
  const auto offer = [&](std::size_t halves) {
    if (!best || halves < best->halves) best = {halves, false};
  };
  if (wanted.size() >= 2 && name.starts_with(wanted)) offer(3);
  if (wanted.size() >= 3 && name.find(wanted) != std::string_view::npos) offer(5);
  if (name.size() >= 3 && wanted.starts_with(name)) offer(6);
  if (name.size() >= 4 && wanted.find(name) != std::string_view::npos) offer(7);
  return best;
}

// Of the whole names, or of their last components.
std::optional<Distance> dotted_distance(std::string_view wanted, std::string_view name) {
  const std::string_view wanted_end = last_part(wanted, "."), name_end = last_part(name, ".");
  const std::size_t step = wanted_end.size() == wanted.size() ? 0 : 1;  // another path counts a little
  std::optional<Distance> by_end;
  if (name_end.size() != name.size() && !name_end.empty() && !wanted_end.empty())
    by_end = distance(wanted_end, name_end);
  if (by_end) by_end->halves += step;
  drop_common_components(wanted, name);
  const std::optional<Distance> whole = distance(wanted, name);
  if (!whole || !by_end) return whole ? whole : by_end;
  return by_end->halves < whole->halves ? by_end : whole;
}

}  // namespace

std::vector<std::string_view> near_names(std::string_view wanted, std::span<const std::string_view> known,
                                         std::size_t max) {
  if (wanted.empty() || wanted.size() > kLongestName) return {};
  const std::string word = folded(wanted);
  struct Candidate {
    Distance distance;
    std::size_t length_difference;
    std::string_view name;
  };
  std::vector<Candidate> candidates;
  std::size_t fewest_errors = SIZE_MAX;
  for (const std::string_view name : known) {
    if (name.empty() || name.size() > kLongestName) continue;
    const auto near = dotted_distance(word, folded(name));
    if (!near) continue;
    if (near->mistyped) fewest_errors = std::min(fewest_errors, near->halves);
    candidates.push_back({*near, std::max(name.size(), word.size()) - std::min(name.size(), word.size()), name});
  }
  // Who made one error did not make two.
  std::erase_if(candidates,
                [&](const Candidate& c) { return c.distance.mistyped && c.distance.halves > fewest_errors; });
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.distance.halves, a.length_difference, a.name) <
           std::tie(b.distance.halves, b.length_difference, b.name);
  });
  std::vector<std::string_view> names;
  for (const Candidate& candidate : candidates) {
    if (names.size() == max) break;
    if (std::find(names.begin(), names.end(), candidate.name) == names.end()) names.push_back(candidate.name);
  }
  return names;
}

std::string did_you_mean(std::span<const std::string_view> candidates) {
  if (candidates.empty()) return {};
  std::string text = "; did you mean ";
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (i > 0) text += i + 1 == candidates.size() ? " or " : ", ";
    text += '\'';
    text += candidates[i];
    text += '\'';
  }
  return text += '?';
}

}  // namespace opwright
