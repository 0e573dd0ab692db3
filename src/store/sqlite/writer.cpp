#include "store/sqlite/writer.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/json_write.h"
#include "store/sqlite/pack.h"
#include "store/sqlite/posting_list.h"
#include "store/sqlite/row_bytes.h"
#include "store/sqlite/schema.h"
#include "store/sqlite/sums.h"
#include "store/union.h"

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
  OPWRIGHT_TRY(db.execute("PRAGMA cache_size = -32768; PRAGMA temp_store = MEMORY; BEGIN IMMEDIATE"));
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
  OPWRIGHT_TRY(make(statements_.change_occurrence, update_summed(Part::kOccurrence)));
  OPWRIGHT_TRY(make(statements_.find_form, fmt::format("SELECT {} FROM form WHERE id = ?", listed(Part::kForm))));
  OPWRIGHT_TRY(make(statements_.change_error, "UPDATE form SET error = ?2, sum = ?3 WHERE id = ?1"));
  OPWRIGHT_TRY(make(statements_.change_kind, "UPDATE form SET kind = ?2, sum = ?3 WHERE id = ?1"));
  OPWRIGHT_TRY(make(statements_.change_trace, update_summed(Part::kTrace)));
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
  }
  const std::span<const NewForm> forms(batch.forms);
  for (std::size_t from = 0; from < forms.size(); from += kFormsPerPack)
    OPWRIGHT_TRY(write_forms(forms.subspan(from, std::min(kFormsPerPack, forms.size() - from))));
  for (const NewPiece& piece : batch.pieces) OPWRIGHT_TRY(sequences_.add(database_, verifier_, tally_, piece));
  OPWRIGHT_TRY(facts_.add(database_, tally_, batch.facts, batch.words));
  postings_.insert(postings_.end(), batch.postings.begin(), batch.postings.end());
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

// Many at once and sorted: a term's configurations share a row, and the tree is written from left to right.
Status Writer::write_postings() {
  std::sort(postings_.begin(), postings_.end(), [](const Posting& a, const Posting& b) {
    const auto left = static_cast<std::int64_t>(a.term), right = static_cast<std::int64_t>(b.term);
    return left != right ? left < right : a.configuration < b.configuration;
  });
  std::string steps;
  for (std::size_t from = 0; from < postings_.size();) {
    const Posting& first = postings_[from];
    steps.clear();
    std::size_t to = from + 1;
    for (; to < postings_.size() && postings_[to].term == first.term; ++to) {
      append_step(steps, postings_[to - 1].configuration.value, postings_[to].configuration.value);
    }
    const auto term = static_cast<std::int64_t>(first.term);
    SummedRow row(statements_.add_posting, Part::kPosting);
    row << term << first.configuration.value << Blob{steps};
    tally_.add(Part::kPosting, top_group(term), row.bind_sum());
    OPWRIGHT_TRY(statements_.add_posting.run());
    from = to;
  }
  postings_.clear();
  return {};
}

namespace {

// The nine columns of an occurrence, into a statement that writes or finds it.
std::int64_t bind_occurrence(Statement& statement, const NewOccurrence& row) {
  SummedRow summed(statement, Part::kOccurrence);
  summed << row.form.value << row.source.value << row.machine.value << row.trace.value << row.sweep_source_hash
         << row.config_hash;
  if (row.count == kUncounted)
    summed.null();
  else
    summed << row.count;
  summed.text_or_null(row.extra) << row.raised;
  return summed.bind_sum();
}

}  // namespace

Status Writer::add_occurrences(std::span<const NewOccurrence> occurrences) {
  for (const NewOccurrence& row : occurrences) {
    const std::int64_t sum = bind_occurrence(statements_.add_occurrence, row);
    OPWRIGHT_TRY(statements_.add_occurrence.run());
    if (database_.changes() == 0) {
      OPWRIGHT_TRY(join_occurrence(row));
      continue;
    }
    tally_.add(Part::kOccurrence, range_group(row.form.value), sum);
    OPWRIGHT_TRY_ASSIGN(const ConfigId configuration, configuration_of(row.form));
    facts_.see(configuration, row.source, row.machine);
  }
  return {};
}

Result<ConfigId> Writer::configuration_of(FormId form) {
  if (form >= first_form_) {
    const auto place = static_cast<std::size_t>(form.value - first_form_.value);
    return place < form_configs_.size() ? form_configs_[place] : ConfigId{0};
  }
  Statement& find = statements_.find_form;
  OPWRIGHT_TRY_ASSIGN(const bool there, find.bind(1, form.value).step());
  if (!there) return fail(damage(database_.path(), fmt::format("table form: row {} is missing", form.value)));
  const Status sound = verifier_.check_row(database_, Part::kForm, find);
  const ConfigId configuration{find.integer(2)};
  find.reset();
  OPWRIGHT_TRY(sound);
  return configuration;
}

// With the row that is there.
Status Writer::join_occurrence(const NewOccurrence& row) {
  Statement& find = statements_.find_occurrence;
  find.bind(1, row.form.value).bind(2, row.source.value).bind(3, row.machine.value).bind(4, row.trace.value);
  OPWRIGHT_TRY_ASSIGN(const bool there, find.bind(5, row.sweep_source_hash).bind(6, row.config_hash).step());
  if (!there) return fail(damage(database_.path(), "table occurrence: a row is there for its index only"));
  const Status sound = verifier_.check_row(database_, Part::kOccurrence, find);
  NewOccurrence joined = row;
  const std::int64_t old_count = find.is_null(6) ? kUncounted : find.integer(6), old_raised = find.integer(8);
  const std::string old_extra(find.text(7));
  const std::int64_t old_sum = find.integer(9);
  find.reset();
  OPWRIGHT_TRY(sound);
  if (row.count <= old_count && row.raised <= old_raised && row.extra <= old_extra) return {};
  joined.count = std::max(row.count, old_count);
  joined.raised = std::max(row.raised, old_raised);
  joined.extra = std::max<std::string_view>(row.extra, old_extra);
  const std::int64_t sum = bind_occurrence(statements_.change_occurrence, joined);
  tally_.replace(Part::kOccurrence, range_group(row.form.value), old_sum, sum);
  return statements_.change_occurrence.run();
}

Status Writer::add_examples(std::span<const RaisedExample> examples) {
  constexpr int kError = 10, kSum = 11;  // columns of a form
  for (const RaisedExample& example : examples) {
    Statement& find = statements_.find_form;
    OPWRIGHT_TRY_ASSIGN(const bool there, find.bind(1, example.form.value).step());
    if (!there) continue;
    OPWRIGHT_TRY(verifier_.check_row(database_, Part::kForm, find));
    if (find.text(kError) < example.error) {
      RowSum sum(Part::kForm);
      const std::int64_t changed = sum.add_columns(find, 0, kError).add(example.error).value();
      tally_.replace(Part::kForm, range_group(find.integer(2)), find.integer(kSum), changed);
      OPWRIGHT_TRY(statements_.change_error.bind(1, example.form.value).bind(2, example.error).bind(3, changed).run());
    }
    find.reset();
  }
  return {};
}

Status Writer::lower_kinds(std::span<const FormId> forms, FormKind kind) {
  constexpr int kKind = 3, kColumns = 11, kSum = 11;  // columns of a form
  const auto wanted = static_cast<std::int64_t>(kind);
  for (const FormId form : forms) {
    Statement& find = statements_.find_form;
    OPWRIGHT_TRY_ASSIGN(const bool there, find.bind(1, form.value).step());
    if (!there) continue;
    OPWRIGHT_TRY(verifier_.check_row(database_, Part::kForm, find));
    if (find.integer(kKind) > wanted) {
      RowSum sum(Part::kForm);
      const std::int64_t changed =
          sum.add_columns(find, 0, kKind).add(wanted).add_columns(find, kKind + 1, kColumns - kKind - 1).value();
      tally_.replace(Part::kForm, range_group(find.integer(2)), find.integer(kSum), changed);
      OPWRIGHT_TRY(statements_.change_kind.bind(1, form.value).bind(2, wanted).bind(3, changed).run());
    }
    find.reset();
  }
  return {};
}

Result<OperationId> Writer::operation(const std::string& name) {
  if (const auto known = operations_.find(name); known != operations_.end()) return OperationId{known->second};
  const std::int64_t id = next_operation_++;
  SummedRow row(statements_.add_operation, Part::kOperation);
  row << id << name;
  tally_.add(Part::kOperation, 0, row.bind_sum());
  OPWRIGHT_TRY(statements_.add_operation.run());
  operations_.emplace(name, id);
  return OperationId{id};
}

namespace {

template <class Id, class New, class Put>
Result<std::vector<Id>> put_all(std::span<const New> all, const Put& put) {
  std::vector<Id> ids;
  ids.reserve(all.size());
  for (const New& one : all) {
    OPWRIGHT_TRY_ASSIGN(const Id id, put(one));
    ids.push_back(id);
  }
  return ids;
}

}  // namespace

Result<std::vector<SourceId>> Writer::sources(std::span<const NewSource> sources) {
  return put_all<SourceId>(sources, [&](const NewSource& one) { return put_source(one); });
}
Result<std::vector<MachineId>> Writer::machines(std::span<const NewMachine> machines) {
  return put_all<MachineId>(machines, [&](const NewMachine& one) { return put_machine(one); });
}
Result<std::vector<TraceId>> Writer::traces(std::span<const NewTrace> traces) {
  return put_all<TraceId>(traces, [&](const NewTrace& one) { return put_trace(one); });
}

Result<SourceId> Writer::put_source(const NewSource& facts) {
  if (const auto known = sources_.find(facts.text); known != sources_.end()) return SourceId{known->second};
  const std::int64_t id = next_source_++;
  SummedRow row(statements_.add_source, Part::kSource);
  row << id << facts.text << facts.path;
  row.text_or_null(facts.hf_model) << facts.model;
  tally_.add(Part::kSource, 0, row.bind_sum());
  OPWRIGHT_TRY(statements_.add_source.run());
  sources_.emplace(facts.text, id);
  return SourceId{id};
}

Result<MachineId> Writer::put_machine(const NewMachine& machine) {
  if (const auto known = machines_.find(machine.text); known != machines_.end()) return MachineId{known->second};
  const std::int64_t id = next_machine_++;
  SummedRow row(statements_.add_machine, Part::kMachine);
  row << id << machine.text << machine.label;
  tally_.add(Part::kMachine, 0, row.bind_sum());
  OPWRIGHT_TRY(statements_.add_machine.run());
  machines_.emplace(machine.text, id);
  return MachineId{id};
}

Result<TraceId> Writer::put_trace(const NewTrace& told) {
  const auto known = traces_.find(told.uid);
  Trace trace{next_trace_, told.format, joined_facts("{}", told.facts), 0};
  if (known != traces_.end()) {
    trace = known->second;
    trace.facts = joined_facts(trace.facts, told.facts);
    trace.format = std::min(trace.format, told.format);
    if (trace.facts == known->second.facts && trace.format == known->second.format) return TraceId{trace.id};
  }
  Statement& put = known != traces_.end() ? statements_.change_trace : statements_.add_trace;
  SummedRow row(put, Part::kTrace);
  row << trace.id << told.uid << trace.format << trace.facts;
  trace.sum = row.bind_sum();
  if (known != traces_.end()) {
    tally_.replace(Part::kTrace, 0, known->second.sum, trace.sum);
  } else {
    tally_.add(Part::kTrace, 0, trace.sum);
    ++next_trace_;
  }
  OPWRIGHT_TRY(put.run());
  const TraceId id{trace.id};
  traces_.insert_or_assign(told.uid, std::move(trace));
  return id;
}

Result<bool> Writer::forget_sequence(const std::string& uid) {
  return sequences_.forget(database_, verifier_, tally_, uid);
}

Status Writer::commit() {
  OPWRIGHT_TRY(write_postings());
  OPWRIGHT_TRY(facts_.finish(database_, verifier_, tally_));
  OPWRIGHT_TRY(tally_.write(database_));
  OPWRIGHT_TRY(database_.execute("COMMIT"));
  open_ = false;
  return {};
}

}  // namespace opwright::store::sqlite
