#include "device/external/external_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/secrets.h"

namespace opwright {
namespace {

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  while (!text.empty() && (text.front() == '\n' || text.front() == ' ')) text.remove_prefix(1);
  return text;
}

}  // namespace

Result<std::unique_ptr<ExternalDevice>> ExternalDevice::open(DeviceProgram program, ProgramLimits limits) {
  std::unique_ptr<ExternalDevice> device(new ExternalDevice(std::move(program), std::move(limits)));
  OPWRIGHT_TRY(device->start());
  return device;
}

ExternalDevice::~ExternalDevice() {
  if (!process_) return;
  process_->end(limits_.end_seconds);  // the end of its input means: leave
}

std::string ExternalDevice::with_tail(std::string message) const {
  if (!process_) return message;
  if (const std::string_view tail = trimmed(process_->error_tail()); !tail.empty())
    message += fmt::format("\nthe end of what it wrote to standard error:\n{}", tail);
  return message;
}

Status ExternalDevice::start() {
  limits_.on_start(true);
  const Status greeted = greet();
  limits_.on_start(false);
  return greeted;
}

Status ExternalDevice::greet() {
  folder_.reset();
  if (auto made = DeviceFolder::make()) folder_.emplace(*std::move(made));
  OPWRIGHT_TRY_ASSIGN(ProgramProcess process, ProgramProcess::start(program_, folder_ ? folder_->path() : ""));
  process_.emplace(std::move(process));
  const auto give_up = [&](std::string_view problem) {
    std::string message = with_tail(fmt::format("{} is no device: {}", masked(program_.name), problem));
    process_.reset();
    return fail(ErrorCode::kBadInput, std::move(message));
  };
  std::string problem;
  const auto line = process_->exchange("", limits_.hello_seconds, problem);
  if (!line) {
    bool crashed = false;
    if (problem == "its output ended")
      problem = fmt::format("it said no hello and {}", process_->how_it_ended(crashed));
    else
      problem = fmt::format("no hello: {}", problem);
    return give_up(problem);
  }
  auto hello = parse_hello(*line);
  if (!hello) return give_up(hello.error().message);
  hello->versions.emplace("device", hello->name);
  hello->name = masked(program_.name);
  hello->capture = hello->capture && folder_.has_value();
  // Results of one run are of one device: what was judged before by other numbers would stand beside.
  if (!can_.name.empty() && (hello->numerics != can_.numerics || hello->board.name != can_.board.name))
    return give_up(
        fmt::format("after a restart it says that it is another device: numerics {}, board {}; before {}, {}",
                    name_of(hello->numerics), hello->board.name, name_of(can_.numerics), can_.board.name));
  can_ = *std::move(hello);
  return {};
}

tl::unexpected<Refusal> ExternalDevice::failed(Outcome outcome, std::string message, bool own_fault) {
  failure_ = DeviceFailure{outcome, message, own_fault};
  return refuse(Refusal{Refusal::Kind::kUnsupported, "", std::move(message)});
}

// The program is of no use any more: the next call starts another.
tl::unexpected<Refusal> ExternalDevice::broken(std::string problem, std::string_view when) {
  Outcome outcome = Outcome::kDeviceError;
  if (problem == "its output ended") {
    bool crashed = false;
    const std::string how = process_->how_it_ended(crashed);
    if (crashed) outcome = Outcome::kCrashed;
    problem = fmt::format("the device's program {}, {}", how, when);
  }
  std::string message = with_tail(std::move(problem));
  process_->end(0);
  if (const int left = process_->left(); left > 0)
    message += fmt::format("\n{} of its processes could not be ended", left);
  process_.reset();
  // A call may well make a program crash; nothing that is asked excuses garbage.
  return failed(outcome, std::move(message), outcome != Outcome::kCrashed);
}

std::optional<DeviceFailure> ExternalDevice::settle() {
  if (!process_) return std::nullopt;
  constexpr int kMostBeats = 16;  // that were under way when it answered
  bool ended = false;
  int beats = 0;
  while (const auto line = process_->unasked(ended)) {
    if (is_beat(*line) && ++beats <= kMostBeats) continue;
    broken(one_too_many(*line));
    return failure_;
  }
  if (!ended) return std::nullopt;
  broken("its output ended", "after its answer");
  return failure_;
}

Checked<DeviceAnswer> ExternalDevice::ask(const DeviceCall& call, const SharedData* data, const TimingOrder* timing) {
  failure_.reset();
  const std::int64_t id = next_id_++;
  if (!process_)
    if (const Status started = start(); !started)
      return failed(Outcome::kDeviceError, started.error().message, /*own_fault=*/true);
  const auto request = run_request(id, call, data, folder_ ? folder_->path() : "", timing);
  if (!request) return lost("", request.error().message);
  std::string_view line = *request;
  while (true) {
    std::string problem;
    const auto answered = process_->exchange(line, 0, problem);
    if (!answered) return broken(std::move(problem));
    auto answer = parse_answer(*answered, id);
    if (!answer) return broken(answer.error().message);
    if (*answer) return **std::move(answer);
    line = {};  // a beat: it is still at work
  }
}

Checked<DeviceResult> ExternalDevice::take(const DeviceCall& call, DeviceAnswer answer, bool with_data) {
  DeviceResult result;
  if (call.capture && folder_ && !answer.trace.empty()) {
    auto bytes = folder_->take(answer.trace);
    if (!bytes) return broken(bytes.error().message);
    result.trace = *std::move(bytes);
  }
  switch (answer.kind) {
    case DeviceAnswer::Kind::kOk:
      break;
    case DeviceAnswer::Kind::kRefused:
      return refuse(std::move(answer.message), std::move(answer.argument));
    case DeviceAnswer::Kind::kOutOfMemory:
      return refuse_memory(std::move(answer.message));
    case DeviceAnswer::Kind::kUnsupported:
      return unsupported(std::move(answer.argument), std::move(answer.message));
    case DeviceAnswer::Kind::kError:
      return failed(Outcome::kDeviceError, std::move(answer.message));
  }
  result.memory = answer.memory;
  result.reported = std::move(answer.outputs);
  if (!answer.seconds.empty()) result.cold_seconds = answer.seconds.front();
  if (answer.seconds.size() > 1) result.warm_seconds = answer.seconds.back();
  result.kernel_seconds = answer.kernel_seconds;
  if (!with_data) return result;
  if (std::string touched = data_.touched(); !touched.empty()) return failed(Outcome::kDeviceError, std::move(touched));
  const std::size_t asked = call.outputs.size();
  // Values of another shape or dtype than was asked for cannot be read: the caller sees it in what was reported.
  for (std::size_t o = 0; o < result.reported.size() && o < asked; ++o)
    if (result.reported[o].spec.shape != call.outputs[o].spec.shape ||
        (result.reported[o].spec.dtype.present() &&  // golden functions say the shape alone
         element_type(result.reported[o].spec.dtype.value) != element_type(call.outputs[o].spec.dtype.value)))
      return result;
  for (std::size_t o = 0; o < std::min(asked, answer.written.value_or(asked)); ++o) {
    auto values = data_.read(o, call.outputs[o].spec);
    if (!values) return failed(Outcome::kDeviceError, values.error().message);
    result.outputs.push_back(*std::move(values));
  }
  return result;
}

Checked<MemoryReport> ExternalDevice::admit(const DeviceCall& call) {
  DeviceCall asked = call;
  asked.repeat = 1;
  asked.capture = false;
  OPWRIGHT_CHECK_ASSIGN(DeviceAnswer answer, ask(asked, nullptr));
  OPWRIGHT_CHECK_ASSIGN(const DeviceResult result, take(asked, std::move(answer), /*with_data=*/false));
  return result.memory;
}

// Whether data goes along with the call; then it lies in the shared file.
Checked<bool> ExternalDevice::send(const DeviceCall& call, std::span<const HostTensor> inputs) {
  const bool with_data = (can_.numerics != Numerics::kNone || call.golden) &&
                         inputs.size() == call.call.tensors.size() && (!inputs.empty() || !call.outputs.empty());
  if (with_data) {
    failure_.reset();
    std::vector<TensorSpec> outputs;
    for (const OutputSpec& output : call.outputs) outputs.push_back(output.spec);
    if (const Status filled = data_.fill(inputs, outputs); !filled)
      return failed(Outcome::kHarnessError, filled.error().message);
  }
  return with_data;
}

Checked<TimedRun> ExternalDevice::time(const DeviceCall& call, std::span<const HostTensor> inputs,
                                       const TimingOrder& order) {
  if (!can_.perf.refusal.empty()) return unsupported("", can_.perf.refusal);
  const bool is_asked = can_.perf.eager;  // else it only knows how to repeat
  if (order.trace && !can_.perf.trace) return unsupported("", "the device does not replay traces (hello: perf.trace)");
  if (!order.program_cache && !can_.perf.cache_off)
    return unsupported("", "the device cannot do without its program cache (hello: perf.program_cache)");
  if (order.device_time && !can_.perf.device_time)
    return unsupported("", "the device does not know the chip's own times (hello: perf.device_time)");
  DeviceCall asked = call;
  asked.capture = false;
  asked.memory = false;
  asked.repeat = is_asked ? 1 : order.warm_up + order.iterations;
  OPWRIGHT_CHECK_ASSIGN(const bool with_data, send(asked, inputs));
  OPWRIGHT_CHECK_ASSIGN(DeviceAnswer answer, ask(asked, with_data ? &data_ : nullptr, is_asked ? &order : nullptr));
  TimedRun timed{.seconds = answer.seconds,
                 .host_seconds = std::move(answer.host_seconds),
                 .device_seconds = std::move(answer.device_seconds)};
  OPWRIGHT_CHECK_ASSIGN(const DeviceResult taken, take(asked, std::move(answer), /*with_data=*/false));
  const auto wanted = static_cast<std::size_t>(order.iterations);
  if (!is_asked && timed.seconds.size() > static_cast<std::size_t>(order.warm_up))
    timed.seconds.erase(timed.seconds.begin(), timed.seconds.begin() + order.warm_up);
  const auto& main = order.device_time ? timed.device_seconds : timed.seconds;
  if (main.size() != wanted)
    return unsupported("", fmt::format("{} iterations were asked for, the device gave {} times", wanted, main.size()));
  return timed;
}

Checked<DeviceResult> ExternalDevice::run(const DeviceCall& call, std::span<const HostTensor> inputs) {
  OPWRIGHT_CHECK_ASSIGN(const bool with_data, send(call, inputs));
  OPWRIGHT_CHECK_ASSIGN(DeviceAnswer answer, ask(call, with_data ? &data_ : nullptr));
  return take(call, std::move(answer), with_data);
}

}  // namespace opwright
