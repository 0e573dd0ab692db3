#include "store/sqlite/fact_index.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "store/encoding/posting_list.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sums.h"

namespace opwright::store::sqlite {
namespace {

constexpr std::size_t kHeld = 1 << 19;  // facts sorted together: the more, the fewer pieces a list has

std::int64_t column(std::uint64_t kind) { return static_cast<std::int64_t>(kind); }

std::uint64_t mixed(std::uint64_t kind, std::int64_t value) {
  return kind ^ (static_cast<std::uint64_t>(value) * 0x9e3779b97f4a7c15u);
}

Error unreadable(const Database& database, std::uint64_t kind) {
  return damage(database.path(), fmt::format("table fact: a list of kind {} cannot be read", kind));
}

}  // namespace

Status FactWriter::prepare(Database& database) {
  OPWRIGHT_TRY_ASSIGN(add_fact_, database.prepare(insert_summed(Part::kFact)));
  OPWRIGHT_TRY_ASSIGN(add_word_, database.prepare(insert_summed(Part::kWord) + " ON CONFLICT DO NOTHING"));
  return {};
}

Status FactWriter::add(Database& database, Tally& tally, std::span<const Fact> facts, std::span<const Word> words) {
  for (const Word& word : words) {
    if (!words_.insert(mixed(word.kind, word.value)).second) continue;
    SummedRow row(add_word_, Part::kWord);
    row << column(word.kind) << word.value << word.text;
    const std::int64_t sum = row.bind_sum();
    OPWRIGHT_TRY(add_word_.run());
    if (database.changes() > 0) tally.add(Part::kWord, top_group(column(word.kind)), sum);
  }
  for (const Fact& fact : facts)
    facts_.add({fact.kind, fact.value}, mixed(fact.kind, fact.value), fact.configuration.value);
  return facts_.size() >= kHeld ? write(database, tally) : Status();
}

void FactWriter::see(ConfigId configuration, SourceId source, MachineId machine) {
  const auto add = [&](std::uint64_t kind, std::int64_t value) {
    std::vector<std::int64_t>& ids = seen_[{kind, value}];
    if (ids.empty() || ids.back() != configuration.value) ids.push_back(configuration.value);
  };
  add(kSourceFact, source.value);
  add(kMachineFact, machine.value);
}

Status FactWriter::put(Tally& tally, std::uint64_t kind, std::int64_t value, std::span<const std::int64_t> ids) {
  std::string steps;
  for (std::size_t i = 1; i < ids.size(); ++i) append_step(steps, ids[i - 1], ids[i]);
  SummedRow row(add_fact_, Part::kFact);
  row << column(kind) << value << ids.front() << Blob{steps};
  tally.add(Part::kFact, top_group(column(kind)), row.bind_sum());
  return add_fact_.run();
}

Status FactWriter::write(Database&, Tally& tally) {
  const auto before = [](const Seen& a, const Seen& b) {
    return a.kind != b.kind ? column(a.kind) < column(b.kind) : a.value < b.value;
  };
  return facts_.take(before, [&](const Seen& fact, std::span<const std::int64_t> ids) {
    return put(tally, fact.kind, fact.value, ids);
  });
}

Status FactWriter::unite(Database& database, Verifier& verifier, Tally& tally, const Seen& seen,
                         std::vector<std::int64_t> ids) {
  const auto settle = [](std::vector<std::int64_t>& all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  };
  settle(ids);
  OPWRIGHT_TRY_ASSIGN(Statement find,
                      database.prepare(fmt::format("SELECT {}, sum FROM fact WHERE kind = ? AND value = ?",
                                                   column_list(part_of(Part::kFact)))));
  find.bind(1, column(seen.kind)).bind(2, seen.value);
  std::vector<std::int64_t> there;
  std::vector<std::pair<std::int64_t, std::int64_t>> pieces;  // first id, checksum
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool row, find.step());
    if (!row) break;
    OPWRIGHT_TRY(verifier.check_row(database, Part::kFact, find));
    if (!decode_ids(find.integer(2), find.blob(3), there)) return fail(unreadable(database, seen.kind));
    pieces.emplace_back(find.integer(2), find.integer(4));
  }
  settle(there);
  if (std::includes(there.begin(), there.end(), ids.begin(), ids.end())) return {};
  OPWRIGHT_TRY_ASSIGN(Statement remove,
                      database.prepare("DELETE FROM fact WHERE kind = ? AND value = ? AND first = ?"));
  for (const auto& [first, sum] : pieces) {
    tally.remove(Part::kFact, top_group(column(seen.kind)), sum);
    OPWRIGHT_TRY(remove.bind(1, column(seen.kind)).bind(2, seen.value).bind(3, first).run());
  }
  ids.insert(ids.end(), there.begin(), there.end());
  settle(ids);
  return put(tally, seen.kind, seen.value, ids);
}

Status FactWriter::finish(Database& database, Verifier& verifier, Tally& tally) {
  OPWRIGHT_TRY(write(database, tally));
  for (auto& [seen, ids] : seen_) OPWRIGHT_TRY(unite(database, verifier, tally, seen, std::move(ids)));
  seen_.clear();
  return {};
}

Status FactReader::prepare(Database& database, Verifier& verifier, std::int64_t schema) {
  if (schema < kFirstSchemaWithFacts) {
    first_ = std::numeric_limits<std::int64_t>::max();
    return {};
  }
  OPWRIGHT_TRY(verifier.read(database, Part::kSetting, 0, [&](const Statement& row) -> Status {
    if (row.text(0) != kFactsFrom) return {};
    const std::string_view digits = row.text(1);
    std::from_chars(digits.data(), digits.data() + digits.size(), first_);
    return {};
  }));
  OPWRIGHT_TRY_ASSIGN(find_,
                      database.prepare("SELECT first, steps FROM fact WHERE kind = ? AND value BETWEEN ? AND ?"));
  OPWRIGHT_TRY_ASSIGN(words_, database.prepare("SELECT value, text FROM word WHERE kind = ?"));
  return {};
}

Status FactReader::find(Database& database, Verifier& verifier, std::span<const Range> ranges,
                        std::vector<std::int64_t>& ids) {
  if (!find_.is_prepared()) return {};
  for (const Range& range : ranges) {
    OPWRIGHT_TRY(verifier.check(database, Part::kFact, top_group(column(range.kind))));
    find_.bind(1, column(range.kind)).bind(2, range.low).bind(3, range.high);
    while (true) {
      OPWRIGHT_TRY_ASSIGN(const bool row, find_.step());
      if (!row) break;
      if (!decode_ids(find_.integer(0), find_.blob(1), ids)) return fail(unreadable(database, range.kind));
    }
  }
  return {};
}

Result<std::vector<Word>> FactReader::words(Database& database, Verifier& verifier,
                                            std::span<const std::uint64_t> kinds) {
  std::vector<Word> words;
  if (!words_.is_prepared()) return words;
  for (const std::uint64_t kind : kinds) {
    OPWRIGHT_TRY(verifier.check(database, Part::kWord, top_group(column(kind))));
    words_.bind(1, column(kind));
    while (true) {
      OPWRIGHT_TRY_ASSIGN(const bool row, words_.step());
      if (!row) break;
      words.push_back({kind, words_.integer(0), std::string(words_.text(1))});
    }
  }
  return words;
}

}  // namespace opwright::store::sqlite
