#include "store/sqlite/tally.h"

#include <fmt/format.h>

#include "store/sqlite/sums.h"

namespace opwright::store::sqlite {

Error damage(const std::string& path, const std::string& what) {
  return {ErrorCode::kBadInput,
          fmt::format("{}: {}; the store is damaged: 'opwright doctor --deep' lists what is, 'opwright doctor --repair "
                      "-o NEW' saves the rest into a new store (nothing was changed)",
                      path, what)};
}

std::int64_t tally_sum(Part part, std::int64_t group, const Tally::Group& content) {
  constexpr auto kTallyItself = static_cast<Part>(0);
  return RowSum(kTallyItself)
      .add(static_cast<std::int64_t>(part))
      .add(group)
      .add(content.rows)
      .add(static_cast<std::int64_t>(content.total))
      .value();
}

Result<Tally::Group> read_tally(const Statement& row, Part part, std::int64_t group, const std::string& path) {
  const Tally::Group content{row.integer(0), static_cast<std::uint64_t>(row.integer(1))};
  if (row.integer(2) == tally_sum(part, group, content)) return content;
  return fail(damage(path, fmt::format("table tally, row {} of {}: its checksum is not that of its content", group,
                                       part_of(part).table)));
}

Status Tally::write(Database& database) {
  if (groups_.empty()) return {};
  if (!find_.is_prepared()) {
    OPWRIGHT_TRY_ASSIGN(find_, database.prepare("SELECT rows, total, sum FROM tally WHERE part = ? AND chunk = ?"));
    OPWRIGHT_TRY_ASSIGN(put_, database.prepare("INSERT OR REPLACE INTO tally(part, chunk, rows, total, sum)"
                                               " VALUES (?, ?, ?, ?, ?)"));
  }
  for (const auto& [name, change] : groups_) {
    const auto part = static_cast<std::int64_t>(name.first);
    Group content;
    OPWRIGHT_TRY_ASSIGN(const bool known, find_.bind(1, part).bind(2, name.second).step());
    if (known) {
      OPWRIGHT_TRY_ASSIGN(content, read_tally(find_, name.first, name.second, database.path()));
      find_.reset();
    }
    content.rows += change.rows;
    content.total += change.total;
    put_.bind(1, part).bind(2, name.second).bind(3, content.rows).bind(4, static_cast<std::int64_t>(content.total));
    OPWRIGHT_TRY(put_.bind(5, tally_sum(name.first, name.second, content)).run());
  }
  groups_.clear();
  return {};
}

}  // namespace opwright::store::sqlite
