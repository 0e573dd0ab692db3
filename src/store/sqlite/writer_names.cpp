// The small tables of a Writer: operations, sources, machines, traces. Each is there once, found by its text.
#include <algorithm>

#include "store/sqlite/sums.h"
#include "store/sqlite/writer.h"
#include "store/union.h"

namespace opwright::store::sqlite {

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

}  // namespace opwright::store::sqlite
