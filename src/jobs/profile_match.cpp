#include "jobs/profile_match.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <unordered_map>
#include <utility>

#include "jobs/value_text.h"
#include "select/selected.h"

namespace opwright::jobs {
namespace {

// What both sides say of a tensor.
struct Tensor {
  std::array<std::int64_t, 4> shape{1, 1, 1, 1};
  std::string_view dtype, layout;
  std::string memory;  // "L1_WIDTH_SHARDED"

  auto tied() const { return std::tie(shape, dtype, layout, memory); }
  friend bool operator==(const Tensor& a, const Tensor& b) { return a.tied() == b.tied(); }
  friend bool operator<(const Tensor& a, const Tensor& b) { return a.tied() < b.tied(); }
};

std::string key_of(const std::vector<Tensor>& tensors, bool with_memory) {
  std::vector<std::string> texts;
  for (const Tensor& tensor : tensors)
    texts.push_back(fmt::format("{}x{}x{}x{} {} {} {}", tensor.shape[0], tensor.shape[1], tensor.shape[2],
                                tensor.shape[3], tensor.dtype, tensor.layout, with_memory ? tensor.memory : ""));
  std::sort(texts.begin(), texts.end());  // operations swap their operands as they like
  std::string key;
  for (const std::string& text : texts) key += text + "|";
  return key;
}

std::string_view without_device(std::string_view memory) {
  if (!memory.starts_with("DEV_")) return memory;
  memory.remove_prefix(4);
  return memory.substr(std::min(memory.size(), memory.find('_') + 1));
}

std::string_view dtype_name(const Spelled<DType>& dtype) {
  return dtype.value == DType::kUnknown ? std::string_view(dtype.unknown) : info(dtype.value).name;
}

std::vector<Tensor> tensors_of(const std::vector<perf::RowTensor>& rows) {
  std::vector<Tensor> tensors;
  for (const perf::RowTensor& row : rows)
    tensors.push_back({row.logical, info(parse_dtype(row.dtype).value).name, name_of(parse_layout(row.layout).value),
                       std::string(without_device(row.memory))});
  return tensors;
}

// An argument that takes the output is no input of the kernel.
bool takes_output(std::string_view name) { return name.find("output") != std::string_view::npos; }

// The inputs of a call that are on the chip. A report of 2024 has padded shapes alone.
std::vector<Tensor> tensors_of(const OpConfig& config, bool padded) {
  std::vector<Tensor> tensors;
  for (const Argument& argument : config.args) {
    if (takes_output(argument.name)) continue;
    for_each_tensor(argument.value, [&](const TensorSpec& spec) {
      if (spec.storage.value == StorageType::kHost || !spec.type.empty()) return;
      Tensor tensor{.dtype = dtype_name(spec.dtype), .layout = name_of(spec.layout.value)};
      const Shape& shape = spec.device_shape ? *spec.device_shape : spec.shape;
      for (std::size_t i = 0; i < std::min<std::size_t>(4, shape.size()); ++i)
        tensor.shape[3 - i] = shape[shape.size() - 1 - i];
      if (padded && spec.layout.value == Layout::kTile)
        for (const std::size_t i : {2U, 3U}) tensor.shape[i] = (tensor.shape[i] + 31) / 32 * 32;
      if (spec.memory)
        tensor.memory = fmt::format("{}_{}", name_of(spec.memory->buffer.value), name_of(spec.memory->layout.value));
      tensors.push_back(std::move(tensor));
    });
  }
  return tensors;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

// One class computes many functions, and says which in an attribute: BinaryOpType::MUL. `multiply` begins so.
bool is_named_in(std::string_view attributes, std::string_view op) {
  const std::string name = lower(short_name(op));
  for (std::size_t at = attributes.find("::"); at != std::string_view::npos; at = attributes.find("::", at + 2)) {
    std::size_t end = at + 2;
    while (end < attributes.size() && std::isalnum(static_cast<unsigned char>(attributes[end])) != 0) ++end;
    const std::string word = lower(attributes.substr(at + 2, end - at - 2));
    if (word.size() >= 2 && (name.starts_with(word) || word.starts_with(name))) return true;
  }
  return false;
}

// What the most similar configuration has otherwise, and how many tensors that is.
std::pair<std::size_t, std::string> difference(const std::vector<Tensor>& row, const std::vector<Tensor>& config) {
  if (row.size() != config.size())
    return {100, fmt::format("it has {} inputs on the chip, the nearest {}", row.size(), config.size())};
  std::size_t differing = 0;
  std::string first;
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == config[i]) continue;
    ++differing;
    if (!first.empty()) continue;
    const auto shape = [](const Tensor& t) { return fmt::format("{}", fmt::join(t.shape, "x")); };
    if (row[i].shape != config[i].shape)
      first = fmt::format("input {}: {}, the nearest {}", i, shape(row[i]), shape(config[i]));
    else if (row[i].dtype != config[i].dtype)
      first = fmt::format("input {}: {}, the nearest {}", i, row[i].dtype, config[i].dtype);
    else if (row[i].layout != config[i].layout)
      first = fmt::format("input {}: {}, the nearest {}", i, row[i].layout, config[i].layout);
    else
      first = fmt::format("input {}: {}, the nearest {}", i, row[i].memory, config[i].memory);
  }
  return {differing, first};
}

class Traced {
 public:
  explicit Traced(bool padded) : padded_(padded) {}

  void add(const select::Selected& selected) {
    const std::size_t index = configs.size();
    TracedConfig config{.op = selected.config.op, .key = selected.config.key, .calls = selected.calls};
    for (const Argument& argument : selected.config.args)
      for_each_tensor(argument.value, [&](const TensorSpec& spec) {
        config.inputs += (config.inputs.empty() ? "" : ", ") + tensor_line(spec);
      });
    std::vector<Tensor> tensors = tensors_of(selected.config, padded_);
    with_memory_[key_of(tensors, true)].push_back(index);
    without_memory_[key_of(tensors, false)].push_back(index);
    by_op_[config.op].push_back(index);
    tensors_.push_back(std::move(tensors));
    configs.push_back(std::move(config));
  }

  PositionMatch find(const perf::Signature& signature) const {
    if (signature.known == nullptr) return {.why = WhyUnmatched::kUnknownClass};
    std::vector<Tensor> row = tensors_of(signature.parts.inputs);
    std::vector<std::vector<Tensor>> readings{row};
    // A tensor that takes the output (`add_`, `output_tensor=`) stands behind the inputs of the row.
    if (const std::vector<Tensor> outputs = tensors_of(signature.parts.outputs);
        row.size() > 1 && outputs.size() == 1 && row.back() == outputs.front()) {
      row.pop_back();
      readings.push_back(row);
    }
    for (const bool with_memory : {true, false})
      for (const std::vector<Tensor>& reading : readings) {
        std::vector<std::size_t> found = of_operations(signature, reading, with_memory);
        if (!found.empty())
          return {.by = with_memory ? MatchedBy::kTensors : MatchedBy::kWithoutMemory, .configs = std::move(found)};
      }
    PositionMatch none{.why = WhyUnmatched::kNoOperation};
    std::size_t least = SIZE_MAX;
    for (const std::string_view op : signature.known->operations) {
      const auto there = by_op_.find(std::string(op));
      if (there == by_op_.end()) continue;
      none.why = WhyUnmatched::kOtherTensors;
      for (const std::size_t index : there->second) {
        auto [differing, text] = difference(row, tensors_[index]);
        if (differing >= least) continue;
        least = differing;
        none.nearest = fmt::format("{}: {}", op, text);
      }
    }
    return none;
  }

  std::vector<TracedConfig> configs;

 private:
  std::vector<std::size_t> of_operations(const perf::Signature& signature, const std::vector<Tensor>& row,
                                         bool with_memory) const {
    const auto& index = with_memory ? with_memory_ : without_memory_;
    const auto same = index.find(key_of(row, with_memory));
    if (same == index.end()) return {};
    const auto& operations = signature.known->operations;
    std::vector<std::size_t> found, named;
    for (const std::size_t i : same->second) {
      if (std::find(operations.begin(), operations.end(), configs[i].op) == operations.end()) continue;
      found.push_back(i);
      if (is_named_in(signature.parts.attributes, configs[i].op)) named.push_back(i);
    }
    return named.empty() ? found : named;
  }

  bool padded_;
  std::vector<std::vector<Tensor>> tensors_;
  std::unordered_map<std::string, std::vector<std::size_t>> with_memory_, without_memory_, by_op_;
};

}  // namespace

std::string_view name_of(MatchedBy by) {
  switch (by) {
    case MatchedBy::kTensors:
      return "tensors";
    case MatchedBy::kWithoutMemory:
      return "without_memory";
    case MatchedBy::kNone:
      return "none";
  }
  return "none";
}

std::string_view name_of(WhyUnmatched why) {
  switch (why) {
    case WhyUnmatched::kMatched:
      return "matched";
    case WhyUnmatched::kUnknownClass:
      return "unknown_class";
    case WhyUnmatched::kNoOperation:
      return "no_operation";
    case WhyUnmatched::kOtherTensors:
      return "other_tensors";
  }
  return "matched";
}

Result<ProfileMatch> match_profile(perf::Report report, const Question& question) {
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, parse_where(question.where));
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_reader(question.store, question.wait_ms));
  bool padded = false;
  for (const perf::Header& header : report.recording.headers)
    padded = padded || header.generation == perf::Generation::k2024 || header.generation == perf::Generation::kV1;
  Traced traced(padded);
  OPWRIGHT_TRY(
      select::for_each_selected(*reader, selector, {.arguments = true}, [&](select::Selected&& selected) -> Status {
        traced.add(selected);
        return {};
      }));
  ProfileMatch match{.report = std::move(report)};
  const auto& positions = match.report.reduced.positions;
  std::unordered_map<perf::SignatureId, PositionMatch> known;  // a signature may be at many positions
  for (std::size_t j = 0; j < positions.size(); ++j) {
    const auto [found, added] = known.try_emplace(positions[j].signature);
    if (added) found->second = traced.find(match.report.signature(positions[j]));
    const PositionMatch& one = found->second;
    const double kernel = perf::statistics_of(positions[j].kernel_ns).mean;
    const double gap = j == 0 ? 0 : perf::statistics_of(positions[j].op_to_op_ns).mean;
    const double kernel_ns = perf::has(kernel) ? kernel : 0, gap_ns = perf::has(gap) ? gap : 0;
    match.kernel_ns += kernel_ns;
    match.gap_ns += gap_ns;
    if (!one.configs.empty()) {
      ++match.matched;
      match.shared += one.configs.size() > 1 ? 1 : 0;
      match.without_memory += one.by == MatchedBy::kWithoutMemory ? 1 : 0;
      match.matched_kernel_ns += kernel_ns;
      match.matched_gap_ns += gap_ns;
    }
    const auto parts = static_cast<double>(one.configs.size());
    for (const std::size_t index : one.configs) {
      ConfigCost& cost = match.cost[traced.configs[index].key];
      ++cost.positions;
      cost.kernel_ns += kernel_ns / parts;
      cost.gap_ns += gap_ns / parts;
      cost.shared = cost.shared || one.configs.size() > 1;
    }
    match.positions.push_back(one);
  }
  match.configs = std::move(traced.configs);
  return match;
}

Result<ProfileMatch> match_profile(const PerfRequest& profile, const Question& question) {
  OPWRIGHT_TRY_ASSIGN(perf::Report report, read_perf(profile));
  return match_profile(std::move(report), question);
}

}  // namespace opwright::jobs
