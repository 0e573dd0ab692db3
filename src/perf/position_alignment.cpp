#include "perf/position_alignment.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "perf/sequence_diff.h"
#include "perf/signature_diff.h"

namespace opwright::perf {
namespace {

constexpr std::size_t kMostCells = std::size_t{1} << 20;       // of one table
constexpr std::size_t kMostCellsInAll = std::size_t{1} << 23;  // of all

// Numbers for texts: equal texts, equal numbers.
class Numbers {
 public:
  std::uint32_t of(std::string text) {
    return known_.emplace(std::move(text), static_cast<std::uint32_t>(known_.size())).first->second;
  }

 private:
  std::unordered_map<std::string, std::uint32_t> known_;
};

class Aligner {
 public:
  Aligner(const std::vector<const Signature*>& a, const std::vector<const Signature*>& b,
          const std::vector<std::string>& ignored)
      : a_(a), b_(b), ignored_(ignored) {}

  Alignment run() {
    Numbers texts, names;
    std::unordered_map<const Signature*, std::pair<std::uint32_t, std::uint32_t>> numbers;
    const auto number_all = [&](const std::vector<const Signature*>& side, std::vector<std::uint32_t>& ids,
                                std::vector<std::uint32_t>& of_name) {
      for (const Signature* one : side) {
        const auto [slot, is_new] = numbers.try_emplace(one);
        if (is_new) slot->second = {texts.of(comparable_text(*one, ignored_)), names.of(one->name)};
        ids.push_back(slot->second.first);
        of_name.push_back(slot->second.second);
      }
    };
    std::vector<std::uint32_t> ids_a, ids_b;
    number_all(a_, ids_a, names_a_);
    number_all(b_, ids_b, names_b_);
    const Aligned equal = align(ids_a, ids_b);
    out_.shortest = equal.shortest;
    std::size_t i = 0, j = 0;
    for (const auto& [x, y] : equal.pairs) {
      gap(i, x, j, y);
      out_.steps.push_back({x, y, Change::kSame});
      i = x + 1;
      j = y + 1;
    }
    gap(i, a_.size(), j, b_.size());
    return std::move(out_);
  }

 private:
  // [i, x) and [j, y) have nothing in common that the alignment of equals did not use.
  void gap(std::size_t i, std::size_t x, std::size_t j, std::size_t y) {
    const std::size_t cells = (x - i) * (y - j);
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    if (cells > 0 && cells <= kMostCells && cells_ + cells <= kMostCellsInAll) {
      cells_ += cells;
      pairs = closest(i, x, j, y);
    } else if (cells > 0) {
      const Aligned named =
          align({names_a_.begin() + static_cast<std::ptrdiff_t>(i), names_a_.begin() + static_cast<std::ptrdiff_t>(x)},
                {names_b_.begin() + static_cast<std::ptrdiff_t>(j), names_b_.begin() + static_cast<std::ptrdiff_t>(y)});
      out_.shortest = out_.shortest && named.shortest;
      pairs = named.pairs;
    }
    std::size_t at_a = i, at_b = j;
    const auto up_to = [&](std::size_t end_a, std::size_t end_b) {
      for (; at_a < end_a; ++at_a) out_.steps.push_back({static_cast<std::int64_t>(at_a), -1, Change::kRemoved});
      for (; at_b < end_b; ++at_b) out_.steps.push_back({-1, static_cast<std::int64_t>(at_b), Change::kAdded});
    };
    for (const auto& [p, q] : pairs) {
      up_to(i + p, j + q);
      out_.steps.push_back({static_cast<std::int64_t>(at_a++), static_cast<std::int64_t>(at_b++), Change::kChanged});
    }
    up_to(x, y);
  }

  // The pairing with the most operations of one name, and among those with the fewest differing fields.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> closest(std::size_t i, std::size_t x, std::size_t j,
                                                               std::size_t y) {
    const std::size_t rows = x - i, columns = y - j, width = columns + 1;
    std::vector<float> best((rows + 1) * width, 0);
    const auto worth = [&](std::size_t p, std::size_t q) {
      if (names_a_[i + p] != names_b_[j + q]) return -1.0F;
      return 1.0F + 1.0F / static_cast<float>(1 + fields_between(*a_[i + p], *b_[j + q]));
    };
    for (std::size_t p = rows; p-- > 0;)
      for (std::size_t q = columns; q-- > 0;) {
        float& here = best[p * width + q];
        here = std::max(best[(p + 1) * width + q], best[p * width + q + 1]);
        if (const float one = worth(p, q); one > 0) here = std::max(here, one + best[(p + 1) * width + q + 1]);
      }
    std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs;
    for (std::size_t p = 0, q = 0; p < rows && q < columns;) {
      const float here = best[p * width + q], one = worth(p, q);
      if (one > 0 && here == one + best[(p + 1) * width + q + 1])
        pairs.emplace_back(static_cast<std::uint32_t>(p++), static_cast<std::uint32_t>(q++));
      else if (here == best[(p + 1) * width + q])
        ++p;
      else
        ++q;
    }
    return pairs;
  }

  std::size_t fields_between(const Signature& a, const Signature& b) {
    const auto [slot, is_new] = between_.try_emplace({&a, &b}, 0);
    if (is_new)
      for (const FieldDifference& one : differences(a, b)) slot->second += is_ignored(one.field, ignored_) ? 0 : 1;
    return slot->second;
  }

  const std::vector<const Signature*>& a_;
  const std::vector<const Signature*>& b_;
  const std::vector<std::string>& ignored_;
  std::vector<std::uint32_t> names_a_, names_b_;
  std::map<std::pair<const Signature*, const Signature*>, std::size_t> between_;
  std::size_t cells_ = 0;
  Alignment out_;
};

}  // namespace

std::string_view name_of(Change change) {
  switch (change) {
    case Change::kSame:
      return "same";
    case Change::kChanged:
      return "changed";
    case Change::kAdded:
      return "added";
    case Change::kRemoved:
      return "removed";
  }
  return "";
}

Alignment align_operations(const std::vector<const Signature*>& a, const std::vector<const Signature*>& b,
                           const std::vector<std::string>& ignored) {
  return Aligner(a, b, ignored).run();
}

}  // namespace opwright::perf
