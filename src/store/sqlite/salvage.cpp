#include "store/sqlite/salvage.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/limits.h"
#include "store/encoding/frame.h"
#include "store/sqlite/results_rows.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sequences.h"
#include "store/sqlite/sums.h"

namespace opwright::store::sqlite {
namespace {

// What SQLite says of a row it cannot read, without the advice that is for those who do not repair yet.
std::string_view plain(std::string_view message) { return message.substr(0, message.find("; the store is damaged")); }

}  // namespace

Result<std::unique_ptr<Salvage>> Salvage::open(const std::string& path, int wait_ms, Lost lost) {
  OPWRIGHT_TRY_ASSIGN(FileSalvage opened, FileSalvage::open(path, wait_ms, std::move(lost)));
  return std::make_unique<FileSalvage>(std::move(opened));
}

Result<FileSalvage> FileSalvage::open(const std::string& path, int wait_ms, Lost lost) {
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kRead, wait_ms));
  OPWRIGHT_TRY(database.execute("PRAGMA temp_store = MEMORY; BEGIN"));
  OPWRIGHT_TRY(check_version(database));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t version, database.query_integer("PRAGMA user_version"));
  OPWRIGHT_TRY(read_as_current(database));
  FileSalvage salvage(std::move(database));
  salvage.lost_ = std::move(lost);
  salvage.summed_ = version >= kFirstSummedSchema;
  salvage.schema_ = version;
  salvage.sum_ = salvage.summed_ ? ", sum" : "";
  Database& db = salvage.database_;
  const auto columns = [&](Part part) { return column_list(part_of(part)) + salvage.sum_; };
  OPWRIGHT_TRY_ASSIGN(salvage.find_pack_,
                      db.prepare(fmt::format("SELECT {} FROM pack WHERE id = ?", columns(Part::kPack))));
  OPWRIGHT_TRY_ASSIGN(salvage.find_occurrences_, db.prepare(fmt::format("SELECT {} FROM occurrence WHERE form_id = ?",
                                                                        columns(Part::kOccurrence))));
  OPWRIGHT_TRY_ASSIGN(salvage.find_key_, db.prepare(fmt::format("SELECT {} FROM configuration WHERE id = ?",
                                                                columns(Part::kConfiguration))));
  OPWRIGHT_TRY(salvage.load_names());
  return salvage;
}

bool FileSalvage::sound(Part part, const Statement& row) {
  const TablePart& table = part_of(part);
  const auto columns = static_cast<int>(table.columns.size());
  if (!summed_ || RowSum(part).add_columns(row, 0, columns).value() == row.integer(columns)) return true;
  lost_(
      fmt::format("table {}, row with {}: its checksum is not that of its content", table.table, row_name(table, row)));
  return false;
}

// Rows are numbered one after the other. Where the end of the table cannot be read, the tally knows about how many
// there were.
std::int64_t FileSalvage::last_number(Part part) {
  const auto last = database_.query_integer(fmt::format("SELECT max(id) FROM {}", part_of(part).table));
  const auto counted =
      summed_
          ? database_.query_integer(fmt::format("SELECT sum(rows) FROM tally WHERE part = {}", static_cast<int>(part)))
          : Result<std::int64_t>(0);
  constexpr std::int64_t kMost = std::int64_t{1} << 32;  // a damaged number would have us look for ever
  return std::min(std::max(last ? *last : 0, counted ? *counted : 0), kMost);
}

Status FileSalvage::each(Part part, const Rows& use) {
  const TablePart& table = part_of(part);
  // Through a view where the store is older than checksums: that one has all columns.
  const auto columns_of = [this](const TablePart& of) { return column_list(of, summed_ ? schema_ : INT64_MAX); };
  // "The next one behind" goes fast over numbers that are not used; a row that cannot be read is stepped over by one.
  OPWRIGHT_TRY_ASSIGN(Statement next,
                      database_.prepare(fmt::format("SELECT {}{}, id FROM {} WHERE id > ? ORDER BY id LIMIT 1",
                                                    columns_of(table), sum_, table.table)));
  OPWRIGHT_TRY_ASSIGN(Statement exact, database_.prepare(fmt::format("SELECT {}{}, id FROM {} WHERE id = ?",
                                                                     columns_of(table), sum_, table.table)));
  const auto id_column = static_cast<int>(table.columns.size()) + (summed_ ? 1 : 0);
  const std::int64_t last = last_number(part);
  std::int64_t unreadable = 0, first_unreadable = 0, found = 0;
  std::string why;
  for (std::int64_t at = -1; at < last;) {
    auto row = next.bind(1, at).step();
    Statement* statement = &next;
    if (!row) {  // what lies behind the damage is found by its number
      row = exact.bind(1, at + 1).step();
      statement = &exact;
      if (!row) {
        if (unreadable++ == 0) {
          first_unreadable = at + 1;
          why = plain(row.error().message);
        }
      }
      if (!row || !*row) {
        ++at;
        continue;
      }
    } else if (!*row) {
      break;
    }
    at = std::max(at + 1, statement->integer(id_column));
    ++found;
    if (sound(part, *statement)) OPWRIGHT_TRY(use(*statement));
    statement->reset();
  }
  if (unreadable > 0)
    lost_(fmt::format("table {}: up to {} rows cannot be read, the first is {} ({})", table.table, unreadable,
                      first_unreadable, why));
  if (summed_) {
    const auto counted = database_.query_integer(
        fmt::format("SELECT coalesce(sum(rows), 0) FROM tally WHERE part = {}", static_cast<int>(part)));
    if (counted && *counted > found + unreadable)
      lost_(fmt::format("table {}: {} rows are missing", table.table, *counted - found - unreadable));
  }
  return {};
}

Status FileSalvage::load_names() {
  OPWRIGHT_TRY(each(Part::kSource, [&](const Statement& row) -> Status {
    OccurrenceRow& source = sources_[row.integer(0)];
    source.source = row.text(1);
    source.hf_model = row.text(3);
    source.model = row.text(4);
    return {};
  }));
  OPWRIGHT_TRY(each(Part::kMachine, [&](const Statement& row) -> Status {
    OccurrenceRow& machine = machines_[row.integer(0)];
    machine.machine = row.text(1);
    machine.machine_label = row.text(2);
    return {};
  }));
  return each(Part::kTrace, [&](const Statement& row) -> Status {
    traces_[row.integer(0)].trace_uid = row.text(1);
    return {};
  });
}

Status FileSalvage::traces(const std::function<Status(const TraceRow&)>& use) {
  const Lost listener = std::exchange(lost_, [](const std::string&) {});  // told when the names were loaded
  const Status done = each(Part::kTrace, [&](const Statement& row) {
    return use({std::string(row.text(1)), std::string(row.text(2)), std::string(row.text(3))});
  });
  lost_ = listener;
  return done;
}

const Unpacked* FileSalvage::pack(std::int64_t id) {
  if (opened_id_ == id) return opened_ ? &*opened_ : nullptr;
  opened_id_ = id;
  opened_.reset();
  const auto there = find_pack_.bind(1, id).step();
  if (!there || !*there) {
    lost_(fmt::format("table pack, row {}: {}", id, there ? "it is missing" : plain(there.error().message)));
  } else if (sound(Part::kPack, find_pack_)) {
    if (auto unpacked = Unpacked::open(find_pack_.blob(1)))
      opened_ = *std::move(unpacked);
    else
      lost_(fmt::format("table pack, row {}: it cannot be opened", id));
  }
  find_pack_.reset();
  return opened_ ? &*opened_ : nullptr;
}

void FileSalvage::occurrences(SavedForm& saved) {
  find_occurrences_.bind(1, saved.form.id.value);
  while (true) {
    const auto there = find_occurrences_.step();
    if (!there) {
      lost_(fmt::format("table occurrence, rows of form {}: {}", saved.form.id.value, plain(there.error().message)));
      return;
    }
    if (!*there) return;
    const Statement& s = find_occurrences_;
    if (!sound(Part::kOccurrence, s)) continue;
    const auto source = sources_.find(s.integer(1)), machine = machines_.find(s.integer(2)),
               trace = traces_.find(s.integer(3));
    if (source == sources_.end() || machine == machines_.end() || trace == traces_.end()) {
      lost_(fmt::format("table occurrence, a row of form {}: its source, machine or trace is damaged",
                        saved.form.id.value));
      continue;
    }
    OccurrenceRow row = source->second;
    row.form = saved.form.id;
    row.machine = machine->second.machine;
    row.machine_label = machine->second.machine_label;
    row.trace_uid = trace->second.trace_uid;
    row.sweep_source_hash = s.text(4);
    row.config_hash = s.text(5);
    row.count = s.is_null(6) ? kUncounted : s.integer(6);
    row.extra = s.text(7);
    row.raised = s.integer(8);
    saved.occurrences.push_back(std::move(row));
  }
}

Status FileSalvage::forms(const std::function<Status(const SavedForm&)>& use) {
  std::int64_t without_text = 0;
  OPWRIGHT_TRY(each(Part::kForm, [&](const Statement& row) -> Status {
    SavedForm saved;
    saved.form.id = {row.integer(0)};
    saved.form.configuration = {row.integer(2)};
    saved.form.kind = static_cast<FormKind>(row.integer(3));
    saved.form.op = row.text(4);
    saved.form.error = row.text(10);
    const Unpacked* texts = pack(row.integer(5));
    const auto slot = static_cast<std::size_t>(row.integer(6));
    if (texts == nullptr || slot >= texts->size()) {
      ++without_text;
      return {};
    }
    saved.form.text = texts->text(slot);
    if (const auto there = find_key_.bind(1, saved.form.configuration.value).step(); !there || !*there)
      lost_(fmt::format("table configuration, row {}: {}; its key is made again from form {}",
                        saved.form.configuration.value, there ? "it is missing" : plain(there.error().message),
                        saved.form.id.value));
    else if (sound(Part::kConfiguration, find_key_))
      saved.key = find_key_.blob(3);
    find_key_.reset();
    occurrences(saved);
    return use(saved);
  }));
  if (without_text > 0) lost_(fmt::format("table form: {} rows whose texts are in damaged packs", without_text));
  return {};
}

Status FileSalvage::sequences(const std::function<Status(const SequenceRow&, const std::string& bytes)>& use) {
  OPWRIGHT_TRY_ASSIGN(Statement find,
                      database_.prepare(fmt::format("SELECT {}{} FROM piece WHERE sequence_id = ? AND place = ?",
                                                    column_list(part_of(Part::kPiece)), sum_)));
  return each(Part::kSequence, [&](const Statement& row) -> Status {
    const SequenceRow saved = read_sequence(row);
    const auto size = static_cast<std::uint64_t>(saved.sequence.size);
    const std::string short_id = to_hex(saved.sequence.digest).substr(0, 12);
    if (size > limits().document) {
      lost_(fmt::format("table sequence, row {}: trace {} has {}, more than is read", saved.id, short_id,
                        size_words(size)));
      return {};
    }
    std::string bytes;
    bytes.reserve(size);
    std::int64_t holes = 0;
    bool has_start = true;
    for (std::int64_t place = 0; bytes.size() < size; ++place) {
      const std::size_t wanted = std::min<std::size_t>(kPieceBytes, size - bytes.size());
      const auto there = find.bind(1, saved.id).bind(2, place).step();
      std::string piece;
      if (there && *there && sound(Part::kPiece, find)) {
        if (auto unpacked = decompress(find.blob(2), kPieceBytes)) piece = *std::move(unpacked);
      }
      find.reset();
      if (piece.size() != wanted) {
        ++holes;
        has_start = has_start && place > 0;
        piece.assign(wanted, '\0');
      }
      bytes += piece;
    }
    if (holes > 0)
      lost_(fmt::format("table piece: {} of {} pieces of trace {} are damaged or missing", holes,
                        (size + kPieceBytes - 1) / kPieceBytes, short_id));
    if (!has_start) return lost_(fmt::format("table sequence: trace {} has lost its first page", short_id)), Status();
    return use(saved, bytes);
  });
}

Status FileSalvage::runs(const std::function<Status(const RunRecord&)>& begin,
                         const std::function<Status(const RunRecord&, const CaseRecord&)>& use) {
  std::map<std::int64_t, RunRecord> all;
  OPWRIGHT_TRY(each(Part::kRun, [&](const Statement& row) -> Status {
    const RunRecord& run = all[row.integer(0)] = read_run(row);
    return begin(run);
  }));
  std::int64_t orphans = 0;
  OPWRIGHT_TRY(each(Part::kResult, [&](const Statement& row) -> Status {
    const auto run = all.find(row.integer(0));
    if (run == all.end()) return ++orphans, Status();
    const auto record = read_record(row, database_.path());
    if (!record) return lost_(record.error().message), Status();
    return use(run->second, *record);
  }));
  if (orphans > 0) lost_(fmt::format("table result: {} results of runs whose rows are damaged", orphans));
  return {};
}

}  // namespace opwright::store::sqlite
