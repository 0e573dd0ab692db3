#include "exec/traced_board.h"

namespace opwright {

std::optional<Board> traced_board(std::string_view machine_label) {
  const auto says = [&](std::string_view word) { return machine_label.find(word) != std::string_view::npos; };
  if (says("galaxy")) return *find_board("galaxy");
  if (says("n300")) return *find_board(machine_label.ends_with("x4") ? "t3k" : "n300");
  for (const Board& board : known_boards())
    if (says(board.name)) return board;
  return std::nullopt;
}

}  // namespace opwright
