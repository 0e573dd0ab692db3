#include "perf/positions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace opwright::perf {
namespace {

// The slowest device, or the mean of all: filled row by row.
struct Over {
  double most = kNoFigure, sum = 0;
  std::int64_t count = 0;

  void add(double value) {
    if (!has(value)) return;
    if (!(value <= most)) most = value;
    sum += value;
    ++count;
  }
  double reduced(bool mean) const {
    if (count == 0) return kNoFigure;
    return mean ? sum / static_cast<double>(count) : most;
  }
};

// One operation on all devices.
struct Operation {
  SignatureId signature = 0;
  std::int32_t signature_device = 0;  // whose it is: the lowest
  std::int32_t rows = 0;
  bool differs = false, joined = false;
  std::uint64_t row = 0;
  Over kernel, gap, host, fpu, dram, noc, ideal;
  float cores = 0, available = 0;

  void add(const Sample& sample) {
    if (rows == 0) row = sample.row;
    differs = differs || (rows > 0 && sample.signature != signature);
    if (rows == 0 || sample.device < signature_device) {
      signature = sample.signature;
      signature_device = sample.device;
    }
    ++rows;
    kernel.add(sample.kernel_ns);
    if (!sample.clock_back) gap.add(sample.op_to_op_ns);
    if (sample.session == kNoSession) host.add(sample.host_ns);
    fpu.add(static_cast<double>(sample.fpu_percent));
    dram.add(static_cast<double>(sample.dram_percent));
    noc.add(static_cast<double>(sample.noc_percent));
    ideal.add(static_cast<double>(sample.pm_ideal_ns));
    cores = std::max(cores, sample.cores);
    available = std::max(available, sample.available_cores);
  }
};

struct Key {
  std::uint64_t operation;
  std::uint32_t session;
  bool operator==(const Key&) const = default;
};
struct KeyHasher {
  std::size_t operator()(const Key& key) const {
    const std::uint64_t hash = (key.operation ^ static_cast<std::uint64_t>(key.session) << 40) * 0x9e3779b97f4a7c15U;
    return hash ^ (hash >> 29);
  }
};

// Joins the rows of a window over devices.
class Joiner {
 public:
  Joiner(const std::vector<std::int32_t>& devices, Coverage& coverage)
      : devices_(devices), words_((devices.size() + 63) / 64), coverage_(coverage) {}

  void add(const Sample& sample) {
    if (!sample.joinable) {
      fresh().add(sample);
      return;
    }
    const Key key{sample.operation, sample.session};
    const auto rank =
        static_cast<std::size_t>(std::lower_bound(devices_.begin(), devices_.end(), sample.device) - devices_.begin());
    auto [slot, is_new] = by_key_.emplace(key, operations.size());
    if (is_new) {
      fresh().joined = true;
    } else if (seen(slot->second, rank)) {
      ++coverage_.repeated_rows;
      slot->second = operations.size();
      fresh().joined = true;
    }
    masks_[slot->second * words_ + rank / 64] |= std::uint64_t{1} << (rank % 64);
    operations[slot->second].add(sample);
  }

  std::vector<Operation> operations;

 private:
  Operation& fresh() {
    masks_.resize(masks_.size() + words_);
    return operations.emplace_back();
  }
  bool seen(std::size_t operation, std::size_t rank) const {
    return (masks_[operation * words_ + rank / 64] >> (rank % 64) & 1U) != 0;
  }

  const std::vector<std::int32_t>& devices_;
  std::size_t words_;
  std::vector<std::uint64_t> masks_;
  std::unordered_map<Key, std::size_t, KeyHasher> by_key_;
  Coverage& coverage_;
};

// Rows that are not in the samples, so that an iteration may lack one.
bool has_lost_rows(const Troubles& troubles) {
  for (const Trouble trouble : {Trouble::kCutRow, Trouble::kExtraCells, Trouble::kOpenQuote, Trouble::kUnknownType,
                                Trouble::kNoDevice, Trouble::kForeignCall, Trouble::kNoCallCount})
    if (troubles.of(trouble) > 0) return true;
  return false;
}

Result<Iterations> iterations_of(const std::vector<Operation>& operations, std::int64_t wanted, bool damaged) {
  std::vector<std::uint32_t> sequence;
  sequence.reserve(operations.size());
  for (const Operation& operation : operations) sequence.push_back(operation.signature);
  if (wanted <= 0) return find_iterations(sequence, damaged);
  const auto count = static_cast<std::size_t>(wanted);
  if (sequence.empty() || sequence.size() % count != 0)
    return fail(
        ErrorCode::kBadInput,
        fmt::format("the window has {} operations, which are not {} iterations of as many each; leave --iterations "
                    "away to have them found",
                    sequence.size(), wanted));
  Iterations found{sequence.size() / count, {}};
  for (std::size_t i = 0; i < count; ++i) {
    found.starts.push_back(i * found.period);
    for (std::size_t j = 0; j < found.period; ++j)
      if (sequence[i * found.period + j] != sequence[j])
        return fail(ErrorCode::kBadInput,
                    fmt::format("not {} iterations: operation {} of iteration {} (row {}) is not that of "
                                "the first",
                                wanted, j + 1, i + 1, operations[i * found.period + j].row));
  }
  return found;
}

void fill_positions(const std::vector<Operation>& operations, const Iterations& iterations, const Recording& recording,
                    Reduced& out) {
  out.positions.resize(iterations.period);
  for (std::size_t j = 0; j < iterations.period; ++j) {
    Position& position = out.positions[j];
    Over fpu, dram, noc, ideal;
    for (const std::size_t start : iterations.starts) {
      const Operation& operation = operations[start + j];
      if (start == iterations.starts.front()) {
        position.signature = operation.signature;
        position.first_row = operation.row;
      }
      const bool mean = recording.signatures[operation.signature]->collective();
      position.kernel_ns.push_back(operation.kernel.reduced(mean));
      position.op_to_op_ns.push_back(operation.gap.reduced(mean));
      position.host_ns.push_back(operation.host.count > 0 ? operation.host.sum : kNoFigure);
      fpu.add(operation.fpu.reduced(true));
      dram.add(operation.dram.reduced(true));
      noc.add(operation.noc.reduced(true));
      ideal.add(operation.ideal.reduced(true));
      if (operation.cores > 0 && !(position.cores >= operation.cores)) position.cores = operation.cores;
      if (operation.available > 0 && !(position.available_cores >= operation.available))
        position.available_cores = operation.available;
    }
    position.fpu_percent = fpu.reduced(true);
    position.dram_percent = dram.reduced(true);
    position.noc_percent = noc.reduced(true);
    position.pm_ideal_ns = ideal.reduced(true);
  }
}

void count_operations(const std::vector<Operation>& operations, const Iterations& iterations,
                      const Recording& recording, std::size_t devices, Coverage& coverage) {
  coverage.operations = static_cast<std::int64_t>(operations.size());
  for (const Operation& operation : operations) {
    coverage.operations_without_time += operation.kernel.count == 0 ? 1 : 0;
    coverage.signature_differs += operation.differs ? 1 : 0;
    coverage.unknown_ops += recording.signatures[operation.signature]->known == nullptr ? 1 : 0;
    if (!operation.joined || static_cast<std::size_t>(operation.rows) == devices) continue;
    coverage.missing_device_rows += static_cast<std::int64_t>(devices) - operation.rows;
    if (coverage.operations_missing_devices++ == 0) coverage.first_missing_row = operation.row;
  }
  coverage.left_out_operations =
      coverage.operations - static_cast<std::int64_t>(iterations.starts.size() * iterations.period);
  if (coverage.left_out_operations > 0) {
    std::size_t next = 0;
    for (const std::size_t start : iterations.starts) {
      if (start != next) break;
      next = start + iterations.period;
    }
    if (next < operations.size()) coverage.first_left_out_row = operations[next].row;
  }
}

void add_up(double& sum, double value) {
  if (has(value)) sum = has(sum) ? sum + value : value;
}

}  // namespace

bool Coverage::complete() const {
  return rows_without_time == 0 && missing_device_rows == 0 && left_out_operations == 0 && signature_differs == 0;
}

Statistics statistics_of(const std::vector<double>& values) {
  std::vector<double> there;
  for (const double value : values)
    if (has(value)) there.push_back(value);
  Statistics out;
  out.count = static_cast<std::int64_t>(there.size());
  if (there.empty()) return out;
  std::sort(there.begin(), there.end());
  double sum = 0;
  for (const double value : there) sum += value;
  const auto size = static_cast<double>(there.size());
  out.mean = sum / size;
  out.min = there.front();
  out.max = there.back();
  const std::size_t middle = there.size() / 2;
  out.median = there.size() % 2 == 1 ? there[middle] : (there[middle - 1] + there[middle]) / 2;
  if (there.size() > 1) {
    double squares = 0;
    for (const double value : there) squares += (value - out.mean) * (value - out.mean);
    out.sd = std::sqrt(squares / (size - 1));
  }
  return out;
}

Result<Reduced> reduce(const Recording& recording, const Window& window, const ReduceOptions& options) {
  Reduced out;
  Coverage& coverage = out.coverage;
  const auto in_window = [&](auto&& take) {
    for (std::uint64_t i = window.begin; i < window.end && i < recording.samples.size(); ++i) {
      const Sample& sample = recording.samples[i];
      if (options.device < 0 || sample.device == options.device) take(sample);
    }
  };
  std::map<std::int32_t, std::int64_t> rows_of;
  std::set<std::uint32_t> sessions;
  in_window([&](const Sample& sample) {
    if (sample.captured) {
      ++coverage.captured_rows;
      return;
    }
    ++rows_of[sample.device];
    ++coverage.device_rows;
    coverage.rows_without_time += has(sample.kernel_ns) ? 0 : 1;
    if (sample.session != kNoSession) sessions.insert(sample.session);
  });
  if (options.device >= 0 && rows_of.empty()) {
    std::set<std::int32_t> all;
    for (const Sample& sample : recording.samples) all.insert(sample.device);
    return fail(ErrorCode::kUsage, fmt::format("no row of device {} in the window; the file has the devices {}",
                                               options.device, fmt::join(all, ", ")));
  }
  for (const auto& [device, rows] : rows_of) {
    out.devices.push_back(device);
    coverage.rows_of_device.emplace_back(device, rows);
  }
  coverage.sessions = static_cast<std::int64_t>(sessions.size());
  coverage.joined = recording.joinable;
  Joiner joiner(out.devices, coverage);
  in_window([&](const Sample& sample) {
    if (!sample.captured) joiner.add(sample);
  });
  OPWRIGHT_TRY_ASSIGN(const Iterations iterations,
                      iterations_of(joiner.operations, options.iterations, has_lost_rows(recording.troubles)));
  out.iterations = static_cast<std::int64_t>(iterations.starts.size());
  fill_positions(joiner.operations, iterations, recording, out);
  count_operations(joiner.operations, iterations, recording, out.devices.size(), coverage);

  for (std::size_t j = 0; j < out.positions.size(); ++j) {
    const Position& position = out.positions[j];
    add_up(out.kernel_ns, statistics_of(position.kernel_ns).mean);
    add_up(j == 0 ? out.first_op_gap_ns : out.op_to_op_ns, statistics_of(position.op_to_op_ns).mean);
    add_up(out.host_ns, statistics_of(position.host_ns).mean);
  }
  double host_ops = kNoFigure;
  for (std::uint64_t i = window.host_begin; i < window.host_end && i < recording.host.size(); ++i)
    add_up(host_ops, recording.host[i].host_ns);
  if (has(host_ops)) {
    out.host_op_ns = host_ops / static_cast<double>(std::max<std::int64_t>(out.iterations, 1));
    add_up(out.host_ns, out.host_op_ns);
  }
  return out;
}

}  // namespace opwright::perf
