#include "exec/clock/profile_csv.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/hash.h"
#include "base/nameless_file.h"
#include "base/words.h"
#include "dialect/ttnn/board_peaks.h"
#include "exec/clock/kernel_call.h"
#include "model/tensor_facts.h"
#include "model/value.h"

namespace opwright {
namespace {

constexpr std::array<std::string_view, 35> kBefore{"OP CODE",
                                                   "OP TYPE",
                                                   "GLOBAL CALL COUNT",
                                                   "DEVICE ID",
                                                   "DEVICE ARCH",
                                                   "ATTRIBUTES",
                                                   "MATH FIDELITY",
                                                   "CORE COUNT",
                                                   "AVAILABLE WORKER CORE COUNT",
                                                   "SUB DEVICE ID",
                                                   "PARALLELIZATION STRATEGY",
                                                   "HOST START TS",
                                                   "HOST END TS",
                                                   "HOST DURATION [ns]",
                                                   "DEVICE FW START CYCLE",
                                                   "DEVICE FW END CYCLE",
                                                   "OP TO OP LATENCY [ns]",
                                                   "OP TO OP LATENCY BR/NRISC START [ns]",
                                                   "DEVICE FW DURATION [ns]",
                                                   "DEVICE KERNEL DURATION [ns]",
                                                   "DEVICE KERNEL DURATION DM START [ns]",
                                                   "DEVICE KERNEL DURATION PER CORE MIN [ns]",
                                                   "DEVICE KERNEL DURATION PER CORE MAX [ns]",
                                                   "DEVICE KERNEL DURATION PER CORE AVG [ns]",
                                                   "DEVICE KERNEL FIRST TO LAST START [ns]",
                                                   "DEVICE BRISC KERNEL DURATION [ns]",
                                                   "DEVICE NCRISC KERNEL DURATION [ns]",
                                                   "DEVICE TRISC0 KERNEL DURATION [ns]",
                                                   "DEVICE TRISC1 KERNEL DURATION [ns]",
                                                   "DEVICE TRISC2 KERNEL DURATION [ns]",
                                                   "DEVICE ERISC KERNEL DURATION [ns]",
                                                   "DEVICE COMPUTE CB WAIT FRONT [ns]",
                                                   "DEVICE COMPUTE CB RESERVE BACK [ns]",
                                                   "DISPATCH TOTAL CQ CMD OP TIME [ns]",
                                                   "DISPATCH GO SEND WAIT TIME [ns]"};
constexpr std::array<std::string_view, 7> kTensor{
    "W_PAD[LOGICAL]", "Z_PAD[LOGICAL]", "Y_PAD[LOGICAL]", "X_PAD[LOGICAL]", "LAYOUT", "DATATYPE", "MEMORY"};
constexpr std::array<std::string_view, 30> kBehind{"METAL TRACE ID",
                                                   "METAL TRACE REPLAY SESSION ID",
                                                   "COMPUTE KERNEL SOURCE",
                                                   "COMPUTE KERNEL HASH",
                                                   "DATA MOVEMENT KERNEL SOURCE",
                                                   "DATA MOVEMENT KERNEL HASH",
                                                   "PROGRAM HASH",
                                                   "PROGRAM CACHE HIT",
                                                   "TENSIX DM 0 MAX KERNEL SIZE [B]",
                                                   "TENSIX DM 1 MAX KERNEL SIZE [B]",
                                                   "TENSIX COMPUTE 0 MAX KERNEL SIZE [B]",
                                                   "TENSIX COMPUTE 1 MAX KERNEL SIZE [B]",
                                                   "TENSIX COMPUTE 2 MAX KERNEL SIZE [B]",
                                                   "ACTIVE ETH DM 0 MAX KERNEL SIZE [B]",
                                                   "ACTIVE ETH DM 1 MAX KERNEL SIZE [B]",
                                                   "IDLE ETH DM 0 MAX KERNEL SIZE [B]",
                                                   "IDLE ETH DM 1 MAX KERNEL SIZE [B]",
                                                   "PM IDEAL [ns]",
                                                   "PM COMPUTE [ns]",
                                                   "PM BANDWIDTH [ns]",
                                                   "PM REQ I BW",
                                                   "PM REQ O BW",
                                                   "PM FPU UTIL (%)",
                                                   "NOC UTIL (%)",
                                                   "MULTICAST NOC UTIL (%)",
                                                   "DRAM BW UTIL (%)",
                                                   "DRAM BW UTIL PER CTRL (%)",
                                                   "ETH BW UTIL (%)",
                                                   "NPE CONG IMPACT (%)",
                                                   "TT_DNN_DEVICE_OP_TT_HOST_FUNC [ns]"};

// As the profiler writes a cell: commas are semicolons, quotes as in RFC 4180. Lines would be rows of their own to
// programs that read line by line.
std::string cell(std::string_view text) {
  std::string out;
  bool quoted = false;
  for (const char c : text) {
    if (c == '"') quoted = true;
    if (c == '"') out += '"';
    out += c == ',' ? ';' : (c == '\n' || c == '\r' || c == '\t') ? ' ' : c;
  }
  return quoted ? '"' + out + '"' : out;
}

std::string attributes_of(const BoundCall& call) {
  std::string out;
  for (const Argument& argument : call.args) {
    if (argument.value.as_tensor() != nullptr) continue;
    if (const List* list = argument.value.as_list();
        list != nullptr && !list->empty() && list->front().as_tensor() != nullptr)
      continue;
    std::string text = to_text(argument.value);
    std::ranges::replace(text, '\'', '`');
    out += fmt::format("{}'{}': '{}'", out.empty() ? "" : "; ", argument.name, text);
  }
  return cell("{" + out + "}");
}

std::string tensor_cells(const TensorSpec& spec, const Shape& padded) {
  std::string out;
  for (std::size_t back = 4; back >= 1; --back) {
    const auto at = [back](const Shape& shape) { return shape.size() >= back ? shape[shape.size() - back] : 1; };
    out += fmt::format(",{}[{}]", at(padded), at(spec.shape));
  }
  const MemoryConfig memory = memory_of(spec);
  return out + fmt::format(",{},{},DEV_0_{}_{}", cell(spec.layout.name()), cell(spec.dtype.name()),
                           cell(memory.buffer.name()), cell(memory.layout.name()));
}

std::int64_t whole(double ns) { return std::max<std::int64_t>(1, std::llround(ns)); }

tl::unexpected<Error> failed(std::string_view what) {
  return fail(ErrorCode::kIo, fmt::format("the profiler report: {}: {}", what, std::strerror(errno)));
}

std::string signpost(std::string_view name, std::int64_t at_ns, std::size_t columns) {
  std::string row = fmt::format("{},signpost,,,,,,,,,,{}", name, at_ns);
  row.append(columns - 12, ',');
  return row + '\n';
}

}  // namespace

Result<ProfileCsv> ProfileCsv::create(const std::string& path) {
  OPWRIGHT_TRY_ASSIGN(AtomicFile file, AtomicFile::create(path));
  const int fd = open_nameless(temporary_folder());
  if (fd < 0) return failed("no temporary file");
  std::FILE* rows = ::fdopen(fd, "w+");
  if (rows == nullptr) {
    ::close(fd);
    return failed("no temporary file");
  }
  return ProfileCsv(std::move(file), rows);
}

ProfileCsv::ProfileCsv(ProfileCsv&& other) noexcept
    : file_(std::move(other.file_)),
      rows_(std::exchange(other.rows_, nullptr)),
      inputs_(other.inputs_),
      outputs_(other.outputs_),
      now_ns_(other.now_ns_),
      programs_(std::move(other.programs_)),
      counts_(std::move(other.counts_)) {}

ProfileCsv::~ProfileCsv() {
  if (rows_ != nullptr) std::fclose(rows_);
}

Status ProfileCsv::add(const PlannedCall& plan, const Board& board) {
  const auto call = kernel_call(plan, board);
  if (!call) {
    ++counts_.no_kernel;
    return {};
  }
  const auto work = work_of(*call);
  if (!work) {
    ++counts_.without_a_clock[std::string(plan.op->name)];
    return {};
  }
  return keep_row(plan, *call, *work);
}

// A row in the temporary file: what stands before the inputs, the inputs, the outputs, what stands behind them, tabs
// between, and how many tensors there are.
Status ProfileCsv::keep_row(const PlannedCall& plan, const KernelCall& call, const KernelWork& work) {
  const std::int64_t kernel = whole(kernel_ns(work));
  const std::int64_t gap = counts_.rows == 0 ? 0 : whole(clock_table().op_to_op_ns);
  const std::int64_t start = now_ns_ + gap;
  const double clock = chip_rates(call.arch).clock_ghz;
  const auto cycle = [clock](std::int64_t ns) { return std::llround(static_cast<double>(ns) * clock); };
  const std::string attributes = attributes_of(plan.call);
  const bool computes = work.kernel->group != "data movement";
  std::string inputs, outputs, program = fmt::format("{} {}", call.device_class, attributes);
  std::size_t in = 0;
  for (const TensorSlot& slot : plan.call.tensors)
    if (!on_host(slot.spec)) {
      inputs += tensor_cells(slot.spec, call.inputs[in].padded);
      ++in;
    }
  for (std::size_t o = 0; o < plan.outputs.size(); ++o)
    outputs += tensor_cells(plan.outputs[o].spec, plan.outputs[o].padded);
  program += inputs + outputs;
  const std::uint64_t hash = xxh64(program);
  const std::string before = fmt::format("{},tt_dnn_device,{},0,{},{},{},{},{},,,{},,,{},{},{},{},{},{},{}",
                                         call.device_class, (counts_.rows + 1) << 10, name_of(call.arch), attributes,
                                         computes ? name_of(call.fidelity) : "", work.cores, call.available, start,
                                         cycle(start), cycle(start + kernel), gap, gap, kernel, kernel, kernel);
  const double utilised = std::round(1e5 * std::min(1.0, work.engine_ns / static_cast<double>(kernel))) / 1e5;
  const std::string behind = fmt::format(
      ",,,[],[],[],[],{},{},,,,,,,,,,{},{},{},[],[],{},,,,,,,", hash, programs_.insert(hash).second ? "False" : "True",
      whole(std::max(work.dram_ns, work.engine_ns)), whole(work.engine_ns), whole(work.dram_ns), utilised);
  inputs_ = std::max(inputs_, in);
  outputs_ = std::max(outputs_, plan.outputs.size());
  now_ns_ = start + kernel;
  ++counts_.rows;
  counts_.kernel_ns += static_cast<double>(kernel);
  counts_.op_to_op_ns += static_cast<double>(gap);
  const std::string row =
      fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", before, inputs, in, outputs, plan.outputs.size(), behind);
  if (std::fwrite(row.data(), 1, row.size(), rows_) != row.size()) return failed("cannot be kept");
  return {};
}

Status ProfileCsv::commit() {
  std::string header = fmt::format("{}", fmt::join(kBefore, ","));
  const auto tensors = [&](std::string_view side, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      for (const std::string_view part : kTensor) header += fmt::format(",{}_{}_{}", side, i, part);
  };
  tensors("INPUT", inputs_);
  tensors("OUTPUT", outputs_);
  header += fmt::format(",{}\n", fmt::join(kBehind, ","));
  const std::size_t columns = kBefore.size() + kTensor.size() * (inputs_ + outputs_) + kBehind.size();
  OPWRIGHT_TRY(file_.append(header));
  OPWRIGHT_TRY(file_.append(signpost("start", 1'000'000 - 1, columns)));
  if (std::fflush(rows_) != 0 || std::fseek(rows_, 0, SEEK_SET) != 0) return failed("cannot be read again");
  // `before` ends with the kernel's duration from the data movers' start; the columns up to the inputs are not
  // modelled.
  const std::string times(kBefore.size() - 21, ',');
  char* line = nullptr;
  std::size_t room = 0;
  for (ssize_t length = ::getline(&line, &room, rows_); length > 0; length = ::getline(&line, &room, rows_)) {
    std::string_view rest(line, static_cast<std::size_t>(length) - 1);
    std::array<std::string_view, 6> parts;
    for (std::string_view& part : parts) {
      part = rest.substr(0, rest.find('\t'));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
    }
    const auto missing = [](std::string_view count, std::size_t of) {
      return std::string((of - static_cast<std::size_t>(std::atoi(std::string(count).c_str()))) * kTensor.size(), ',');
    };
    const std::string row = fmt::format("{}{}{}{}{}{}{}\n", parts[0], times, parts[1], missing(parts[2], inputs_),
                                        parts[3], missing(parts[4], outputs_), parts[5]);
    if (Status written = file_.append(row); !written) {
      std::free(line);
      return written;
    }
  }
  std::free(line);
  if (std::ferror(rows_) != 0) return failed("cannot be read again");
  OPWRIGHT_TRY(file_.append(signpost("stop", now_ns_ + 1, columns)));
  return file_.commit();
}

std::string words_of(const ProfileCsv::Counts& counts) {
  std::string out = fmt::format("{}, {:.3f} ms in kernels and {:.3f} ms between them", plural(counts.rows, "row"),
                                counts.kernel_ns * 1e-6, counts.op_to_op_ns * 1e-6);
  if (counts.no_kernel > 0) out += fmt::format("; {} launched no kernel", plural(counts.no_kernel, "call"));
  if (!counts.without_a_clock.empty())
    out += fmt::format("; not in it, because the clock does not know the operation: {}",
                       count_list(counts.without_a_clock, 5));
  return out;
}

}  // namespace opwright
