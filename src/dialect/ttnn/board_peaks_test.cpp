#include "dialect/ttnn/board_peaks.h"

#include <gtest/gtest.h>

namespace opwright {
namespace {

std::string names(std::string_view arch, std::int64_t cores) {
  std::string text;
  for (const Board& board : boards_like(arch, cores)) text += (text.empty() ? "" : " ") + board.name;
  return text;
}

TEST(BoardPeaks, EveryKnownBoardHasItsRow) {
  for (const Board& board : known_boards()) {
    EXPECT_GT(peaks_of(board).clock_ghz, 0) << board.name;
    EXPECT_GT(peaks_of(board).dram_gb_per_s, 0) << board.name;
  }
  EXPECT_EQ(peaks_of(Board{.name = "mine"}).dram_gb_per_s, 0);
}

TEST(BoardPeaks, BoardsAreFoundByArchitectureAndCores) {
  EXPECT_EQ(names("wormhole_b0", 64), "n150 n300 t3k galaxy");  // of a galaxy with a column for itself
  EXPECT_EQ(names("WORMHOLE_B0", 72), "galaxy");
  EXPECT_EQ(names("blackhole", 110), "p100a p150b p300a");
  EXPECT_EQ(names("blackhole", 130), "p150b");
  EXPECT_EQ(names("blackhole", 20), "");
  EXPECT_EQ(names("QUASAR", 0), "");
}

}  // namespace
}  // namespace opwright
