#include "store/sqlite/blocks.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sums.h"

namespace opwright::store::sqlite {
namespace {

Error unreadable(const Database& database, Part part, std::int64_t group) {
  return damage(database.path(), fmt::format("table {}, row {}: it cannot be read", part_of(part).table, group));
}

Result<Statement> prepare_find(Database& database, Part part) {
  const TablePart& table = part_of(part);
  return database.prepare(fmt::format("SELECT {}, sum FROM {} WHERE id = ?", column_list(table), table.table));
}

// The row of a block, verified, and that it is the one that was written last. False: there is none.
Result<bool> find_block(Database& database, Verifier& verifier, Part part, std::int64_t group, Statement& find) {
  OPWRIGHT_TRY_ASSIGN(const bool is_there, find.bind(1, group).step());
  OPWRIGHT_TRY_ASSIGN(const Tally::Group expected, verifier.tallied(database, part, group));
  if (!is_there && expected.rows == 0) return false;
  if (!is_there)
    return fail(damage(database.path(), fmt::format("table {}: row {} is missing", part_of(part).table, group)));
  Status sound = verifier.check_row(database, part, find);
  if (sound && (expected.rows != 1 || expected.total != static_cast<std::uint64_t>(find.integer(2))))
    sound = fail(damage(database.path(), fmt::format("table {}, row {}: it is not the one that was written",
                                                     part_of(part).table, group)));
  if (!sound) {
    find.reset();
    return fail(sound.error());
  }
  return true;
}

}  // namespace

// ---- from the tables

Status CardMaker::prepare(Database& database, bool has_sums, Groups groups) {
  has_sums_ = has_sums;
  groups_ = groups;
  const auto make = [&](Statement& statement, Part part, const char* which) -> Status {
    const TablePart& table = part_of(part);
    OPWRIGHT_TRY_ASSIGN(statement, database.prepare(fmt::format("SELECT {}{} FROM {} WHERE {}", column_list(table),
                                                                has_sums ? ", sum" : "", table.table, which)));
    return {};
  };
  OPWRIGHT_TRY(make(configurations_, Part::kConfiguration, "id BETWEEN ? AND ? ORDER BY id"));
  OPWRIGHT_TRY(make(forms_, Part::kForm, "configuration_id BETWEEN ? AND ? ORDER BY configuration_id, id"));
  return make(occurrences_, Part::kOccurrence, "form_id = ?");
}

Result<std::string> CardMaker::make(Database& database, Verifier& verifier, std::int64_t group) {
  const auto each = [&](Statement& statement, Part part, const auto& use) -> Status {
    while (true) {
      OPWRIGHT_TRY_ASSIGN(const bool row, statement.step());
      if (!row) return {};
      const Status sound = has_sums_ ? verifier.check_row(database, part, statement) : Status();
      if (!sound) {
        statement.reset();
        return sound;
      }
      use(statement);
    }
  };
  const auto check = [&](Part part, std::int64_t of) {
    return groups_ == Groups::kVerified ? verifier.check(database, part, of) : Status();
  };
  OPWRIGHT_TRY(check(Part::kConfiguration, group));
  OPWRIGHT_TRY(check(Part::kForm, group));
  const std::int64_t first = first_of_range(group), last = first_of_range(group + 1) - 1;
  std::vector<CardRow> rows;
  configurations_.bind(1, first).bind(2, last);
  OPWRIGHT_TRY(each(configurations_, Part::kConfiguration, [&](const Statement& row) {
    CardRow& card = rows.emplace_back();
    card.id = row.integer(0);
    card.operation = row.integer(1);
    card.convention = row.integer(2);
    const std::string_view key = row.blob(3);
    std::copy_n(key.begin(), std::min(key.size(), card.key.size()), card.key.begin());
  }));
  std::vector<std::pair<std::int64_t, std::int64_t>> forms;  // configuration, form
  forms_.bind(1, first).bind(2, last);
  OPWRIGHT_TRY(
      each(forms_, Part::kForm, [&](const Statement& row) { forms.emplace_back(row.integer(2), row.integer(0)); }));
  std::set<std::string, std::less<>> sweeps;
  auto card = rows.begin();
  for (const auto& [configuration, form] : forms) {
    while (card != rows.end() && card->id < configuration) ++card;
    if (card == rows.end() || card->id != configuration) continue;  // foreign keys say so, not this
    OPWRIGHT_TRY(check(Part::kOccurrence, range_group(form)));
    occurrences_.bind(1, form);
    OPWRIGHT_TRY(each(occurrences_, Part::kOccurrence, [&](const Statement& row) {
      card->seen.push_back({{row.integer(0)},
                            {row.integer(1)},
                            {row.integer(2)},
                            {row.integer(3)},
                            *sweeps.emplace(row.text(4)).first,
                            row.is_null(6) ? kUncounted : row.integer(6),
                            row.integer(8)});
    }));
  }
  return card_block(rows);
}

Status for_each_parts(Database& database,
                      const std::function<void(std::int64_t configuration, const std::string& parts)>& use) {
  OPWRIGHT_TRY_ASSIGN(Statement list, database.prepare("SELECT id, data FROM record"));
  RecordBlock block;
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, list.step());
    if (!row) return {};
    if (!block.open(list.blob(1))) return fail(unreadable(database, Part::kRecord, list.integer(0)));
    for (std::int64_t id = first_of_range(list.integer(0)); id < first_of_range(list.integer(0) + 1); ++id) {
      if (!block.entry(id).is_there) continue;
      std::string parts;
      for (const std::uint32_t place : block.places(block.entry(id))) append_sized(parts, block.table()[place]);
      use(id, parts);
    }
  }
}

Status write_all_cards(Database& database) {
  CardMaker maker;
  Verifier verifier;
  Tally tally;
  OPWRIGHT_TRY(maker.prepare(database, true, CardMaker::Groups::kAsTheyAre));
  OPWRIGHT_TRY_ASSIGN(Statement add, database.prepare(insert_summed(Part::kCard)));
  OPWRIGHT_TRY_ASSIGN(const std::vector<std::int64_t> groups, Verifier::groups(database, Part::kConfiguration));
  for (const std::int64_t group : groups) {
    const auto data = maker.make(database, verifier, group);
    if (!data && data.error().code == ErrorCode::kBadInput) continue;  // damaged: no card, so that whoever asks is told
    if (!data) return fail(data.error());
    SummedRow row(add, Part::kCard);
    row << group << Blob{*data};
    tally.add(Part::kCard, group, row.bind_sum());
    OPWRIGHT_TRY(add.run());
  }
  return tally.write(database);
}

Status compare_cards(Database& database, const std::function<void(const std::string& what)>& differs) {
  CardMaker maker;
  Verifier verifier;  // rows were verified before
  verifier.tell_damage_to([](const std::string&) {});
  OPWRIGHT_TRY(maker.prepare(database, true, CardMaker::Groups::kAsTheyAre));
  OPWRIGHT_TRY_ASSIGN(Statement find, prepare_find(database, Part::kCard));
  OPWRIGHT_TRY_ASSIGN(Statement list,
                      database.prepare("SELECT DISTINCT id >> 6 FROM configuration UNION SELECT id FROM card"));
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool more, list.step());
    if (!more) return {};
    const std::int64_t group = list.integer(0);
    OPWRIGHT_TRY_ASSIGN(const std::string wanted, maker.make(database, verifier, group));
    OPWRIGHT_TRY_ASSIGN(const bool is_there, find.bind(1, group).step());
    if (!is_there || find.blob(1) != wanted)
      differs(fmt::format("table card, row {}: it is not what its configurations and their occurrences say", group));
    find.reset();
  }
}

// ---- writing

Status BlockWriter::prepare(Database& database, ConfigId first) {
  first_ = first;
  const auto make = [&](Statements& statements, Part part) -> Status {
    OPWRIGHT_TRY_ASSIGN(statements.find, prepare_find(database, part));
    OPWRIGHT_TRY_ASSIGN(statements.add, database.prepare(insert_summed(part)));
    OPWRIGHT_TRY_ASSIGN(statements.change, database.prepare(update_summed(part)));
    return {};
  };
  OPWRIGHT_TRY(make(cards_, Part::kCard));
  OPWRIGHT_TRY(make(records_, Part::kRecord));
  return maker_.prepare(database, true, CardMaker::Groups::kAsTheyAre);
}

Status BlockWriter::add(Database& database, Verifier& verifier, Tally& tally, const NewConfiguration& configuration,
                        OperationId operation) {
  if (configuration.id < first_) {
    changed_.insert(range_group(configuration.id.value));
  } else {
    const auto place = static_cast<std::size_t>(configuration.id.value - first_.value);
    if (heads_.size() <= place) heads_.resize(place + 1);
    heads_[place] = {operation.value, configuration.convention, configuration.key};
  }
  if (configuration.parts.empty()) return {};
  const std::int64_t group = range_group(configuration.id.value);
  if (group != record_group_) OPWRIGHT_TRY(write_record(database, verifier, tally));
  record_group_ = group;
  record_.add(configuration.id.value, configuration.parts);
  return {};
}

void BlockWriter::see(ConfigId configuration, const NewOccurrence& row) {
  if (range_group(configuration.value) <= range_group(first_.value)) changed_.insert(range_group(configuration.value));
  if (configuration < first_) return;
  const auto sweep = sweeps_.find(row.sweep_source_hash);
  seen_.push_back(
      {configuration,
       {row.form, row.source, row.machine, row.trace,
        sweep != sweeps_.end() ? *sweep : *sweeps_.emplace(row.sweep_source_hash).first, row.count, row.raised}});
}

Status BlockWriter::put(Database& database, Verifier& verifier, Tally& tally, Part part, std::int64_t group,
                        const std::string& data) {
  Statements& statements = part == Part::kCard ? cards_ : records_;
  std::int64_t old_sum = 0;
  OPWRIGHT_TRY_ASSIGN(const bool is_there, statements.find.bind(1, group).step());
  if (is_there) {
    const Status sound = verifier.check_row(database, part, statements.find);
    const bool same = statements.find.blob(1) == data;
    old_sum = statements.find.integer(2);
    statements.find.reset();
    OPWRIGHT_TRY(sound);
    if (same) return {};
  }
  Statement& write = is_there ? statements.change : statements.add;
  SummedRow row(write, part);
  row << group << Blob{data};
  const std::int64_t sum = row.bind_sum();
  if (is_there)
    tally.replace(part, group, old_sum, sum);
  else
    tally.add(part, group, sum);
  return write.run();
}

Status BlockWriter::write_record(Database& database, Verifier& verifier, Tally& tally) {
  if (record_.is_empty()) return {};
  const std::int64_t group = record_group_;
  OPWRIGHT_TRY_ASSIGN(const bool is_there, records_.find.bind(1, group).step());
  if (is_there) {
    const Status sound = verifier.check_row(database, Part::kRecord, records_.find);
    RecordBlock old;
    const bool read = old.open(records_.find.blob(1));
    records_.find.reset();
    OPWRIGHT_TRY(sound);
    if (!read) return fail(unreadable(database, Part::kRecord, group));
    for (std::int64_t id = first_of_range(group); id < first_of_range(group + 1); ++id) {
      if (old.entry(id).is_there && !record_.has(id)) record_.add(id, old);
    }
  }
  OPWRIGHT_TRY(put(database, verifier, tally, Part::kRecord, group, record_.block()));
  record_.clear();
  return {};
}

Status BlockWriter::replace(Database& database, Verifier& verifier, Tally& tally, ConfigId configuration,
                            const std::string& parts) {
  constexpr std::size_t kHeld = std::size_t{4} << 20;
  replaced_[configuration.value] = parts;
  replaced_bytes_ += parts.size();
  return replaced_bytes_ < kHeld ? Status() : write_replaced(database, verifier, tally);
}

Status BlockWriter::write_replaced(Database& database, Verifier& verifier, Tally& tally) {
  OPWRIGHT_TRY(write_record(database, verifier, tally));  // what waits may be replaced
  for (const auto& [id, parts] : replaced_) {
    if (range_group(id) != record_group_) OPWRIGHT_TRY(write_record(database, verifier, tally));
    record_group_ = range_group(id);
    record_.add(id, parts);
  }
  replaced_.clear();
  replaced_bytes_ = 0;
  return write_record(database, verifier, tally);
}

Result<std::vector<ConfigId>> BlockWriter::without_records(Database& database) {
  const auto groups = [&](Part part) {
    return database.query_integer(fmt::format("SELECT count(*) FROM tally WHERE part = {}", static_cast<int>(part)));
  };
  std::vector<ConfigId> ids;
  OPWRIGHT_TRY_ASSIGN(const std::int64_t all, groups(Part::kConfiguration));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t recorded, groups(Part::kRecord));
  if (recorded >= all) return ids;
  OPWRIGHT_TRY_ASSIGN(Statement find, database.prepare("SELECT id FROM configuration WHERE id >> 6 NOT IN (SELECT id"
                                                       " FROM record) ORDER BY id"));
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find.step());
    if (!row) return ids;
    ids.push_back({find.integer(0)});
  }
}

// Of a group in which all is new; takes its sightings from the front of `seen`.
std::string BlockWriter::new_cards(std::int64_t group, std::span<const Sighting>& seen) const {
  std::vector<CardRow> rows;
  for (std::int64_t id = std::max(first_of_range(group), first_.value); id < first_of_range(group + 1); ++id) {
    const auto place = static_cast<std::size_t>(id - first_.value);
    if (place >= heads_.size()) break;
    CardRow row{
        id, heads_[place].operation, static_cast<std::int64_t>(heads_[place].convention), heads_[place].key, {}};
    for (; !seen.empty() && seen.front().configuration.value <= id; seen = seen.subspan(1)) {
      if (seen.front().configuration.value == id) row.seen.push_back(seen.front().seen);
    }
    if (row.operation != 0) rows.push_back(std::move(row));
  }
  return card_block(rows);
}

Status BlockWriter::finish(Database& database, Verifier& verifier, Tally& tally) {
  OPWRIGHT_TRY(write_replaced(database, verifier, tally));
  // Numbers begin with 1: nothing is in front of it in its group.
  const bool all_new = first_.value <= 1 || first_.value == first_of_range(range_group(first_.value));
  const std::int64_t first_new = range_group(first_.value) + (all_new ? 0 : 1);
  if (!heads_.empty()) changed_.insert(range_group(first_.value));
  for (const std::int64_t group : changed_) {
    if (group >= first_new) continue;
    OPWRIGHT_TRY_ASSIGN(const std::string data, maker_.make(database, verifier, group));
    OPWRIGHT_TRY(put(database, verifier, tally, Part::kCard, group, data));
  }
  changed_.clear();
  const auto by_configuration = [](const Sighting& a, const Sighting& b) { return a.configuration < b.configuration; };
  if (!std::is_sorted(seen_.begin(), seen_.end(), by_configuration))
    std::stable_sort(seen_.begin(), seen_.end(), by_configuration);
  std::span<const Sighting> seen(seen_);
  const std::int64_t behind = first_.value + static_cast<std::int64_t>(heads_.size());
  for (std::int64_t group = first_new; first_of_range(group) < behind; ++group)
    OPWRIGHT_TRY(put(database, verifier, tally, Part::kCard, group, new_cards(group, seen)));
  heads_.clear();
  seen_.clear();
  return {};
}

// ---- reading

Status BlockReader::prepare(Database& database, std::int64_t schema) {
  has_blocks_ = schema >= kFirstSchemaWithBlocks;
  if (!has_blocks_) return maker_.prepare(database, schema >= kFirstSummedSchema, CardMaker::Groups::kVerified);
  OPWRIGHT_TRY_ASSIGN(find_card_, prepare_find(database, Part::kCard));
  OPWRIGHT_TRY_ASSIGN(find_record_, prepare_find(database, Part::kRecord));
  return {};
}

Result<const CardBlock*> BlockReader::cards(Database& database, Verifier& verifier, std::int64_t group) {
  if (group == card_group_) return &card_;
  card_group_ = -1;
  if (has_blocks_) {
    OPWRIGHT_TRY_ASSIGN(const bool is_there, find_block(database, verifier, Part::kCard, group, find_card_));
    const bool read = card_.open(is_there ? find_card_.blob(1) : std::string_view("\0", 1));
    find_card_.reset();
    if (!read) return fail(unreadable(database, Part::kCard, group));
  } else {
    OPWRIGHT_TRY_ASSIGN(const std::string made, maker_.make(database, verifier, group));
    if (!card_.open(made)) return fail(unreadable(database, Part::kConfiguration, group));
  }
  card_group_ = group;
  return &card_;
}

Result<const RecordBlock*> BlockReader::records(Database& database, Verifier& verifier, std::int64_t group) {
  if (group == record_group_) return &record_;
  record_group_ = -1;
  bool is_there = false;
  if (has_blocks_) {
    OPWRIGHT_TRY_ASSIGN(is_there, find_block(database, verifier, Part::kRecord, group, find_record_));
  }
  const bool read = record_.open(is_there ? find_record_.blob(1) : std::string_view("\0\0", 2));
  if (is_there) find_record_.reset();
  if (!read) return fail(unreadable(database, Part::kRecord, group));
  record_group_ = group;
  return &record_;
}

}  // namespace opwright::store::sqlite
