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
    {"n150", {kWormholeChip.clock_ghz, 288}},
    {"n300", {kWormholeChip.clock_ghz, 288}},
    {"t3k", {kWormholeChip.clock_ghz, 288}},
    {"galaxy", {kWormholeChip.clock_ghz, 288}},
    {"p100a", {kBlackholeChip.clock_ghz, 448}},  // seven of eight banks
    {"p150b", {kBlackholeChip.clock_ghz, 512}},
    {"p300a", {kBlackholeChip.clock_ghz, 512}},
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
