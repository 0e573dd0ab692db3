#include "device/device.h"

#include <fmt/format.h>

#include "base/input.h"
#include "device/null/null_device.h"
#include "device/sim/sim_device.h"

namespace opwright {

Checked<TimedRun> Device::time(const DeviceCall&, std::span<const HostTensor>, const TimingOrder&) {
  return unsupported("", "this device does not time calls");
}

std::string_view name_of(Numerics numerics) {
  switch (numerics) {
    case Numerics::kNone:
      return "none";
    case Numerics::kExactModel:
      return "exact-model";
    case Numerics::kReal:
      return "real";
  }
  return "";
}

Result<std::unique_ptr<Device>> open_device(std::string_view name) {
  const auto colon = name.find(':');
  const std::string_view kind = name.substr(0, colon);
  const std::string_view board_name = colon == std::string_view::npos ? "n150" : name.substr(colon + 1);
  if (kind != "sim" && kind != "null")
    return fail(ErrorCode::kNotFound,
                fmt::format("no device '{}'{} devices: sim:BOARD (n150, n300, t3k, galaxy, p100a, p150b, p300a), "
                            "sim:FILE.json (a board of your own), null",
                            name, find_board(name) ? fmt::format("; did you mean 'sim:{}'?", name) : ";"));
  Board board;
  if (board_name.ends_with(".json")) {
    OPWRIGHT_TRY_ASSIGN(Input input, Input::open(std::string(board_name)));
    OPWRIGHT_TRY_ASSIGN(const Text text, std::move(input).read_all());
    OPWRIGHT_TRY_ASSIGN(board, parse_board(text.view(), board_name));
  } else {
    OPWRIGHT_TRY_ASSIGN(board, find_board(board_name));
  }
  return open_device(kind, std::move(board));
}

std::unique_ptr<Device> open_device(std::string_view kind, Board board) {
  if (kind == "sim") return std::make_unique<sim::SimDevice>(std::move(board));
  return std::make_unique<NullDevice>(std::move(board));
}

}  // namespace opwright
