// The asking side of a MemoryStore.
#pragma once

#include <algorithm>

#include "base/bytes.h"
#include "model/test_id.h"
#include "store/conformance/memory_content.h"
#include "store/reader.h"

namespace opwright::store {

class MemoryReader final : public Reader {
 public:
  explicit MemoryReader(Content content) : content_(std::move(content)) {}

  Result<Totals> totals() override {
    Totals totals;
    totals.operations = static_cast<std::int64_t>(operation_names()->size());
    totals.configurations = static_cast<std::int64_t>(content_->configurations.size());
    totals.forms = static_cast<std::int64_t>(content_->forms.size());
    std::set<std::string> functions;
    for (std::size_t i = 1; i < content_->sources.size(); ++i)
      functions.insert(test_function(content_->sources[i].text));
    totals.sources = static_cast<std::int64_t>(functions.size());
    totals.machines = static_cast<std::int64_t>(content_->machines.size()) - 1;
    totals.traces = static_cast<std::int64_t>(content_->traces.size());
    totals.bytes = 1;
    return totals;
  }

  Result<std::vector<OperationRow>> operations() override {
    struct Counted {
      OperationRow row;
      std::set<std::string> functions;
      std::set<std::pair<std::int64_t, std::int64_t>> uncounted;  // form and trace
    };
    std::map<std::string, Counted> all;
    for (const auto& [id, one] : content_->configurations) ++all[one.op].row.configurations;
    using Call = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::string>;
    std::map<Call, std::pair<std::int64_t, std::int64_t>> counted;  // copies that differ in their hash count once
    for (const auto& [where, seen] : content_->occurrences) {
      const auto& [form, source, machine, trace, sweep, hash] = where;
      auto& most = counted.try_emplace({form, source, machine, trace, sweep}, kUncounted, 0).first->second;
      most = {std::max(most.first, seen.count), std::max(most.second, seen.raised)};
    }
    for (const auto& [call, most] : counted) {
      const auto& [form, source, machine, trace, sweep] = call;
      const auto config = content_->forms.at(form).form.configuration.value;
      Counted& op = all[content_->configurations.at(config).op];
      if (most.first == kUncounted)
        op.uncounted.emplace(form, trace);
      else
        op.row.calls += most.first;
      op.row.raised += most.second;
      if (source != 0) op.functions.insert(test_function(content_->sources[static_cast<std::size_t>(source)].text));
    }
    std::vector<OperationRow> rows;
    for (auto& [name, op] : all) {
      op.row.name = name;
      op.row.uncounted = static_cast<std::int64_t>(op.uncounted.size());
      op.row.calls += op.row.uncounted;
      op.row.sources = static_cast<std::int64_t>(op.functions.size());
      rows.push_back(op.row);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const auto& a, const auto& b) { return a.configurations > b.configurations; });
    return rows;
  }
  Result<std::vector<std::string>> operation_names() override {
    std::set<std::string> names;
    for (const auto& [id, one] : content_->configurations) names.insert(one.op);
    return std::vector(names.begin(), names.end());
  }

  Result<Candidates> narrow(std::span<const Way> ways) override {
    std::vector<ConfigId> ids;
    bool sure = !ways.empty() && std::ranges::all_of(ways, &Way::is_exact);
    for (const auto& [id, one] : content_->configurations) {
      const auto fits = [&, number = id](const Way& way) {
        return std::all_of(way.terms.begin(), way.terms.end(), [&](auto term) { return has(term, number); }) &&
               std::all_of(way.facts.begin(), way.facts.end(), [&](const AnyOf& any) { return has(any, number); });
      };
      if (ways.empty() || std::any_of(ways.begin(), ways.end(), fits)) ids.push_back({id});
      for (const Way& way : ways) {
        for (const AnyOf& any : way.facts) sure = sure && !has(any.doubtful, id);
      }
    }
    return Candidates{std::move(ids), sure};
  }
  Status cards(std::span<const ConfigId> ids, bool with_parts, const std::function<Status(const Card&)>& use) override {
    for (const ConfigId id : ids) {
      const NewConfiguration& one = content_->configurations.at(id.value);
      using Call = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::string>;
      std::map<Call, std::pair<std::int64_t, std::int64_t>> counted;  // copies that differ in their hash count once
      for (const auto& [where, seen] : content_->occurrences) {
        const auto& [form, source, machine, trace, sweep, hash] = where;
        if (content_->forms.at(form).form.configuration != id) continue;
        auto& most = counted.try_emplace({form, source, machine, trace, sweep}, kUncounted, 0).first->second;
        most = {std::max(most.first, seen.count), std::max(most.second, seen.raised)};
      }
      std::vector<Seen> seen;
      for (const auto& [call, most] : counted) {
        const auto& [form, source, machine, trace, sweep] = call;
        seen.push_back({{form}, {source}, {machine}, {trace}, sweep, most.first, most.second});
      }
      std::vector<std::string_view> table;
      std::vector<std::uint32_t> parts;
      for (ByteReader in(one.parts); with_parts && !in.at_end();) {
        parts.push_back(static_cast<std::uint32_t>(table.size()));
        table.push_back(in.text());
      }
      OPWRIGHT_TRY(
          use({id, one.op, one.convention, one.key, seen, with_parts && !one.parts.empty(), id.value, table, parts}));
    }
    return {};
  }
  Result<std::vector<SourceRow>> sources() override {
    std::vector<SourceRow> rows;
    for (const NewSource& one : content_->sources)
      rows.push_back({{static_cast<std::int64_t>(rows.size())}, one.text, one.hf_model});
    return rows;
  }
  Result<std::vector<MachineRow>> machines() override {
    std::vector<MachineRow> rows;
    for (const NewMachine& one : content_->machines)
      rows.push_back({{static_cast<std::int64_t>(rows.size())}, one.text, one.label});
    return rows;
  }
  Result<std::vector<Word>> words(std::span<const std::uint64_t> kinds) override {
    std::vector<Word> words;
    for (const auto& [what, text] : content_->words) {
      if (std::find(kinds.begin(), kinds.end(), what.first) != kinds.end())
        words.push_back({what.first, what.second, text});
    }
    return words;
  }
  Result<std::vector<ConfigId>> with_key(std::string_view hex) override {
    std::vector<ConfigId> ids;
    for (const auto& [id, one] : content_->configurations) {
      if (to_hex(one.key).starts_with(hex)) ids.push_back({id});
    }
    return ids;
  }

  Result<std::vector<FormRow>> forms(std::span<const ConfigId> ids) override {
    std::vector<FormRow> rows;
    for (const ConfigId id : ids) {
      for (const auto& [fingerprint, number] : content_->fingerprints) {
        const auto& [form, error] = content_->forms.at(number);
        if (form.configuration == id) rows.push_back({form.id, id, form.kind, form.op, form.text, error});
      }
    }
    return rows;
  }
  Result<std::vector<OccurrenceRow>> occurrences(std::span<const FormRow> forms) override {
    std::vector<OccurrenceRow> rows;
    for (const FormRow& form : forms) {
      const auto first = static_cast<std::ptrdiff_t>(rows.size());
      for (auto at = content_->occurrences.lower_bound({form.id.value, 0, 0, 0, "", ""});
           at != content_->occurrences.end() && std::get<0>(at->first) == form.id.value; ++at) {
        const auto& [id, source_id, machine_id, trace_id, sweep, hash] = at->first;
        const NewSource& source = content_->sources[static_cast<std::size_t>(source_id)];
        const NewMachine& machine = content_->machines[static_cast<std::size_t>(machine_id)];
        rows.push_back({form.id, source.text, source.model, source.hf_model, machine.text, machine.label,
                        content_->traces[static_cast<std::size_t>(trace_id - 1)].uid, sweep, hash, at->second.extra,
                        at->second.count, at->second.raised});
      }
      std::sort(rows.begin() + first, rows.end(), [](const OccurrenceRow& a, const OccurrenceRow& b) {
        return std::tie(a.source, a.machine, a.trace_uid, a.sweep_source_hash, a.config_hash) <
               std::tie(b.source, b.machine, b.trace_uid, b.sweep_source_hash, b.config_hash);
      });
    }
    return rows;
  }
  Result<std::vector<TraceRow>> traces() override {
    std::vector<TraceRow> rows;
    for (const NewTrace& one : content_->traces) rows.push_back({one.uid, one.format, one.facts});
    std::sort(rows.begin(), rows.end(), [](const TraceRow& a, const TraceRow& b) { return a.uid < b.uid; });
    return rows;
  }
  Result<std::vector<SequenceRow>> sequences() override {
    std::vector<SequenceRow> rows;
    for (const auto& [uid, kept] : content_->sequences)
      rows.push_back({0, kept.first, static_cast<std::int64_t>(kept.second.size())});
    std::sort(rows.begin(), rows.end(), [](const SequenceRow& a, const SequenceRow& b) {
      return std::tie(b.sequence.started, a.sequence.digest) < std::tie(a.sequence.started, b.sequence.digest);
    });
    return rows;
  }
  Result<std::string> trace_bytes(const SequenceRow& row) override {
    return content_->sequences.at(row.sequence.uid).second;
  }

 private:
  bool has(std::uint64_t term, std::int64_t id) const { return content_->postings.contains({term, id}); }
  bool has(const AnyOf& any, std::int64_t id) const {
    if (std::any_of(any.terms.begin(), any.terms.end(), [&](auto term) { return has(term, id); })) return true;
    return has(any.ranges, id) || has(any.doubtful, id);
  }
  bool has(const std::vector<Range>& ranges, std::int64_t id) const {
    return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
      return std::any_of(content_->facts.begin(), content_->facts.end(), [&](const auto& fact) {
        const auto& [kind, value, of] = fact;
        return kind == range.kind && of == id && value >= range.low && value <= range.high;
      });
    });
  }
  Content content_;
};

}  // namespace opwright::store
