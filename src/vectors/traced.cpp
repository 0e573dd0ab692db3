#include "vectors/traced.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/json_object.h"
#include "dialect/dialect.h"
#include "normalize/foreign_hash.h"
#include "normalize/normalize.h"
#include "select/file_source.h"
#include "vectors/validity.h"

namespace opwright::vectors {
namespace {

using Rows = std::vector<const store::OccurrenceRow*>;

// As select counts them: copies of one trace that differ in hashes only count once, a form that its trace does not
// count stands for one call.
std::int64_t calls_of(const Rows& rows) {
  std::map<std::tuple<std::int64_t, std::string_view, std::string_view, std::string_view, std::string_view>,
           std::int64_t>
      counts;
  std::set<std::pair<std::int64_t, std::string_view>> uncounted;
  for (const store::OccurrenceRow* row : rows) {
    std::int64_t& most =
        counts
            .try_emplace({row->form.value, row->source, row->machine, row->trace_uid, row->sweep_source_hash},
                         kUncounted)
            .first->second;
    most = std::max(most, row->count);
  }
  std::int64_t calls = 0;
  for (const auto& [call, count] : counts) {
    if (count == kUncounted)
      uncounted.emplace(std::get<0>(call), std::get<3>(call));
    else
      calls += count;
  }
  return calls + static_cast<std::int64_t>(uncounted.size());
}

std::set<std::string> names(const Rows& rows, std::string store::OccurrenceRow::* member) {
  std::set<std::string> found;
  for (const store::OccurrenceRow* row : rows) found.insert(row->*member);
  found.erase("");
  if (found.size() > 1) found.erase("unknown");
  return found;
}

const store::FormRow* era2_form(const select::Selected& selected) {
  for (const store::FormRow& form : selected.forms)
    if (is_era2_text(form.kind)) return &form;
  return nullptr;
}

// The hash that the trace files have: that of the form we take the arguments from, else any; the smallest of several,
// so that it does not depend on who was imported first.
std::string stored_hash(const Rows& rows, const store::FormRow* form) {
  std::string own, any;
  for (const store::OccurrenceRow* row : rows) {
    if (row->config_hash.empty()) continue;
    if (form != nullptr && row->form == form->id && (own.empty() || row->config_hash < own)) own = row->config_hash;
    if (any.empty() || row->config_hash < any) any = row->config_hash;
  }
  return own.empty() ? any : own;
}

class Maker {
 public:
  Maker(GroupBy group, std::string suite) : group_(group), suite_(std::move(suite)) {}

  Status add(select::Selected&& selected, std::vector<TestVector>& out) {
    std::map<std::string, Rows> groups;
    const std::string placed = placement_mesh(selected.config);
    for (const store::OccurrenceRow& row : selected.occurrences) {
      const MachineFacts& machine = machines_.of(row.machine);
      groups[group_suffix(group_, machine, machine.mesh.empty() ? placed : machine.mesh)].push_back(&row);
    }
    if (groups.empty()) groups[group_suffix(group_, {}, placed)];
    const std::string invalid = why_invalid({selected.config, selected.only_raised(), selected.error});
    for (auto& [suffix, rows] : groups) {
      TestVector vector;
      vector.suite = suite_;
      vector.group = suffix;
      vector.config = selected.config;
      vector.invalid = invalid;
      OPWRIGHT_TRY(describe(selected, rows, placed, vector));
      name_vector(vector);
      out.push_back(std::move(vector));
    }
    return {};
  }

 private:
  Status describe(const select::Selected& selected, const Rows& rows, const std::string& placed, TestVector& vector) {
    vector.calls = calls_of(rows);
    vector.models = fmt::format("{}", fmt::join(names(rows, &store::OccurrenceRow::model), ","));
    vector.machine = fmt::format("{}", fmt::join(names(rows, &store::OccurrenceRow::machine_label), ", "));
    if (vector.machine == "unknown") vector.machine.clear();
    std::set<std::string> sources;
    for (const store::OccurrenceRow* row : rows) sources.insert(select::source_for_files(*row));
    sources.erase("");
    if (sources.size() > 1) sources.erase("unknown");
    vector.sources = fmt::format("{}", fmt::join(sources, ","));
    if (!sources.empty()) vector.traced_source = json_array({sources.begin(), sources.end()}, false);
    const std::set<std::string> machines = names(rows, &store::OccurrenceRow::machine);
    if (machines.size() == 1)
      vector.machine_info = *machines.begin();
    else if (machines.size() > 1)
      vector.machine_info = json_array({machines.begin(), machines.end()}, true);
    vector.mesh = placed;
    if (placed.empty()) {
      std::set<std::string> meshes;
      for (const store::OccurrenceRow* row : rows) meshes.insert(machines_.of(row->machine).mesh);
      if (meshes.size() == 1) vector.mesh = *meshes.begin();
    }
    if (vector.mesh == "1x1") vector.mesh.clear();
    if (selected.config.convention != Convention::kPython) return {};
    const store::FormRow* form = era2_form(selected);
    if (form != nullptr) vector.arguments = form->text;
    vector.config_hash = stored_hash(rows, form);
    if (!vector.config_hash.empty() || form == nullptr) return {};
    const auto arguments = document_.parse(form->text);
    if (!arguments) return fail(ErrorCode::kBadInput, json::describe(form->text, arguments.error()));
    const json::Node* machine = nullptr;
    if (!machines.empty()) {
      const auto parsed = machine_document_.parse(*machines.begin());
      if (parsed) machine = *parsed;
    }
    vector.config_hash = normalize::config_hash(normalize::Generation::kG5, form->op, **arguments, machine);
    return {};
  }

  GroupBy group_;
  std::string suite_;
  Machines machines_;
  json::Document document_, machine_document_;
};

select::Selector both(select::Selector a, select::Selector b) {
  if (a.kind == select::Selector::Kind::kEverything) return b;
  select::Selector all;
  all.kind = select::Selector::Kind::kAnd;
  for (select::Selector* part : {&a, &b}) {
    if (part->kind == select::Selector::Kind::kAnd)
      all.parts.insert(all.parts.end(), part->parts.begin(), part->parts.end());
    else
      all.parts.push_back(std::move(*part));
  }
  return all;
}

std::string quoted(const std::string& name) {
  std::string out = "\"";
  for (const char c : name) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

}  // namespace

Result<select::Selector> with_ops(const select::Selector& selector, const std::vector<std::string>& ops) {
  if (ops.empty()) return selector;
  std::string text;
  for (const std::string& op : ops) text += (text.empty() ? "op=" : " or op=") + quoted(operation_name(op));
  OPWRIGHT_TRY_ASSIGN(select::Selector chosen, select::parse_selector(text));
  return both(selector, std::move(chosen));
}

Status for_each_traced_operation(store::Reader& reader, const select::Selector& selector, GroupBy group,
                                 const std::string& suite, const UseOperation& use) {
  OPWRIGHT_TRY_ASSIGN(const std::vector<std::string> stored, reader.operation_names());
  std::set<std::string> ops;
  for (const std::string& name : stored) ops.insert(operation_name(name));
  Maker maker(group, suite);
  for (const std::string& op : ops) {
    OPWRIGHT_TRY_ASSIGN(const select::Selector of_op, with_ops(selector, {op}));
    std::vector<TestVector> vectors;
    OPWRIGHT_TRY(for_each_selected(reader, of_op, select::kAllOfIt, [&](select::Selected&& selected) -> Status {
      // The selector finds `ttnn.transformer.x` by `x` too; each configuration belongs to its own operation.
      if (selected.config.op != op) return {};
      return maker.add(std::move(selected), vectors);
    }));
    if (vectors.empty()) continue;
    std::sort(vectors.begin(), vectors.end(), [](const TestVector& a, const TestVector& b) {
      return std::tie(a.config.key, a.group) < std::tie(b.config.key, b.group);
    });
    OPWRIGHT_TRY(use(op, std::move(vectors)));
  }
  return {};
}

}  // namespace opwright::vectors
