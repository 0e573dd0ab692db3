#include "store/postgresql/blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"

namespace opwright::store::postgresql {
namespace {

constexpr std::size_t kGroupsAtOnce = 256;

Status put_blocks(Connection& connection, const char* table, std::span<const std::int64_t> ids,
                  std::span<const std::string> data) {
  if (ids.empty()) return {};
  Params put;
  (put << ids).blobs(data);
  const auto done = connection.query(fmt::format("INSERT INTO {0} SELECT * FROM unnest($1, $2) ON CONFLICT (id) DO "
                                                 "UPDATE SET data = excluded.data WHERE {0}.data <> excluded.data",
                                                 table),
                                     put);
  return done ? Status() : fail(done.error());
}

// Cards of these groups, made from the tables that they are a copy of.
Status make_cards(Connection& connection, std::span<const std::int64_t> groups) {
  Params of;
  of << groups;
  // LATERAL with OFFSET 0: a look into the index for each group, whatever the server believes of its tables.
  OPWRIGHT_TRY_ASSIGN(
      const Rows heads,
      connection.query("SELECT c.id, c.operation_id, c.convention, c.key FROM unnest($1) g, LATERAL "
                       "(SELECT * FROM configuration WHERE id BETWEEN g * 64 AND g * 64 + 63 OFFSET 0) c "
                       "ORDER BY c.id",
                       of));
  OPWRIGHT_TRY_ASSIGN(
      const Rows seen,
      connection.query("SELECT f.configuration_id, o.form_id, o.source_id, o.machine_id, o.trace_id, "
                       "o.sweep_source_hash, o.count, o.raised FROM unnest($1) g, LATERAL (SELECT id, configuration_id "
                       "FROM form WHERE configuration_id BETWEEN g * 64 AND g * 64 + 63 OFFSET 0) f, LATERAL (SELECT * "
                       "FROM occurrence WHERE form_id = f.id OFFSET 0) o",
                       of));
  std::map<std::int64_t, std::vector<CardRow>> cards;
  for (const std::int64_t group : groups) cards[group];
  std::unordered_map<std::int64_t, CardRow*> by_id;
  for (int i = 0; i < heads.count(); ++i) {
    CardRow row{heads.integer(i, 0), heads.integer(i, 1), heads.integer(i, 2), {}, {}};
    const std::string_view key = heads.blob(i, 3);
    std::copy_n(key.begin(), std::min(key.size(), row.key.size()), row.key.begin());
    cards[range_group(row.id)].push_back(std::move(row));
  }
  for (auto& [group, rows] : cards)
    for (CardRow& row : rows) by_id.emplace(row.id, &row);
  std::set<std::string> sweeps;
  for (int i = 0; i < seen.count(); ++i) {
    const auto card = by_id.find(seen.integer(i, 0));
    if (card == by_id.end()) continue;
    card->second->seen.push_back({{seen.integer(i, 1)},
                                  {seen.integer(i, 2)},
                                  {seen.integer(i, 3)},
                                  {seen.integer(i, 4)},
                                  *sweeps.insert(seen.text(i, 5)).first,
                                  seen.integer(i, 6),
                                  seen.integer(i, 7)});
  }
  std::vector<std::string> data;
  data.reserve(cards.size());
  std::vector<std::int64_t> ids;
  for (auto& [group, rows] : cards) {
    ids.push_back(group);
    data.push_back(card_block(rows));
  }
  return put_blocks(connection, "card", ids, data);
}

Error unreadable(const Connection& connection, const char* table, std::int64_t group) {
  return {ErrorCode::kBadInput,
          fmt::format("{}: table {}, row {}: it cannot be read; the store is damaged, restore a backup (nothing was "
                      "changed)",
                      connection.name(), table, group)};
}

std::vector<std::int64_t> groups_of(std::span<const ConfigId> ids) {
  std::vector<std::int64_t> groups;
  for (const ConfigId id : ids) {
    if (groups.empty() || groups.back() != range_group(id.value)) groups.push_back(range_group(id.value));
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

}  // namespace

Status BlockWriter::put_parts(Connection& connection, ConfigId configuration, const std::string& parts) {
  constexpr std::size_t kHeld = std::size_t{8} << 20;
  parts_[configuration.value] = parts;
  bytes_ += parts.size();
  return bytes_ < kHeld ? Status() : write_records(connection);
}

Status BlockWriter::write_records(Connection& connection) {
  std::vector<std::int64_t> groups;
  for (const auto& [id, parts] : parts_) {
    if (groups.empty() || groups.back() != range_group(id)) groups.push_back(range_group(id));
  }
  auto next = parts_.begin();
  for (std::size_t from = 0; from < groups.size(); from += kGroupsAtOnce) {
    const auto some = std::span(groups).subspan(from, std::min(kGroupsAtOnce, groups.size() - from));
    Params of;
    of << some;
    OPWRIGHT_TRY_ASSIGN(const Rows old, connection.query("SELECT id, data FROM record WHERE id = ANY($1)", of));
    std::unordered_map<std::int64_t, int> there;
    for (int i = 0; i < old.count(); ++i) there.emplace(old.integer(i, 0), i);
    std::vector<std::string> data;
    for (const std::int64_t group : some) {
      RecordBuilder builder;
      for (; next != parts_.end() && range_group(next->first) == group; ++next) builder.add(next->first, next->second);
      RecordBlock before;
      if (const auto found = there.find(group); found != there.end()) {
        if (!before.open(old.blob(found->second, 1))) return fail(unreadable(connection, "record", group));
        for (std::int64_t id = first_of_range(group); id < first_of_range(group + 1); ++id) {
          if (before.entry(id).is_there && !builder.has(id)) builder.add(id, before);
        }
      }
      data.push_back(builder.block());
    }
    OPWRIGHT_TRY(put_blocks(connection, "record", some, data));
  }
  parts_.clear();
  bytes_ = 0;
  return {};
}

Status BlockWriter::finish(Connection& connection) {
  OPWRIGHT_TRY(write_records(connection));
  const std::vector<std::int64_t> groups(changed_.begin(), changed_.end());
  for (std::size_t from = 0; from < groups.size(); from += kGroupsAtOnce)
    OPWRIGHT_TRY(
        make_cards(connection, std::span(groups).subspan(from, std::min(kGroupsAtOnce, groups.size() - from))));
  changed_.clear();
  return {};
}

Status BlockReader::fetch(Connection& connection, std::span<const ConfigId> ids, bool with_records) {
  const std::vector<std::int64_t> groups = groups_of(ids);
  cards_.clear();
  records_.clear();
  Params of;
  of << groups;
  OPWRIGHT_TRY_ASSIGN(const Rows cards, connection.query("SELECT id, data FROM card WHERE id = ANY($1)", of));
  for (int i = 0; i < cards.count(); ++i) {
    if (!cards_[cards.integer(i, 0)].open(cards.blob(i, 1)))
      return fail(unreadable(connection, "card", cards.integer(i, 0)));
  }
  if (!with_records) return {};
  OPWRIGHT_TRY_ASSIGN(const Rows records, connection.query("SELECT id, data FROM record WHERE id = ANY($1)", of));
  for (int i = 0; i < records.count(); ++i) {
    if (!records_[records.integer(i, 0)].open(records.blob(i, 1)))
      return fail(unreadable(connection, "record", records.integer(i, 0)));
  }
  return {};
}

const CardBlock* BlockReader::cards(std::int64_t group) const {
  const auto found = cards_.find(group);
  return found != cards_.end() ? &found->second : nullptr;
}
const RecordBlock* BlockReader::records(std::int64_t group) const {
  const auto found = records_.find(group);
  return found != records_.end() ? &found->second : nullptr;
}

}  // namespace opwright::store::postgresql
