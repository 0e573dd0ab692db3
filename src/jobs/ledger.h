// Who was seen where, how often: collected while traces are read, written when they are done.
//
// Calls within one trace add up; the same trace read a second time, from whatever file, does not.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/flat_table.h"
#include "model/ids.h"
#include "model/observed.h"
#include "store/writer.h"

namespace opwright::jobs {

inline constexpr std::size_t kLongestError = 2048;  // bytes of an error text that are kept
// An error text of at most that length; one that is cut says how long it was.
std::string cut_error(std::string_view text);

class Ledger {
 public:
  Ledger();

  void add(FormId form, const Observed& observed);
  // What is known about a trace that has a uid.
  void describe(const TraceInfo& trace);
  // The end of one trace; sightings without a uid since the last end belong to it.
  void end_trace(const TraceInfo& trace);
  // The end of one input: nothing that follows adds to its counts.
  void settle();

  Status write(store::Writer& writer) const;

  struct Calls {
    std::int64_t calls = 0;      // a form whose trace does not count stands for one call a trace
    std::int64_t uncounted = 0;  // how many stand so
    std::int64_t raised = 0;     // how many of the calls raised
  };
  Calls calls() const;

 private:
  struct Key {
    std::int64_t form;
    std::uint32_t trace, source, machine, sweep, hash;  // local numbers
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  struct Entry {
    Key key;
    std::uint32_t extra;  // number of the text; 0 is none
    std::int64_t count;
    std::int64_t raised;  // at most `count`
  };
  // One entry a sighting, joined when there are many: sorting beats a table, as most inputs come in order.
  using Entries = std::vector<Entry>;

  // Texts numbered in the order they come; the last one is found without a lookup.
  class Names {
   public:
    std::uint32_t number(std::string_view text);
    const std::vector<std::string_view>& texts() const { return texts_; }

   private:
    TextStore store_;
    std::vector<std::string_view> texts_;
    HashIndex numbers_;
    std::uint32_t last_ = 0;
  };

  std::uint32_t machine_number(std::string_view text);

  Names sources_, machines_, sweeps_, hashes_, extras_;
  std::map<std::string, std::uint32_t, std::less<>> known_machines_;  // by the texts as they came
  Names traces_;                                          // uids; a trace without one has a stand-in until it ends
  std::vector<TraceInfo> descriptions_;                   // all that was said, in any order: the store unites it
  std::vector<std::string> listed_traces_;                // uids of sightings since the last end of a trace
  std::uint32_t anonymous_ = 0;                           // the stand-in at hand
  std::unordered_map<std::uint32_t, std::string> ended_;  // stand-in -> uid
  // Sorts and joins entries of one key: their counts are added, or the larger ones stay.
  void join(Entries& entries, bool add_counts) const;
  void adopt_sweeps();

  Entries current_;         // of the input at hand
  std::size_t joined_ = 0;  // size of current_ after it was joined last
  Entries settled_;
  // What calls of a form raised: one example. Not by occurrence, so that memory does not grow with texts that differ
  // from call to call.
  std::map<std::int64_t, std::string> errors_;
};

}  // namespace opwright::jobs
