// Where calls run. A device says what it can do; one without numerics never gives a value that could be judged.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/bound_call.h"
#include "model/host_tensor.h"
#include "model/outcome.h"
#include "model/refusal.h"

namespace opwright {

enum class Numerics : std::uint8_t {
  kNone,        // no values: a call is accepted or refused, never passed
  kExactModel,  // a model of the hardware's arithmetic
  kReal,        // hardware
};
std::string_view name_of(Numerics numerics);  // "none", "exact-model", "real"

// What of timing a device can do; docs/formats/device-protocol.md.
struct PerfAbility {
  bool eager = false;        // times call by call
  bool trace = false;        // … and replays a trace of the call
  bool cache_off = false;    // … without its program cache
  bool device_time = false;  // knows the chip's own time
  std::string refusal;       // why it times nothing; "" it does, or it does not say
};

struct Capabilities {
  std::string name;  // "sim:n300"
  Numerics numerics = Numerics::kNone;
  bool memory_report = false;
  bool timing = false;
  bool mesh = false;  // runs calls over several chips
  Board board;
  // Of devices that are programs (device/external): they take calls as they were recorded, also of operators that
  // nobody here knows, and answer in the library's own words.
  bool recorded_calls = false;
  bool capture = false;  // says what it really executed
  PerfAbility perf;
  bool golden = false;                          // has golden functions of the library's own
  std::map<std::string, std::string> versions;  // of the software behind it
};

struct MemoryReport {
  std::int64_t l1_per_core = 0;  // largest number of bytes that tensors of the call take on one core
  std::int64_t dram = 0;         // bytes of DRAM, all banks
};

struct DeviceResult {
  std::vector<HostTensor> outputs;
  MemoryReport memory;
  std::vector<OutputSpec> reported;                  // what the device says that it returned, where it says so
  std::optional<double> cold_seconds, warm_seconds;  // of the first call, and of the last where it ran again
  std::optional<double> kernel_seconds;              // on the chip
  std::string trace;                                 // what was executed: the bytes of a native trace
};

// Times that are asked for.
struct TimingOrder {
  int warm_up = 10, iterations = 10;
  bool device_time = false;  // the chip's own, else from the call to its end
  bool trace = false, program_cache = true;
};
// Seconds, one an iteration; empty: not known.
struct TimedRun {
  std::vector<double> seconds, host_seconds, device_seconds;
};

// The device failed instead of answering.
struct DeviceFailure {
  Outcome outcome = Outcome::kDeviceError;  // kDeviceError, kCrashed, kHarnessError
  std::string message;
  // The device itself is to blame, whatever it was asked: it does not start, or breaks the protocol.
  bool own_fault = false;
};

// A call as a device gets it: bound, checked, with the outputs that the operator's rules promise.
struct DeviceCall {
  const BoundCall& call;
  std::span<const OutputSpec> outputs;
  // For each output the rows that will be looked at, ascending; empty: all. A device may leave other rows as they are
  // where that saves hours, and need not.
  std::span<const std::vector<std::int64_t>> rows = {};
  int repeat = 1;        // 2: once cold, once warm
  bool capture = false;  // asks for DeviceResult::trace
  bool golden = false;   // the library's own golden function instead of the device, where Capabilities::golden
  bool memory = true;    // asks for DeviceResult::memory, which may cost another call
};

class Device {
 public:
  virtual ~Device() = default;
  virtual const Capabilities& can() const = 0;
  // Whether the device would run it: kernel there, dtypes handled, room for all tensors. Touches no data.
  virtual Checked<MemoryReport> admit(const DeviceCall& call) = 0;
  // Runs it on these inputs (one for each of call.tensors). Admits first.
  virtual Checked<DeviceResult> run(const DeviceCall& call, std::span<const HostTensor> inputs) = 0;
  // Makes the call again and again. Only of devices that are programs.
  virtual Checked<TimedRun> time(const DeviceCall& call, std::span<const HostTensor> inputs, const TimingOrder& order);
  // Why the last admit or run gave no answer, where its refusal is none: the device's program died, spoke garbage,
  // failed by no rule. Null when the device answered, and always for devices of this process.
  virtual const DeviceFailure* failure() const { return nullptr; }
  // Asked between calls: what the device did after its last answer, unasked (it wrote on, it ended). That belongs to
  // the calls before, not to the next one.
  virtual std::optional<DeviceFailure> settle() { return std::nullopt; }
};

// "sim:n300", "sim" (n150), "sim:FILE.json" (a board of one's own), "null".
Result<std::unique_ptr<Device>> open_device(std::string_view name);
// A device of that kind ("sim", else null) on a board that the caller describes.
std::unique_ptr<Device> open_device(std::string_view kind, Board board);

}  // namespace opwright
