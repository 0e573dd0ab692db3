// The board that a configuration was traced on.
#pragma once

#include <optional>
#include <string_view>

#include "dialect/ttnn/board.h"

namespace opwright {

// "Wormhole n300 x1" -> n300 (four n300 are a t3k); nothing when the label names no board that we know.
std::optional<Board> traced_board(std::string_view machine_label);

}  // namespace opwright
