#include "perf/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/words.h"
#include "dialect/ttnn/board_peaks.h"
#include "dialect/ttnn/compute_config.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/dtype.h"
#include "perf/attributes.h"

namespace opwright::perf {
namespace {

double volume(const std::array<std::int64_t, 4>& extents) {
  double product = 1;
  for (const std::int64_t extent : extents) product *= static_cast<double>(extent);
  return product;
}

// Bytes of a tensor as it lies; NaN for a dtype or a shape that is not known.
double bytes_of(const RowTensor& tensor) {
  const auto dtype = parse_dtype(tensor.dtype);
  const DTypeInfo& about = info(dtype.value);
  if (!tensor.sound || about.bits == 0) return kNoFigure;
  const double tile = static_cast<double>(tile_bytes(dtype.value));
  return volume(tensor.padded) * (is_block_float(dtype.value) ? tile / 1024 : about.bits / 8.0);
}

bool in_l1(const RowTensor& tensor) { return tensor.memory.find("L1") != std::string_view::npos; }
bool in_dram(const RowTensor& tensor) { return tensor.memory.find("DRAM") != std::string_view::npos; }

int passes_of(std::string_view fidelity) {
  for (const Fidelity known : {Fidelity::kLoFi, Fidelity::kHiFi2, Fidelity::kHiFi3, Fidelity::kHiFi4})
    if (fidelity == name_of(known)) return static_cast<int>(known) + 1;
  return 0;
}

bool moves_only(DeviceWork work) {
  switch (work) {
    case DeviceWork::kDataMovement:
    case DeviceWork::kShard:
    case DeviceWork::kUnshard:
    case DeviceWork::kReshard:
    case DeviceWork::kTilize:
    case DeviceWork::kUntilize:
      return true;
    default:
      return false;
  }
}

// It reads all of its inputs once and writes all of its outputs; others read a part (a slice, a row of a table, a cache
// as far as it is filled), and how much a report does not say.
bool reads_all(DeviceWork work) {
  switch (work) {
    case DeviceWork::kMatmul:
    case DeviceWork::kConvolution:
    case DeviceWork::kEltwise:
    case DeviceWork::kReduction:
    case DeviceWork::kNormalization:
    case DeviceWork::kTypecast:
    case DeviceWork::kShard:
    case DeviceWork::kUnshard:
    case DeviceWork::kReshard:
    case DeviceWork::kTilize:
    case DeviceWork::kUntilize:
      return true;
    default:
      return false;
  }
}

void count_bytes(const Signature& signature, DeviceWork work, Explanation& out) {
  double read = 0, written = 0, all = 0, l1 = 0;
  for (const RowTensor& tensor : signature.parts.inputs) {
    const double bytes = bytes_of(tensor);
    all += bytes;
    if (in_l1(tensor)) l1 += bytes;
    if (in_dram(tensor)) read += bytes;
  }
  for (const RowTensor& tensor : signature.parts.outputs) {
    const double bytes = bytes_of(tensor);
    all += bytes;
    if (in_l1(tensor)) l1 += bytes;
    if (in_dram(tensor)) written += bytes;
  }
  if (signature.parts.outputs.empty()) return;
  out.bytes = all;
  out.l1_bytes = l1;
  if (reads_all(work))
    out.dram_bytes = read + written;
  else if (work == DeviceWork::kDataMovement)
    out.dram_bytes = written + std::min(read, all - read);  // it reads at least what it gives, or all there is
}

void count_flops(const Signature& signature, DeviceWork work, Explanation& out) {
  const SignatureParts& parts = signature.parts;
  if (parts.inputs.size() < 2 || parts.outputs.empty() || !parts.shapes_sound) return;
  const RowTensor &a = parts.inputs[0], &b = parts.inputs[1], &product = parts.outputs[0];
  std::size_t along = 3;  // which extent of the first operand is summed over
  if (work == DeviceWork::kMatmul) {
    if (attribute(parts.attributes, "transpose_a") == "true") along = 2;
    const std::size_t other = attribute(parts.attributes, "transpose_b") == "true" ? 3 : 2;
    if (a.logical[along] != b.logical[other]) return;  // no product of these two: sparse, or more than one
    out.flops = 2 * static_cast<double>(a.logical[along]) * volume(product.logical);
    out.padded_flops = 2 * static_cast<double>(a.padded[along]) * volume(product.padded);
  } else if (work == DeviceWork::kConvolution && b.logical[3] == product.logical[3]) {
    out.flops = 2 * static_cast<double>(b.logical[2]) * volume(product.logical);
    out.padded_flops = 2 * static_cast<double>(b.padded[2]) * volume(product.padded);
  }
}

// The matrix engines that multiply. Where the operands come from the DRAM banks, a core beside each bank does, and the
// report counts the whole grid.
double multiplying_cores(const Signature& signature, const Position& position, const Board& board) {
  if (signature.parts.attributes.find("DRAMShardedProgramConfig") != std::string_view::npos)
    return static_cast<double>(board.dram_banks);
  return position.cores;
}

// Bits of the operands that LoFi, HiFi2, … multiply: of the first operand 7 and then 8, of the second 5 and then 10.
int passes_needed(const Signature& signature) {
  if (signature.parts.inputs.size() < 2) return 0;
  const DTypeInfo& first = info(parse_dtype(signature.parts.inputs[0].dtype).value);
  const DTypeInfo& second = info(parse_dtype(signature.parts.inputs[1].dtype).value);
  if (first.significand == 0 || second.significand == 0 || first.significand > 7) return 0;
  return second.significand <= 5 ? 1 : second.significand <= 10 ? 2 : 0;
}

std::string cores_words(const Position& position) {
  return fmt::format("{:.0f} of {:.0f} cores", position.cores, position.available_cores);
}

void advise(const Signature& signature, const Position& position, double kernel, double gap, Explanation& out) {
  switch (out.bound) {
    case Bound::kCompute: {
      const int passes = passes_of(signature.parts.fidelity), needed = passes_needed(signature);
      if (needed > 0 && passes > needed)
        out.advice = fmt::format("{} multiplies {} and {} exactly, in {} of {} passes",
                                 name_of(static_cast<Fidelity>(needed - 1)), signature.parts.inputs[0].dtype,
                                 signature.parts.inputs[1].dtype, needed, passes);
      else if (out.padded_flops > 1.5 * out.flops)
        out.advice = fmt::format("{:.0f} % of what it multiplies is padding", 100 * (1 - out.flops / out.padded_flops));
      return;
    }
    case Bound::kDram: {
      const RowTensor* largest = nullptr;
      for (const RowTensor& tensor : signature.parts.inputs)
        if (in_dram(tensor) && (largest == nullptr || bytes_of(tensor) > bytes_of(*largest))) largest = &tensor;
      if (largest != nullptr)
        out.advice = fmt::format("{:.0f} % of its bytes are one input of {}, in DRAM",
                                 100 * bytes_of(*largest) / out.dram_bytes, largest->dtype);
      return;
    }
    case Bound::kGap: {
      const double host = statistics_of(position.host_ns).mean;
      if (has(host) && host > kernel)
        out.advice = fmt::format(
            "the host takes {:.1f} us to call it, its kernel {:.1f} us: a replayed trace does not wait for "
            "the host",
            host / 1000, kernel / 1000);
      else
        out.advice = fmt::format("the gap before it is {:.1f} times its kernel", gap / kernel);
      return;
    }
    case Bound::kFewCores:
      out.advice = fmt::format("it uses {}", cores_words(position));
      return;
    case Bound::kDataMovement:
      if (position.cores * 2 < position.available_cores)
        out.advice =
            fmt::format("it moves {} with {}", size_text(static_cast<std::int64_t>(has(out.bytes) ? out.bytes : 0)),
                        cores_words(position));
      return;
    case Bound::kUnproven:
      return;
  }
}

}  // namespace

std::string_view name_of(Bound bound) {
  switch (bound) {
    case Bound::kUnproven:
      return "unproven";
    case Bound::kCompute:
      return "compute";
    case Bound::kDram:
      return "dram";
    case Bound::kDataMovement:
      return "data_movement";
    case Bound::kGap:
      return "gap";
    case Bound::kFewCores:
      return "few_cores";
  }
  return "unproven";
}

double ReportBoard::dram_gb_per_s() const {
  double most = 0;
  for (const Board& board : boards) most = std::max(most, peaks_of(board).dram_gb_per_s);
  return most;
}

Result<ReportBoard> board_of(const Recording& recording, const Reduced& reduced, std::string_view told) {
  ReportBoard out;
  if (!told.empty()) {
    OPWRIGHT_TRY_ASSIGN(Board board, find_board(told));
    out.how = board.name;
    out.boards.push_back(std::move(board));
    return out;
  }
  std::set<std::string> archs;
  double cores = 0;
  for (const Position& position : reduced.positions) {
    const std::string& arch = recording.signatures[position.signature]->arch;
    if (!arch.empty()) archs.insert(arch);
    if (position.available_cores > cores) cores = position.available_cores;
  }
  if (archs.empty()) {  // replays may lack it, the rows of other windows do not
    for (const auto& signature : recording.signatures)
      if (!signature->arch.empty()) archs.insert(signature->arch);
    for (const Sample& sample : recording.samples) cores = std::max(cores, static_cast<double>(sample.available_cores));
  }
  if (archs.size() != 1) {
    out.how = archs.empty() ? "unknown: the report names no architecture; say --board NAME"
                            : fmt::format("unknown: rows of {}; say --board NAME", fmt::join(archs, " and "));
    return out;
  }
  out.boards = boards_like(*archs.begin(), static_cast<std::int64_t>(cores));
  const std::string seen = cores > 0 ? fmt::format("{}, {:.0f} cores", *archs.begin(), cores) : *archs.begin();
  if (out.boards.empty()) {
    out.how = fmt::format("unknown: no board is {}; say --board NAME", seen);
    return out;
  }
  std::vector<std::string_view> names;
  for (const Board& board : out.boards) names.push_back(board.name);
  out.how = fmt::format("{} ({})", fmt::join(names, " or "), seen);
  return out;
}

std::vector<Explanation> explain(const Recording& recording, const Reduced& reduced, const ReportBoard& board) {
  std::vector<Explanation> all;
  for (std::size_t j = 0; j < reduced.positions.size(); ++j) {
    const Position& position = reduced.positions[j];
    const Signature& signature = *recording.signatures[position.signature];
    const DeviceWork work = signature.known == nullptr ? DeviceWork::kUnknown : signature.known->work;
    const double kernel = statistics_of(position.kernel_ns).mean;
    const double gap = statistics_of(position.op_to_op_ns).mean;
    Explanation out;
    count_bytes(signature, work, out);
    count_flops(signature, work, out);
    // A time that is no kernel's proves nothing about a kernel.
    const bool timed = has(kernel) && kernel > 0 && recording.time_source() == TimeSource::kKernel;
    if (timed && !board.boards.empty()) {
      const Board& one = board.boards.front();
      const int passes = passes_of(signature.parts.fidelity);
      const double cores = multiplying_cores(signature, position, one);
      if (has(out.padded_flops) && passes > 0 && cores > 0 && peaks_of(one).clock_ghz > 0) {
        const double peak =
            cores * static_cast<double>(kMatrixFlopsPerCycle) * peaks_of(one).clock_ghz / passes;  // a ns
        out.fpu_percent = 100 * out.padded_flops / kernel / peak;
      }
      if (has(out.dram_bytes) && board.dram_gb_per_s() > 0)
        out.dram_percent = 100 * out.dram_bytes / kernel / board.dram_gb_per_s();
    }
    // Near both peaks, the nearer one holds it back.
    if (out.fpu_percent >= kNearPeak && !(out.dram_percent > out.fpu_percent))
      out.bound = Bound::kCompute;
    else if (out.dram_percent >= kNearPeak)
      out.bound = Bound::kDram;
    else if (timed && j > 0 && gap > kernel)
      out.bound = Bound::kGap;
    else if (moves_only(work))
      out.bound = Bound::kDataMovement;
    else if (timed && position.cores * 2 < position.available_cores)
      out.bound = Bound::kFewCores;
    if (timed) advise(signature, position, kernel, gap, out);
    all.push_back(std::move(out));
  }
  return all;
}

}  // namespace opwright::perf
