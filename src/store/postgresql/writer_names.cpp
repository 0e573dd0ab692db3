// The small tables of a Writer, each row there once and found by its text; and sequences.
#include <algorithm>

#include "store/encoding/frame.h"
#include "store/postgresql/sequences.h"
#include "store/postgresql/writer.h"
#include "store/union.h"

namespace opwright::store::postgresql {

Result<std::int64_t> Writer::operation(const std::string& name) {
  if (const auto known = operations_.find(name); known != operations_.end()) return known->second;
  const std::int64_t id = next_operation_++;
  Params put;
  put << id << std::string_view(name);
  OPWRIGHT_TRY(connection_.query("INSERT INTO operation VALUES ($1, $2)", put));
  operations_.emplace(name, id);
  return id;
}

Result<std::vector<SourceId>> Writer::sources(std::span<const NewSource> sources) {
  std::vector<SourceId> ids;
  std::vector<Params> added;
  for (const NewSource& source : sources) {
    const auto [entry, is_new] = sources_.try_emplace(source.text, next_source_);
    ids.push_back({entry->second});
    if (!is_new) continue;
    added.emplace_back() << next_source_++ << std::string_view(source.text) << std::string_view(source.path)
                         << std::string_view(source.hf_model) << std::string_view(source.model);
  }
  OPWRIGHT_TRY(connection_.for_all("INSERT INTO source VALUES ($1, $2, $3, $4, $5)", added));
  return ids;
}

Result<std::vector<MachineId>> Writer::machines(std::span<const NewMachine> machines) {
  std::vector<MachineId> ids;
  std::vector<Params> added;
  for (const NewMachine& machine : machines) {
    const auto [entry, is_new] = machines_.try_emplace(machine.text, next_machine_);
    ids.push_back({entry->second});
    if (is_new)
      added.emplace_back() << next_machine_++ << std::string_view(machine.text) << std::string_view(machine.label);
  }
  OPWRIGHT_TRY(connection_.for_all("INSERT INTO machine VALUES ($1, $2, $3)", added));
  return ids;
}

Result<std::vector<TraceId>> Writer::traces(std::span<const NewTrace> traces) {
  std::vector<TraceId> ids;
  std::vector<Params> changed;
  for (const NewTrace& told : traces) {
    const auto known = traces_.find(told.uid);
    Trace trace{next_trace_, told.format, joined_facts("{}", told.facts)};
    if (known != traces_.end()) {
      trace = known->second;
      trace.facts = joined_facts(trace.facts, told.facts);
      trace.format = std::min(trace.format, told.format);
    } else {
      ++next_trace_;
    }
    ids.push_back({trace.id});
    if (known != traces_.end() && trace.facts == known->second.facts && trace.format == known->second.format) continue;
    changed.emplace_back() << trace.id << std::string_view(told.uid) << std::string_view(trace.format)
                           << std::string_view(trace.facts);
    traces_.insert_or_assign(told.uid, std::move(trace));
  }
  OPWRIGHT_TRY(
      connection_.for_all("INSERT INTO trace VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO UPDATE SET format = "
                          "excluded.format, facts = excluded.facts",
                          changed));
  return ids;
}

// ---- sequences

Status Writer::write_piece(const NewPiece& piece) {
  if (piece.place == 0) OPWRIGHT_TRY(begin_sequence(*piece.of));
  if (!coming_) return {};
  const std::string packed = compress(piece.bytes);
  new_pieces_.row(3) << coming_->id << piece.place << Blob{packed};
  OPWRIGHT_TRY(connection_.copy("piece (sequence_id, place, data)", new_pieces_));
  coming_->packed += static_cast<std::int64_t>(packed.size());
  if (!piece.is_last) return {};
  const SequenceRow row = *coming_;
  coming_.reset();
  return put_sequence(row);
}

Status Writer::begin_sequence(const Sequence& sequence) {
  coming_.reset();
  const auto known = sequences_.find(sequence.uid);
  if (known != sequences_.end()) {
    switch (what_stays(known->second.sequence, sequence)) {
      case Stays::kBefore:
        return {};
      case Stays::kBeforeRenamed: {
        SequenceRow renamed = known->second;
        renamed.sequence.name = sequence.name;
        return put_sequence(renamed);
      }
      case Stays::kNew:
        OPWRIGHT_TRY(remove_sequence(sequence.uid));
    }
  }
  coming_ = SequenceRow{next_sequence_++, sequence, 0};
  return {};
}

Status Writer::put_sequence(const SequenceRow& row) {
  const Sequence& one = row.sequence;
  Params put;
  put << row.id << std::string_view(one.uid)
      << Blob{{reinterpret_cast<const char*>(one.digest.data()), one.digest.size()}} << std::string_view(one.name)
      << std::string_view(one.command) << std::string_view(one.machine) << std::string_view(one.started)
      << std::string_view(one.format) << static_cast<std::int64_t>(one.flow) << one.calls << one.operations
      << one.content << one.size << row.packed;
  OPWRIGHT_TRY(
      connection_.query("INSERT INTO sequence VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
                        "$14) ON CONFLICT (id) DO UPDATE SET name = excluded.name",
                        put));
  sequences_.insert_or_assign(one.uid, row);
  return {};
}

Status Writer::remove_sequence(const std::string& uid) {
  Params of;
  of << sequences_.at(uid).id;
  OPWRIGHT_TRY(connection_.query("DELETE FROM piece WHERE sequence_id = $1", of));
  OPWRIGHT_TRY(connection_.query("DELETE FROM sequence WHERE id = $1", of));
  sequences_.erase(uid);
  return {};
}

Result<bool> Writer::forget_sequence(const std::string& uid) {
  if (!sequences_.contains(uid)) return false;
  OPWRIGHT_TRY(remove_sequence(uid));
  return true;
}

}  // namespace opwright::store::postgresql
