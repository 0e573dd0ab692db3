#include "compare/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "model/quantize.h"
#include "model/value.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

double value_of(const HostTensor& tensor, std::int64_t i) { return tensor.at(i); }

// As the output's dtype holds it, block floats left to `quantize` at the end.
void put(HostTensor& tensor, std::int64_t i, double value) {
  const auto at = static_cast<std::size_t>(i);
  if (tensor.integer())
    tensor.ints[at] = static_cast<std::int64_t>(std::clamp(value, -0x1p31, 0x1p32));
  else if (tensor.spec.dtype.value == DType::kBfloat16)
    tensor.floats[at] = round_bfloat16(static_cast<float>(value));
  else
    tensor.floats[at] = static_cast<float>(value);
}

void swap_elements(HostTensor& tensor, std::int64_t a, std::int64_t b) {
  if (tensor.integer())
    std::swap(tensor.ints[static_cast<std::size_t>(a)], tensor.ints[static_cast<std::size_t>(b)]);
  else
    std::swap(tensor.floats[static_cast<std::size_t>(a)], tensor.floats[static_cast<std::size_t>(b)]);
}

template <class F>
bool change_each(HostTensor& output, F&& change) {
  for (std::int64_t i = 0; i < output.size(); ++i) put(output, i, change(value_of(output, i)));
  return true;
}

template <class F>
void for_rectangle(const FaultContext& c, std::int64_t row, std::int64_t column, std::int64_t rows,
                   std::int64_t columns, F&& use) {
  for (std::int64_t i = row; i < std::min(row + rows, c.rows); ++i)
    for (std::int64_t j = column; j < std::min(column + columns, c.columns); ++j) use(i * c.columns + j);
}

bool all_zero(HostTensor& output, const FaultContext&) {
  return change_each(output, [](double) { return 0.0; });
}

bool last_row_zero(HostTensor& output, const FaultContext& c) {
  for_rectangle(c, c.rows - 1, 0, 1, c.columns, [&](std::int64_t i) { put(output, i, 0); });
  return c.rows > 1;
}

bool last_column_zero(HostTensor& output, const FaultContext& c) {
  for_rectangle(c, 0, c.columns - 1, c.rows, 1, [&](std::int64_t i) { put(output, i, 0); });
  return c.columns > 1;
}

bool tile_zero(HostTensor& output, const FaultContext& c) {
  const std::int64_t row = c.rows / kTile / 2 * kTile;
  const std::int64_t column = c.columns / kTile / 2 * kTile;
  for_rectangle(c, row, column, kTile, kTile, [&](std::int64_t i) { put(output, i, 0); });
  return true;
}

bool tiles_swapped(HostTensor& output, const FaultContext& c) {
  const bool across = c.columns >= 2 * kTile;
  if (!across && c.rows < 2 * kTile) return false;
  const std::int64_t step = across ? kTile : kTile * c.columns;
  for_rectangle(c, 0, 0, kTile, kTile, [&](std::int64_t i) { swap_elements(output, i, i + step); });
  return true;
}

bool transposed(HostTensor& output, const FaultContext& c) {
  const std::int64_t n = std::min({c.rows, c.columns, std::int64_t{1024}});
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < i; ++j) swap_elements(output, i * c.columns + j, j * c.columns + i);
  return n > 1;
}

bool rows_shifted(HostTensor& output, const FaultContext& c) {
  for (std::int64_t i = c.rows * c.columns - 1; i >= c.columns; --i) put(output, i, value_of(output, i - c.columns));
  return c.rows > 1;
}

bool columns_shifted(HostTensor& output, const FaultContext& c) {
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = c.columns - 1; j > 0; --j) swap_elements(output, i * c.columns + j, i * c.columns + j - 1);
  return c.columns > 1;
}

bool columns_swapped(HostTensor& output, const FaultContext& c) {
  if (c.columns < 2) return false;
  for (std::int64_t i = 0; i < c.rows; ++i) swap_elements(output, i * c.columns, i * c.columns + c.columns / 2);
  return true;
}

bool halves_swapped(HostTensor& output, const FaultContext& c) {
  if (c.rows < 2) return false;
  const std::int64_t half = c.rows / 2 * c.columns;
  for (std::int64_t i = 0; i < half; ++i) swap_elements(output, i, i + half);
  return true;
}

bool first_row_everywhere(HostTensor& output, const FaultContext& c) {
  for (std::int64_t i = c.columns; i < c.rows * c.columns; ++i) put(output, i, value_of(output, i % c.columns));
  return c.rows > 1;
}

// Twice its bound is accepted of one in a thousand approximate results; nothing is beyond.
bool one_off(HostTensor& output, const FaultContext& c) {
  WorstElement one = c.worst;
  if (one.index < 0) {  // all are exact
    one.index = c.rows * c.columns / 2;
    one.expected = one.actual = c.exact[static_cast<std::size_t>(one.index)];
  }
  if (!std::isfinite(one.expected)) return false;
  const double step = output.integer() ? 1 : std::max(std::abs(one.expected) / 4, 1e-6);
  const double away = one.actual < one.expected ? -1 : 1;
  put(output, one.index, one.expected + away * (6 * one.bound + step));
  return true;
}

bool scaled(HostTensor& output, double factor) {
  return change_each(output, [factor](double v) { return v * factor; });
}

bool bias_added(HostTensor& output, const FaultContext& c) {
  double sum = 0, squares = 0;
  for (const double v : c.exact) {
    if (!std::isfinite(v)) continue;
    sum += v;
    squares += v * v;
  }
  const auto n = static_cast<double>(std::max<std::size_t>(1, c.exact.size()));
  const double spread = std::sqrt(std::max(0.0, squares / n - sum / n * sum / n));
  const double bias = output.integer() ? std::max(1.0, std::round(spread)) : spread;
  return change_each(output, [bias](double v) { return v + bias; });
}

bool one_nan(HostTensor& output, const FaultContext& c) {
  if (output.integer() || output.floats.empty()) return false;
  // Where a number is due: NaN in the place of another is none.
  const auto due = std::find_if(c.exact.begin() + c.rows / 2 * c.columns, c.exact.end(),
                                [](double value) { return std::isfinite(value); });
  if (due == c.exact.end()) return false;
  output.floats[static_cast<std::size_t>(due - c.exact.begin())] = std::numeric_limits<float>::quiet_NaN();
  return true;
}

// At the size of a usual value, as an accumulator or a format of too small a range does.
bool saturated(HostTensor& output, const FaultContext&) {
  double squares = 0, n = 0;
  for (std::int64_t i = 0; i < output.size(); ++i) {
    const double v = value_of(output, i);
    if (!std::isfinite(v)) continue;
    squares += v * v;
    ++n;
  }
  const double usual = std::sqrt(squares / std::max(1.0, n));
  const double most = output.integer() ? std::floor(usual) : usual;
  return change_each(output, [most](double v) { return std::clamp(v, -most, most); });
}

bool coarser(HostTensor& output, const FaultContext& c) {
  DType next = DType::kAbsent;
  if (output.spec.dtype.value == DType::kFloat32) next = DType::kBfloat16;
  if (output.spec.dtype.value == DType::kBfloat16) next = DType::kBfloat8B;
  if (output.spec.dtype.value == DType::kBfloat8B) next = DType::kBfloat4B;
  if (next == DType::kAbsent) return false;
  quantize(output.floats, c.columns, next);
  return true;
}

bool never_written(HostTensor& output, const FaultContext& c) {
  for (std::size_t i = 0; i < c.stale.size(); ++i) put(output, static_cast<std::int64_t>(i), c.stale[i]);
  return !c.stale.empty();
}

// Numbers of the same mean and spread, in no order: what another case, or another user, would have got.
bool of_another_case(HostTensor& output, const FaultContext& c) {
  std::uint64_t state = c.seed * 0x9E3779B97F4A7C15ULL + 1;
  for (std::int64_t i = output.size() - 1; i > 0; --i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    swap_elements(output, i, static_cast<std::int64_t>((state >> 33) % static_cast<std::uint64_t>(i + 1)));
  }
  return output.size() > 1;
}

bool index_off_by_one(HostTensor& output, const FaultContext&) {
  if (!output.integer()) return false;
  return change_each(output, [](double v) { return v + 1; });
}

constexpr std::array kFaults{
    Fault{"all zero", true, all_zero},
    Fault{"last row zero", true, last_row_zero},
    Fault{"last column zero", true, last_column_zero},
    Fault{"a tile zero", true, tile_zero},
    Fault{"two tiles swapped", true, tiles_swapped},
    Fault{"inner square transposed", true, transposed},
    Fault{"rows shifted by one", true, rows_shifted},
    Fault{"columns shifted by one", true, columns_shifted},
    Fault{"two columns swapped", true, columns_swapped},
    Fault{"halves (heads) swapped", true, halves_swapped},
    Fault{"first row everywhere", true, first_row_everywhere},
    Fault{"one element off", true, one_off},
    Fault{"scale 2", true, [](HostTensor& output, const FaultContext&) { return scaled(output, 2); }},
    Fault{"scale 1.25", true, [](HostTensor& output, const FaultContext&) { return scaled(output, 1.25); }},
    Fault{"scale 1.05", false, [](HostTensor& output, const FaultContext&) { return scaled(output, 1.05); }},
    Fault{"scale 1.01", false, [](HostTensor& output, const FaultContext&) { return scaled(output, 1.01); }},
    Fault{"bias added", true, bias_added},
    Fault{"sign flipped", true, [](HostTensor& output, const FaultContext&) { return scaled(output, -1); }},
    Fault{"one NaN", true, one_nan},
    Fault{"saturated", true, saturated},
    Fault{"coarser dtype", false, coarser},
    Fault{"never written (an input)", true, never_written},
    Fault{"values of another place", true, of_another_case},
    Fault{"index off by one", true, index_off_by_one},
};

// Judged rows of a large output: those that the call wrote first, then runs of 32 that spread over all.
std::vector<std::int64_t> rows_to_change(std::int64_t rows, std::int64_t columns, std::int64_t most_elements,
                                         const std::vector<bool>& written) {
  std::vector<std::int64_t> out;
  const std::int64_t most = std::max<std::int64_t>(2, most_elements / std::max<std::int64_t>(1, columns));
  if (rows <= most) {
    for (std::int64_t r = 0; r < rows; ++r) out.push_back(r);
    return out;
  }
  for (std::int64_t r = 0; r < rows && static_cast<std::int64_t>(out.size()) < most / 2; ++r)
    if (!written.empty() && written[static_cast<std::size_t>(r)]) out.push_back(r);
  const std::int64_t run = std::min(kTile, most);
  const std::int64_t runs = std::max<std::int64_t>(1, (most - static_cast<std::int64_t>(out.size())) / run);
  for (std::int64_t i = 0; i < runs; ++i) {
    const std::int64_t start = runs == 1 ? 0 : i * (rows - run) / (runs - 1);
    for (std::int64_t r = start; r < start + run; ++r) out.push_back(r);
  }
  std::ranges::sort(out);
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

// The input that the output would be if nothing was ever written: of the same size, of the same dtype if there is one.
const HostTensor* stale_input(const HostTensor& actual, std::span<const HostTensor> inputs) {
  const HostTensor* found = nullptr;
  for (const HostTensor& input : inputs) {
    if (input.size() != actual.size() || input.size() == 0) continue;
    if (found == nullptr ||
        (found->spec.dtype.value != actual.spec.dtype.value && input.spec.dtype.value == actual.spec.dtype.value))
      found = &input;
  }
  return found;
}

// Whether the fault changed the output by clearly more than the output's own error. A few elements may by chance be
// nearly right after it (two values that are nearly equal): they must be off by more than any sound one is.
// What is as right (`same_choice`) is no fault.
bool matters(const HostTensor& right, const HostTensor& wrong, std::span<const double> exact,
             const SameChoice& same_choice) {
  constexpr double kFew = 8;
  double change = 0, changed = 0, error_there = 0, error = 0;
  for (std::int64_t i = 0; i < right.size(); ++i) {
    const double a = value_of(right, i);
    const double b = value_of(wrong, i);
    const double e = a - exact[static_cast<std::size_t>(i)];
    if (std::isfinite(e)) error += e * e;
    if (a == b || (std::isnan(a) && std::isnan(b))) continue;
    if (same_choice(i, exact[static_cast<std::size_t>(i)], b)) continue;
    if (std::isnan(b) || !std::isfinite(a - b)) return true;
    change += (a - b) * (a - b);
    ++changed;
    if (std::isfinite(e)) error_there += e * e;
  }
  const double usual = error / static_cast<double>(std::max<std::int64_t>(1, right.size()));
  const double times = changed <= kFew ? 10 : 4;
  return change > times * times * std::max(error_there, usual * changed);
}

}  // namespace

std::span<const Fault> all_faults() { return kFaults; }

void FaultReport::add(const FaultReport& other, std::string_view output) {
  tried += other.tried;
  noticed += other.noticed;
  const auto append = [&](std::vector<std::string>& to, const std::vector<std::string>& from) {
    for (const std::string& name : from) to.push_back(output.empty() ? name : fmt::format("{}: {}", output, name));
  };
  append(unnoticed, other.unnoticed);
  append(tolerated, other.tolerated);
  append(idle, other.idle);
  if (why_none.empty()) why_none = other.why_none;
}

FaultReport try_faults(const Judged& judged, const JudgeOptions& judging, std::span<const HostTensor> inputs,
                       const FaultOptions& options) {
  FaultReport report;
  const HostTensor& actual = judged.actual;
  const std::int64_t columns = std::max<std::int64_t>(1, row_length(actual.spec.shape));
  const std::int64_t rows = static_cast<std::int64_t>(judged.value.size()) / columns;
  if (rows == 0) {
    report.why_none = "nothing was judged";
    return report;
  }
  const auto whole_row = [&](std::int64_t r) {
    return judged.rows.empty() ? r : judged.rows[static_cast<std::size_t>(r)];
  };
  const HostTensor* stale = stale_input(actual, inputs);
  std::vector<bool> written;
  if (stale != nullptr) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t start = whole_row(r) * columns;
      bool differs = false;
      for (std::int64_t i = start; i < start + columns && !differs; ++i) differs = stale->at(i) != actual.at(i);
      written.push_back(differs);
    }
  }
  // The picked part as a matrix of its own.
  const std::vector<std::int64_t> picked = rows_to_change(rows, columns, options.most_elements, written);
  HostTensor right{actual.spec, {}, {}};
  right.spec.shape = {static_cast<std::int64_t>(picked.size()), columns};
  std::vector<double> exact, magnitude, before, old;
  std::vector<std::size_t> open;
  for (const std::int64_t r : picked) {
    const auto from = static_cast<std::ptrdiff_t>(whole_row(r) * columns);
    for (auto place = std::ranges::lower_bound(judged.open, static_cast<std::size_t>(r * columns));
         place != judged.open.end() && *place < static_cast<std::size_t>((r + 1) * columns); ++place)
      open.push_back(exact.size() + *place - static_cast<std::size_t>(r * columns));
    if (actual.integer())
      right.ints.insert(right.ints.end(), actual.ints.begin() + from, actual.ints.begin() + from + columns);
    else
      right.floats.insert(right.floats.end(), actual.floats.begin() + from, actual.floats.begin() + from + columns);
    const auto at = static_cast<std::ptrdiff_t>(r * columns);
    exact.insert(exact.end(), judged.value.begin() + at, judged.value.begin() + at + columns);
    if (!judged.magnitude.empty())
      magnitude.insert(magnitude.end(), judged.magnitude.begin() + at, judged.magnitude.begin() + at + columns);
    if (!judged.before.empty())
      before.insert(before.end(), judged.before.begin() + at, judged.before.begin() + at + columns);
    if (stale != nullptr)
      for (std::int64_t i = 0; i < columns; ++i) old.push_back(stale->at(from + i));
  }
  const auto whole_element = [&](std::int64_t element) {
    return whole_row(picked[static_cast<std::size_t>(element / columns)]) * columns + element % columns;
  };
  const SameChoice same_choice = [&](std::int64_t element, double expected, double given) {
    return judged.same_choice && judged.same_choice(whole_element(element), expected, given);
  };
  const auto ask = [&](const HostTensor& output) {
    Judged part{.wanted = right.spec,
                .actual = output,
                .budget = judged.budget,
                .value = exact,
                .magnitude = magnitude,
                .before = before,
                .after = judged.after,
                .slack = judged.slack,
                .open = open,
                .rows = {},
                .constant = judged.constant};
    if (judged.same_choice) part.same_choice = same_choice;
    if (judged.choice_of)
      part.choice_of = [&](std::int64_t element) { return judged.choice_of(whole_element(element)); };
    return judge(part, judging);
  };
  const Verdict clean = ask(right);
  if (clean.outcome != Outcome::kPassed) {
    report.why_none = fmt::format("the judged part does not pass by itself: {}",
                                  clean.reasons.empty() ? std::string(name_of(clean.outcome)) : clean.reasons.front());
    return report;
  }
  const FaultContext context{.rows = right.spec.shape[0],
                             .columns = columns,
                             .exact = exact,
                             .stale = old,
                             .budget = judged.budget,
                             .worst = clean.metrics.worst,
                             .seed = options.seed};
  for (const Fault& fault : kFaults) {
    HostTensor wrong = right;
    bool applied = fault.apply(wrong, context);
    if (applied && is_block_float(wrong.spec.dtype.value)) quantize(wrong.floats, columns, wrong.spec.dtype.value);
    if (!applied || !matters(right, wrong, exact, same_choice)) {
      report.idle.emplace_back(fault.name);
      continue;
    }
    const bool noticed = ask(wrong).outcome != Outcome::kPassed;
    if (fault.must) {
      ++report.tried;
      if (noticed) ++report.noticed;
    }
    if (!noticed) (fault.must ? report.unnoticed : report.tolerated).emplace_back(fault.name);
  }
  return report;
}

}  // namespace opwright
