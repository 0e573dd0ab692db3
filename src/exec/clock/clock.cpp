#include "exec/clock/clock.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "base/broken.h"
#include "base/take.h"
#include "dialect/ttnn/board_peaks.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/tensor_facts.h"

namespace opwright {

namespace embedded {
extern const std::string_view kClockTsv;
}

namespace {

constexpr double kTile = 32.0 * 32.0;

double number_of(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

template <class E, std::size_t N>
E word_of(std::string_view word, const std::array<std::string_view, N>& words) {
  const auto found = std::ranges::find(words, word);
  if (found == words.end()) broken("exec/data/clock.tsv has words that are known", word);
  return static_cast<E>(found - words.begin());
}

constexpr std::array<std::string_view, 3> kWhens{"-", "first_sharded", "second_sharded"};
constexpr std::array<std::string_view, 9> kSteps{"tiles", "part",  "rows",      "products", "written",
                                                 "heads", "users", "attention", "queries"};
constexpr std::array<std::string_view, 5> kSplits{"tiles", "rows", "users", "one", "all"};

std::vector<std::string_view> names_of(std::string_view text) {
  std::vector<std::string_view> names;
  while (!text.empty())
    if (const std::string_view name = take(text, ' '); !name.empty() && name != "-") names.push_back(name);
  return names;
}

ClockTable read_table() {
  ClockTable table;
  for (std::string_view text = embedded::kClockTsv; !text.empty();) {
    std::string_view line = take(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    const std::string_view what = take(line, '\t');
    if (what == "wormhole_start") table.wormhole_start = number_of(line);
    if (what == "wormhole_step") table.wormhole_step = number_of(line);
    if (what == "op_to_op") table.op_to_op_ns = number_of(line);
    if (what != "kernel") continue;
    Kernel kernel;
    kernel.name = take(line, '\t');
    kernel.group = take(line, '\t');
    kernel.when = word_of<When>(take(line, '\t'), kWhens);
    kernel.steps = word_of<Steps>(take(line, '\t'), kSteps);
    kernel.split = word_of<Split>(take(line, '\t'), kSplits);
    for (double& constant : kernel.constants) constant = number_of(take(line, '\t'));
    kernel.measured = names_of(take(line, '\t'));
    kernel.borrowed = names_of(line);
    table.kernels.push_back(std::move(kernel));
  }
  return table;
}

bool fits(When when, const KernelCall& call) {
  const auto sharded = [&](std::size_t i) { return i < call.inputs.size() && call.inputs[i].is_sharded; };
  if (when == When::kFirstSharded) return sharded(0);
  if (when == When::kSecondSharded) return sharded(1);
  return true;
}

const Kernel* find_kernel(const KernelCall& call) {
  using Rows = std::map<std::string_view, std::vector<const Kernel*>>;
  static const Rows rows = [] {
    Rows out;
    for (const Kernel& kernel : clock_table().kernels)
      for (const auto* list : {&kernel.measured, &kernel.borrowed})
        for (const std::string_view name : *list) out[name].push_back(&kernel);
    return out;
  }();
  const auto found = rows.find(call.device_class);
  if (found == rows.end()) return nullptr;
  const Kernel* best = nullptr;
  for (const Kernel* kernel : found->second)
    if (fits(kernel->when, call) && (best == nullptr || kernel->when != When::kAlways)) best = kernel;
  return best;
}

double rows_of_tiles(const KernelTensor& tensor) {
  return std::ceil(tensor.elements() / static_cast<double>(std::max<std::int64_t>(1, tensor.dimension(1))) / 32.0);
}

const KernelTensor& first_of(const KernelCall& call) {
  return call.inputs.empty() ? call.outputs.front() : call.inputs.front();
}

double users_of(const KernelCall& call) {
  const Shape& shape = first_of(call).logical;
  return shape.size() >= 3 ? static_cast<double>(std::max<std::int64_t>(1, shape[shape.size() - 3])) : 1.0;
}

// Work is dealt out in equal parts, so some cores may stay idle: 168 tiles are two each on 84 cores of 110.
std::int64_t cores_for(const Kernel& kernel, const KernelCall& call) {
  if (call.cores > 0) return call.cores;
  if (call.shard_cores > 0) return std::min(call.shard_cores, call.available);
  double parts = 1;
  switch (kernel.split) {
    case Split::kTiles:
      parts = call.outputs.front().tiles();
      break;
    case Split::kRows:
      parts = rows_of_tiles(first_of(call));
      break;
    case Split::kUsers:
      parts = users_of(call);
      break;
    case Split::kAll:
      return call.available;
    case Split::kOne:
      break;
  }
  const auto whole = static_cast<std::int64_t>(std::max(1.0, std::ceil(parts)));
  return div_up(whole, div_up(whole, call.available));
}

struct Amounts {
  double steps = 0, pages = 0, bytes = 0, multiply_adds = 0;
  void read(const KernelTensor& tensor, double times = 1) {
    if (tensor.is_in_dram) bytes += tensor.bytes() * times;
  }
};

double in_parts(double whole, double cores) { return std::ceil(std::ceil(whole) / cores); }

double pages_of_rows(const KernelTensor& tensor) {
  return tensor.is_tiled ? 0 : tensor.elements() / static_cast<double>(std::max<std::int64_t>(1, tensor.dimension(1)));
}

Amounts of_tiles(const KernelCall& call, double cores) {
  Amounts out;
  double tiles = 0, pages = 0;
  for (const auto* list : {&call.inputs, &call.outputs})
    for (const KernelTensor& tensor : *list) {
      tiles = std::max(tiles, tensor.tiles());
      pages = std::max(pages, pages_of_rows(tensor));
      out.read(tensor);
    }
  out.steps = in_parts(tiles, cores);
  out.pages = pages / cores;
  return out;
}

Amounts of_part(const KernelCall& call, double cores) {
  Amounts out;
  double tiles = 0, written = 0;
  for (const KernelTensor& tensor : call.outputs) {
    tiles = std::max(tiles, tensor.tiles());
    written += tensor.bytes();
    out.pages = std::max(out.pages, pages_of_rows(tensor) / cores);
    out.read(tensor);
  }
  for (const KernelTensor& tensor : call.inputs) out.read(tensor, std::min(1.0, written / tensor.bytes()));
  out.steps = in_parts(tiles, cores);
  return out;
}

Amounts of_product(const KernelCall& call, double cores) {
  Amounts out;
  const KernelTensor& a = call.inputs.front();
  const KernelTensor& to = call.outputs.front();
  const std::int64_t terms = call.terms > 0 ? call.terms : a.dimension(1);
  out.steps = in_parts(to.tiles(), cores) * static_cast<double>(div_up(terms, 32));
  out.multiply_adds = to.elements() * static_cast<double>(terms);
  const auto matrices = [](const KernelTensor& t) {
    return std::max(1.0,
                    t.elements() / static_cast<double>(std::max<std::int64_t>(1, t.dimension(1) * t.dimension(2))));
  };
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const bool again = i == 1 && !call.is_batch_fused;
    out.read(call.inputs[i], again ? std::max(1.0, std::floor(matrices(a) / matrices(call.inputs[1]))) : 1.0);
  }
  for (const KernelTensor& tensor : call.outputs) out.read(tensor);
  return out;
}

Amounts of_rows(const KernelCall& call, double cores) {
  Amounts out = of_tiles(call, 1);
  out.steps *= static_cast<double>(std::max<std::size_t>(1, call.inputs.size())) / cores;
  out.pages /= cores;
  return out;
}

// What is written into the larger tensor is read, and its place too.
Amounts of_written(const KernelCall& call, double cores) {
  Amounts out;
  double tiles = 0;
  const auto add = [&](const KernelTensor& tensor) {
    tiles += tensor.tiles();
    out.read(tensor, 2);
  };
  for (const KernelTensor& tensor : call.inputs)
    if (tensor.is_tiled && tensor.padded != call.inputs.front().padded) add(tensor);
  if (tiles == 0) add(call.outputs.front());
  out.steps = in_parts(tiles, cores);
  return out;
}

Amounts of_heads(const KernelCall& call, double cores) {
  Amounts out = of_tiles(call, cores);
  const auto width = [](const KernelTensor& t) {
    return t.logical.empty() ? 1.0 : static_cast<double>(t.logical.back());
  };
  out.steps = width(first_of(call)) / std::max(1.0, width(call.outputs.front()));
  out.pages = 0;
  return out;
}

Amounts of_users(const KernelCall& call, double cores) {
  Amounts out = of_tiles(call, cores);
  out.steps = users_of(call);
  out.pages = 0;
  return out;
}

Amounts of_attention(const KernelCall& call, double cores) {
  Amounts out;
  const KernelTensor& query = call.inputs.front();
  const KernelTensor& keys = call.inputs.size() > 1 ? call.inputs[1] : query;
  const double rows = rows_of_tiles(query);
  const double key_tiles = std::ceil(static_cast<double>(keys.dimension(2)) / 32.0);
  const double depth = std::ceil(static_cast<double>(query.dimension(1)) / 32.0);
  const double planes = rows / std::max(1.0, std::ceil(static_cast<double>(query.dimension(2)) / 32.0));
  const double chunk = std::clamp(std::ceil(static_cast<double>(call.query_chunk) / 32.0), 1.0, rows / planes);
  out.steps = in_parts(rows / chunk, cores) * chunk * key_tiles * depth * 2;
  out.multiply_adds = rows * key_tiles * depth * 2 * 32 * kTile;
  // Each chunk of queries reads the keys and values of its head, up to its own place.
  const double own = planes / std::max(1.0, rows_of_tiles(keys) / std::max(1.0, key_tiles));
  const double seen = (rows / planes / chunk + 1) / 2;
  for (std::size_t i = 0; i < call.inputs.size(); ++i)
    out.read(call.inputs[i], i == 1 || i == 2 ? std::max(1.0, own * seen) : 1.0);
  for (const KernelTensor& tensor : call.outputs) out.read(tensor);
  return out;
}

Amounts of_queries(const KernelCall& call, double cores) {
  Amounts out;
  out.steps = in_parts(first_of(call).tiles(), cores);
  for (const KernelTensor& tensor : call.outputs) out.read(tensor);
  return out;
}

Amounts amounts_of(const Kernel& kernel, const KernelCall& call, double cores) {
  switch (kernel.steps) {
    case Steps::kTiles:
      return of_tiles(call, cores);
    case Steps::kPart:
      return of_part(call, cores);
    case Steps::kRows:
      return of_rows(call, cores);
    case Steps::kProducts:
      return of_product(call, cores);
    case Steps::kWritten:
      return of_written(call, cores);
    case Steps::kHeads:
      return of_heads(call, cores);
    case Steps::kUsers:
      return of_users(call, cores);
    case Steps::kAttention:
      return of_attention(call, cores);
    case Steps::kQueries:
      return of_queries(call, cores);
  }
  return {};
}

}  // namespace

double KernelTensor::elements() const {
  double out = 1;
  for (const std::int64_t n : padded) out *= static_cast<double>(n);
  return out;
}

double KernelTensor::tiles() const { return elements() / kTile; }

double KernelTensor::bytes() const {
  if (dtype == DType::kAbsent || dtype == DType::kUnknown) return 0;
  return is_tiled ? tiles() * static_cast<double>(tile_bytes(dtype))
                  : elements() * static_cast<double>(element_bytes(dtype));
}

std::int64_t KernelTensor::dimension(std::size_t from_the_end) const {
  return padded.size() >= from_the_end ? padded[padded.size() - from_the_end] : 1;
}

KernelTensor kernel_tensor(const TensorSpec& spec, const Shape& padded) {
  const MemoryConfig memory = memory_of(spec);
  return {.padded = padded,
          .logical = spec.shape,
          .dtype = spec.dtype.value,
          .is_tiled = spec.layout.value != Layout::kRowMajor,
          .is_in_dram = memory.buffer.value != BufferType::kL1 && memory.buffer.value != BufferType::kL1Small,
          .is_sharded = memory.sharded()};
}

const ClockTable& clock_table() {
  static const ClockTable table = read_table();
  return table;
}

std::optional<KernelWork> work_of(const KernelCall& call) {
  if (call.outputs.empty()) return std::nullopt;
  const Kernel* kernel = find_kernel(call);
  if (kernel == nullptr || (kernel->steps == Steps::kProducts && call.inputs.empty())) return std::nullopt;
  const std::int64_t cores = std::max<std::int64_t>(1, cores_for(*kernel, call));
  const Amounts amounts = amounts_of(*kernel, call, static_cast<double>(cores));
  const ChipRates& rates = chip_rates(call.arch);
  const double engine = static_cast<double>(kMatrixFlopsPerCycle) / 2;  // multiply-adds a cycle and core
  const double phases = 1.0 + static_cast<double>(call.fidelity);
  return KernelWork{
      .kernel = kernel,
      .arch = call.arch,
      .cores = cores,
      .steps = amounts.steps,
      .pages = amounts.pages,
      .dram_ns = amounts.bytes / rates.modelled_dram,
      .engine_ns = amounts.multiply_adds * phases / (engine * static_cast<double>(cores) * rates.clock_ghz),
      .bytes = amounts.bytes,
      .multiply_adds = amounts.multiply_adds};
}

double kernel_ns(const KernelWork& work, std::span<const double, kConstants> constants, const ClockTable& table) {
  const bool wormhole = work.arch == Arch::kWormhole;
  const double start = wormhole ? table.wormhole_start : 1, step = wormhole ? table.wormhole_step : 1;
  return constants[0] * start +
         std::max({constants[1] * work.steps * step, constants[2] * work.dram_ns, constants[3] * work.engine_ns}) +
         constants[4] * work.pages * step;
}

double kernel_ns(const KernelWork& work) { return kernel_ns(work, work.kernel->constants, clock_table()); }

}  // namespace opwright
