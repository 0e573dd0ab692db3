#include "jobs/device_program.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <vector>

#include "base/subprocess.h"
#include "exec/planted_device.h"
#include "launch/mock.h"
#include "launch/program.h"
#include "launch/python_package.h"
#include "launch/python_probe.h"

namespace opwright::jobs {
namespace {

constexpr std::string_view kExec = "exec:";
constexpr std::string_view kMockPrefix = "ttnn:mock:";
constexpr const char* kPythonVariable = "OPWRIGHT_TTNN_PYTHON";
constexpr std::string_view kHowToGet =
    "install it into a Python 3.10 or 3.12 (python3.10 -m venv env && env/bin/pip install ttnn) and name that with "
    "--python env/bin/python or OPWRIGHT_TTNN_PYTHON";

Result<launch::PythonProbe> probe_named(const std::string& named, std::string why,
                                        const launch::Environment& environment) {
  OPWRIGHT_TRY_ASSIGN(const std::string path, launch::find_command({named}, environment));
  OPWRIGHT_TRY_ASSIGN(launch::PythonProbe probe, launch::probe_python({{path}, std::move(why)}, environment));
  OPWRIGHT_TRY(launch::check_ttnn(probe));
  return probe;
}

Result<launch::PythonProbe> find_python(const std::string& named, const launch::Environment& environment) {
  if (!named.empty()) return probe_named(named, "--python", environment);
  if (const auto variable = environment.get(kPythonVariable); variable && !variable->empty())
    return probe_named(*variable, kPythonVariable, environment);
  std::vector<std::string> tried;
  for (const char* name : {"python3.12", "python3.10", "python3", "python"}) {
    tried.emplace_back(name);
    const auto path = launch::find_installed(name, environment);
    if (!path) continue;
    auto probe = probe_named(*path, fmt::format("{} on PATH", name), environment);
    if (probe) return probe;
  }
  return fail(ErrorCode::kNotFound, fmt::format("device ttnn needs a Python with the library ttnn, and none of {} on "
                                                "PATH has it; {}",
                                                fmt::join(tried, ", "), kHowToGet));
}

// Our Python package in front, as this program's own version of it.
Status add_package(launch::Environment& environment) {
  OPWRIGHT_TRY_ASSIGN(std::string path, launch::python_package_folder());
  if (const auto own = environment.get("PYTHONPATH"); own && !own->empty()) path += ":" + *own;
  environment.set("PYTHONPATH", path, "the package opwright, with the device program; your own path follows");
  return {};
}

// By its path: with -m Python would look for everything in the current folder first.
Result<std::string> ttnn_device_script() {
  OPWRIGHT_TRY_ASSIGN(const std::string package, launch::python_package_folder());
  return package + "/opwright/ttnn_device/__main__.py";
}

Error no_library_device(const std::string& device) {
  return {ErrorCode::kUsage, fmt::format("no device '{}'; of the real library there are ttnn (what the environment "
                                         "selects) and ttnn:mock:BOARD ('opwright mock --list' lists the boards)",
                                         device)};
}

Result<DeviceProgram> exec_program(const std::string& device) {
  const std::string command = device.substr(kExec.size());
  if (command.find_first_not_of(" \t") == std::string::npos)
    return fail(ErrorCode::kUsage,
                "exec: needs a command: --device 'exec:python3 my_device.py' (docs/formats/device-protocol.md)");
  launch::Environment environment(process_environment());
  (void)add_package(environment);  // for programs in Python that import opwright.device; others do without
  // `exec`: the program itself is our child, so that we see how it ended. `env` takes NAME=value in front of it.
  return DeviceProgram{device, {"/bin/sh", "-c", "exec env " + command}, environment.entries(), nullptr};
}

Result<DeviceProgram> mock_program(const std::string& device, const std::string& python) {
  launch::Environment environment(process_environment());
  OPWRIGHT_TRY_ASSIGN(const launch::Board board, launch::find_board(device.substr(kMockPrefix.size())));
  OPWRIGHT_TRY_ASSIGN(const launch::PythonProbe probe, find_python(python, environment));
  OPWRIGHT_TRY_ASSIGN(const std::string script, ttnn_device_script());
  OPWRIGHT_TRY_ASSIGN(launch::MockSetup made, launch::MockSetup::make(board, probe, std::move(environment)));
  auto setup = std::make_shared<launch::MockSetup>(std::move(made));
  // Several of them may run at once, and two processes must not share the library's kernel cache.
  return DeviceProgram{device,
                       {"/bin/sh", "-c", "TT_METAL_CACHE=$TT_METAL_CACHE/$$ exec \"$0\" \"$1\" --board \"$2\"",
                        probe.executable, script, board.name},
                       setup->environment().entries(),
                       setup};
}

Result<DeviceProgram> ttnn_program(const std::string& device, const std::string& python) {
  launch::Environment environment(process_environment());
  OPWRIGHT_TRY_ASSIGN(const launch::PythonProbe probe, find_python(python, environment));
  OPWRIGHT_TRY_ASSIGN(const std::string script, ttnn_device_script());
  return DeviceProgram{device, {probe.executable, script}, environment.entries(), nullptr};
}

}  // namespace

bool is_device_program(std::string_view device) {
  return device == "ttnn" || device.starts_with("ttnn:") || device.starts_with(kExec);
}

Status check_device_name(const std::string& device) {
  const bool others = device.empty() || device == "sim" || device == "selftest" || is_planted_device(device);
  if (others || device.starts_with(kExec) || device == "ttnn") return {};
  if (device.starts_with(kMockPrefix) && device.size() > kMockPrefix.size()) {
    OPWRIGHT_TRY_ASSIGN([[maybe_unused]] const launch::Board board,
                        launch::find_board(device.substr(kMockPrefix.size())));
    return {};
  }
  if (is_device_program(device)) return fail(no_library_device(device));
  OPWRIGHT_TRY_ASSIGN([[maybe_unused]] const auto opened, open_device(device));
  return {};
}

Result<DeviceProgram> device_program(const std::string& device, const std::string& python) {
  if (device.starts_with(kExec)) return exec_program(device);
  if (device.starts_with(kMockPrefix) && device.size() > kMockPrefix.size()) return mock_program(device, python);
  if (device == "ttnn") return ttnn_program(device, python);
  return fail(no_library_device(device));
}

Result<double> parse_start_seconds(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(seconds > 0 && seconds < 1e6))
    return fail(ErrorCode::kUsage, fmt::format("--start-timeout {}: a number of seconds", text));
  return seconds;
}

Result<std::unique_ptr<Device>> open_any_device(const std::string& device, const ProgramSettings& settings) {
  if (is_planted_device(device)) return open_planted_device(device);
  if (!is_device_program(device)) return open_device(device);
  OPWRIGHT_TRY_ASSIGN(DeviceProgram program, device_program(device, settings.python));
  OPWRIGHT_TRY_ASSIGN(std::unique_ptr<Device> opened,
                      ExternalDevice::open(std::move(program), {.hello_seconds = settings.start_seconds}));
  return opened;
}

}  // namespace opwright::jobs
