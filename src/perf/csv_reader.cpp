#include "perf/csv_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <deque>
#include <optional>

#include "base/input.h"
#include "base/text.h"
#include "perf/csv_cells.h"

namespace opwright::perf {
namespace {

// The profiler's messages have at most 65535 bytes, so no cell can go on longer: a quote that does is a damaged one.
constexpr std::size_t kLongestQuoted = 256 * 1024;

// Separators inside signature_text: of fields, of tensors, and between inputs and outputs.
constexpr char kField = '\x1f', kTensor = '\x1e', kSide = '\x1d';

bool is_no_value(std::string_view cell) {
  return cell == "-" || cell == "nan" || cell == "NaN" || cell == "NAN" || cell == "N/A" || cell == "None";
}

// `DEV_3_L1_INTERLEAVED` -> `L1_INTERLEAVED`: the same tensor on another device of the mesh.
std::string_view without_device(std::string_view memory) {
  if (!memory.starts_with("DEV_")) return memory;
  std::size_t at = 4;
  while (at < memory.size() && memory[at] >= '0' && memory[at] <= '9') ++at;
  return at > 4 && at < memory.size() && memory[at] == '_' ? memory.substr(at + 1) : memory;
}

class Reader {
 public:
  Reader(const std::string& path, Input input, RowSink& sink, Troubles& troubles)
      : path_(path), input_(std::move(input)), sink_(sink), troubles_(troubles) {}

  Status read() {
    OPWRIGHT_TRY(read_header());
    while (true) {
      OPWRIGHT_TRY_ASSIGN(const bool got, next_record());
      if (!got) return {};
      take_row();
    }
  }

 private:
  Result<std::optional<std::string_view>> next_line() {
    if (!pending_.empty()) {
      held_ = std::move(pending_.front());
      pending_.pop_front();
      return std::string_view(held_);
    }
    return input_.next_line();
  }

  // Cuts the next record into cells_; false at the end. A record goes on over lines while a quoted cell is open.
  Result<bool> next_record() {
    while (true) {
      OPWRIGHT_TRY_ASSIGN(const auto line, next_line());
      if (!line) return false;
      std::string_view text = *line;
      if (text.ends_with('\r')) text.remove_suffix(1);
      if (trimmed(text).empty()) {
        ++row_;
        continue;
      }
      ++row_;
      if (splitter_.split(text, cells_)) return true;
      OPWRIGHT_TRY_ASSIGN(const bool closed, continue_record(text));
      if (closed) return true;
      // The line itself is gone by now: record_ begins with it.
      trouble(Trouble::kOpenQuote, "", std::string_view(record_).substr(0, record_.find('\n')));
    }
  }

  Result<bool> continue_record(std::string_view begun) {
    record_.assign(begun);
    std::deque<std::string> taken;
    while (record_.size() < kLongestQuoted) {
      OPWRIGHT_TRY_ASSIGN(const auto line, next_line());
      if (!line) break;
      taken.emplace_back(*line);
      std::string_view more = taken.back();
      if (more.ends_with('\r')) more.remove_suffix(1);
      record_.append("\n").append(more);
      if (more.find('"') != std::string_view::npos && splitter_.split(record_, cells_)) return true;
    }
    // The lines behind the damaged one are rows of their own.
    pending_.insert(pending_.begin(), std::make_move_iterator(taken.begin()), std::make_move_iterator(taken.end()));
    return false;
  }

  Status read_header() {
    OPWRIGHT_TRY_ASSIGN(const std::string_view start, input_.peek(3));
    if (start == "\xef\xbb\xbf") bom_ = true;
    OPWRIGHT_TRY_ASSIGN(const std::string_view first, input_.peek(4096));
    const std::size_t code = first.find("OP CODE");
    if (code != std::string_view::npos && code + 7 < first.size() && first[code + 7] == ';')
      splitter_ = CellSplitter(';');
    OPWRIGHT_TRY_ASSIGN(const bool got, next_record());
    if (got && bom_ && cells_.front().starts_with("\xef\xbb\xbf")) cells_.front().remove_prefix(3);
    if (!got || !Header::is_header(cells_))
      return fail(ErrorCode::kNotATrace,
                  fmt::format("{}: not a profiler report: its first line has no column OP CODE; give a file "
                              "ops_perf_results_*.csv",
                              path_));
    take_header();
    return {};
  }

  void take_header() {
    header_ = Header::of(cells_, path_, row_, troubles_);
    sink_.header(header_);
  }

  void trouble(Trouble kind, std::string_view column, std::string_view seen) {
    troubles_.count(kind, {path_, row_, std::string(column), std::string(seen.substr(0, 60))});
  }

  std::string_view cell(int at) const { return at < 0 ? std::string_view() : cells_[static_cast<std::size_t>(at)]; }
  std::string_view cell(Column column) const { return cell(header_.at(column)); }

  double number(int at) {
    std::string_view text = cell(at);
    if (text.empty()) return kNoFigure;
    if (text.size() < 16) {  // most are whole numbers
      std::uint64_t whole = 0;
      bool digits = true;
      for (const char c : text) {
        digits = digits && c >= '0' && c <= '9';
        whole = whole * 10 + static_cast<std::uint64_t>(c - '0');
      }
      if (digits) return static_cast<double>(whole);
    }
    text = trimmed(text);
    const std::string& name = header_.names()[static_cast<std::size_t>(at)];
    if (is_no_value(text)) {
      trouble(Trouble::kNoValue, name, text);
      return kNoFigure;
    }
    double value = kNoFigure;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
      trouble(Trouble::kUnreadable, name, text);
      return kNoFigure;
    }
    return value;
  }
  double number(Column column) { return header_.at(column) < 0 ? kNoFigure : number(header_.at(column)); }

  double time(int at) {
    const double value = number(at);
    if (value >= 0 || std::isnan(value)) return value;
    trouble(Trouble::kNegativeTime, header_.names()[static_cast<std::size_t>(at)], cell(at));
    return kNoFigure;
  }
  double time(Column column) { return header_.at(column) < 0 ? kNoFigure : time(header_.at(column)); }

  double longest(const std::vector<int>& columns) {
    double most = kNoFigure;
    for (const int at : columns) {
      const double value = time(at);
      if (has(value) && !(value <= most)) most = value;
    }
    return most;
  }

  void take_row() {
    if (!cells_.empty() && Header::is_header(cells_)) {
      const bool same = std::equal(cells_.begin(), cells_.end(), header_.names().begin(), header_.names().end());
      trouble(same ? Trouble::kRepeatedHeader : Trouble::kOtherHeader, "", "");
      if (!same) take_header();
      return;
    }
    if (cells_.size() != header_.width()) {
      trouble(cells_.size() < header_.width() ? Trouble::kCutRow : Trouble::kExtraCells, "",
              fmt::format("{} cells, the header has {}", cells_.size(), header_.width()));
      return;
    }
    const std::string_view type = cell(Column::kOpType);
    const bool no_types = header_.at(Column::kOpType) < 0;
    if (type == "tt_dnn_device" || (no_types && !cell(Column::kDeviceId).empty()))
      take_device();
    else if (type == "signpost")
      sink_.signpost({.row = row_,
                      .name = cell(Column::kOpCode),
                      .message = cell(Column::kAttributes),
                      .host_start = number(Column::kHostStart)});
    else if (type == "tt_dnn_cpu" || type == "python_fallback")
      sink_.host({.row = row_,
                  .op_code = cell(Column::kOpCode),
                  .op_type = type,
                  .host_start = number(Column::kHostStart),
                  .host_ns = time(Column::kHostDuration)});
    else
      trouble(Trouble::kUnknownType, name_of(Column::kOpType), type);
  }

  void take_device() {
    DeviceRow row;
    row.row = row_;
    row.op_code = cell(Column::kOpCode);
    const double device = number(Column::kDeviceId);
    if (!(device >= 0 && device < 1e6)) {
      trouble(Trouble::kNoDevice, name_of(Column::kDeviceId), cell(Column::kDeviceId));
      return;
    }
    row.device = static_cast<std::int64_t>(device);
    const double call = number(Column::kCallCount);
    row.has_call = call >= 0 && call < 9e15;
    if (row.has_call)
      row.call = static_cast<std::uint64_t>(call);
    else if (header_.at(Column::kCallCount) >= 0)
      trouble(Trouble::kNoCallCount, name_of(Column::kCallCount), cell(Column::kCallCount));
    const double session = number(Column::kSession);
    if (session >= 0 && session < kNoSession) row.session = static_cast<std::uint32_t>(session);
    row.kernel_ns = longest(header_.time_columns);
    row.op_to_op_ns = longest(header_.op_to_op_columns);
    row.host_ns = time(Column::kHostDuration);
    row.host_start = number(Column::kHostStart);
    row.host_end = number(Column::kHostEnd);
    row.fw_start = number(Column::kFwStart);
    row.fw_end = number(Column::kFwEnd);
    row.cores = number(Column::kCores);
    row.available_cores = number(Column::kAvailableCores);
    row.fpu_percent = number(Column::kFpu);
    row.dram_percent = number(Column::kDram);
    row.noc_percent = number(Column::kNoc);
    row.pm_ideal_ns = number(Column::kPmIdeal);
    row.arch = cell(Column::kArch);
    row.attributes = cell(Column::kAttributes);
    row.fidelity = cell(Column::kFidelity);
    row.program_hash = cell(Column::kProgramHash);
    make_signature(row);
    row.signature_text = signature_;
    sink_.device(row, header_);
  }

  void make_signature(const DeviceRow& row) {
    signature_.assign(row.op_code);
    signature_.append(1, kField).append(row.fidelity).append(1, kField).append(row.attributes);
    for (const std::vector<TensorColumns>* side : {&header_.inputs, &header_.outputs}) {
      signature_.append(1, kSide);
      for (const TensorColumns& tensor : *side) {
        const std::string_view layout = cell(tensor.layout), dtype = cell(tensor.dtype), memory = cell(tensor.memory);
        if (layout.empty() && dtype.empty() && memory.empty()) continue;
        signature_.append(1, kTensor);
        for (const int extent : tensor.extents) signature_.append(cell(extent)).append(1, kField);
        signature_.append(layout).append(1, kField).append(dtype).append(1, kField).append(without_device(memory));
      }
    }
  }

  const std::string& path_;
  Input input_;
  RowSink& sink_;
  Troubles& troubles_;
  CellSplitter splitter_;
  Header header_;
  std::vector<std::string_view> cells_;
  std::string record_, signature_, held_;
  std::deque<std::string> pending_;
  std::uint64_t row_ = 0;
  bool bom_ = false;
};

std::string_view next_field(std::string_view& text, char separator) {
  const std::size_t at = text.find(separator);
  const std::string_view field = text.substr(0, at);
  text = at == std::string_view::npos ? std::string_view() : text.substr(at + 1);
  return field;
}

bool read_whole(std::string_view text, std::int64_t& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || out < 0) return false;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  return rest.empty() || rest == ".0";
}

// "32[1]" -> 32 and 1; "384" -> both.
bool read_extent(std::string_view text, std::int64_t& padded, std::int64_t& logical) {
  text = trimmed(text);
  const std::size_t bracket = text.find('[');
  if (bracket == std::string_view::npos) {
    if (!read_whole(text, padded)) return false;
    logical = padded;
    return true;
  }
  return text.ends_with(']') && read_whole(text.substr(0, bracket), padded) &&
         read_whole(text.substr(bracket + 1, text.size() - bracket - 2), logical);
}

RowTensor tensor_of(std::string_view text) {
  RowTensor tensor;
  for (std::size_t i = 0; i < 4; ++i)
    if (!read_extent(next_field(text, kField), tensor.padded[i], tensor.logical[i])) tensor.sound = false;
  tensor.layout = next_field(text, kField);
  tensor.dtype = next_field(text, kField);
  tensor.memory = text;
  return tensor;
}

}  // namespace

Status read_rows(const std::string& path, RowSink& sink, Troubles& troubles) {
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path));
  return Reader(path, std::move(input), sink, troubles).read();
}

SignatureParts parts_of(std::string_view text) {
  SignatureParts parts;
  std::string_view head = next_field(text, kSide);
  parts.op_code = next_field(head, kField);
  parts.fidelity = next_field(head, kField);
  parts.attributes = head;
  std::string_view inputs = next_field(text, kSide);
  for (auto [side, tensors] : {std::pair{inputs, &parts.inputs}, std::pair{text, &parts.outputs}}) {
    if (side.empty()) continue;
    side.remove_prefix(1);
    while (true) {
      tensors->push_back(tensor_of(next_field(side, kTensor)));
      parts.shapes_sound = parts.shapes_sound && tensors->back().sound;
      if (side.empty()) break;
    }
  }
  return parts;
}

}  // namespace opwright::perf
