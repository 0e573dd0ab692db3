// How long a question takes inside the program: from the parsed selector to the first and to the last match that is
// handed out, the opening of the store included. Prints a line of JSON a question, the best and the median of several
// times. A match is what select::Selected always has: operation, convention, key, calls, and the names of models,
// machines and sources; `arguments` is the time to the last when their arguments are wanted, too.
//
//   query_bench STORE SELECTOR…
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "base/json_object.h"
#include "select/selected.h"
#include "store/store.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Times {
  double opened = 1e9, first = 1e9, last = 1e9, median = 0;  // seconds
  std::int64_t rows = 0;
};

opwright::Result<Times> ask(const std::string& store, const std::string& where, opwright::select::Wanted wanted) {
  OPWRIGHT_TRY_ASSIGN(const opwright::select::Selector selector, opwright::select::parse_selector(where));
  constexpr int kTimes = 15;
  Times best;
  std::vector<double> all;
  for (int i = 0; i < kTimes; ++i) {
    const auto start = Clock::now();
    const auto since = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
    OPWRIGHT_TRY_ASSIGN(const auto reader,
                        opwright::store::open_reader(store, 1000, opwright::select::identity_of_this_build()));
    best.opened = std::min(best.opened, since());
    best.rows = 0;
    double first = 0;
    OPWRIGHT_TRY(opwright::select::for_each_selected(*reader, selector, wanted, [&](opwright::select::Selected&&) {
      if (best.rows++ == 0) first = since();
      return opwright::Status();
    }));
    const double last = since();
    best.last = std::min(best.last, last);
    all.push_back(last);
    best.first = std::min(best.first, best.rows == 0 ? last : first);
  }
  std::sort(all.begin(), all.end());
  best.median = all[all.size() / 2];
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: query_bench STORE SELECTOR...\n");
    return 2;
  }
  for (int i = 2; i < argc; ++i) {
    const auto times = ask(argv[1], argv[i], {});
    const auto whole = times ? ask(argv[1], argv[i], {.arguments = true}) : times;
    if (!whole) {
      std::fprintf(stderr, "query_bench: %s\n", whole.error().message.c_str());
      return 1;
    }
    opwright::JsonObject line;
    line.add("where", argv[i])
        .add("rows", times->rows)
        .add_raw("opened", std::to_string(times->opened))
        .add_raw("first", std::to_string(times->first))
        .add_raw("last", std::to_string(times->last))
        .add_raw("median", std::to_string(times->median))
        .add_raw("arguments", std::to_string(whole->last))
        .add_raw("arguments_median", std::to_string(whole->median));
    std::printf("%s\n", line.text().c_str());
  }
}
