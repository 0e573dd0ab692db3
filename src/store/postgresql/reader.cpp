#include "store/postgresql/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "store/encoding/posting_list.h"
#include "store/encoding/row_bytes.h"
#include "store/postgresql/schema.h"

namespace opwright::store::postgresql {
namespace {

std::int64_t column(std::uint64_t hash) { return static_cast<std::int64_t>(hash); }

}  // namespace

Result<std::unique_ptr<store::Reader>> Reader::open(const Address& address, int wait_ms, const std::string& identity) {
  OPWRIGHT_TRY_ASSIGN(Connection connection, Connection::open(address, wait_ms));
  OPWRIGHT_TRY(connection.execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"));
  OPWRIGHT_TRY_ASSIGN(const auto version, version_of(connection));
  if (!version) return fail(no_store(connection, "import a trace first (opwright import PATH)"));
  if (!identity.empty()) OPWRIGHT_TRY(check_identity(connection, identity));
  return std::unique_ptr<store::Reader>(new Reader(std::move(connection)));
}

Error Reader::damaged(std::string_view what) const {
  return {ErrorCode::kBadInput, fmt::format("{}: {}; the store is damaged, restore a backup (nothing was changed)",
                                            connection_.name(), what)};
}

// ---- small tables

Status Reader::load_operations() {
  if (!operations_.empty()) return {};
  OPWRIGHT_TRY_ASSIGN(const Rows rows, connection_.query("SELECT id, name FROM operation"));
  for (int i = 0; i < rows.count(); ++i) operations_.emplace(rows.integer(i, 0), rows.text(i, 1));
  return {};
}

Status Reader::load_sources() {
  if (!sources_.empty()) return {};  // id 0 is always there
  OPWRIGHT_TRY_ASSIGN(const Rows rows, connection_.query("SELECT id, text, hf_model, model FROM source"));
  for (int i = 0; i < rows.count(); ++i) {
    OccurrenceRow& row = sources_[rows.integer(i, 0)];
    row.source = rows.text(i, 1);
    row.hf_model = rows.text(i, 2);
    row.model = rows.text(i, 3);
  }
  return {};
}

Status Reader::load_machines() {
  if (!machines_.empty()) return {};
  OPWRIGHT_TRY_ASSIGN(const Rows rows, connection_.query("SELECT id, text, label FROM machine"));
  for (int i = 0; i < rows.count(); ++i) {
    OccurrenceRow& row = machines_[rows.integer(i, 0)];
    row.machine = rows.text(i, 1);
    row.machine_label = rows.text(i, 2);
  }
  return {};
}

Status Reader::load_traces() {
  if (traces_loaded_) return {};
  OPWRIGHT_TRY_ASSIGN(const Rows rows, connection_.query("SELECT id, uid, format, facts FROM trace"));
  for (int i = 0; i < rows.count(); ++i)
    traces_.emplace(rows.integer(i, 0), TraceRow{rows.text(i, 1), rows.text(i, 2), rows.text(i, 3)});
  traces_loaded_ = true;
  return {};
}

Result<std::vector<std::string>> Reader::operation_names() {
  OPWRIGHT_TRY(load_operations());
  std::vector<std::string> names;
  for (const auto& [id, name] : operations_) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::vector<SourceRow>> Reader::sources() {
  OPWRIGHT_TRY(load_sources());
  std::vector<SourceRow> rows;
  for (const auto& [id, row] : sources_) rows.push_back({{id}, row.source, row.hf_model});
  return rows;
}

Result<std::vector<MachineRow>> Reader::machines() {
  OPWRIGHT_TRY(load_machines());
  std::vector<MachineRow> rows;
  for (const auto& [id, row] : machines_) rows.push_back({{id}, row.machine, row.machine_label});
  return rows;
}

Result<std::vector<TraceRow>> Reader::traces() {
  OPWRIGHT_TRY(load_traces());
  std::vector<TraceRow> rows;
  for (const auto& [id, row] : traces_) rows.push_back(row);
  std::sort(rows.begin(), rows.end(), [](const TraceRow& a, const TraceRow& b) { return a.uid < b.uid; });
  return rows;
}

// ---- totals

Result<Totals> Reader::totals() {
  OPWRIGHT_TRY(load_sources());
  OPWRIGHT_TRY(load_machines());
  OPWRIGHT_TRY_ASSIGN(
      const Rows rows,
      connection_.query("SELECT (SELECT count(*) FROM operation), (SELECT count(*) FROM configuration), "
                        "(SELECT count(*) FROM form), (SELECT count(*) FROM trace), (SELECT "
                        "sum(pg_total_relation_size(oid))::bigint FROM pg_class WHERE relnamespace = "
                        "'opwright'::regnamespace AND relkind = 'r')"));
  Totals totals;
  totals.operations = rows.integer(0, 0);
  totals.configurations = rows.integer(0, 1);
  totals.forms = rows.integer(0, 2);
  totals.traces = rows.integer(0, 3);
  totals.bytes = rows.integer(0, 4);
  totals.schema = kSchemaVersion;
  totals.machines = static_cast<std::int64_t>(machines_.size() - machines_.count(0));
  std::vector<std::string_view> texts;
  for (const auto& [id, row] : sources_) texts.push_back(id != 0 ? std::string_view(row.source) : "");
  totals.sources = count_functions(texts);
  return totals;
}

// From the cards, which are read in a few pieces, and not from the rows that they are a copy of.
Result<std::vector<OperationRow>> Reader::operations() {
  struct Count {
    OperationRow row;
    std::set<std::int64_t> sources;
    std::set<std::pair<std::int64_t, std::int64_t>> uncounted;  // form and trace
  };
  std::map<std::string, Count, std::less<>> counts;
  OPWRIGHT_TRY(load_sources());
  OPWRIGHT_TRY_ASSIGN(const auto ids, narrow({}));
  Count* count = nullptr;
  OPWRIGHT_TRY(cards(ids.ids, false, [&](const Card& card) -> Status {
    if (count == nullptr || count->row.name != card.op) {
      count = &counts.try_emplace(std::string(card.op)).first->second;
      count->row.name = card.op;
    }
    ++count->row.configurations;
    for (const Seen& seen : card.seen) {
      if (seen.count == kUncounted)
        count->uncounted.emplace(seen.form.value, seen.trace.value);
      else
        count->row.calls += seen.count;
      count->row.raised += seen.raised;
      if (count->sources.empty() || *count->sources.rbegin() != seen.source.value)
        count->sources.insert(seen.source.value);
    }
    return {};
  }));
  std::vector<OperationRow> rows;
  for (auto& [name, found] : counts) {
    found.row.uncounted = static_cast<std::int64_t>(found.uncounted.size());
    found.row.calls += found.row.uncounted;
    std::vector<std::string_view> texts;
    for (const std::int64_t id : found.sources) {
      if (const auto known = sources_.find(id); known != sources_.end() && id != 0)
        texts.push_back(known->second.source);
    }
    found.row.sources = count_functions(texts);
    rows.push_back(std::move(found.row));
  }
  std::sort(rows.begin(), rows.end(), [](const OperationRow& a, const OperationRow& b) {
    return std::tie(b.configurations, a.name) < std::tie(a.configurations, b.name);
  });
  return rows;
}

// ---- the index

Result<std::vector<std::int64_t>> Reader::all() {
  OPWRIGHT_TRY_ASSIGN(const Rows rows, connection_.query("SELECT array_agg(id ORDER BY id) FROM configuration"));
  return rows.is_null(0, 0) ? std::vector<std::int64_t>() : rows.integers(0, 0);
}

// The lists of all terms of the question come in one answer.
Result<Candidates> Reader::narrow(std::span<const Way> ways) {
  terms_.clear();
  for (const Way& way : ways) {
    for (const std::uint64_t term : way.terms) terms_[term];
    for (const AnyOf& any : way.facts)
      for (const std::uint64_t term : any.terms) terms_[term];
  }
  if (!terms_.empty()) {
    std::vector<std::int64_t> wanted;
    for (const auto& [term, ids] : terms_) wanted.push_back(column(term));
    Params of;
    of << wanted;
    OPWRIGHT_TRY_ASSIGN(const Rows rows,
                        connection_.query("SELECT term, first, steps FROM posting WHERE term = ANY($1) "
                                          "ORDER BY term, first",
                                          of));
    for (int i = 0; i < rows.count(); ++i) {
      if (!decode_ids(rows.integer(i, 1), rows.blob(i, 2), terms_[static_cast<std::uint64_t>(rows.integer(i, 0))]))
        return fail(damaged(fmt::format("table posting: the list of term {} cannot be read", rows.integer(i, 0))));
    }
  }
  return store::narrow(*this, ways);
}

Result<std::vector<std::int64_t>> Reader::with_term(std::uint64_t term) { return terms_[term]; }

Status Reader::with_facts(std::span<const Range> ranges, std::vector<std::int64_t>& ids) {
  if (ranges.empty()) return {};
  std::vector<std::int64_t> kinds, lows, highs;
  for (const Range& range : ranges) {
    kinds.push_back(column(range.kind));
    lows.push_back(range.low);
    highs.push_back(range.high);
  }
  Params of;
  of << kinds << lows << highs;
  OPWRIGHT_TRY_ASSIGN(
      const Rows rows,
      connection_.query("SELECT f.first, f.steps FROM unnest($1, $2, $3) AS r(kind, low, high), LATERAL "
                        "(SELECT first, steps FROM fact WHERE kind = r.kind AND value BETWEEN r.low AND "
                        "r.high OFFSET 0) f",
                        of));
  for (int i = 0; i < rows.count(); ++i) {
    if (!decode_ids(rows.integer(i, 0), rows.blob(i, 1), ids))
      return fail(damaged("table fact: a list cannot be read"));
  }
  return {};
}

Result<std::vector<Word>> Reader::words(std::span<const std::uint64_t> kinds) {
  std::vector<std::int64_t> wanted;
  for (const std::uint64_t kind : kinds) wanted.push_back(column(kind));
  std::vector<Word> words;
  if (wanted.empty()) return words;
  Params of;
  of << wanted;
  OPWRIGHT_TRY_ASSIGN(const Rows rows,
                      connection_.query("SELECT kind, value, text FROM word WHERE kind = ANY($1)", of));
  for (int i = 0; i < rows.count(); ++i)
    words.push_back({static_cast<std::uint64_t>(rows.integer(i, 0)), rows.integer(i, 1), rows.text(i, 2)});
  return words;
}

Result<std::vector<ConfigId>> Reader::with_key(std::string_view hex) {
  std::string low(hex), high(hex);
  low.resize(64, '0');
  high.resize(64, 'f');
  Sha256 from, to;
  std::vector<ConfigId> ids;
  if (!from_hex(low, from) || !from_hex(high, to)) return ids;
  Params of;
  of << Blob{bytes_of(from)} << Blob{bytes_of(to)};
  OPWRIGHT_TRY_ASSIGN(const Rows rows,
                      connection_.query("SELECT id FROM configuration WHERE key BETWEEN $1 AND $2 ORDER BY id", of));
  for (int i = 0; i < rows.count(); ++i) ids.push_back({rows.integer(i, 0)});
  return ids;
}

}  // namespace opwright::store::postgresql
