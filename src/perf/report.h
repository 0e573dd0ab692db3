// A report's answer for one window: what `perf` prints, what diffs and gates compare. Positions are in the order in
// which an iteration runs them; explanations[i] belongs to reduced.positions[i].
//
//   jobs::read_perf({.paths = {"ops_perf_results.csv"}, .window = "PERF_DECODE"}) gives one.
#pragma once

#include <string>
#include <vector>

#include "perf/explain.h"
#include "perf/layout_tax.h"
#include "perf/positions.h"
#include "perf/recording.h"
#include "perf/window.h"

namespace opwright::perf {

struct Report {
  Recording recording;
  Window window;
  Reduced reduced;
  ReportBoard board;
  std::vector<Explanation> explanations;
  LayoutTax tax;

  const Signature& signature(const Position& position) const { return *recording.signatures[position.signature]; }
  // "MatmulDeviceOperation": what `op` of the JSON is.
  const std::string& op(const Position& position) const { return signature(position).name; }
};

}  // namespace opwright::perf
