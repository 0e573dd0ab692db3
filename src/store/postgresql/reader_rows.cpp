// What a Reader gives of many configurations at once: cards, texts, and where they were seen.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "store/postgresql/reader.h"

namespace opwright::store::postgresql {
namespace {

constexpr std::size_t kGroupsAtOnce = 256;  // of 64 configurations: about a megabyte of cards
constexpr std::size_t kFormsAtOnce = 256;   // their packs are in memory together
constexpr std::size_t kOccurrencesAtOnce = 1024;

// How many of these lie in so many groups.
std::size_t in_groups(std::span<const ConfigId> ids, std::size_t most) {
  std::size_t groups = 0;
  std::int64_t last = -1;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (range_group(ids[i].value) == last) continue;
    if (++groups > most) return i;
    last = range_group(ids[i].value);
  }
  return ids.size();
}

}  // namespace

Status Reader::cards(std::span<const ConfigId> ids, bool with_parts, const std::function<Status(const Card&)>& use) {
  OPWRIGHT_TRY(load_operations());
  Card card;
  const std::string* op = nullptr;
  std::int64_t op_id = -1;
  while (!ids.empty()) {
    const auto some = ids.first(in_groups(ids, kGroupsAtOnce));
    ids = ids.subspan(some.size());
    OPWRIGHT_TRY(blocks_.fetch(connection_, some, with_parts));
    for (const ConfigId id : some) {
      card.id = id;
      card.block = range_group(id.value);
      const CardBlock* cards = blocks_.cards(card.block);
      if (cards == nullptr || !cards->entry(id.value).is_there)
        return fail(damaged(fmt::format("table card, row {}: configuration {} is not in it", card.block, id.value)));
      const CardBlock::Entry& entry = cards->entry(id.value);
      if (entry.operation != op_id) {
        const auto found = operations_.find(entry.operation);
        if (found == operations_.end())
          return fail(damaged(fmt::format("table operation: row {} is missing", entry.operation)));
        op = &found->second;
        op_id = entry.operation;
      }
      card.op = *op;
      card.convention = static_cast<Convention>(entry.convention);
      std::copy(entry.key.begin(), entry.key.end(), card.key.begin());
      card.seen = cards->seen(entry);
      const RecordBlock* records = with_parts ? blocks_.records(card.block) : nullptr;
      card.has_parts = records != nullptr && records->entry(id.value).is_there;
      card.table = card.has_parts ? records->table() : std::span<const std::string_view>();
      card.parts = card.has_parts ? records->places(records->entry(id.value)) : std::span<const std::uint32_t>();
      OPWRIGHT_TRY(use(card));
    }
  }
  return {};
}

Status Reader::load_packs(const Rows& forms, int pack_column) {
  std::vector<std::int64_t> ids;
  for (int i = 0; i < forms.count(); ++i) ids.push_back(forms.integer(i, pack_column));
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  std::erase_if(packs_, [&](const auto& pack) { return !std::binary_search(ids.begin(), ids.end(), pack.first); });
  std::erase_if(ids, [&](std::int64_t id) { return packs_.contains(id); });
  if (ids.empty()) return {};
  Params of;
  of << ids;
  OPWRIGHT_TRY_ASSIGN(const Rows rows, connection_.query("SELECT id, data FROM pack WHERE id = ANY($1)", of));
  for (int i = 0; i < rows.count(); ++i) {
    auto unpacked = Unpacked::open(rows.blob(i, 1));
    if (!unpacked)
      return fail(damaged(fmt::format("table pack, row {}: {}", rows.integer(i, 0), unpacked.error().message)));
    packs_.emplace(rows.integer(i, 0), *std::move(unpacked));
  }
  return {};
}

Result<std::vector<FormRow>> Reader::forms(std::span<const ConfigId> ids) {
  std::vector<FormRow> rows;
  rows.reserve(ids.size());
  for (; !ids.empty(); ids = ids.subspan(std::min(kFormsAtOnce, ids.size())))
    OPWRIGHT_TRY(append_forms(ids.first(std::min(kFormsAtOnce, ids.size())), rows));
  return rows;
}

Status Reader::append_forms(std::span<const ConfigId> ids, std::vector<FormRow>& rows) {
  std::vector<std::int64_t> numbers;
  for (const ConfigId id : ids) numbers.push_back(id.value);
  Params of;
  of << numbers;
  OPWRIGHT_TRY_ASSIGN(const Rows found,
                      connection_.query("SELECT configuration_id, id, kind, op, pack_id, slot, error FROM form WHERE "
                                        "configuration_id = ANY($1) ORDER BY configuration_id, fingerprint",
                                        of));
  OPWRIGHT_TRY(load_packs(found, 4));
  std::unordered_map<std::int64_t, int> first;  // row of a configuration
  for (int i = found.count() - 1; i >= 0; --i) first[found.integer(i, 0)] = i;
  for (const ConfigId id : ids) {
    const auto start = first.find(id.value);
    if (start == first.end()) continue;
    for (int i = start->second; i < found.count() && found.integer(i, 0) == id.value; ++i) {
      FormRow row;
      row.id = {found.integer(i, 1)};
      row.configuration = id;
      row.kind = static_cast<FormKind>(found.integer(i, 2));
      row.op = found.text(i, 3);
      const auto pack = packs_.find(found.integer(i, 4));
      const auto slot = static_cast<std::size_t>(found.integer(i, 5));
      if (pack == packs_.end() || slot >= pack->second.size())
        return fail(damaged(fmt::format("table form, row {}: its text is missing", row.id.value)));
      row.text = pack->second.text(slot);
      row.error = found.text(i, 6);
      rows.push_back(std::move(row));
    }
  }
  return {};
}

Result<std::vector<OccurrenceRow>> Reader::occurrences(std::span<const FormRow> forms) {
  OPWRIGHT_TRY(load_sources());
  OPWRIGHT_TRY(load_machines());
  OPWRIGHT_TRY(load_traces());
  std::vector<OccurrenceRow> rows;
  for (; !forms.empty(); forms = forms.subspan(std::min(kOccurrencesAtOnce, forms.size())))
    OPWRIGHT_TRY(append_occurrences(forms.first(std::min(kOccurrencesAtOnce, forms.size())), rows));
  return rows;
}

Status Reader::append_occurrences(std::span<const FormRow> forms, std::vector<OccurrenceRow>& rows) {
  std::vector<std::int64_t> numbers;
  for (const FormRow& form : forms) numbers.push_back(form.id.value);
  Params of;
  of << numbers;
  OPWRIGHT_TRY_ASSIGN(
      const Rows found,
      connection_.query(
          "SELECT form_id, source_id, machine_id, trace_id, count, extra, sweep_source_hash, config_hash, "
          "raised FROM occurrence WHERE form_id = ANY($1) ORDER BY form_id",
          of));
  std::unordered_map<std::int64_t, int> first;
  for (int i = found.count() - 1; i >= 0; --i) first[found.integer(i, 0)] = i;
  for (const FormRow& form : forms) {
    const auto start = first.find(form.id.value);
    if (start == first.end()) continue;
    const std::size_t begin = rows.size();
    for (int i = start->second; i < found.count() && found.integer(i, 0) == form.id.value; ++i) {
      const auto source = sources_.find(found.integer(i, 1)), machine = machines_.find(found.integer(i, 2));
      const auto trace = traces_.find(found.integer(i, 3));
      if (source == sources_.end() || machine == machines_.end() || trace == traces_.end())
        return fail(damaged(
            fmt::format("table occurrence, a row of form {}: its source, machine or trace is missing", form.id.value)));
      OccurrenceRow row = source->second;
      row.form = form.id;
      row.machine = machine->second.machine;
      row.machine_label = machine->second.machine_label;
      row.trace_uid = trace->second.uid;
      row.count = found.integer(i, 4);
      row.extra = found.text(i, 5);
      row.sweep_source_hash = found.text(i, 6);
      row.config_hash = found.text(i, 7);
      row.raised = found.integer(i, 8);
      rows.push_back(std::move(row));
    }
    std::sort(rows.begin() + static_cast<std::ptrdiff_t>(begin), rows.end(),
              [](const OccurrenceRow& a, const OccurrenceRow& b) {
                return std::tie(a.source, a.machine, a.trace_uid, a.sweep_source_hash, a.config_hash) <
                       std::tie(b.source, b.machine, b.trace_uid, b.sweep_source_hash, b.config_hash);
              });
  }
  return {};
}

}  // namespace opwright::store::postgresql
