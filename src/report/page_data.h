// The results of a run as the report's page reads them: columns of numbers and of places in one table of strings, and
// beside them, in blocks of a few hundred, what only the panel of one case shows. Derived output: no format promise.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/case_record.h"
#include "report/case_history.h"

namespace opwright::report {

// The run and the vocabulary of outcomes, as one JSON object. `since`: what changed since the run before it, as JSON;
// `history`: null where nobody looked for earlier runs.
std::string run_json(const RunRecord& run, std::string_view since, const CaseHistory* history);

// A case as programs that others run; "" where it cannot be made again, and `refused` says why.
struct CaseTexts {
  std::string pytest, ttnn, refused;
};

class PageData {
 public:
  static constexpr std::size_t kBlock = 256;  // cases whose details are unpacked together

  PageData();
  // `past`: JSON of CaseHistory::of.
  void add(const CaseRecord& record, const CaseTexts& texts = {}, std::string_view past = "[]");
  std::int64_t results() const { return results_; }

  // {"strings": […], "columns": {name: […]}}
  std::string columns_json() const;
  // What the panel shows of results [i * kBlock, …): an array of objects a block, packed. Call after the last add().
  const std::vector<std::string>& details();

 private:
  struct Column {
    std::string name;
    std::string values;  // comma separated JSON
  };
  std::int64_t place_of(std::string_view text);
  void put(std::size_t column, std::string_view json);
  void close_block();

  std::int64_t results_ = 0;
  std::vector<Column> columns_;
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, std::int64_t> places_;  // views into strings_
  std::string block_;
  std::vector<std::string> details_;
};

// zlib, then base64: what a browser unpacks with DecompressionStream, and text that cannot close an HTML element.
std::string packed(std::string_view text);

}  // namespace opwright::report
