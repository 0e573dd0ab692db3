#include "perf/recording.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_set>

#include "base/limits.h"
#include "perf/attributes.h"

namespace opwright::perf {
namespace {

constexpr std::uint64_t kHostFallback = std::uint64_t{1} << 31;

std::string stable_text(std::string_view text) {
  const std::size_t first = text.find('\x1f');
  const std::size_t second = first == std::string_view::npos ? first : text.find('\x1f', first + 1);
  if (second == std::string_view::npos) return std::string(text);
  const std::size_t end = std::min(text.find('\x1d', second), text.size());
  const std::string_view attributes = text.substr(second + 1, end - second - 1);
  return std::string(text.substr(0, second + 1)) + stable_attributes(attributes) + std::string(text.substr(end));
}

// Takes the rows of one file into a recording.
class Builder : public RowSink {
 public:
  explicit Builder(const std::string& path) { recording_.files.push_back(path); }

  void header(const Header& header) override { recording_.headers.push_back(header); }

  void device(const DeviceRow& row, const Header&) override {
    Sample sample;
    sample.signature = signature_of(row);
    sample.session = row.session;
    sample.device = static_cast<std::int32_t>(row.device);
    sample.row = row.row;
    sample.joinable = row.has_call;
    sample.operation = row.call;  // shifted when the whole file is known
    sample.kernel_ns = row.kernel_ns;
    sample.op_to_op_ns = row.op_to_op_ns;
    sample.host_ns = row.host_ns;
    sample.cores = has(row.cores) ? static_cast<float>(row.cores) : 0;
    sample.available_cores = has(row.available_cores) ? static_cast<float>(row.available_cores) : 0;
    sample.fpu_percent = static_cast<float>(row.fpu_percent);
    sample.dram_percent = static_cast<float>(row.dram_percent);
    sample.noc_percent = static_cast<float>(row.noc_percent);
    sample.pm_ideal_ns = static_cast<float>(row.pm_ideal_ns);
    sample.fw_start = row.fw_start;
    check_clock(row, sample);
    if (row.has_call) {
      ++calls_;
      if ((row.call & ~kHostFallback & 1023U) == static_cast<std::uint64_t>(row.device)) ++calls_with_device_;
      large_calls_ += row.call >= 1024 ? 1 : 0;
    }
    recording_.samples.push_back(sample);
  }

  void host(const HostRow& row) override {
    recording_.host.push_back({.op = std::string(row.op_code), .row = row.row, .host_ns = row.host_ns});
  }

  void signpost(const Signpost& post) override {
    recording_.marks.push_back({.name = std::string(post.name),
                                .message = std::string(post.message),
                                .row = post.row,
                                .host_start = post.host_start,
                                .before = recording_.samples.size(),
                                .host_before = recording_.host.size()});
  }

  Troubles& troubles() { return recording_.troubles; }
  bool over_limit() const { return recording_.signatures.size() > limits().distinct; }

  Recording finish() {
    join_by_calls();
    find_captured();
    recording_.windows = find_windows(recording_.marks, recording_.samples.size(), recording_.host.size(),
                                      recording_.files.front(), recording_.troubles);
    return std::move(recording_);
  }

 private:
  SignatureId signature_of(const DeviceRow& row) {
    const Hash128 raw = xxh128(row.signature_text);
    if (const auto known = by_text_.find(raw); known != by_text_.end()) {
      Signature& signature = *recording_.signatures[known->second];
      if (signature.arch.empty() && !row.arch.empty()) signature.arch = row.arch;
      return known->second;
    }
    if (by_text_.size() > (1U << 20)) by_text_.clear();              // a cache: texts that differ in what is not stable
    if (recording_.signatures.size() > limits().distinct) return 0;  // read_one() says so
    std::string text = stable_text(row.signature_text);
    const auto [slot, is_new] =
        by_stable_.emplace(xxh128(text), static_cast<SignatureId>(recording_.signatures.size()));
    by_text_.emplace(raw, slot->second);
    if (!is_new) return slot->second;
    auto signature = std::make_unique<Signature>();
    signature->text = std::move(text);
    signature->parts = parts_of(signature->text);
    signature->arch = row.arch;
    signature->name = device_class(signature->parts.op_code);
    signature->known = find_device_operation(signature->name);
    if (!signature->parts.shapes_sound)
      troubles().count(Trouble::kShapeUnread, {recording_.files.front(), row.row, "", signature->name});
    recording_.signatures.push_back(std::move(signature));
    return slot->second;
  }

  void check_clock(const DeviceRow& row, Sample& sample) {
    if (!has(row.fw_start)) return;
    const auto back = [&](Column column, double seen) {
      troubles().count(Trouble::kClockBack,
                       {recording_.files.front(), row.row, std::string(name_of(column)), fmt::format("{:.0f}", seen)});
    };
    double& last = last_start_[row.device];
    if (row.fw_start < last) {
      back(Column::kFwStart, row.fw_start);
      sample.clock_back = true;
    } else if (has(row.fw_end) && row.fw_end < row.fw_start) {
      back(Column::kFwEnd, row.fw_end);
    }
    last = row.fw_start;
  }

  // Whether call counts carry the device is seen by all of them together; a few that do not are damaged rows.
  void join_by_calls() {
    recording_.joinable = calls_ > 0 && large_calls_ > 0 && calls_with_device_ * 10 >= calls_ * 9;
    for (Sample& sample : recording_.samples) {
      if (!recording_.joinable || !sample.joinable) {
        sample.joinable = false;
        continue;
      }
      const std::uint64_t call = sample.operation & ~kHostFallback;
      if ((call & 1023U) != static_cast<std::uint64_t>(sample.device)) {
        troubles().count(Trouble::kForeignCall,
                         {recording_.files.front(), sample.row, std::string(name_of(Column::kCallCount)),
                          std::to_string(sample.operation)});
        sample.joinable = false;
        continue;
      }
      sample.operation = call >> 10;
    }
  }

  // A row without anything of the device, whose operation is replayed elsewhere, is the recording of the trace.
  void find_captured() {
    std::unordered_set<std::uint64_t> replayed;
    for (const Sample& sample : recording_.samples)
      if (sample.session != kNoSession && sample.joinable) replayed.insert(sample.operation);
    if (replayed.empty()) return;
    for (Sample& sample : recording_.samples)
      sample.captured = sample.session == kNoSession && sample.joinable && !has(sample.kernel_ns) &&
                        !has(sample.fw_start) && replayed.contains(sample.operation);
  }

  Recording recording_;
  std::unordered_map<Hash128, SignatureId, Hash128Hasher> by_text_, by_stable_;
  std::unordered_map<std::int64_t, double> last_start_;
  std::int64_t calls_ = 0, calls_with_device_ = 0, large_calls_ = 0;
};

// Signatures of `from` in terms of `into`, which takes those that are new to it.
class Signatures {
 public:
  explicit Signatures(Recording& into) : into_(into) {
    for (std::size_t i = 0; i < into.signatures.size(); ++i)
      ids_.emplace(xxh128(into.signatures[i]->text), static_cast<SignatureId>(i));
  }
  std::vector<SignatureId> take(Recording& from) {
    std::vector<SignatureId> ids;
    for (std::unique_ptr<Signature>& signature : from.signatures) {
      const auto [slot, is_new] =
          ids_.emplace(xxh128(signature->text), static_cast<SignatureId>(into_.signatures.size()));
      ids.push_back(slot->second);
      if (is_new) into_.signatures.push_back(std::move(signature));
    }
    return ids;
  }

 private:
  Recording& into_;
  std::unordered_map<Hash128, SignatureId, Hash128Hasher> ids_;
};

std::set<std::int32_t> devices_of(const Recording& recording) {
  std::set<std::int32_t> devices;
  for (const Sample& sample : recording.samples) devices.insert(sample.device);
  return devices;
}

std::string names_of(const Recording& recording) {
  std::string names;
  for (const Mark& mark : recording.marks) names += (names.empty() ? "" : ", ") + mark.name;
  return names.empty() ? "none" : names;
}

}  // namespace

TimeSource Recording::time_source() const {
  // The weakest of those that there are: a time that is no kernel's must not hide behind one that is.
  std::optional<TimeSource> source;
  for (const Header& header : headers)
    if (header.time_source != TimeSource::kNone)
      source = std::max(source.value_or(TimeSource::kKernel), header.time_source);
  return source.value_or(TimeSource::kNone);
}

Result<Recording> read_one(const std::string& path) {
  Builder builder(path);
  OPWRIGHT_TRY(read_rows(path, builder, builder.troubles()));
  if (builder.over_limit()) return fail(over_limit(path, &Limits::distinct, "more different operations than that"));
  return builder.finish();
}

Result<Recording> merge_hosts(std::vector<Recording> hosts, std::int64_t devices) {
  Recording all = std::move(hosts.front());
  const std::set<std::int32_t> first = devices_of(all);
  all.devices_a_host = static_cast<std::int64_t>(first.size());
  std::vector<std::vector<Sample>> parts(all.marks.size() + 1);  // between two signposts, all hosts after one another
  std::vector<std::vector<HostSample>> host_parts(all.marks.size() + 1);
  Signatures signatures(all);
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    Recording& host = h == 0 ? all : hosts[h];
    const std::string& file = h == 0 ? all.files.front() : host.files.front();
    const std::set<std::int32_t> ids = devices_of(host);
    if (ids.size() != first.size())
      return fail(ErrorCode::kBadInput, fmt::format("{} has {} devices, {} has {}: hosts of one run have as many each",
                                                    file, ids.size(), all.files.front(), first.size()));
    if (names_of(host) != names_of(all))
      return fail(ErrorCode::kBadInput, fmt::format("{} has the signposts {}, {} has {}: these are no hosts of one run",
                                                    file, names_of(host), all.files.front(), names_of(all)));
    const std::vector<SignatureId> renamed = h == 0 ? std::vector<SignatureId>() : signatures.take(host);
    std::size_t part = 0;
    for (std::size_t i = 0; i < host.samples.size(); ++i) {
      while (part < host.marks.size() && host.marks[part].before <= i) ++part;
      Sample sample = host.samples[i];
      const auto rank = std::distance(ids.begin(), ids.find(sample.device));
      sample.device = static_cast<std::int32_t>(static_cast<std::int64_t>(h) * all.devices_a_host + rank);
      sample.file = static_cast<std::uint32_t>(h);
      if (h > 0) sample.signature = renamed[sample.signature];
      parts[part].push_back(sample);
    }
    part = 0;
    for (std::size_t i = 0; i < host.host.size(); ++i) {
      while (part < host.marks.size() && host.marks[part].host_before <= i) ++part;
      host_parts[part].push_back(host.host[i]);
    }
    if (h == 0) continue;
    all.files.push_back(file);
    all.troubles.add(host.troubles);
    all.joinable = all.joinable && host.joinable;
    all.headers.insert(all.headers.end(), host.headers.begin(), host.headers.end());
  }
  const auto found = static_cast<std::int64_t>(hosts.size()) * all.devices_a_host;
  if (devices > 0 && found != devices)
    return fail(ErrorCode::kBadInput,
                fmt::format("{} hosts with {} devices each are {}, not {} devices; give the files of all hosts",
                            hosts.size(), all.devices_a_host, found, devices));
  all.samples.clear();
  all.host.clear();
  for (std::size_t part = 0; part < parts.size(); ++part) {
    all.samples.insert(all.samples.end(), parts[part].begin(), parts[part].end());
    all.host.insert(all.host.end(), host_parts[part].begin(), host_parts[part].end());
    if (part == all.marks.size()) break;
    all.marks[part].before = all.samples.size();
    all.marks[part].host_before = all.host.size();
  }
  Troubles known;  // each file's own were counted when it was read
  all.windows = find_windows(all.marks, all.samples.size(), all.host.size(), all.files.front(), known);
  return all;
}

Result<Recording> merge_runs(std::vector<Recording> runs) {
  Recording all = std::move(runs.front());
  struct Identity {
    std::uint64_t operation, row_or_zero;
    std::uint32_t session;
    std::int32_t device;
    SignatureId signature;
    bool operator==(const Identity&) const = default;
  };
  struct Hasher {
    std::size_t operator()(const Identity& id) const {
      std::uint64_t hash = id.operation * 0x9e3779b97f4a7c15U;
      hash ^=
          (static_cast<std::uint64_t>(id.session) << 32 ^ static_cast<std::uint64_t>(id.device)) * 0xbf58476d1ce4e5b9U;
      return hash ^ (hash >> 31) ^ id.signature ^ (id.row_or_zero << 7);
    }
  };
  Signatures signatures(all);
  const auto identity = [](const Sample& sample, SignatureId signature, std::uint64_t nth) {
    return Identity{sample.operation, nth, sample.session, sample.device, signature};
  };
  // The n-th row of an identity belongs to the n-th of the other run: a row may stand twice.
  std::unordered_map<Identity, std::uint64_t, Hasher> counts;
  std::unordered_map<Identity, std::size_t, Hasher> rows;
  for (std::size_t i = 0; i < all.samples.size(); ++i) {
    const Sample& sample = all.samples[i];
    const std::uint64_t nth = counts[identity(sample, sample.signature, 0)]++;
    rows.emplace(identity(sample, sample.signature, nth), i);
  }
  for (std::size_t r = 1; r < runs.size(); ++r) {
    Recording& run = runs[r];
    const std::vector<SignatureId> renamed = signatures.take(run);
    counts.clear();
    std::int64_t matched = 0;
    for (const Sample& sample : run.samples) {
      const SignatureId signature = renamed[sample.signature];
      const std::uint64_t nth = counts[identity(sample, signature, 0)]++;
      const auto found = rows.find(identity(sample, signature, nth));
      if (found == rows.end()) {
        ++all.unmatched_rows;
        continue;
      }
      ++matched;
      Sample& ours = all.samples[found->second];
      const auto fill = [&](auto& figure, auto other) {
        if (!std::isnan(figure) || std::isnan(other)) return;
        figure = other;
        ++all.filled_figures;
      };
      fill(ours.kernel_ns, sample.kernel_ns);
      fill(ours.op_to_op_ns, sample.op_to_op_ns);
      fill(ours.fpu_percent, sample.fpu_percent);
      fill(ours.dram_percent, sample.dram_percent);
      fill(ours.noc_percent, sample.noc_percent);
      fill(ours.pm_ideal_ns, sample.pm_ideal_ns);
    }
    if (matched == 0 && !run.samples.empty())
      return fail(ErrorCode::kBadInput,
                  fmt::format("{} and {} have no row in common: these are no two runs of one program",
                              run.files.front(), all.files.front()));
    all.files.push_back(run.files.front());
    all.troubles.add(run.troubles);
    all.headers.insert(all.headers.end(), run.headers.begin(), run.headers.end());
  }
  return all;
}

Result<Recording> read_recording(const std::vector<std::string>& paths, const ReadOptions& options) {
  if (paths.empty()) return fail(ErrorCode::kUsage, "no file to read");
  if (paths.size() > 1 && options.together == Together::kOneFile)
    return fail(ErrorCode::kUsage,
                "several files: say what they are to one another: hosts of one run, or runs with other counters");
  std::vector<Recording> recordings;
  for (const std::string& path : paths) {
    OPWRIGHT_TRY_ASSIGN(Recording recording, read_one(path));
    recordings.push_back(std::move(recording));
  }
  if (options.together == Together::kHosts) return merge_hosts(std::move(recordings), options.devices);
  if (options.together == Together::kRuns) return merge_runs(std::move(recordings));
  const auto found = static_cast<std::int64_t>(devices_of(recordings.front()).size());
  if (options.devices > 0 && found != options.devices)
    return fail(ErrorCode::kBadInput, fmt::format("{} has {} devices, not {}", paths.front(), found, options.devices));
  return std::move(recordings.front());
}

}  // namespace opwright::perf
