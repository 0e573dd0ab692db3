// Parts of an emitted test that are not its own: the top-level blocks of templates/, as far as they
// are needed. A test is read by people: what it does not use is not in it.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

namespace opwright::fuse {

// The template's sections: what the parameter table is made of, exact results of operations, what runs a test.
enum class Section : std::uint8_t { kValues, kReferences, kMachinery };

// Whether the template defines it.
bool has_part(std::string_view name);

// Of one section the blocks called `roots` and those that blocks of any section mention, in the order of the template;
// of two that exist for one chip and for a mesh the right one. Lines between blocks that say what follows stay where
// something follows.
std::string parts_for(const std::set<std::string>& roots, bool is_mesh, Section section);

}  // namespace opwright::fuse
