#include "dialect/ttnn/board_peaks.h"

#include <algorithm>
#include <array>
#include <string>

namespace opwright {
namespace {

struct Row {
  std::string_view board;
  BoardPeaks peaks;
};
constexpr std::array<Row, 7> kPeaks{{
    {"n150", {1.0, 288}},
    {"n300", {1.0, 288}},
    {"t3k", {1.0, 288}},
    {"galaxy", {1.0, 288}},
    {"p100a", {1.35, 448}},  // seven of eight banks
    {"p150b", {1.35, 512}},
    {"p300a", {1.35, 512}},
}};

}  // namespace

BoardPeaks peaks_of(const Board& board) {
  for (const Row& row : kPeaks)
    if (row.board == board.name) return row.peaks;
  return {};
}

std::vector<Board> boards_like(std::string_view arch, std::int64_t cores) {
  std::string wanted(arch);
  for (char& c : wanted) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  std::vector<Board> fitting;
  for (const Board& board : known_boards()) {
    if (wanted != name_of(board.arch) && !(board.wormhole() && wanted == "wormhole")) continue;
    const bool keeps_columns = board.cores() > cores && (board.grid.x - 2) * board.grid.y <= cores;
    if (cores <= 0 || board.cores() == cores || keeps_columns) fitting.push_back(board);
  }
  return fitting;
}

}  // namespace opwright
