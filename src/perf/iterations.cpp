#include <algorithm>
#include <map>
#include <unordered_map>

#include "perf/positions.h"

namespace opwright::perf {
namespace {

// Knuth, Morris, Pratt: for each beginning of the text, how long its longest border is.
std::vector<std::size_t> borders(const std::vector<std::uint32_t>& text) {
  std::vector<std::size_t> border(text.size(), 0);
  for (std::size_t i = 1, k = 0; i < text.size(); ++i) {
    while (k > 0 && text[i] != text[k]) k = border[k - 1];
    if (text[i] == text[k]) ++k;
    border[i] = k;
  }
  return border;
}

// Where `pattern` occurs in `text`, not overlapping.
std::vector<std::size_t> occurrences(const std::vector<std::uint32_t>& text,
                                     const std::vector<std::uint32_t>& pattern) {
  std::vector<std::size_t> found;
  const std::vector<std::size_t> border = borders(pattern);
  for (std::size_t i = 0, k = 0; i < text.size(); ++i) {
    while (k > 0 && text[i] != pattern[k]) k = border[k - 1];
    if (text[i] == pattern[k]) ++k;
    if (k < pattern.size()) continue;
    found.push_back(i + 1 - k);
    k = 0;
  }
  return found;
}

// Iterations around damaged ones. The rarest operation occurs once in each, so its distance is the period, mostly.
Iterations around_damage(const std::vector<std::uint32_t>& sequence) {
  std::unordered_map<std::uint32_t, std::size_t> counts;
  for (const std::uint32_t id : sequence) ++counts[id];
  std::map<std::size_t, std::size_t> distances;
  std::unordered_map<std::uint32_t, std::size_t> last;
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    const auto [at, is_new] = last.emplace(sequence[i], i);
    if (is_new) continue;
    ++distances[i - at->second];
    at->second = i;
  }
  Iterations best;
  for (const auto& [distance, count] : distances) {
    if (count < 2 || distance * 3 > sequence.size()) continue;
    for (const std::size_t start : {std::size_t{0}, distance, sequence.size() - distance}) {
      const std::vector<std::uint32_t> pattern(sequence.begin() + static_cast<std::ptrdiff_t>(start),
                                               sequence.begin() + static_cast<std::ptrdiff_t>(start + distance));
      std::vector<std::size_t> starts = occurrences(sequence, pattern);
      const std::size_t covered = starts.size() * distance;
      if (starts.size() >= 3 && covered * 4 >= sequence.size() * 3 && covered > best.starts.size() * best.period)
        best = {distance, std::move(starts)};
    }
    if (best.period != 0 && distances.size() > 1000) break;  // long enough looked for
  }
  return best;
}

}  // namespace

Iterations find_iterations(const std::vector<std::uint32_t>& sequence, bool damaged) {
  if (sequence.empty()) return {};
  const std::size_t size = sequence.size();
  const std::size_t period = size - borders(sequence).back();
  Iterations found{size, {0}};
  if (size % period == 0 || period * 2 <= size) {
    found.period = period;
    found.starts.clear();
    for (std::size_t start = 0; start + period <= size; start += period) found.starts.push_back(start);
  } else if (damaged) {
    if (Iterations around = around_damage(sequence); around.period != 0) return around;
  }
  return found;
}

}  // namespace opwright::perf
