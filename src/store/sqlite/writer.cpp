#include "store/sqlite/writer.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "store/encoding/pack.h"
#include "store/encoding/posting_list.h"
#include "store/encoding/row_bytes.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sums.h"

namespace opwright::store::sqlite {
namespace {

std::uint64_t file_number(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

constexpr std::size_t kPostingsHeld = 1 << 17;  // sorted together, yet written while the parser goes on

// The first number behind those of a table. Rows are never deleted, so there are at least as many numbers as rows.
Result<std::int64_t> next_id(Database& database, Part part) {
  const TablePart& table = part_of(part);
  OPWRIGHT_TRY_ASSIGN(const std::int64_t last,
                      database.query_integer(fmt::format("SELECT coalesce(max(id), 0) FROM {}", table.table)));
  OPWRIGHT_TRY_ASSIGN(const std::int64_t rows,
                      database.query_integer(fmt::format("SELECT coalesce(sum(rows), 0) FROM tally WHERE part = {}",
                                                         static_cast<int>(part))));
  if (last + 1 >= rows) return last + 1;  // sources and machines are numbered from 0
  return fail(damage(database.path(),
                     fmt::format("table {}: its last row is {}, but {} were written", table.table, last, rows)));
}

}  // namespace

Result<Writer> Writer::begin(const std::string& path, int wait_ms, const std::string& identity, Durability durability) {
  while (true) {
    OPWRIGHT_TRY_ASSIGN(Writer writer, begin_once(path, wait_ms, identity, durability));
    // Another process may have discarded the file it had created while we waited for its lock.
    if (file_number(path) == writer.file_) return writer;
    writer.open_ = false;
  }
}

Result<Writer> Writer::begin_once(const std::string& path, int wait_ms, const std::string& identity,
                                  Durability durability) {
  const bool existed = file_number(path) != 0;
  OPWRIGHT_TRY_ASSIGN(Database database, Database::open(path, Database::Mode::kWrite, wait_ms));
  Writer writer(std::move(database));
  writer.file_ = file_number(path);
  Database& db = writer.database_;
  OPWRIGHT_TRY_ASSIGN(const std::int64_t tables, db.query_integer("SELECT count(*) FROM sqlite_master"));
  if (tables == 0) {
    OPWRIGHT_TRY(db.execute("PRAGMA page_size = 8192"));
  } else {  // what is refused is not migrated either
    OPWRIGHT_TRY(check_version(db));
    OPWRIGHT_TRY(check_definitions(db));
    OPWRIGHT_TRY(check_identity(db, identity));
  }
  OPWRIGHT_TRY(migrate(db));
  OPWRIGHT_TRY(db.use_log());
  OPWRIGHT_TRY(db.wait_for_disk(durability != Durability::kConsistent));
  OPWRIGHT_TRY(db.execute(kWriterCache));
  OPWRIGHT_TRY(db.execute("PRAGMA temp_store = MEMORY; BEGIN IMMEDIATE"));
  writer.open_ = true;
  OPWRIGHT_TRY_ASSIGN(const std::int64_t content,
                      db.query_integer("SELECT (SELECT count(*) FROM trace) + (SELECT count(*) FROM run)"));
  writer.created_ = !existed && content == 0;
  OPWRIGHT_TRY_ASSIGN(writer.next_configuration_.value, next_id(db, Part::kConfiguration));
  OPWRIGHT_TRY_ASSIGN(writer.next_form_.value, next_id(db, Part::kForm));
  writer.first_form_ = writer.next_form_;
  OPWRIGHT_TRY(writer.prepare());
  OPWRIGHT_TRY(writer.load_names());
  OPWRIGHT_TRY(writer.name_identity(identity));
  OPWRIGHT_TRY(check_identity(db, identity));
  return writer;
}

Status Writer::load_names() {
  const auto load = [&](Part part, Names& names, std::int64_t& next) -> Status {
    OPWRIGHT_TRY_ASSIGN(next, next_id(database_, part));
    return verifier_.read(database_, part, 0, [&](const Statement& row) -> Status {
      names.emplace(row.text(1), row.integer(0));
      return {};
    });
  };
  OPWRIGHT_TRY(load(Part::kOperation, operations_, next_operation_));
  OPWRIGHT_TRY(load(Part::kSource, sources_, next_source_));
  OPWRIGHT_TRY(load(Part::kMachine, machines_, next_machine_));
  OPWRIGHT_TRY(sequences_.load(database_, verifier_));
  OPWRIGHT_TRY_ASSIGN(next_pack_, next_id(database_, Part::kPack));
  OPWRIGHT_TRY_ASSIGN(next_trace_, next_id(database_, Part::kTrace));
  return verifier_.read(database_, Part::kTrace, 0, [&](const Statement& row) -> Status {
    traces_.emplace(row.text(1),
                    Trace{row.integer(0), std::string(row.text(2)), std::string(row.text(3)), row.integer(4)});
    return {};
  });
}

Status Writer::name_identity(const std::string& identity) {
  bool named = false;
  OPWRIGHT_TRY(verifier_.read(database_, Part::kSetting, 0, [&](const Statement& row) -> Status {
    named = named || row.text(0) == "identity";
    return {};
  }));
  if (named) return {};
  OPWRIGHT_TRY_ASSIGN(Statement add, database_.prepare(insert_summed(Part::kSetting)));
  SummedRow row(add, Part::kSetting);
  row << std::string_view("identity") << identity;
  tally_.add(Part::kSetting, 0, row.bind_sum());
  return add.run();
}

Writer::Writer(Writer&& other) noexcept
    : database_(std::move(other.database_)),
      open_(std::exchange(other.open_, false)),
      created_(other.created_),
      file_(other.file_),
      next_configuration_(other.next_configuration_),
      next_form_(other.next_form_),
      operations_(std::move(other.operations_)),
      sources_(std::move(other.sources_)),
      machines_(std::move(other.machines_)),
      traces_(std::move(other.traces_)),
      next_pack_(other.next_pack_),
      next_operation_(other.next_operation_),
      next_source_(other.next_source_),
      next_machine_(other.next_machine_),
      next_trace_(other.next_trace_),
      postings_(std::move(other.postings_)),
      sequences_(std::move(other.sequences_)),
      facts_(std::move(other.facts_)),
      blocks_(std::move(other.blocks_)),
      first_form_(other.first_form_),
      form_configs_(std::move(other.form_configs_)),
      tally_(std::move(other.tally_)),
      verifier_(std::move(other.verifier_)),
      statements_(std::move(other.statements_)) {}

Writer::~Writer() { discard(); }

void Writer::discard() {
  if (!open_) return;
  open_ = false;
  statements_ = {};
  sequences_ = {};
  facts_ = {};
  blocks_ = {};
  // The lock of the transaction is held while the empty file goes, so nobody can have put anything into it; a process
  // that waits for the lock finds out in begin() that its file is gone.
  if (created_) {
    for (const char* part : {"", "-wal", "-shm"}) unlink((database_.path() + part).c_str());
  }
  (void)database_.execute("ROLLBACK");
}

Status Writer::prepare() {
  const auto make = [&](Statement& statement, std::string_view sql) -> Status {
    OPWRIGHT_TRY_ASSIGN(statement, database_.prepare(sql));
    return {};
  };
  const auto listed = [](Part part) { return column_list(part_of(part)) + ", sum"; };
  constexpr std::string_view kWhich =
      " WHERE form_id = ? AND source_id = ? AND machine_id = ? AND trace_id = ? AND sweep_source_hash = ?"
      " AND config_hash = ?";
  OPWRIGHT_TRY(make(statements_.add_configuration, insert_summed(Part::kConfiguration)));
  OPWRIGHT_TRY(make(statements_.add_pack, insert_summed(Part::kPack)));
  OPWRIGHT_TRY(make(statements_.add_form, insert_summed(Part::kForm)));
  OPWRIGHT_TRY(make(statements_.add_posting, insert_summed(Part::kPosting)));
  OPWRIGHT_TRY(make(statements_.add_operation, insert_summed(Part::kOperation)));
  OPWRIGHT_TRY(make(statements_.add_source, insert_summed(Part::kSource)));
  OPWRIGHT_TRY(make(statements_.add_machine, insert_summed(Part::kMachine)));
  OPWRIGHT_TRY(make(statements_.add_trace, insert_summed(Part::kTrace)));
  OPWRIGHT_TRY(make(statements_.add_occurrence, insert_summed(Part::kOccurrence) + " ON CONFLICT DO NOTHING"));
  OPWRIGHT_TRY(
      make(statements_.find_occurrence, fmt::format("SELECT {} FROM occurrence{}", listed(Part::kOccurrence), kWhich)));
  OPWRIGHT_TRY(make(statements_.find_occurrences,
                    fmt::format("SELECT {} FROM occurrence WHERE form_id BETWEEN ? AND ? ORDER BY form_id, source_id,"
                                " machine_id, trace_id, sweep_source_hash, config_hash",
                                listed(Part::kOccurrence))));
  OPWRIGHT_TRY(make(statements_.change_occurrence, update_summed(Part::kOccurrence)));
  OPWRIGHT_TRY(make(statements_.find_form, fmt::format("SELECT {} FROM form WHERE id = ?", listed(Part::kForm))));
  OPWRIGHT_TRY(make(statements_.find_first_form,
                    "SELECT fingerprint FROM form WHERE configuration_id = ?"
                    " ORDER BY fingerprint LIMIT 1"));
  OPWRIGHT_TRY(make(statements_.change_error, "UPDATE form SET error = ?2, sum = ?3 WHERE id = ?1"));
  OPWRIGHT_TRY(make(statements_.change_kind, "UPDATE form SET kind = ?2, sum = ?3 WHERE id = ?1"));
  OPWRIGHT_TRY(make(statements_.change_trace, update_summed(Part::kTrace)));
  OPWRIGHT_TRY(blocks_.prepare(database_, next_configuration_));
  return facts_.prepare(database_);
}

Status Writer::write(const Batch& batch) {
  for (const NewConfiguration& added : batch.configurations) {
    OPWRIGHT_TRY_ASSIGN(const OperationId op, operation(added.op));
    SummedRow row(statements_.add_configuration, Part::kConfiguration);
    row << added.id.value << op.value << static_cast<std::int64_t>(added.convention) << Blob{bytes_of(added.key)};
    tally_.add(Part::kConfiguration, range_group(added.id.value), row.bind_sum());
    tally_.add(Part::kConfigurationByKey, prefix_group(bytes_of(added.key)),
               RowSum(Part::kConfigurationByKey).add_blob(bytes_of(added.key)).add(added.id.value).value());
    OPWRIGHT_TRY(statements_.add_configuration.run());
    OPWRIGHT_TRY(blocks_.add(database_, verifier_, tally_, added, op));
  }
  const std::span<const NewForm> forms(batch.forms);
  for (std::size_t from = 0; from < forms.size(); from += kFormsPerPack)
    OPWRIGHT_TRY(write_forms(forms.subspan(from, std::min(kFormsPerPack, forms.size() - from))));
  for (const NewRecord& record : batch.records) OPWRIGHT_TRY(replace_record(record));
  for (const NewPiece& piece : batch.pieces) OPWRIGHT_TRY(sequences_.add(database_, verifier_, tally_, piece));
  OPWRIGHT_TRY(facts_.add(database_, tally_, batch.facts, batch.words));
  for (const Posting& posting : batch.postings) postings_.add(posting.term, posting.term, posting.configuration.value);
  return postings_.size() >= kPostingsHeld ? write_postings() : Status();
}

// Those of one pack.
Status Writer::write_forms(std::span<const NewForm> forms) {
  std::vector<std::string_view> texts;
  for (const NewForm& form : forms) texts.push_back(form.text);
  const std::string packed = pack(texts);
  const std::int64_t pack_id = next_pack_++;
  SummedRow pack_row(statements_.add_pack, Part::kPack);
  pack_row << pack_id << Blob{packed};
  tally_.add(Part::kPack, range_group(pack_id), pack_row.bind_sum());
  OPWRIGHT_TRY(statements_.add_pack.run());
  std::int64_t slot = 0;
  for (const NewForm& form : forms) {
    const FingerprintBytes fingerprint(form.fingerprint);
    SummedRow row(statements_.add_form, Part::kForm);
    row << form.id.value << Blob{fingerprint.view()} << form.configuration.value << static_cast<std::int64_t>(form.kind)
        << form.op << pack_id << slot++ << form.unparsed << form.unknown_names << form.duplicate_keys;
    row.null();
    tally_.add(Part::kForm, range_group(form.configuration.value), row.bind_sum());
    tally_.add(Part::kFormByFingerprint, prefix_group(fingerprint.view()),
               RowSum(Part::kFormByFingerprint).add_blob(fingerprint.view()).add(form.id.value).value());
    OPWRIGHT_TRY(statements_.add_form.run());
    const auto place = static_cast<std::size_t>(form.id.value - first_form_.value);
    if (form_configs_.size() <= place) form_configs_.resize(place + 1);
    form_configs_[place] = form.configuration;
  }
  return {};
}

Status Writer::replace_record(const NewRecord& record) {
  Statement& find = statements_.find_first_form;
  OPWRIGHT_TRY_ASSIGN(const bool is_there, find.bind(1, record.configuration.value).step());
  const bool is_first = is_there && find.blob(0) == FingerprintBytes(record.fingerprint).view();
  find.reset();
  return is_first ? blocks_.replace(database_, verifier_, tally_, record.configuration, record.parts) : Status();
}

// Many at once, a term after the other: a term's configurations share a row, and the tree is written from left to
// right.
Status Writer::write_postings() {
  std::string steps;
  const auto before = [](std::uint64_t a, std::uint64_t b) {
    return static_cast<std::int64_t>(a) < static_cast<std::int64_t>(b);  // as the column has it
  };
  return postings_.take(before, [&](std::uint64_t name, std::span<const std::int64_t> ids) -> Status {
    steps.clear();
    for (std::size_t i = 1; i < ids.size(); ++i) append_step(steps, ids[i - 1], ids[i]);
    const auto term = static_cast<std::int64_t>(name);
    SummedRow row(statements_.add_posting, Part::kPosting);
    row << term << ids.front() << Blob{steps};
    tally_.add(Part::kPosting, top_group(term), row.bind_sum());
    return statements_.add_posting.run();
  });
}

Result<bool> Writer::forget_sequence(const std::string& uid) {
  return sequences_.forget(database_, verifier_, tally_, uid);
}

Status Writer::commit() {
  OPWRIGHT_TRY(write_postings());
  OPWRIGHT_TRY(facts_.finish(database_, verifier_, tally_));
  OPWRIGHT_TRY(blocks_.finish(database_, verifier_, tally_));
  OPWRIGHT_TRY(tally_.write(database_));
  OPWRIGHT_TRY(database_.execute("COMMIT"));
  open_ = false;
  return {};
}

}  // namespace opwright::store::sqlite
