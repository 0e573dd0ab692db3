// What a Writer does to say where, how often and how forms were seen.
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "store/sqlite/sums.h"
#include "store/sqlite/writer.h"

namespace opwright::store::sqlite {
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

auto name_of(const NewOccurrence& row) {
  return std::tie(row.form.value, row.source.value, row.machine.value, row.trace.value, row.sweep_source_hash,
                  row.config_hash);
}

constexpr std::size_t kWorthAScan = 16;  // fewer are found one by one

}  // namespace

// A second import brings thousands of rows that are there: read in the order in which they lie, they cost a step each.
Status Writer::leave_out_known(std::int64_t group, std::vector<const NewOccurrence*>& rows) {
  Statement& find = statements_.find_occurrences;
  find.bind(1, group << kRangeBits).bind(2, ((group + 1) << kRangeBits) - 1);
  auto row = rows.begin();
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const bool there, find.step());
    if (!there) break;
    const NewOccurrence old{{find.integer(0)},
                            {find.integer(1)},
                            {find.integer(2)},
                            {find.integer(3)},
                            find.text(4),
                            find.text(5),
                            find.is_null(6) ? kUncounted : find.integer(6),
                            find.text(7),
                            find.integer(8)};
    while (row != rows.end() && name_of(**row) < name_of(old)) ++row;
    if (row == rows.end()) break;
    if (name_of(**row) != name_of(old) || (*row)->count > old.count || (*row)->raised > old.raised ||
        (*row)->extra > old.extra)
      continue;
    if (const Status sound = verifier_.check_row(database_, Part::kOccurrence, find); !sound) {
      find.reset();
      return sound;
    }
    *row = nullptr;
    ++row;
  }
  find.reset();
  std::erase(rows, nullptr);
  return {};
}

Status Writer::add_occurrences(std::span<const NewOccurrence> occurrences) {
  std::vector<const NewOccurrence*> order;
  order.reserve(occurrences.size());
  for (const NewOccurrence& row : occurrences) order.push_back(&row);
  const auto by_name = [](const NewOccurrence* a, const NewOccurrence* b) { return name_of(*a) < name_of(*b); };
  if (!std::is_sorted(order.begin(), order.end(), by_name)) std::stable_sort(order.begin(), order.end(), by_name);
  std::vector<const NewOccurrence*> some;  // of one group
  for (auto from = order.begin(); from != order.end();) {
    const std::int64_t group = range_group((*from)->form.value);
    const auto to = std::find_if(from, order.end(),
                                 [&](const NewOccurrence* row) { return range_group(row->form.value) != group; });
    some.assign(from, to);
    if (some.size() >= kWorthAScan && some.front()->form < first_form_) OPWRIGHT_TRY(leave_out_known(group, some));
    OPWRIGHT_TRY(add_some(some));
    from = to;
  }
  return {};
}

Status Writer::add_some(std::span<const NewOccurrence* const> occurrences) {
  for (const NewOccurrence* one : occurrences) {
    const NewOccurrence& row = *one;
    const std::int64_t sum = bind_occurrence(statements_.add_occurrence, row);
    OPWRIGHT_TRY(statements_.add_occurrence.run());
    if (database_.changes() == 0) {
      OPWRIGHT_TRY(join_occurrence(row));
      continue;
    }
    tally_.add(Part::kOccurrence, range_group(row.form.value), sum);
    OPWRIGHT_TRY_ASSIGN(const ConfigId configuration, configuration_of(row.form));
    facts_.see(configuration, row.source, row.machine);
    blocks_.see(configuration, row);
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
  OPWRIGHT_TRY_ASSIGN(const ConfigId configuration, configuration_of(row.form));
  blocks_.see(configuration, joined);
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

}  // namespace opwright::store::sqlite
