#include "fuse/python_parts.h"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <vector>

namespace opwright::embedded {
extern const std::string_view kFusedTestParts;
extern const std::string_view kFusedTestReferences;
}  // namespace opwright::embedded

namespace opwright::fuse {
namespace {

enum class For : std::uint8_t { kAny, kChip, kMesh };

struct Part {
  std::string name;
  std::string text;     // whole lines, those under a condition with it
  std::string heading;  // the comment that opens its section: "# What runs them."
  For is_for = For::kAny;
  Section section = Section::kValues;
  std::set<std::string, std::less<>> mentions;
};

bool in_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string_view name_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && in_name(text[end])) ++end;
  return text.substr(at, end - at);
}

// Names that the text mentions; not those of members and of arguments passed by name.
std::set<std::string, std::less<>> names_in(std::string_view text) {
  std::set<std::string, std::less<>> out;
  for (std::size_t at = 0; at < text.size();) {
    if (!in_name(text[at])) {
      ++at;
      continue;
    }
    const std::string_view name = name_at(text, at);
    if (at == 0 || text[at - 1] != '.') out.emplace(name);
    at += name.size();
  }
  return out;
}

// A line of the template that ends with `# if NAME` is there where NAME is wanted.
constexpr std::string_view kCondition = "  # if ";

// The text with the conditions taken out: lines whose name `holds` does not take are gone.
template <class Holds>
std::string settled(std::string_view text, Holds&& holds) {
  std::string out;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::size_t at = line.find(kCondition);
    if (at != std::string_view::npos && !holds(line.substr(at + kCondition.size()))) continue;
    out += std::string(line.substr(0, at)) + "\n";
  }
  return out;
}

// The name that a line at the left margin defines; "" none: a decorator, a comment.
std::string_view defined_by(std::string_view line) {
  for (const std::string_view word : {"def ", "class "})
    if (line.starts_with(word)) return name_at(line, word.size());
  const std::string_view name = name_at(line, 0);
  return !name.empty() && line.substr(name.size()).starts_with(" = ") ? name : std::string_view();
}

std::vector<Part> read_parts(std::string_view text) {
  std::vector<Part> out;
  std::string heading, before;  // lines in front of the next block that belong to it
  For is_for = For::kAny;
  bool in_header = true;  // the template's own docstring
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const bool at_margin = !line.empty() && line[0] != ' ' && line[0] != ')';
    const std::string_view name = at_margin ? defined_by(line) : std::string_view();
    if (in_header) {
      in_header = line != "\"\"\"";
      continue;
    }
    if (!name.empty()) {
      Part part;
      part.name = name;
      part.heading = heading;
      part.is_for = is_for;
      part.text = before + std::string(line) + "\n";
      is_for = For::kAny;
      before.clear();
      out.push_back(std::move(part));
    } else if (line == "# chip:" || line == "# mesh:") {
      is_for = line == "# chip:" ? For::kChip : For::kMesh;
    } else if (line.starts_with("# ")) {
      heading = line;
    } else if (line.starts_with("@")) {
      before += std::string(line) + "\n";
    } else if (before.empty() && !out.empty()) {
      out.back().text += std::string(line) + "\n";
    }
  }
  for (Part& part : out) {
    while (part.text.ends_with("\n\n")) part.text.pop_back();
    if (part.heading.starts_with("# The exact")) part.section = Section::kReferences;
    if (part.heading.starts_with("# What runs")) part.section = Section::kMachinery;
    part.mentions = names_in(settled(part.text, [](std::string_view) { return false; }));
  }
  return out;
}

const std::vector<Part>& all_parts() {
  static const std::vector<Part> parts = [] {
    std::vector<Part> out = read_parts(embedded::kFusedTestParts);
    std::ranges::move(read_parts(embedded::kFusedTestReferences), std::back_inserter(out));
    return out;
  }();
  return parts;
}

bool fits(const Part& part, bool is_mesh) { return part.is_for == For::kAny || (part.is_for == For::kMesh) == is_mesh; }

}  // namespace

bool has_part(std::string_view name) {
  return std::ranges::any_of(all_parts(), [&](const Part& part) { return part.name == name; });
}

std::string parts_for(const std::set<std::string>& roots, bool is_mesh, Section section) {
  std::set<std::string, std::less<>> wanted(roots.begin(), roots.end());
  for (bool grows = true; grows;) {
    grows = false;
    for (const Part& part : all_parts())
      if (fits(part, is_mesh) && wanted.contains(part.name))
        for (const std::string& name : part.mentions) grows |= has_part(name) && wanted.insert(name).second;
  }
  std::string out;
  std::string_view heading;
  bool was_short = false;  // a line or two: no empty lines between them
  for (const Part& part : all_parts()) {
    if (part.section != section || !fits(part, is_mesh) || !wanted.contains(part.name)) continue;
    const bool is_short = std::ranges::count(part.text, '\n') == 1;
    const bool opens = part.heading != heading;
    if (!out.empty() && (!is_short || !was_short || opens)) out += "\n\n";
    if (opens) out += part.heading + "\n";
    heading = part.heading;
    was_short = is_short;
    out += settled(part.text, [&](std::string_view name) { return wanted.contains(name); });
  }
  return out;
}

}  // namespace opwright::fuse
