#include "dialect/ttnn/board.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <string>

#include "base/json.h"
#include "base/near_names.h"

namespace opwright {
namespace {

// As the library's allocator reports them (L1: its bank size, with what l1_small took added again).
constexpr std::int64_t kWormholeL1 = 1393312;
constexpr std::int64_t kBlackholeL1 = 1461120;
constexpr std::int64_t kWormholeDram = 1072693184;
constexpr std::int64_t kBlackholeDram = 4277141376;
// Beyond these no board is meant, and sums of sizes could overflow.
constexpr std::int64_t kMostCores = 1024;
constexpr std::int64_t kMostMemory = std::int64_t{1} << 44;

Board wormhole(std::string name, Shape mesh, CoreCoord grid) {
  return {.name = std::move(name),
          .arch = Arch::kWormhole,
          .mesh = std::move(mesh),
          .grid = grid,
          .l1_bank = kWormholeL1,
          .dram_banks = 12,
          .dram_bank = kWormholeDram,
          .dram_alignment = 32};
}

Board blackhole(std::string name, Shape mesh, CoreCoord grid, std::int64_t dram_banks) {
  return {.name = std::move(name),
          .arch = Arch::kBlackhole,
          .mesh = std::move(mesh),
          .grid = grid,
          .l1_bank = kBlackholeL1,
          .dram_banks = dram_banks,
          .dram_bank = kBlackholeDram,
          .dram_alignment = 64};
}

const std::vector<Board>& boards() {
  static const std::vector<Board> all{wormhole("n150", {1, 1}, {8, 8}),        wormhole("n300", {1, 2}, {8, 8}),
                                      wormhole("t3k", {2, 4}, {8, 8}),         wormhole("galaxy", {4, 8}, {8, 9}),
                                      blackhole("p100a", {1, 1}, {11, 10}, 7), blackhole("p150b", {1, 1}, {13, 10}, 8),
                                      blackhole("p300a", {1, 2}, {11, 10}, 8)};
  return all;
}

const std::map<std::string, std::string, std::less<>>& other_names() {
  static const std::map<std::string, std::string, std::less<>> names{
      {"6u", "galaxy"},  {"tt-galaxy-wh", "galaxy"}, {"tg", "galaxy"},  {"n300x2", "n300"}, {"p100", "p100a"},
      {"p150", "p150b"}, {"p150a", "p150b"},         {"p300", "p300a"}, {"p300b", "p300a"}, {"p300c", "p300a"}};
  return names;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return out;
}

}  // namespace

std::string_view name_of(Arch arch) { return arch == Arch::kWormhole ? "wormhole_b0" : "blackhole"; }

std::span<const Board> known_boards() { return boards(); }

Result<Board> find_board(std::string_view name) {
  std::string wanted = lower(name);
  if (const auto other = other_names().find(wanted); other != other_names().end()) wanted = other->second;
  std::vector<std::string_view> names;
  for (const Board& board : boards()) {
    if (board.name == wanted) return board;
    names.push_back(board.name);
  }
  return fail(ErrorCode::kNotFound, fmt::format("no board '{}'{}; boards: {}", name,
                                                did_you_mean(near_names(wanted, names)), fmt::join(names, ", ")));
}

Result<Board> parse_board(std::string_view text, std::string_view where) {
  const auto bad = [&](std::string_view what) {
    return fail(ErrorCode::kBadInput, fmt::format("{}: {}", where, what));
  };
  json::Document document;
  const auto root = document.parse(text);
  if (!root) return bad(json::describe(text, root.error()));
  const json::Node& fields = **root;
  if (!fields.is(json::Kind::kObject)) return bad("not a JSON object");
  const auto like = fields.string_field("like");
  if (!like) return bad("needs \"like\": the known board it resembles");
  const auto known = find_board(*like);
  if (!known) return bad(fmt::format("\"like\": {}", known.error().message));
  Board board = *known;
  board.name = where;

  struct Number {
    std::int64_t* value;
    std::int64_t least;
    std::int64_t most;
  };
  const std::map<std::string_view, Number> numbers{{"l1_bank", {&board.l1_bank, 1, kMostMemory}},
                                                   {"l1_small", {&board.l1_small, 0, kMostMemory}},
                                                   {"dram_banks", {&board.dram_banks, 1, kMostCores}},
                                                   {"dram_bank", {&board.dram_bank, 1, kMostMemory}}};
  for (std::size_t i = 0; i < fields.count; ++i) {
    const auto& [key, value] = fields.fields[i];
    if (key == "like") continue;
    if (key == "name") {
      if (!value.is(json::Kind::kString) || value.text.empty()) return bad("\"name\" is not a text");
      board.name = value.text;
    } else if (const auto number = numbers.find(key); number != numbers.end()) {
      const auto& [out, least, most] = number->second;
      const auto read = value.as_int64();
      if (!read || *read < least || *read > most)
        return bad(fmt::format("\"{}\" is not a whole number from {} to {}", key, least, most));
      *out = *read;
    } else if (key == "grid" || key == "mesh") {
      Shape pair;
      for (const json::Node& item : value) pair.push_back(item.as_int64().value_or(0));
      if (pair.size() != 2 || pair[0] < 1 || pair[1] < 1 || pair[0] > kMostCores || pair[1] > kMostCores)
        return bad(fmt::format("\"{}\" is not two whole numbers from 1 to {}", key, kMostCores));
      if (key == "grid")
        board.grid = {pair[0], pair[1]};
      else
        board.mesh = pair;
    } else {
      static constexpr std::array<std::string_view, 8> kFields{"name",    "like",     "grid",       "mesh",
                                                               "l1_bank", "l1_small", "dram_banks", "dram_bank"};
      return bad(fmt::format("nothing is known of \"{}\"{}; fields: {}", key, did_you_mean(near_names(key, kFields)),
                             fmt::join(kFields, ", ")));
    }
  }
  if (board.l1_small >= board.l1_bank) return bad("\"l1_small\" leaves no L1");
  return board;
}

}  // namespace opwright
