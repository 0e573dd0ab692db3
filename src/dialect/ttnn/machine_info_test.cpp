#include "dialect/ttnn/machine_info.h"

#include <gtest/gtest.h>

#include "dialect/ttnn/board.h"

namespace opwright {
namespace {

TEST(MachineInfo, AMockBoardIsWhatItsNameSays) {
  EXPECT_EQ(
      whole_machine(R"({"mock_board": "n300"})"),
      R"({"board_type": "Wormhole", "card_count": 1, "device_count": 2, "device_series": "n300", "mock_board": "n300"})");
  EXPECT_EQ(
      whole_machine(R"({"mock_board": "t3k"})"),
      R"({"board_type": "Wormhole", "card_count": 4, "device_count": 8, "device_series": "n300", "mock_board": "t3k"})");
  EXPECT_EQ(
      whole_machine(R"({"mock_board": "p150"})"),
      R"({"board_type": "Blackhole", "card_count": 1, "device_count": 1, "device_series": "p150b", "mock_board": "p150"})");
}

TEST(MachineInfo, TheMeshOfACallSaysHowManyDevices) {
  EXPECT_EQ(
      whole_machine(R"({"device_count": 1, "device_ids": [0], "mesh_device_shape": [1, 1], "mock_board": "n300"})"),
      R"({"board_type": "Wormhole", "card_count": 1, "device_count": 1, "device_ids": [0], "device_series": "n300", )"
      R"("mesh_device_shape": [1, 1], "mock_board": "n300"})");
}

TEST(MachineInfo, WhatTheLibraryCallsTheHardware) {
  EXPECT_EQ(whole_machine(R"({"arch": "wormhole_b0", "cluster_type": "T3K"})"),
            R"({"arch": "wormhole_b0", "board_type": "Wormhole", "card_count": 4, "cluster_type": "T3K", )"
            R"("device_count": 8, "device_series": "n300"})");
  // A P150 may be a p150a, p150b or p150c: the series stays unknown.
  EXPECT_EQ(whole_machine(R"({"arch": "blackhole", "cluster_type": "P150"})"),
            R"({"arch": "blackhole", "board_type": "Blackhole", "cluster_type": "P150"})");
}

TEST(MachineInfo, WhatATraceSaysItselfStays) {
  const std::string own =
      R"({"board_type": "Wormhole", "card_count": 9, "device_count": 3, "device_series": "mine", "mock_board": "n300"})";
  EXPECT_EQ(whole_machine(own), own);
}

TEST(MachineInfo, NothingIsInvented) {
  for (const char* text : {"", "{}", "null", "{", "[1]", R"({"mock_board": "board-of-mine.yaml"})",
                           R"({"mock_board": 3})", R"({"cluster_type": "CUSTOM"})", R"({"arch": "quasar"})",
                           R"({"device_series": "n300", "card_count": 1})", R"({"b":1,"a":2})"})
    EXPECT_EQ(whole_machine(text), text);
}

TEST(MachineInfo, ShortAndWholeAreOneMachine) {
  for (const Board& board : known_boards()) {
    for (const std::string& mesh :
         {std::string(), std::string(R"("device_ids": [0], "mesh_device_shape": [1, 1], )")}) {
      EXPECT_NE(whole_machine(R"({"mock_board": ")" + board.name + R"("})").find("device_series"), std::string::npos);
      const std::string text = "{" + mesh + R"("mock_board": ")" + board.name + R"("})";
      EXPECT_EQ(short_machine(whole_machine(text)), text);
      EXPECT_EQ(short_machine(text), text);
      EXPECT_EQ(whole_machine(whole_machine(text)), whole_machine(text));
    }
  }
  const std::string foreign = R"({"board_type": "Wormhole", "card_count": 1, "device_series": "n300"})";
  EXPECT_EQ(short_machine(foreign), foreign);
}

}  // namespace
}  // namespace opwright
