// The boards that the mock device can be: what the library needs to know of them, and what it then reports.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright::launch {

enum class Arch { kWormhole, kBlackhole };

struct Extent {
  int x = 0, y = 0;  // columns and rows
  friend bool operator==(const Extent&, const Extent&) = default;
};

// Ethernet channels of two chips that are wired to each other: a's channel i to b's channel i.
struct Link {
  int chip_a;
  std::vector<int> channels_a;
  int chip_b;
  std::vector<int> channels_b;
};

struct Chip {
  Extent place;              // in the mesh
  int harvested_tensix = 0;  // a bit a harvested row (Wormhole) or column (Blackhole) of Tensix cores
  int harvested_dram = 0;    // a bit a harvested DRAM bank
  int harvested_eth = 0;     // a bit a harvested Ethernet core
  int harvested_pcie = 0;    // a bit a harvested PCIe core
  bool mmio = true;          // the host reaches it over PCIe, not through another chip
  int bus = -1;              // PCIe bus; tells tray and place in a tray
  int location = -1;         // on a card of several chips
};

struct Card {  // what a person holds in the hand
  std::string type;
  std::vector<int> chips;
};

struct Board {
  std::string name;
  std::vector<std::string> aliases;
  std::string about;
  Arch arch = Arch::kWormhole;
  Extent mesh{1, 1};  // chips: columns and rows
  Extent grid;        // compute grid of a chip as the library reports it on the mock device; 0x0: not known
  // Fast dispatch does not work on the mock device: n300 cards dispatch from Ethernet cores, and the library then
  // reports one grid and checks against another.
  bool slow_dispatch = false;
  std::vector<Chip> chips;
  std::vector<Link> links;
  std::vector<Card> cards;
  std::string file;  // the user's own descriptor instead of ours

  int chip_count() const { return mesh.x * mesh.y; }
};

std::span<const Board> boards();

// A name, an alias (case does not count), or the path of a cluster descriptor of the user's own.
Result<Board> find_board(const std::string& name_or_file);

// The cluster descriptor as the library's driver reads it (YAML).
std::string cluster_descriptor(const Board& board);

std::string_view to_text(Arch arch);  // "wormhole_b0", as in descriptors

}  // namespace opwright::launch
