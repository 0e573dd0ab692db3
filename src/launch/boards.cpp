#include "launch/boards.h"

#include <array>
#include <cstdint>

namespace opwright::launch {
namespace {

// A chip of 10 rows (Wormhole) or 14 columns (Blackhole) of Tensix cores loses some in production. Which ones does not
// matter to a program; how many is what makes the grid.
constexpr int kOneRow = 1 << 6, kTwoRows = 1 << 6 | 1 << 9, kTwoColumns = 1 << 6 | 1 << 7;
constexpr int kAllEth = (1 << 14) - 1;
// Blackhole packages have two PCIe cores and 14 Ethernet cores; cards use one and 12.
constexpr int kFirstPcie = 1 << 0, kSecondPcie = 1 << 1, kTwoEth = 1 << 5 | 1 << 8;

std::vector<int> channels(int first, int count) {
  std::vector<int> result;
  for (int i = 0; i < count; ++i) result.push_back(first + i);
  return result;
}

Board n150() {
  return {.name = "n150",
          .about = "one Wormhole",
          .grid = {8, 8},
          .chips = {{.harvested_tensix = kOneRow}},
          .cards = {{"n150", {0}}}};
}

Board n300() {
  return {.name = "n300",
          .about = "two Wormholes on a card",
          .mesh = {2, 1},
          .grid = {8, 8},
          .slow_dispatch = true,
          .chips = {{.place = {0, 0}, .harvested_tensix = kTwoRows},
                    {.place = {1, 0}, .harvested_tensix = kTwoRows, .mmio = false}},
          .links = {{0, channels(8, 2), 1, channels(0, 2)}},
          .cards = {{"n300", {0, 1}}}};
}

// Four n300 cards. Chips 0 to 3 are those at the host, 4 to 7 the far ones behind them:
//   4 0 2 6
//   5 1 3 7
Board t3k() {
  Board board{.name = "t3k",
              .aliases = {"t3000"},
              .about = "four n300 cards, 8 Wormholes",
              .mesh = {4, 2},
              .grid = {8, 8},
              .slow_dispatch = true};
  constexpr std::array<Extent, 8> kPlaces{{{1, 0}, {1, 1}, {2, 0}, {2, 1}, {0, 0}, {0, 1}, {3, 0}, {3, 1}}};
  for (int chip = 0; chip < 8; ++chip)
    board.chips.push_back(
        {.place = kPlaces.at(static_cast<std::size_t>(chip)), .harvested_tensix = kTwoRows, .mmio = chip < 4});
  for (int chip = 0; chip < 4; ++chip) {
    board.links.push_back({chip, channels(8, 2), chip + 4, channels(0, 2)});  // on the card
    board.cards.push_back({"n300", {chip, chip + 4}});
  }
  board.links.push_back({0, channels(6, 2), 2, channels(6, 2)});
  board.links.push_back({1, channels(0, 2), 3, channels(0, 2)});
  for (const int chip : {0, 2}) board.links.push_back({chip, channels(14, 2), chip + 1, channels(14, 2)});
  for (const int chip : {4, 6}) board.links.push_back({chip, channels(6, 2), chip + 1, channels(6, 2)});
  return board;
}

// A Wormhole Galaxy: four trays of 2x4 chips, which together are a 4x8 mesh. Chip 4 * n + t is the n-th of tray t.
Board galaxy() {
  Board board{
      .name = "galaxy", .aliases = {"6u"}, .about = "32 Wormholes in four trays", .mesh = {8, 4}, .grid = {8, 9}};
  constexpr int kTrays = 4, kPerTray = 8, kAcross = 4;
  constexpr std::array<int, kTrays> kTrayBus{0xc0, 0x40, 0x00, 0x80};
  Card card{"ubb", {}};
  for (int chip = 0; chip < kTrays * kPerTray; ++chip) {
    const int n = chip / kTrays;
    // Inside a tray channels 8 to 11 go to the next chip, 12 to 15 to the chip of the second row.
    if (n % kAcross < kAcross - 1) board.links.push_back({chip, channels(8, 4), chip + kTrays, channels(4, 4)});
    if (n < kAcross) board.links.push_back({chip, channels(12, 4), chip + kTrays * kAcross, channels(0, 4)});
    card.chips.push_back(chip);
    board.chips.push_back({.bus = kTrayBus.at(static_cast<std::size_t>(chip % kTrays)) + n + 1});
  }
  // Between trays: 0 with 1 and 2 with 3 at their ends, 0 with 2 and 1 with 3 along their second rows.
  for (const int n : {kAcross - 1, kPerTray - 1}) {
    for (const int tray : {0, 2})
      board.links.push_back({kTrays * n + tray, channels(8, 4), kTrays * n + tray + 1, channels(8, 4)});
  }
  for (int n = kAcross; n < kPerTray; ++n) {
    for (const int tray : {0, 1})
      board.links.push_back({kTrays * n + tray, channels(12, 4), kTrays * n + tray + 2, channels(12, 4)});
  }
  board.cards.push_back(card);
  return board;
}

Board p100() {
  return {.name = "p100",
          .aliases = {"p100a"},
          .about = "one Blackhole without Ethernet, 7 DRAM banks",
          .arch = Arch::kBlackhole,
          .grid = {11, 10},
          .chips = {{.harvested_tensix = kTwoColumns,
                     .harvested_dram = 1 << 3,
                     .harvested_eth = kAllEth,
                     .harvested_pcie = kSecondPcie}},
          .cards = {{"p100", {0}}}};
}

Board p150() {
  return {.name = "p150",
          .aliases = {"p150a", "p150b"},
          .about = "one Blackhole",
          .arch = Arch::kBlackhole,
          .grid = {11, 10},
          .chips = {{.harvested_tensix = kTwoColumns, .harvested_eth = kTwoEth, .harvested_pcie = kSecondPcie}},
          .cards = {{"p150", {0}}}};
}

Board p300() {
  const Chip first{
      .harvested_tensix = kTwoColumns, .harvested_eth = kTwoEth, .harvested_pcie = kSecondPcie, .location = 0};
  Chip second = first;
  second.location = 1;
  second.harvested_pcie = kFirstPcie;
  return {.name = "p300",
          .aliases = {"p300a", "p300b", "p300c"},
          .about = "two Blackholes on a card",
          .arch = Arch::kBlackhole,
          .mesh = {2, 1},
          .grid = {11, 10},
          .chips = {first, second},
          .links = {{0, {2, 3}, 1, {9, 8}}},
          .cards = {{"p300", {0, 1}}}};
}

}  // namespace

std::span<const Board> boards() {
  static const std::vector<Board> all{n150(), n300(), t3k(), galaxy(), p100(), p150(), p300()};
  return all;
}

std::string_view to_text(Arch arch) { return arch == Arch::kWormhole ? "wormhole_b0" : "blackhole"; }

}  // namespace opwright::launch
