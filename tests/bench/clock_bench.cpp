// The clock of the simulated device beside rows of real profiler files, for tests/bench/clock.py.
//
// usage: clock_bench           reads rows, prints what the clock gives for each: kernel, group, ns, cores it would
// choose
//        clock_bench --fit     fits the constants to rows that are marked, prints exec/data/clock.tsv with them
//
// A row, tabs between: 1 (to fit to) or 0, class, architecture, cores, available cores, fidelity, fused batch (1, 0),
// rows of a chunk of queries, measured ns, then a tensor each: I or O, padded shape, logical shape, dtype, layout,
// memory.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "exec/clock/clock.h"

namespace {

using namespace opwright;  // NOLINT(google-build-using-namespace): a program of one file

struct Row {
  bool is_fitted = false;
  std::string device_class;
  KernelCall call;
  double measured = 0;
};

Shape shape_of(const std::string& text) {
  Shape shape;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, 'x');) shape.push_back(std::stoll(part));
  return shape;
}

KernelTensor tensor_of(std::istringstream& in) {
  const auto field = [&] {
    std::string text;
    std::getline(in, text, '\t');
    return text;
  };
  KernelTensor tensor;
  tensor.padded = shape_of(field());
  tensor.logical = shape_of(field());
  tensor.dtype = parse_dtype(field()).value;
  tensor.is_tiled = field() == "TILE";
  const std::string memory = field();
  tensor.is_in_dram = memory.find("DRAM") != std::string::npos;
  tensor.is_sharded = memory.find("SHARDED") != std::string::npos;
  return tensor;
}

Fidelity fidelity_of(const std::string& text) {
  for (const Fidelity f : {Fidelity::kLoFi, Fidelity::kHiFi2, Fidelity::kHiFi3})
    if (text == name_of(f)) return f;
  return Fidelity::kHiFi4;
}

std::vector<Row> read_rows(std::istream& from) {
  std::vector<Row> rows;
  for (std::string line; std::getline(from, line);) {
    std::istringstream in(line);
    const auto field = [&] {
      std::string text;
      std::getline(in, text, '\t');
      return text;
    };
    Row row;
    row.is_fitted = field() == "1";
    row.device_class = field();
    row.call.arch = field() == "wormhole_b0" ? Arch::kWormhole : Arch::kBlackhole;
    row.call.cores = std::stoll(field());
    row.call.available = std::stoll(field());
    row.call.fidelity = fidelity_of(field());
    row.call.is_batch_fused = field() == "1";
    row.call.query_chunk = std::stoll(field());
    row.measured = std::stod(field());
    for (std::string side = field(); !side.empty(); side = field())
      (side == "I" ? row.call.inputs : row.call.outputs).push_back(tensor_of(in));
    rows.push_back(std::move(row));
  }
  for (Row& row : rows) row.call.device_class = row.device_class;
  return rows;
}

// One configuration of one kernel: rows that differ by nothing that the clock sees.
struct Point {
  KernelWork work;
  std::vector<double> measured;
  double median() const {
    std::vector<double> sorted = measured;
    std::ranges::sort(sorted);
    return sorted[sorted.size() / 2];
  }
  // A configuration that was run often counts for more, and not so much that it decides alone.
  double weight() const { return std::sqrt(std::sqrt(static_cast<double>(measured.size()))); }
};

using Constants = std::array<double, kConstants>;

double error_of(const std::vector<Point>& points, const Constants& constants, const ClockTable& table) {
  double sum = 0, weights = 0;
  for (const Point& point : points) {
    sum += point.weight() * std::abs(std::log(kernel_ns(point.work, constants, table) / point.median()));
    weights += point.weight();
  }
  return sum / weights;
}

Constants fit(const std::vector<Point>& points, const ClockTable& table) {
  // No kernel starts in less than 0.6 us in any file, and none is faster than DRAM or the engine at their best. Where
  // files have large calls alone, they do not tell what a start costs: it stays within what small ones of other kernels
  // take. Collectives wait for other chips.
  const bool waits = points.front().work.kernel->group == "collective";
  const Constants least{600, 1, 1, 1, 0.1}, most{waits ? 60000.0 : 5000.0, 1e5, 20, 20, 1000};
  Constants best{};
  double best_error = 1e9;
  for (const Constants& start :
       {Constants{1000, 50, 1, 1, 1}, Constants{3000, 400, 1.5, 2, 20}, Constants{1000, 400, 1.5, 5, 0.1}}) {
    Constants now = start;
    double error = error_of(points, now, table);
    for (double step = 4; step > 1.01;) {
      bool better = false;
      for (std::size_t i = 0; i < kConstants; ++i)
        for (const double factor : {step, 1 / step}) {
          Constants tried = now;
          tried[i] = std::clamp(tried[i] * factor, least[i], most[i]);
          if (const double e = error_of(points, tried, table); e < error - 1e-6) {
            now = tried;
            error = e;
            better = true;
          }
        }
      if (!better) step = std::sqrt(step);
    }
    if (error < best_error - 1e-3) {
      best = now;
      best_error = error;
    }
  }
  return best;
}

std::string joined(const std::vector<std::string_view>& names) {
  return names.empty() ? "-" : fmt::format("{}", fmt::join(names, " "));
}

void print_fit(const std::vector<Row>& rows) {
  std::map<const Kernel*, std::map<std::string, Point>> kernels;
  for (const Row& row : rows) {
    if (!row.is_fitted) continue;
    const auto work = work_of(row.call);
    if (!work) continue;
    const std::string what = fmt::format("{} {} {} {} {}", static_cast<int>(work->arch), work->steps, work->pages,
                                         work->dram_ns, work->engine_ns);
    Point& point = kernels[work->kernel][what];
    point.work = *work;
    point.measured.push_back(row.measured);
  }
  ClockTable table = clock_table();
  std::map<const Kernel*, Constants> found;
  double best = 1e18, best_factor = 1;
  for (const double factor : {1.5, 2.0, 2.5, 3.0, 4.0}) {
    table.wormhole_step = factor;
    double error = 0;
    std::map<const Kernel*, Constants> these;
    for (const auto& [kernel, list] : kernels) {
      std::vector<Point> points;
      for (const auto& [what, point] : list) points.push_back(point);
      these[kernel] = fit(points, table);
      error += error_of(points, these[kernel], table) * static_cast<double>(points.size());
    }
    if (error < best) {
      best = error;
      best_factor = factor;
      found = std::move(these);
    }
  }
  fmt::print("wormhole_start\t{:g}\nwormhole_step\t{:g}\nop_to_op\t{:g}\n", table.wormhole_start, best_factor,
             table.op_to_op_ns);
  for (const Kernel& kernel : clock_table().kernels) {
    const auto at = found.find(&kernel);
    const Constants& c = at == found.end() ? kernel.constants : at->second;
    constexpr std::array kWhens{"-", "first_sharded", "second_sharded"};
    constexpr std::array kSteps{"tiles", "part",  "rows",      "products", "written",
                                "heads", "users", "attention", "queries"};
    constexpr std::array kSplits{"tiles", "rows", "users", "one", "all"};
    fmt::print("kernel\t{}\t{}\t{}\t{}\t{}\t{:.4g}\t{:.3g}\t{:.3g}\t{:.3g}\t{:.3g}\t{}\t{}\n", kernel.name,
               kernel.group, kWhens[static_cast<std::size_t>(kernel.when)],
               kSteps[static_cast<std::size_t>(kernel.steps)], kSplits[static_cast<std::size_t>(kernel.split)], c[0],
               c[1], c[2], c[3], c[4], joined(kernel.measured), joined(kernel.borrowed));
  }
}

void print_rows(const std::vector<Row>& rows) {
  for (const Row& row : rows) {
    const auto work = work_of(row.call);
    if (!work) {
      fmt::print("-\t-\t0\t0\n");
      continue;
    }
    KernelCall free = row.call;
    free.cores = 0;
    const auto own = work_of(free);
    fmt::print("{}\t{}\t{:.1f}\t{}\t{:.1f}\n", work->kernel->name, work->kernel->group, kernel_ns(*work), own->cores,
               kernel_ns(*own));
  }
}

}  // namespace

int main(int count, char** words) {
  const std::vector<Row> rows = read_rows(std::cin);
  if (count > 1 && std::string(words[1]) == "--fit")
    print_fit(rows);
  else
    print_rows(rows);
  return 0;
}
