#include "perf/trouble.h"

#include <array>
#include <utility>

#include "base/broken.h"

namespace opwright::perf {
namespace {

struct Words {
  Trouble trouble;
  std::string_view name, sentence;
};
constexpr std::array<Words, 19> kWords{{
    {Trouble::kCutRow, "cut_row", "fewer cells than the header: the row is left out"},
    {Trouble::kExtraCells, "extra_cells", "more cells than the header: the row is left out"},
    {Trouble::kOpenQuote, "open_quote", "a quoted cell that does not end: the row is left out"},
    {Trouble::kRepeatedHeader, "repeated_header", "the header again between rows"},
    {Trouble::kOtherHeader, "other_header", "another header between rows: two reports in one file"},
    {Trouble::kDoubledColumn, "doubled_column", "two columns of one name: the first is read"},
    {Trouble::kMissingColumn, "missing_column", "a column is missing: what needs it has no figure"},
    {Trouble::kUnknownType, "unknown_type", "an OP TYPE that nobody knows: the row is left out"},
    {Trouble::kNoDevice, "no_device", "a device row without a DEVICE ID: it is left out"},
    {Trouble::kNoCallCount, "no_call_count", "a device row without a call count: it is not joined with other devices"},
    {Trouble::kForeignCall, "foreign_call", "a call count that does not carry its device: the row is not joined"},
    {Trouble::kUnreadable, "unreadable", "a cell that should be a number: it counts as no value"},
    {Trouble::kNoValue, "no_value", "\"-\" or NaN instead of a time: it counts as no value"},
    {Trouble::kNegativeTime, "negative_time", "a time below zero: it counts as no value"},
    {Trouble::kClockBack, "clock_back", "a device's clock goes back: the gap before this row is not used"},
    {Trouble::kTwice, "twice", "the same operation twice on one device: each counts as an operation of its own"},
    {Trouble::kOpenWindow, "open_window", "a window that never ends"},
    {Trouble::kEndWithoutStart, "end_without_start", "an end of a window that never began"},
    {Trouble::kShapeUnread, "shape_unread", "a shape that is none: nothing is computed from it"},
}};

const Words& words_of(Trouble trouble) {
  for (const Words& words : kWords)
    if (words.trouble == trouble) return words;
  broken("every trouble has its words");
}

}  // namespace

std::string_view name_of(Trouble trouble) { return words_of(trouble).name; }
std::string_view sentence_of(Trouble trouble) { return words_of(trouble).sentence; }

void Troubles::count(Trouble trouble, Place first) {
  Counted& counted = kinds_[trouble];
  if (counted.count++ == 0) {
    if (first.seen.size() > 60) first.seen.resize(60);
    counted.first = std::move(first);
  }
}

void Troubles::add(const Troubles& other) {
  for (const auto& [trouble, counted] : other.kinds_) {
    Counted& ours = kinds_[trouble];
    if (ours.count == 0) ours.first = counted.first;
    ours.count += counted.count;
  }
}

std::int64_t Troubles::of(Trouble trouble) const {
  const auto found = kinds_.find(trouble);
  return found == kinds_.end() ? 0 : found->second.count;
}

}  // namespace opwright::perf
