// The lines of the device protocol, written and read: docs/formats/device-protocol.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "device/device.h"
#include "device/external/shared_data.h"

namespace opwright {

inline constexpr int kDeviceProtocol = 1;

// What a device says of itself; `name` becomes the one under which it was asked for.
Result<Capabilities> parse_hello(std::string_view line);

// The line of a call; `data` is null when none is sent. `folder` is where the device may leave files for us.
Result<std::string> run_request(std::int64_t id, const DeviceCall& call, const SharedData* data,
                                const std::string& folder, const TimingOrder* timing = nullptr);

struct DeviceAnswer {
  enum class Kind : std::uint8_t { kOk, kRefused, kOutOfMemory, kUnsupported, kError } kind = Kind::kOk;
  std::string argument;  // that could not be rebuilt
  std::string message;   // in the library's words
  std::vector<OutputSpec> outputs;
  std::optional<std::size_t> written;
  std::vector<double> seconds, host_seconds, device_seconds;
  std::optional<double> kernel_seconds;
  MemoryReport memory;
  std::string trace;  // name of a file, as the device wrote it: only DeviceFolder::take() may touch that
};
// Nothing for a beat. Texts are cut, and numbers that cannot be are errors: what a device says is not trusted. Fails
// when the line is no answer to request `id`, in words that say what it is.
Result<std::optional<DeviceAnswer>> parse_answer(std::string_view line, std::int64_t id);
bool is_beat(std::string_view line);
// In words: a line that nobody asked for.
std::string one_too_many(std::string_view line);

}  // namespace opwright
