#include "perf/config_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>

namespace opwright::perf {
namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 26;

const Signature& signature_at(const Report& report, std::size_t position) {
  return report.signature(report.reduced.positions[position % report.reduced.positions.size()]);
}

// Knuth, Morris, Pratt; overlapping places too.
std::vector<std::size_t> places_of(const std::vector<std::uint32_t>& pattern, const std::vector<std::uint32_t>& text) {
  std::vector<std::size_t> border(pattern.size(), 0), found;
  for (std::size_t i = 1, k = 0; i < pattern.size(); ++i) {
    while (k > 0 && pattern[i] != pattern[k]) k = border[k - 1];
    if (pattern[i] == pattern[k]) ++k;
    border[i] = k;
  }
  for (std::size_t i = 0, k = 0; i < text.size(); ++i) {
    while (k > 0 && (k == pattern.size() || text[i] != pattern[k])) k = border[k - 1];
    if (text[i] == pattern[k]) ++k;
    if (k == pattern.size()) found.push_back(i + 1 - k);
  }
  return found;
}

class Matcher {
 public:
  Matcher(const Report& part, const Report& whole, const std::vector<std::string>& ignored)
      : part_(part), whole_(whole), ignored_(ignored) {}

  Result<ConfigMatch> run() {
    const std::size_t length = part_.reduced.positions.size(), size = whole_.reduced.positions.size();
    if (length == 0) return fail(ErrorCode::kUsage, part_.recording.files.front() + ": no operation ran in the window");
    if (size == 0) return fail(ErrorCode::kUsage, whole_.recording.files.front() + ": no operation ran in the window");
    // The end of an iteration and the beginning of the next one are neighbours.
    const std::size_t beyond = whole_.reduced.iterations > 1 ? std::min(length, size) - 1 : 0;
    std::vector<std::uint32_t> part_texts, part_names, texts, names;
    for (std::size_t i = 0; i < length; ++i) number(signature_at(part_, i), part_texts, part_names);
    for (std::size_t i = 0; i < size + beyond; ++i) number(signature_at(whole_, i), texts, names);
    ConfigMatch out;
    const auto place = [&](std::size_t first) { return ConfigPlace{first, first + length > size, 0}; };
    for (const std::size_t first : places_of(part_texts, texts)) out.equal.push_back(place(first));
    if (!out.equal.empty()) return out;
    for (const std::size_t first : places_of(part_names, names)) {
      out.named.push_back(place(first));
      for (std::size_t i = 0; i < length; ++i)
        out.named.back().fields_differing += fields_between(signature_at(part_, i), signature_at(whole_, first + i));
    }
    std::stable_sort(out.named.begin(), out.named.end(), [](const ConfigPlace& x, const ConfigPlace& y) {
      return x.fields_differing < y.fields_differing;
    });
    if (!out.named.empty()) return out;
    if (length * size > kMostCells)
      return fail(ErrorCode::kUnsupported,
                  fmt::format("no place has these {} operations, and {} positions are too many to look for the closest "
                              "one; choose smaller windows",
                              length, size));
    texts.resize(size);
    names.resize(size);
    out.closest = closest(part_texts, part_names, texts, names);
    return out;
  }

 private:
  void number(const Signature& signature, std::vector<std::uint32_t>& texts, std::vector<std::uint32_t>& names) {
    const auto [slot, is_new] = known_.try_emplace(&signature);
    if (is_new) {
      slot->second.first = numbers_.emplace(comparable_text(signature, ignored_), numbers_.size()).first->second;
      slot->second.second = numbers_.emplace("name " + signature.name, numbers_.size()).first->second;
    }
    texts.push_back(slot->second.first);
    names.push_back(slot->second.second);
  }

  std::size_t fields_between(const Signature& a, const Signature& b) {
    const auto [slot, is_new] = between_.try_emplace({&a, &b}, 0);
    if (is_new)
      for (const FieldDifference& one : differences(a, b)) slot->second += is_ignored(one.field, ignored_) ? 0 : 1;
    return slot->second;
  }

  // The cheapest way of turning a stretch of the whole into the part; what lies before and behind it costs nothing.
  std::vector<AlignedStep> closest(const std::vector<std::uint32_t>& part, const std::vector<std::uint32_t>& part_names,
                                   const std::vector<std::uint32_t>& whole, const std::vector<std::uint32_t>& names) {
    enum Way : std::uint8_t { kStart, kPair, kRemove, kAdd };
    constexpr int kRemoved = 10, kAdded = 6, kOther = 3;
    const std::size_t rows = part.size(), columns = whole.size();
    std::vector<std::uint8_t> way((rows + 1) * (columns + 1), kStart);
    std::vector<int> before(columns + 1, 0), row(columns + 1);
    for (std::size_t i = 1; i <= rows; ++i) {
      row[0] = static_cast<int>(i) * kRemoved;
      way[i * (columns + 1)] = kRemove;
      for (std::size_t j = 1; j <= columns; ++j) {
        int best = before[j] + kRemoved;
        Way how = kRemove;
        if (row[j - 1] + kAdded < best) best = row[j - 1] + kAdded, how = kAdd;
        if (part_names[i - 1] == names[j - 1]) {
          const int cost = before[j - 1] + (part[i - 1] == whole[j - 1] ? 0 : kOther);
          if (cost <= best) best = cost, how = kPair;
        }
        row[j] = best;
        way[i * (columns + 1) + j] = how;
      }
      std::swap(before, row);
    }
    std::size_t i = rows, j = static_cast<std::size_t>(std::min_element(before.begin(), before.end()) - before.begin());
    std::vector<AlignedStep> steps;
    while (i > 0) {
      switch (way[i * (columns + 1) + j]) {
        case kPair:
          --i, --j;
          steps.push_back({static_cast<std::int64_t>(i), static_cast<std::int64_t>(j),
                           part[i] == whole[j] ? Change::kSame : Change::kChanged});
          break;
        case kAdd:
          steps.push_back({-1, static_cast<std::int64_t>(--j), Change::kAdded});
          break;
        default:
          steps.push_back({static_cast<std::int64_t>(--i), -1, Change::kRemoved});
          break;
      }
    }
    std::reverse(steps.begin(), steps.end());
    return steps;
  }

  const Report& part_;
  const Report& whole_;
  const std::vector<std::string>& ignored_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::unordered_map<const Signature*, std::pair<std::uint32_t, std::uint32_t>> known_;
  std::map<std::pair<const Signature*, const Signature*>, std::size_t> between_;
};

}  // namespace

Result<ConfigMatch> match_configs(const Report& part, const Report& whole, const std::vector<std::string>& ignored) {
  return Matcher(part, whole, ignored).run();
}

std::vector<FieldDifference> fields_at(const Report& part, const Report& whole, const ConfigPlace& place, std::size_t i,
                                       const std::vector<std::string>& ignored) {
  std::vector<FieldDifference> fields = differences(signature_at(part, i), signature_at(whole, place.first + i));
  std::erase_if(fields, [&](const FieldDifference& one) { return is_ignored(one.field, ignored); });
  return fields;
}

}  // namespace opwright::perf
