#include "ops/roles.h"

#include <array>

namespace opwright {
namespace {

struct RoleWords {
  std::string_view name, about;
};
constexpr std::array kWords{
    RoleWords{"plain", "numbers of the recipe's distribution; integers 0 to 63"},
    RoleWords{"positive", "the same, made positive and at least 0.1"},
    RoleWords{"above one", "the same, made positive, plus 1"},
    RoleWords{"non-zero", "the same, at least 0.1 away from zero"},
    RoleWords{"coarse", "the same, rounded to halves, so that equal values meet"},
    RoleWords{
        "unbounded",
        "the same; of 16 neighbours, one time in eight, a quarter each is infinite, minus infinite and no number"},
    RoleWords{"gains", "x moved away from zero by 1/2, so that a missing one shows"},
    RoleWords{"normed",
              "s f (x + o): s and o of the row (of a group norm: of the image's group), some rows of the size of "
              "`epsilon`; f doubles one half and is larger still in one tile"},
    RoleWords{"logits",
              "(s x + l) / `scale`: s of the row; l lifts one tile of the row to two thirds of the sum (a quarter of "
              "17 tiles or more)"},
    RoleWords{"bias", "x times an eighth of the square root of the terms that it is added to"},
    RoleWords{
        "queries",
        "x and a part of keys: of four rows one is decided by the last key that it sees, one would be by the first "
        "that is hidden from it; all others look for the first of their window or any other, which gets about half of "
        "the weight"},
    RoleWords{"sinks", "(2 x + 10) / `scale`: of the size of the largest scores"},
    RoleWords{"ranked",
              "different numbers in random order, 256 down to -256 as bfloat16 holds them, the middle of long rows "
              "nearly 0; in every fourth row each of the largest and smallest is there three times"},
    RoleWords{"reciprocals", "1, 1/2, 1/3, … along a row"},
    RoleWords{"buffer", "overwritten by the call; noise, so that a place that is never written shows"},
    RoleWords{"token ids", "whole numbers below the rows of the table; below 256 where the dtype is bfloat16"},
    RoleWords{"pages", "a shuffled list of the cache's blocks, each once as long as there are enough"},
    RoleWords{"users", "a shuffled list of the batch, each once as long as there are enough"},
    RoleWords{"positions",
              "places within the cache, within the pages of one user, or within the dimension that is indexed"},
    RoleWords{"offsets", "0 to what leaves room for the part that is taken"},
    RoleWords{
        "mask",
        "0, or hidden (minus infinity; a large negative number in block floats and softmax masks) for a quarter of "
        "the places and, in a square or causal mask, for all that is ahead; the first column is always seen"},
    RoleWords{"predicate", "0 or 1, as often"},
    RoleWords{"cosines", "cosines of position x 500000^(-pair / half)"},
    RoleWords{"sines", "sines of the same"},
    RoleWords{"rotation", "the matrix that swaps the members of a pair and turns the sign of one"},
    RoleWords{"indices", "0, 1, 2, … along a row"},
    RoleWords{"bounds", "begin or end of one part of the sliced dimension"},
    RoleWords{"statistics",
              "a mean square of the row's own, every fourth of the size of `epsilon`, in the first column of each "
              "tile, 0 elsewhere"},
    RoleWords{"channels",
              "1 where a column of the tile belongs to the group, 0 elsewhere; the negative mask the other way round"},
    RoleWords{"weights", "plain; of laid-out grouped convolutions 0 between the groups"},
};
constexpr auto kRoles = [] {
  std::array<Role, kWords.size()> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<Role>(i);
  return out;
}();
static_assert(static_cast<std::size_t>(Role::kWeights) + 1 == kWords.size());

}  // namespace

std::string_view name_of(Role role) { return kWords[static_cast<std::size_t>(role)].name; }
std::string_view about(Role role) { return kWords[static_cast<std::size_t>(role)].about; }
std::span<const Role> all_roles() { return kRoles; }

}  // namespace opwright
