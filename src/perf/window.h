// Windows: the parts of a report between two signposts. Pairs are found by nesting, like brackets: `start`/`stop`,
// `NAME`/`NAME_END`, `NAME start`/`NAME stop` and their like. Nobody has to know how many there are: a choice that is
// not plain is an error which lists them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "perf/trouble.h"

namespace opwright::perf {

// A signpost as it is kept. `before`: how many samples (perf/recording.h) came before it, on device and on host.
struct Mark {
  std::string name, message;
  std::uint64_t row = 0;
  double host_start = 0;  // NaN: not in the file
  std::uint64_t before = 0, host_before = 0;
};

struct Window {
  std::string name;                           // "PERF_DECODE"; "PERF_DECODE#2" of several
  std::uint64_t first_row = 0, last_row = 0;  // the signposts themselves; 0: the file's beginning or end
  std::uint64_t begin = 0, end = 0;           // samples [begin, end)
  std::uint64_t host_begin = 0, host_end = 0;
  double host_start = 0, host_end_ts = 0;  // of the signposts, in ns; NaN where there is none
  int depth = 0;                           // how many windows it lies in
  bool whole_file = false;
};
inline constexpr std::string_view kWholeFile = "*";

struct Windows {
  std::vector<Window> all;    // in the order of their beginnings; without the whole file
  std::vector<Mark> singles;  // signposts that belong to no pair
};

// Windows that never end and ends without a beginning are counted in `troubles`, with their row.
Windows find_windows(const std::vector<Mark>& marks, std::uint64_t samples, std::uint64_t host_samples,
                     const std::string& file, Troubles& troubles);

// The one that is meant. `wanted` "": the only window of the file, or the whole file where it has no signpost at all;
// "*": the whole file; a window's name; or `A..B`, from signpost A to signpost B, where an empty side is an end of the
// file. Everything that fits twice, or does not fit, is an error that says which windows there are.
Result<Window> choose_window(const Windows& windows, const std::vector<Mark>& marks, std::uint64_t samples,
                             std::uint64_t host_samples, std::string_view wanted, std::string_view file);

}  // namespace opwright::perf
