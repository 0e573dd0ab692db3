// Reads a profiler report row by row: plain, .gz or .zst, every generation of columns, memory bounded by the longest
// row.
//
//   struct Sink : RowSink { void device(const DeviceRow& row, const Header&) override { … } … };
//   Troubles troubles;
//   Status read = read_rows("ops_perf_results.csv", sink, troubles);
//
// The error is of the file as a whole: it cannot be opened, is over a limit (base/limits.h), or is no profiler report.
// Everything smaller is a trouble, counted with its first row and column, and the reading goes on.
#pragma once

#include <string>

#include "base/result.h"
#include "perf/header.h"
#include "perf/row.h"
#include "perf/trouble.h"

namespace opwright::perf {

class RowSink {
 public:
  RowSink() = default;
  RowSink(const RowSink&) = delete;
  RowSink& operator=(const RowSink&) = delete;
  virtual ~RowSink() = default;
  virtual void header(const Header& header) { (void)header; }  // first, and again where it changes
  virtual void device(const DeviceRow& row, const Header& header) = 0;
  virtual void host(const HostRow& row) = 0;
  virtual void signpost(const Signpost& post) = 0;
};

Status read_rows(const std::string& path, RowSink& sink, Troubles& troubles);

// The tensors of a row whose signature text is given (DeviceRow::signature_text). Views into it.
struct SignatureParts {
  std::string_view op_code, fidelity, attributes;
  std::vector<RowTensor> inputs, outputs;
  bool shapes_sound = true;  // false: an extent was no number
};
SignatureParts parts_of(std::string_view signature_text);

}  // namespace opwright::perf
