// A board as the library's driver wants to read it, and the search for a board by name or file.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "base/input.h"
#include "base/near_names.h"
#include "base/text.h"
#include "launch/boards.h"

namespace opwright::launch {
namespace {

// The driver reads the kind of a card from its number, too: bits 36 to 55.
std::uint64_t card_id(std::string_view type, std::size_t index) {
  constexpr std::pair<std::string_view, std::uint64_t> kKinds[] = {{"n150", 0x18}, {"n300", 0x14}, {"ubb", 0x35},
                                                                   {"p100", 0x43}, {"p150", 0x40}, {"p300", 0x45}};
  for (const auto& [name, kind] : kKinds) {
    if (name == type) return (name[0] == 'p' ? 0 : std::uint64_t{1} << 56) | kind << 36 | (index + 1);
  }
  return index + 1;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool looks_like_a_file(std::string_view text) {
  return text.find('/') != std::string_view::npos || text.ends_with(".yaml") || text.ends_with(".yml");
}

Error unknown_board(const std::string& name) {
  std::vector<std::string_view> known, listed;
  for (const Board& board : boards()) {
    listed.push_back(board.name);
    known.push_back(board.name);
    known.insert(known.end(), board.aliases.begin(), board.aliases.end());
  }
  const std::string near = did_you_mean(near_names(name, known));
  return {ErrorCode::kUsage,
          fmt::format("there is no board '{}'{} There are {}; a cluster descriptor of your own is given as a path, "
                      "FILE.yaml",
                      name, near.empty() ? "." : near, fmt::join(listed, ", "))};
}

// How many chips a descriptor has: the entries of `arch:`, which has one a chip in every version of the format.
int chips_in(std::string_view text) {
  int count = 0;
  bool inside = false;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (!line.empty() && std::isalpha(static_cast<unsigned char>(line.front())) != 0)
      inside = line.starts_with("arch:");
    if (!inside) continue;
    for (std::size_t i = 1; i < line.size(); ++i) {
      if (line[i] == ':' && std::isdigit(static_cast<unsigned char>(line[i - 1])) != 0) ++count;
    }
  }
  return count;
}

Result<Board> board_of_file(const std::string& path) {
  std::string text;
  OPWRIGHT_TRY(read_file(path, text));
  const int chips = chips_in(text);
  if (chips == 0) {
    return fail(ErrorCode::kBadInput,
                fmt::format("{}: no cluster descriptor: there is no 'arch:' with a line a chip; 'opwright mock --list' "
                            "names the boards that need no file",
                            path));
  }
  std::error_code error;
  Board board{.name = std::filesystem::path(path).stem().string(), .about = "a descriptor of your own"};
  board.arch = text.find("lackhole") != std::string::npos ? Arch::kBlackhole : Arch::kWormhole;
  board.mesh = {chips, 1};
  board.slow_dispatch = text.find("n300") != std::string::npos;
  board.file = std::filesystem::absolute(path, error).string();
  return board;
}

// "key: {0: value, 1: value}", where the chips have that value.
void append_if_known(std::string& text, std::string_view key, std::string_view entry, std::span<const Chip> chips,
                     int Chip::* member) {
  if (chips.empty() || chips.front().*member < 0) return;
  text += fmt::format("{}: {{", key);
  for (std::size_t i = 0; i < chips.size(); ++i)
    text += fmt::format("{}{}", i == 0 ? "" : ", ", fmt::format(fmt::runtime(entry), i, chips[i].*member));
  text += "}\n";
}

}  // namespace

Result<Board> find_board(const std::string& name_or_file) {
  if (looks_like_a_file(name_or_file)) return board_of_file(name_or_file);
  const std::string name = lower(name_or_file);
  for (const Board& board : boards()) {
    if (board.name == name || std::find(board.aliases.begin(), board.aliases.end(), name) != board.aliases.end())
      return board;
  }
  return fail(unknown_board(name_or_file));
}

std::string cluster_descriptor(const Board& board) {
  const auto count = board.chips.size();
  std::string text = fmt::format("# {}: {}. Written by opwright.\narch: {{", board.name, board.about);
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", i, to_text(board.arch));
  // Coordinates are those of the cards' own routing; where every chip is at the host there are none, but unique ids.
  const bool all_mmio = std::all_of(board.chips.begin(), board.chips.end(), [](const Chip& chip) { return chip.mmio; });
  text += "}\nchips: {";
  if (!all_mmio) {
    for (std::size_t i = 0; i < count; ++i)
      text +=
          fmt::format("{}{}: [{}, {}, 0, 0]", i == 0 ? "" : ", ", i, board.chips[i].place.x, board.chips[i].place.y);
  }
  text += "}\nchip_unique_ids: {";
  for (std::size_t i = 0; i < count; ++i) text += fmt::format("{}{}: {}", i == 0 ? "" : ", ", i, 1000 + i);
  text += "}\nethernet_connections:\n";
  for (const Link& link : board.links) {
    for (std::size_t i = 0; i < link.channels_a.size(); ++i)
      text += fmt::format("  - [{{chip: {}, chan: {}}}, {{chip: {}, chan: {}}}]\n", link.chip_a, link.channels_a[i],
                          link.chip_b, link.channels_b[i]);
  }
  if (board.links.empty()) text += "  []\n";
  text += "ethernet_connections_to_remote_devices: []\nchips_with_mmio: [";
  bool first = true;
  for (std::size_t i = 0; i < count; ++i) {
    if (!board.chips[i].mmio) continue;
    text += fmt::format("{}{}: {}", first ? "" : ", ", i, i);
    first = false;
  }
  text += "]\nharvesting:\n";
  for (std::size_t i = 0; i < count; ++i) {
    const Chip& chip = board.chips[i];
    text += fmt::format(
        "  {}: {{noc_translation: true, harvest_mask: {}, dram_harvesting_mask: {}, eth_harvesting_mask: {}, "
        "pcie_harvesting_mask: {}, l2cpu_harvesting_mask: 0}}\n",
        i, chip.harvested_tensix, chip.harvested_dram, chip.harvested_eth, chip.harvested_pcie);
  }
  append_if_known(text, "chip_to_bus_id", "{}: \"{:#06x}\"", board.chips, &Chip::bus);
  append_if_known(text, "asic_locations", "{}: {}", board.chips, &Chip::location);
  text += "boards:\n";
  for (std::size_t i = 0; i < board.cards.size(); ++i) {
    const Card& card = board.cards[i];
    text += fmt::format("  - [board_id: {}, board_type: {}, chips: [{}]]\n", card_id(card.type, i), card.type,
                        fmt::join(card.chips, ", "));
  }
  return text;
}

}  // namespace opwright::launch
