// What is wrong with a profiler report: counted by kind, with the first place of each. Nothing here ends the reading;
// what remains is computed, and the counts stand beside the result.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace opwright::perf {

enum class Trouble : std::uint8_t {
  kCutRow,           // fewer cells than the header: the file was cut, or a row was
  kExtraCells,       // more cells than the header
  kOpenQuote,        // a quoted cell that does not end
  kRepeatedHeader,   // the header again, between rows
  kOtherHeader,      // another header between rows: reports of two generations in one file
  kDoubledColumn,    // two columns of one name: the first is read
  kMissingColumn,    // a column that a figure needs
  kUnknownType,      // OP TYPE is none of those we know
  kNoDevice,         // a device row without a DEVICE ID
  kNoCallCount,      // a device row without a GLOBAL CALL COUNT: it stands alone
  kForeignCall,      // the call count of a row does not carry its device, those of the others do
  kUnreadable,       // a cell that should be a number and is none
  kNoValue,          // "-" or NaN in a column of times
  kNegativeTime,     // a time below zero
  kClockBack,        // a device's clock is behind that of its row before; the gap of this row is not used
  kTwice,            // the same operation twice on one device
  kOpenWindow,       // a signpost that begins a window which never ends
  kEndWithoutStart,  // a signpost that ends a window which never began
  kShapeUnread,      // a shape that is none
};
std::string_view name_of(Trouble trouble);      // "cut_row": of JSON
std::string_view sentence_of(Trouble trouble);  // for people

struct Place {
  std::string file;
  std::uint64_t row = 0;  // 0: the file as a whole
  std::string column;     // "": the row as a whole
  std::string seen;       // the cell, at most 60 characters of it
};

class Troubles {
 public:
  void count(Trouble trouble, Place first);
  void add(const Troubles& other);
  std::int64_t of(Trouble trouble) const;
  bool empty() const { return kinds_.empty(); }

  struct Counted {
    std::int64_t count = 0;
    Place first;
  };
  const std::map<Trouble, Counted>& kinds() const { return kinds_; }

 private:
  std::map<Trouble, Counted> kinds_;
};

}  // namespace opwright::perf
