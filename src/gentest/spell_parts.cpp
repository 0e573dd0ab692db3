#include "gentest/spell_parts.h"

#include <algorithm>

namespace opwright::gentest {
namespace {

std::optional<std::int64_t> whole(const Value& value) {
  if (const std::int64_t* number = value.as_int()) return *number;
  return std::nullopt;
}

const Value* field(const Fields& fields, std::string_view name) {
  for (const auto& [key, value] : fields)
    if (key == name) return &value;
  return nullptr;
}

Python core_coord(std::int64_t x, std::int64_t y) {
  return Python::call("ttnn.CoreCoord").add(Python::atom(std::to_string(x))).add(Python::atom(std::to_string(y)));
}

Python core_range(const CoreRange& range) {
  return Python::call("ttnn.CoreRange")
      .add(core_coord(range.start.x, range.start.y))
      .add(core_coord(range.end.x, range.end.y));
}

}  // namespace

Python spell_core_coord(CoreCoord place) { return core_coord(place.x, place.y); }

Python spell_core_range_set(const std::vector<CoreRange>& ranges) {
  Python list = Python::list();
  for (const CoreRange& range : ranges) list.add(core_range(range));
  return Python::call("ttnn.CoreRangeSet").add(std::move(list));
}

std::optional<CoreCoord> as_core_coord(const Value& value) {
  if (const List* pair = value.as_list(); pair != nullptr && pair->size() == 2) {
    const auto x = whole((*pair)[0]), y = whole((*pair)[1]);
    return x && y ? std::optional(CoreCoord{*x, *y}) : std::nullopt;
  }
  const Fields* fields = value.as_dict();
  if (const Struct* s = value.as_struct()) fields = &s->fields;
  if (fields == nullptr || fields->size() != 2) return std::nullopt;
  const Value* x = field(*fields, "x");
  const Value* y = field(*fields, "y");
  if (x == nullptr || y == nullptr || !whole(*x) || !whole(*y)) return std::nullopt;
  return CoreCoord{*whole(*x), *whole(*y)};
}

std::optional<CoreRange> as_core_range(const Value& value) {
  if (const List* corners = value.as_list()) {
    if (corners->size() == 4 && std::ranges::all_of(*corners, [](const Value& n) { return whole(n).has_value(); }))
      return CoreRange{{*whole((*corners)[0]), *whole((*corners)[1])}, {*whole((*corners)[2]), *whole((*corners)[3])}};
    if (corners->size() != 2) return std::nullopt;
    const auto start = as_core_coord((*corners)[0]), end = as_core_coord((*corners)[1]);
    return start && end ? std::optional(CoreRange{*start, *end}) : std::nullopt;
  }
  const Fields* fields = value.as_dict();
  if (const Struct* s = value.as_struct()) fields = &s->fields;
  if (fields == nullptr || fields->size() != 2) return std::nullopt;
  const auto start = as_core_coord((*fields)[0].second), end = as_core_coord((*fields)[1].second);
  return start && end ? std::optional(CoreRange{*start, *end}) : std::nullopt;
}

Checked<Python> spell_core_range_set(const List& list) {
  const List* items = &list;
  if (list.size() == 1 && list[0].as_list() != nullptr && !as_core_range(list[0])) items = list[0].as_list();
  std::vector<CoreRange> ranges;
  for (const Value& item : *items) {
    const auto range = as_core_range(item);
    if (!range) return lost("", "a set of cores of which the trace has only a text");
    ranges.push_back(*range);
  }
  return spell_core_range_set(ranges);
}

std::string_view inner_of(std::string_view kind) {
  for (const std::string_view word : {"Sequence[", "Iterable[", "Set[", "list[", "List[", "set["}) {
    const std::size_t at = kind.find(word);
    if (at == std::string_view::npos || (at > 0 && kind[at - 1] != '|')) continue;
    const std::size_t start = at + word.size();
    int depth = 1;
    for (std::size_t i = start; i < kind.size(); ++i) {
      depth += kind[i] == '[' ? 1 : kind[i] == ']' ? -1 : 0;
      if (depth == 0) return kind.substr(start, i - start);
    }
  }
  return {};
}

}  // namespace opwright::gentest
