// What a Writer does to say where, how often and how forms were seen.
#include <algorithm>
#include <map>
#include <tuple>

#include "store/postgresql/writer.h"

namespace opwright::store::postgresql {
namespace {

auto name_of(const NewOccurrence& row) {
  return std::tie(row.form.value, row.source.value, row.machine.value, row.trace.value, row.sweep_source_hash,
                  row.config_hash);
}

constexpr std::size_t kRowsAtOnce = 4096;

}  // namespace

Status Writer::add_occurrences(std::span<const NewOccurrence> occurrences) {
  std::vector<NewOccurrence> rows(occurrences.begin(), occurrences.end());
  std::stable_sort(rows.begin(), rows.end(),
                   [](const NewOccurrence& a, const NewOccurrence& b) { return name_of(a) < name_of(b); });
  std::size_t kept = 0;
  for (std::size_t i = 1; i < rows.size(); ++i) {  // of one occurrence that comes twice, the larger of everything
    if (name_of(rows[kept]) != name_of(rows[i])) {
      rows[++kept] = rows[i];
      continue;
    }
    rows[kept].count = std::max(rows[kept].count, rows[i].count);
    rows[kept].raised = std::max(rows[kept].raised, rows[i].raised);
    rows[kept].extra = std::max(rows[kept].extra, rows[i].extra);
  }
  if (!rows.empty()) rows.resize(kept + 1);
  for (std::size_t from = 0; from < rows.size(); from += kRowsAtOnce)
    OPWRIGHT_TRY(add_some(std::span(rows).subspan(from, std::min(kRowsAtOnce, rows.size() - from))));
  return {};
}

Status Writer::add_some(std::span<const NewOccurrence> rows) {
  std::vector<std::int64_t> forms, sources, machines, traces, counts, raised;
  std::vector<std::string_view> sweeps, hashes, extras;
  for (const NewOccurrence& row : rows) {
    forms.push_back(row.form.value);
    sources.push_back(row.source.value);
    machines.push_back(row.machine.value);
    traces.push_back(row.trace.value);
    sweeps.push_back(row.sweep_source_hash);
    hashes.push_back(row.config_hash);
    counts.push_back(row.count);
    extras.push_back(row.extra);
    raised.push_back(row.raised);
  }
  Params given;
  (given << forms << sources << machines << traces).texts(sweeps).texts(hashes) << counts;
  given.texts(extras) << raised;
  // Two statements instead of one with ON CONFLICT DO UPDATE, which writes a lock into every row that is there.
  constexpr std::string_view kChange =
      "UPDATE occurrence o SET count = greatest(o.count, i.count), raised = greatest(o.raised, i.raised), extra = CASE "
      "WHEN i.extra COLLATE \"C\" > o.extra COLLATE \"C\" THEN i.extra ELSE o.extra END FROM unnest($1, $2, $3, $4, "
      "$5, "
      "$6, $7, $8, $9) AS i(form, source, machine, trace, sweep, hash, count, extra, raised) WHERE o.form_id = i.form "
      "AND o.source_id = i.source AND o.machine_id = i.machine AND o.trace_id = i.trace AND md5(o.sweep_source_hash) = "
      "md5(i.sweep) AND md5(o.config_hash) = md5(i.hash) AND (i.count > o.count OR i.raised > o.raised OR i.extra "
      "COLLATE "
      "\"C\" > o.extra COLLATE \"C\") RETURNING o.form_id, o.source_id, o.machine_id";
  constexpr std::string_view kAdd =
      "INSERT INTO occurrence SELECT * FROM unnest($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING "
      "RETURNING form_id, source_id, machine_id";
  OPWRIGHT_TRY_ASSIGN(const Rows changed, connection_.query(kChange, given));
  OPWRIGHT_TRY(see(changed));
  OPWRIGHT_TRY_ASSIGN(const Rows added, connection_.query(kAdd, given));
  return see(added);
}

Status Writer::see(const Rows& changed) {
  std::vector<std::int64_t> older;  // forms that were there before
  for (int i = 0; i < changed.count(); ++i) {
    if (changed.integer(i, 0) < first_form_.value) older.push_back(changed.integer(i, 0));
  }
  std::unordered_map<std::int64_t, std::int64_t> configurations;
  if (!older.empty()) {
    Params of;
    of << older;
    OPWRIGHT_TRY_ASSIGN(const Rows rows,
                        connection_.query("SELECT id, configuration_id FROM form WHERE id = ANY($1)", of));
    for (int i = 0; i < rows.count(); ++i) configurations.emplace(rows.integer(i, 0), rows.integer(i, 1));
  }
  for (int i = 0; i < changed.count(); ++i) {
    const std::int64_t form = changed.integer(i, 0);
    std::int64_t configuration = 0;
    if (const auto place = static_cast<std::size_t>(form - first_form_.value);
        form >= first_form_.value && place < form_configs_.size())
      configuration = form_configs_[place].value;
    else if (const auto found = configurations.find(form); found != configurations.end())
      configuration = found->second;
    if (configuration == 0) continue;  // of a form that is not there
    blocks_.change({configuration});
    seen_[{kSourceFact, changed.integer(i, 1)}].push_back(configuration);
    seen_[{kMachineFact, changed.integer(i, 2)}].push_back(configuration);
  }
  return {};
}

Status Writer::add_examples(std::span<const RaisedExample> examples) {
  std::map<std::int64_t, std::string_view> largest;
  for (const RaisedExample& example : examples) {
    std::string_view& kept = largest[example.form.value];
    kept = std::max(kept, example.error);
  }
  if (largest.empty()) return {};
  std::vector<std::int64_t> forms;
  std::vector<std::string_view> errors;
  for (const auto& [form, error] : largest) {
    forms.push_back(form);
    errors.push_back(error);
  }
  Params given;
  (given << forms).texts(errors);
  const auto done = connection_.query(
      "UPDATE form SET error = i.error FROM unnest($1, $2) AS i(id, error) WHERE form.id "
      "= i.id AND i.error COLLATE \"C\" > form.error COLLATE \"C\"",
      given);
  return done ? Status() : fail(done.error());
}

Status Writer::lower_kinds(std::span<const FormId> forms, FormKind kind) {
  if (forms.empty()) return {};
  std::vector<std::int64_t> ids;
  for (const FormId form : forms) ids.push_back(form.value);
  Params given;
  given << ids << static_cast<std::int64_t>(kind);
  const auto done = connection_.query("UPDATE form SET kind = $2 WHERE id = ANY($1) AND kind > $2", given);
  return done ? Status() : fail(done.error());
}

}  // namespace opwright::store::postgresql
