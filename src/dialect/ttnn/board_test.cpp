#include "dialect/ttnn/board.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace opwright {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string error_of(std::string_view json) {
  const auto board = parse_board(json, "mine.json");
  return board ? "" : board.error().message;
}

TEST(Board, SevenBoardsAreKnown) {
  std::set<std::string> names;
  for (const Board& board : known_boards()) {
    names.insert(board.name);
    EXPECT_GT(board.l1_bank, 1'000'000) << board.name;
    EXPECT_GE(board.dram_banks, 7) << board.name;
    EXPECT_EQ(board.dram_alignment, board.wormhole() ? 32 : 64) << board.name;
  }
  EXPECT_EQ(names, (std::set<std::string>{"n150", "n300", "t3k", "galaxy", "p100a", "p150b", "p300a"}));
}

TEST(Board, Facts) {
  const Board n150 = *find_board("n150");
  EXPECT_EQ(n150.cores(), 64);
  EXPECT_EQ(n150.l1_bank, 1393312);
  EXPECT_EQ(n150.dram_bank, 1072693184);
  EXPECT_EQ(find_board("t3k")->chips(), 8);
  EXPECT_EQ(find_board("galaxy")->chips(), 32);
  EXPECT_EQ(find_board("galaxy")->grid, (CoreCoord{8, 9}));
  EXPECT_EQ(find_board("p100a")->dram_banks, 7);
  EXPECT_EQ(find_board("p150b")->l1_bank, 1461120);
  EXPECT_EQ(name_of(find_board("p300a")->arch), "blackhole");
}

TEST(Board, NamesThatPeopleUse) {
  EXPECT_EQ(find_board("6U")->name, "galaxy");
  EXPECT_EQ(find_board("N300")->name, "n300");
  EXPECT_EQ(find_board("p150")->name, "p150b");
  const auto unknown = find_board("n15");
  ASSERT_FALSE(unknown);
  EXPECT_THAT(unknown.error().message, AllOf(HasSubstr("no board 'n15'"), HasSubstr("did you mean 'n150'")));
}

TEST(Board, OnesOwnBoard) {
  const auto board = parse_board(R"({"like":"n150","name":"small","grid":[4,2],"l1_small":4096,"dram_banks":3})", "x");
  ASSERT_TRUE(board);
  EXPECT_EQ(board->name, "small");
  EXPECT_EQ(board->cores(), 8);
  EXPECT_EQ(board->l1_small, 4096);
  EXPECT_EQ(board->dram_banks, 3);
  EXPECT_EQ(board->l1_bank, find_board("n150")->l1_bank);
  EXPECT_EQ(parse_board(R"({"like":"n150"})", "bare.json")->name, "bare.json");
}

TEST(Board, ErrorsNameTheFileAndTheField) {
  EXPECT_THAT(error_of("{"), HasSubstr("mine.json"));
  EXPECT_EQ(error_of("[]"), "mine.json: not a JSON object");
  EXPECT_EQ(error_of("{}"), "mine.json: needs \"like\": the known board it resembles");
  EXPECT_THAT(error_of(R"({"like":"m150"})"), HasSubstr("mine.json: \"like\": no board 'm150'"));
  EXPECT_THAT(error_of(R"({"like":"n150","grid":[8]})"), HasSubstr("mine.json: \"grid\" is not two whole numbers"));
  EXPECT_THAT(error_of(R"({"like":"n150","grid":"8x8"})"), HasSubstr("\"grid\""));
  EXPECT_THAT(error_of(R"({"like":"n150","mesh":[0,1]})"), HasSubstr("\"mesh\""));
  EXPECT_THAT(error_of(R"({"like":"n150","l1_bank":-1})"), HasSubstr("\"l1_bank\" is not a whole number from 1"));
  EXPECT_THAT(error_of(R"({"like":"n150","dram_bank":1.5})"), HasSubstr("\"dram_bank\""));
  EXPECT_THAT(error_of(R"({"like":"n150","l1_small":99999999})"), HasSubstr("\"l1_small\" leaves no L1"));
  EXPECT_THAT(error_of(R"({"like":"n150","name":3})"), HasSubstr("\"name\" is not a text"));
  EXPECT_THAT(error_of(R"({"like":"n150","gird":[8,8]})"),
              AllOf(HasSubstr("nothing is known of \"gird\""), HasSubstr("did you mean 'grid'")));
}

}  // namespace
}  // namespace opwright
