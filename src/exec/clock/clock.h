// The clock of the simulated device: how long a chip is busy with a call, modelled. Deterministic: the same call on the
// same board takes the same time, on every machine.
//
// What it is: for each kind of kernel the time to start, and the largest of three: steps (tiles, products of tiles, …)
// that one core does one after the other, bytes of DRAM, multiply-adds of the matrix engine; pages of row-major tensors
// come on top. Rates are the published ones of the chips (dialect/ttnn/board_peaks.h), constants are fitted to profiler
// files of real chips (exec/data/clock.tsv says how), and `./x bench clock` prints how far it is off on other files.
// What it is not: a measurement, or a simulation of kernels. No stalls, no congestion, little of program
// configurations.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "dialect/ttnn/board.h"
#include "dialect/ttnn/compute_config.h"
#include "model/tensor_spec.h"

namespace opwright {

// A tensor of a call, as far as the clock looks.
struct KernelTensor {
  Shape padded, logical;
  DType dtype = DType::kAbsent;
  bool is_tiled = true;
  bool is_in_dram = true;
  bool is_sharded = false;

  double elements() const;
  double tiles() const;
  double bytes() const;
  std::int64_t dimension(std::size_t from_the_end) const;  // of `padded`; 1 where it has none
};
KernelTensor kernel_tensor(const TensorSpec& spec, const Shape& padded);

struct KernelCall {
  std::string_view device_class;
  Arch arch = Arch::kWormhole;
  std::int64_t cores = 0;  // that work; 0: as the kind of kernel deals its work out
  std::int64_t available = 64;
  Fidelity fidelity = Fidelity::kHiFi4;
  bool is_batch_fused = false;    // of a product: the batch counts as rows, so weights are read once
  std::int64_t terms = 0;         // of a product; 0: the last dimension of the first tensor
  std::int64_t shard_cores = 0;   // of the tensor that decides; 0: it is not cut
  std::int64_t query_chunk = 32;  // rows of queries of an attention that one core works at
  std::vector<KernelTensor> inputs, outputs;
};

// What a step is, and what is dealt out to cores.
enum class Steps : std::uint8_t {
  kTiles,      // of the largest tensor
  kPart,       // of what is selected: nothing else is read
  kRows,       // tiles of all inputs, a row of tiles never cut
  kProducts,   // of tiles
  kWritten,    // tiles of what goes into a larger tensor
  kHeads,      // that one row is cut into
  kUsers,      // that rows are gathered from
  kAttention,  // products of tiles, keys read again for each row of queries
  kQueries,    // tiles of the queries: nobody knows how many keys
};
enum class Split : std::uint8_t { kTiles, kRows, kUsers, kOne, kAll };
enum class When : std::uint8_t { kAlways, kFirstSharded, kSecondSharded };

inline constexpr std::size_t kConstants = 5;
struct Kernel {
  std::string_view name, group;  // "tilize"; "data movement"
  When when = When::kAlways;
  Steps steps = Steps::kTiles;
  Split split = Split::kTiles;
  // Nanoseconds to start, of a step, times DRAM at its best, times the matrix engine at its best, ns of a page: on a
  // Blackhole.
  std::array<double, kConstants> constants{};
  std::vector<std::string_view> measured, borrowed;  // classes that files have, and those that are taken to be alike
};
struct ClockTable {
  std::vector<Kernel> kernels;
  double wormhole_start = 1, wormhole_step = 1;  // times those of a Blackhole
  double op_to_op_ns = 0;                        // from one program to the next of a trace
};
const ClockTable& clock_table();

// What a call asks of a chip: no constant in it.
struct KernelWork {
  const Kernel* kernel = nullptr;
  Arch arch = Arch::kWormhole;
  std::int64_t cores = 1;
  double steps = 0, pages = 0;          // of one core
  double dram_ns = 0, engine_ns = 0;    // at their best
  double bytes = 0, multiply_adds = 0;  // that this stands for: DRAM bytes alone
};
// Nothing for a class that the table does not have.
std::optional<KernelWork> work_of(const KernelCall& call);
double kernel_ns(const KernelWork& work, std::span<const double, kConstants> constants, const ClockTable& table);
double kernel_ns(const KernelWork& work);

}  // namespace opwright
