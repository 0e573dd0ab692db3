#include "launch/boards.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "base/test_folder.h"

namespace opwright::launch {
namespace {

using testing::HasSubstr;

TEST(Boards, AreWhole) {
  for (const Board& board : boards()) {
    SCOPED_TRACE(board.name);
    EXPECT_EQ(static_cast<int>(board.chips.size()), board.chip_count());
    EXPECT_GT(board.grid.x * board.grid.y, 0);
    std::multiset<int> on_cards;
    for (const Card& card : board.cards) on_cards.insert(card.chips.begin(), card.chips.end());
    for (int chip = 0; chip < board.chip_count(); ++chip) EXPECT_EQ(on_cards.count(chip), 1U) << chip;
    EXPECT_EQ(static_cast<int>(on_cards.size()), board.chip_count());
  }
}

// As many wires as neighbours, and every channel is used once.
TEST(Boards, LinksMakeTheMesh) {
  for (const Board& board : boards()) {
    SCOPED_TRACE(board.name);
    std::set<std::pair<int, int>> used;
    for (const Link& link : board.links) {
      ASSERT_EQ(link.channels_a.size(), link.channels_b.size());
      for (const int channel : link.channels_a) EXPECT_TRUE(used.insert({link.chip_a, channel}).second);
      for (const int channel : link.channels_b) EXPECT_TRUE(used.insert({link.chip_b, channel}).second);
    }
    // Channels are numbered without the harvested ones.
    for (const auto& [chip, channel] : used) EXPECT_LT(channel, board.arch == Arch::kWormhole ? 16 : 12) << chip;
    const int across = (board.mesh.x - 1) * board.mesh.y, down = board.mesh.x * (board.mesh.y - 1);
    EXPECT_EQ(static_cast<int>(board.links.size()), across + down);
  }
}

TEST(Boards, NamesAndAliasesAreFoundWhateverTheirCase) {
  const std::map<std::string, std::string> names{{"n150", "n150"},  {"N300", "n300"},  {"T3K", "t3k"},
                                                 {"6u", "galaxy"},  {"p100a", "p100"}, {"P150b", "p150"},
                                                 {"p150a", "p150"}, {"p300a", "p300"}, {"t3000", "t3k"}};
  for (const auto& [asked, expected] : names) {
    const auto board = find_board(asked);
    ASSERT_TRUE(board) << asked;
    EXPECT_EQ(board->name, expected);
  }
  std::set<std::string> seen;
  for (const Board& board : boards()) {
    EXPECT_TRUE(seen.insert(board.name).second);
    for (const std::string& alias : board.aliases) EXPECT_TRUE(seen.insert(alias).second) << alias;
  }
}

TEST(Boards, AnUnknownOneIsRefusedWithTheNearestAndTheList) {
  const auto board = find_board("n15");
  ASSERT_FALSE(board);
  EXPECT_EQ(board.error().code, ErrorCode::kUsage);
  EXPECT_THAT(board.error().message, HasSubstr("did you mean 'n150'"));
  EXPECT_THAT(board.error().message, HasSubstr("n150, n300, t3k, galaxy, p100, p150, p300"));
}

TEST(Boards, TheDescriptorSaysWhatTheDriverReads) {
  const std::string text = cluster_descriptor(*find_board("n300"));
  EXPECT_THAT(text, HasSubstr("arch: {0: wormhole_b0, 1: wormhole_b0}\n"));
  EXPECT_THAT(text, HasSubstr("chips: {0: [0, 0, 0, 0], 1: [1, 0, 0, 0]}\n"));
  EXPECT_THAT(text, HasSubstr("  - [{chip: 0, chan: 8}, {chip: 1, chan: 0}]\n"));
  EXPECT_THAT(text, HasSubstr("chips_with_mmio: [0: 0]\n"));
  EXPECT_THAT(text, HasSubstr("board_type: n300, chips: [0, 1]]\n"));
  const std::string blackhole = cluster_descriptor(*find_board("p100"));
  EXPECT_THAT(blackhole, HasSubstr("arch: {0: blackhole}\nchips: {}\n"));
  EXPECT_THAT(blackhole, HasSubstr("ethernet_connections:\n  []\n"));
  EXPECT_THAT(cluster_descriptor(*find_board("galaxy")), HasSubstr("chip_to_bus_id: {0: \"0x00c1\", 1: \"0x0041\""));
  EXPECT_THAT(cluster_descriptor(*find_board("p300")), HasSubstr("asic_locations: {0: 0, 1: 1}\n"));
}

TEST(Boards, AFileOfTheUsersOwnIsTaken) {
  const TestFolder folder;
  const std::string mine = folder.write("mine.yaml", cluster_descriptor(*find_board("t3k")));
  const auto board = find_board(mine);
  ASSERT_TRUE(board) << board.error().message;
  EXPECT_EQ(board->name, "mine");
  EXPECT_EQ(board->file, mine);
  EXPECT_EQ(board->chip_count(), 8);
  EXPECT_TRUE(board->slow_dispatch);
  const auto block = find_board(folder.write("b.yml", "arch:\n  0: blackhole\n  1: blackhole\nchips:\n  {}\n"));
  ASSERT_TRUE(block);
  EXPECT_EQ(block->chip_count(), 2);
  EXPECT_EQ(block->arch, Arch::kBlackhole);
  EXPECT_FALSE(block->slow_dispatch);
}

TEST(Boards, AFileThatIsNoDescriptorIsRefused) {
  const TestFolder folder;
  const auto wrong = find_board(folder.write("wrong.yaml", "a: 1\n"));
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().message, HasSubstr("no cluster descriptor"));
  EXPECT_FALSE(find_board(folder.file("missing.yaml")));
}

}  // namespace
}  // namespace opwright::launch
