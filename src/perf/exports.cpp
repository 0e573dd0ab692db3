#include "perf/exports.h"

#include <fmt/format.h>

#include <charconv>
#include <map>

#include "base/json_object.h"
#include "base/words.h"
#include "perf/report_json.h"
#include "perf/signature_diff.h"

namespace opwright::perf {
namespace {

double in_us(double ns) { return ns / 1000; }

std::string_view step_of(const Report& report, std::string_view step) {
  return step.empty() ? std::string_view(report.window.name) : step;
}

// "moe_device_perf_decode_seq128" -> "decode" and "128"; both empty for other names.
std::pair<std::string_view, std::string_view> mode_of(std::string_view step) {
  constexpr std::string_view kMark = "_device_perf_", kLength = "_seq";
  const std::size_t mark = step.find(kMark), length = step.rfind(kLength);
  if (mark == std::string_view::npos || length == std::string_view::npos || length < mark + kMark.size()) return {};
  const std::string_view number = step.substr(length + kLength.size());
  if (number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos) return {};
  return {step.substr(mark + kMark.size(), length - mark - kMark.size()), number};
}

std::string event_name(const Sample& sample, const Recording& all) { return all.of(sample).name; }

std::string event_json(const Sample& sample, const Recording& all, double at) {
  const Signature& signature = all.of(sample);
  JsonObject args, event;
  args.add("row", static_cast<std::int64_t>(sample.row));
  if (sample.cores > 0) args.add("cores", static_cast<std::int64_t>(sample.cores));
  if (!signature.parts.fidelity.empty()) args.add("fidelity", signature.parts.fidelity);
  if (sample.session != kNoSession) args.add("replay", static_cast<std::int64_t>(sample.session));
  for (std::size_t i = 0; i < signature.parts.inputs.size(); ++i) {
    const RowTensor& tensor = signature.parts.inputs[i];
    args.add(fmt::format("input {}", i),
             fmt::format("{} {} {} {}", extents_text(tensor.logical), tensor.dtype, tensor.layout, tensor.memory));
  }
  event.add("name", event_name(sample, all))
      .add("cat", name_of(signature.known == nullptr ? DeviceWork::kUnknown : signature.known->work))
      .add("ph", has(sample.kernel_ns) ? "X" : "i")
      .add("pid", std::int64_t{0})
      .add("tid", static_cast<std::int64_t>(sample.device))
      .add_raw("ts", figure_json(in_us(at)));
  if (has(sample.kernel_ns))
    event.add_raw("dur", figure_json(in_us(sample.kernel_ns)));
  else
    event.add("s", "t");  // ran, but nobody knows how long
  event.add_raw("args", args.text());
  return event.text();
}

std::string meta_json(std::string_view name, std::int64_t thread, const std::string& value) {
  JsonObject args, event;
  args.add("name", value);
  event.add("name", name).add("ph", "M").add("pid", std::int64_t{0}).add("tid", thread).add_raw("args", args.text());
  return event.text();
}

}  // namespace

std::string benchmark_text(const Report& report, std::string_view step) {
  const Reduced& reduced = report.reduced;
  std::vector<std::string> measurements;
  const auto add = [&](std::string_view name, double value) {
    if (!has(value)) return;
    JsonObject one;
    one.add("iteration", std::int64_t{0})
        .add("step_name", step_of(report, step))
        .add("name", name)
        .add_raw("value", figure_json(value))
        .add_raw("step_warm_up_num_iterations", "null")
        .add_raw("target", "null")
        .add_raw("device_power", "null")
        .add_raw("device_temperature", "null");
    measurements.push_back(one.text());
  };
  // One is the sum over an iteration, the other the mean of that sum: of one rule they are the same figure.
  for (const std::string_view prefix : {"total", "avg"}) {
    add(fmt::format("{}_kernel_duration_us", prefix), in_us(reduced.kernel_ns));
    add(fmt::format("{}_op_to_op_latency_us", prefix), in_us(reduced.op_to_op_ns));
  }
  JsonObject parameters, object;
  parameters.add("file", report.recording.files.front())
      .add("window", report.window.name)
      .add("iterations", reduced.iterations)
      .add("positions", static_cast<std::int64_t>(reduced.positions.size()))
      .add("devices", static_cast<std::int64_t>(reduced.devices.size()))
      .add_bool("complete", reduced.coverage.complete());
  object.add("run_type", "device_perf")
      .add_raw("ml_model_name", "null")
      .add_raw("config_params", parameters.text())
      .add_raw("measurements", json_array(measurements, true));
  return object.text() + "\n";
}

std::string device_perf_csv(const Report& report, std::string_view step) {
  const std::string_view name = step_of(report, step);
  const auto [mode, length] = mode_of(name);
  const Reduced& reduced = report.reduced;
  const auto figure = [](double ns) {
    return has(ns) ? figure_json(std::round(in_us(ns) * 1e6) / 1e6) : std::string();
  };
  const double total = reduced.kernel_ns + reduced.op_to_op_ns;
  std::string text =
      "\xEF\xBB\xBF"
      "artifact_file,step_name,mode,seq_len,kernel_us,op_to_op_us,total_us,run_start_ts,run_end_ts,git_commit_hash,"
      "git_branch_name,device_info,device_hostname\r\n";
  for (const std::string& cell :
       {csv_cell(report.recording.files.front()), csv_cell(name), csv_cell(mode), csv_cell(length),
        figure(reduced.kernel_ns), figure(reduced.op_to_op_ns), figure(total)})
    text += cell + ",";
  return text + ",,,," + csv_cell(report.board.boards.empty() ? "" : report.board.how) + ",\r\n";
}

std::string chrome_trace_text(const Report& report) {
  const Recording& all = report.recording;
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  text += meta_json("process_name", 0, report.recording.files.front() + " " + report.window.name);
  std::map<std::int32_t, double> clock;
  std::int64_t without_time = 0, without_gap = 0;
  for (std::uint64_t i = report.window.begin; i < report.window.end && i < all.samples.size(); ++i) {
    const Sample& sample = all.samples[i];
    if (sample.captured) continue;
    const auto [slot, is_first] = clock.emplace(sample.device, 0);
    double& now = slot->second;
    if (is_first) text += ",\n" + meta_json("thread_name", sample.device, fmt::format("device {}", sample.device));
    if (!is_first) {  // the gap before the first row is the wait for the host
      JsonObject args, counter;
      args.add_raw("us", figure_json(has(sample.op_to_op_ns) ? in_us(sample.op_to_op_ns) : 0));
      counter.add("name", fmt::format("gap, device {}", sample.device))
          .add("ph", "C")
          .add("pid", std::int64_t{0})
          .add_raw("ts", figure_json(in_us(now)))
          .add_raw("args", args.text());
      if (has(sample.op_to_op_ns)) {
        text += ",\n" + counter.text();
        now += sample.op_to_op_ns;
      } else {
        ++without_gap;
      }
    }
    text += ",\n" + event_json(sample, all, now);
    if (has(sample.kernel_ns))
      now += sample.kernel_ns;
    else
      ++without_time;
  }
  JsonObject other;
  other.add("window", report.window.name).add("rows_without_time", without_time).add("rows_without_gap", without_gap);
  return text + "\n],\"otherData\":" + other.text() + "}\n";
}

}  // namespace opwright::perf
