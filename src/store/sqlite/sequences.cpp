#include "store/sqlite/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/limits.h"
#include "store/encoding/frame.h"
#include "store/encoding/row_bytes.h"
#include "store/sqlite/sums.h"
#include "store/union.h"

namespace opwright::store::sqlite {
namespace {

std::string_view digest_bytes(const Sha256& digest) {
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

SequenceRow read_sequence(const Statement& row) {
  SequenceRow read;
  Sequence& sequence = read.sequence;
  read.id = row.integer(0);
  sequence.uid = row.text(1);
  const std::string_view digest = row.blob(2);
  std::memcpy(sequence.digest.data(), digest.data(), std::min(digest.size(), sequence.digest.size()));
  sequence.name = row.text(3);
  sequence.command = row.text(4);
  sequence.machine = row.text(5);
  sequence.started = row.text(6);
  sequence.format = row.text(7);
  sequence.flow = static_cast<DataFlow>(row.integer(8));
  sequence.calls = row.integer(9);
  sequence.operations = row.integer(10);
  sequence.content = row.integer(11);
  sequence.size = row.integer(12);
  read.packed = row.integer(13);
  return read;
}

Result<std::vector<SequenceRow>> read_sequences(Database& database, Verifier& verifier) {
  std::vector<SequenceRow> rows;
  if (!verifier.verifies()) return rows;  // a store without checksums is older than sequences
  OPWRIGHT_TRY(verifier.read(database, Part::kSequence, 0, [&](const Statement& row) -> Status {
    rows.push_back(read_sequence(row));
    return {};
  }));
  std::sort(rows.begin(), rows.end(), [](const SequenceRow& a, const SequenceRow& b) {
    return std::tie(b.sequence.started, a.sequence.digest) < std::tie(a.sequence.started, b.sequence.digest);
  });
  return rows;
}

Result<std::string> read_trace_bytes(Database& database, Verifier& verifier, const SequenceRow& row) {
  const auto size = static_cast<std::uint64_t>(row.sequence.size);
  if (size > limits().document)
    return fail(over_limit(fmt::format("{}: trace {}", database.path(), to_hex(row.sequence.digest).substr(0, 12)),
                           &Limits::document, fmt::format("it has {}", size_words(size))));
  std::string bytes;
  std::int64_t place = 0;
  OPWRIGHT_TRY(verifier.read(database, Part::kPiece, row.id, [&](const Statement& piece) -> Status {
    const auto unpacked = decompress(piece.blob(2), kPieceBytes);
    if (piece.integer(1) != place++ || !unpacked || bytes.size() + unpacked->size() > size)
      return fail(damage(database.path(), fmt::format("table piece, row with {}: it is no part of its trace",
                                                      row_name(part_of(Part::kPiece), piece))));
    bytes += *unpacked;
    return {};
  }));
  if (bytes.size() != size || sha256(bytes) != row.sequence.digest)
    return fail(damage(database.path(), fmt::format("table sequence, row {}: its pieces are not its trace", row.id)));
  return bytes;
}

Status SequenceWriter::load(Database& database, Verifier& verifier) {
  return verifier.read(database, Part::kSequence, 0, [&](const Statement& row) -> Status {
    SequenceRow read = read_sequence(row);
    next_ = std::max(next_, read.id + 1);
    std::string uid = read.sequence.uid;
    known_.emplace(std::move(uid),
                   Known{std::move(read), row.integer(static_cast<int>(part_of(Part::kSequence).columns.size()))});
    return {};
  });
}

Status SequenceWriter::add(Database& database, Verifier& verifier, Tally& tally, const NewPiece& piece) {
  if (piece.place == 0) OPWRIGHT_TRY(begin(database, verifier, tally, *piece.of));
  if (!coming_) return {};
  if (!add_piece_.is_prepared()) {
    OPWRIGHT_TRY_ASSIGN(add_piece_, database.prepare(insert_summed(Part::kPiece)));
  }
  const std::string packed = compress(piece.bytes);
  SummedRow row(add_piece_, Part::kPiece);
  row << coming_->id << piece.place << Blob{packed};
  tally.add(Part::kPiece, coming_->id, row.bind_sum());
  OPWRIGHT_TRY(add_piece_.run());
  coming_->packed += static_cast<std::int64_t>(packed.size());
  if (!piece.is_last) return {};
  OPWRIGHT_TRY(put_row(database, tally, *coming_, nullptr));
  coming_.reset();
  return database.execute(kWriterCache);
}

Status SequenceWriter::begin(Database& database, Verifier& verifier, Tally& tally, const Sequence& sequence) {
  coming_.reset();
  const auto known = known_.find(sequence.uid);
  if (known != known_.end()) {
    const SequenceRow before = known->second.row;
    const Stays stays = what_stays(before.sequence, sequence);
    if (stays == Stays::kBefore) return {};
    if (stays == Stays::kBeforeRenamed) {
      SequenceRow renamed = before;
      renamed.sequence.name = sequence.name;
      return put_row(database, tally, renamed, &before);
    }
    OPWRIGHT_TRY(remove(database, verifier, tally, sequence.uid));
  }
  coming_ = SequenceRow{next_++, sequence, 0};
  // Pieces are written once and not read again: memory does not grow with them.
  return database.execute("PRAGMA cache_size = -4096");
}

Status SequenceWriter::put_row(Database& database, Tally& tally, const SequenceRow& row, const SequenceRow* before) {
  OPWRIGHT_TRY_ASSIGN(Statement put, database.prepare(before != nullptr ? update_summed(Part::kSequence)
                                                                        : insert_summed(Part::kSequence)));
  const Sequence& sequence = row.sequence;
  SummedRow summed(put, Part::kSequence);
  summed << row.id << sequence.uid << Blob{digest_bytes(sequence.digest)} << sequence.name << sequence.command
         << sequence.machine << sequence.started << sequence.format << static_cast<std::int64_t>(sequence.flow)
         << sequence.calls << sequence.operations << sequence.content << sequence.size << row.packed;
  const std::int64_t sum = summed.bind_sum();
  if (before != nullptr)
    tally.replace(Part::kSequence, 0, known_.at(sequence.uid).sum, sum);
  else
    tally.add(Part::kSequence, 0, sum);
  known_[sequence.uid] = {row, sum};
  return put.run();
}

// Damage is an error here too: what is thrown away must be what was meant.
Status SequenceWriter::remove(Database& database, Verifier& verifier, Tally& tally, const std::string& uid) {
  const Known& known = known_.at(uid);
  const std::int64_t id = known.row.id;
  OPWRIGHT_TRY(tally.write(database));  // pieces of this transaction count as well
  OPWRIGHT_TRY(verifier.read(database, Part::kPiece, id, [&](const Statement& row) -> Status {
    tally.remove(Part::kPiece, id, row.integer(static_cast<int>(part_of(Part::kPiece).columns.size())));
    return {};
  }));
  tally.remove(Part::kSequence, 0, known.sum);
  for (const char* sql : {"DELETE FROM piece WHERE sequence_id = ?", "DELETE FROM sequence WHERE id = ?"}) {
    OPWRIGHT_TRY_ASSIGN(Statement statement, database.prepare(sql));
    OPWRIGHT_TRY(statement.bind(1, id).run());
  }
  known_.erase(uid);
  return {};
}

Result<bool> SequenceWriter::forget(Database& database, Verifier& verifier, Tally& tally, const std::string& uid) {
  if (!known_.contains(uid)) return false;
  OPWRIGHT_TRY(remove(database, verifier, tally, uid));
  return true;
}

}  // namespace opwright::store::sqlite
