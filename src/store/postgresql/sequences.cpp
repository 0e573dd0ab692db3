#include "store/postgresql/sequences.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <tuple>

#include "base/limits.h"
#include "store/encoding/frame.h"

namespace opwright::store::postgresql {

Result<std::vector<SequenceRow>> read_sequences(Connection& connection) {
  OPWRIGHT_TRY_ASSIGN(const Rows found,
                      connection.query("SELECT id, uid, digest, name, command, machine, started, format, flow, calls, "
                                       "operations, content, size, packed FROM sequence"));
  std::vector<SequenceRow> rows;
  for (int i = 0; i < found.count(); ++i) {
    SequenceRow& row = rows.emplace_back();
    Sequence& sequence = row.sequence;
    row.id = found.integer(i, 0);
    sequence.uid = found.text(i, 1);
    const std::string_view digest = found.blob(i, 2);
    std::memcpy(sequence.digest.data(), digest.data(), std::min(digest.size(), sequence.digest.size()));
    sequence.name = found.text(i, 3);
    sequence.command = found.text(i, 4);
    sequence.machine = found.text(i, 5);
    sequence.started = found.text(i, 6);
    sequence.format = found.text(i, 7);
    sequence.flow = static_cast<DataFlow>(found.integer(i, 8));
    sequence.calls = found.integer(i, 9);
    sequence.operations = found.integer(i, 10);
    sequence.content = found.integer(i, 11);
    sequence.size = found.integer(i, 12);
    row.packed = found.integer(i, 13);
  }
  std::sort(rows.begin(), rows.end(), [](const SequenceRow& a, const SequenceRow& b) {
    return std::tie(b.sequence.started, a.sequence.digest) < std::tie(a.sequence.started, b.sequence.digest);
  });
  return rows;
}

Result<std::string> read_trace_bytes(Connection& connection, const SequenceRow& row) {
  constexpr std::int64_t kAtOnce = 16;  // pieces
  const auto damaged = [&] {
    return fail(ErrorCode::kBadInput,
                fmt::format("{}: the pieces of trace {} are not that trace; the store is damaged, "
                            "restore a backup (nothing was changed)",
                            connection.name(), to_hex(row.sequence.digest).substr(0, 12)));
  };
  const auto size = static_cast<std::uint64_t>(row.sequence.size);
  if (size > limits().document)
    return fail(over_limit(fmt::format("{}: trace {}", connection.name(), to_hex(row.sequence.digest).substr(0, 12)),
                           &Limits::document, fmt::format("it has {}", size_words(size))));
  std::string bytes;
  for (std::int64_t place = 0; bytes.size() < size; place += kAtOnce) {
    Params of;
    of << row.id << place << place + kAtOnce;
    OPWRIGHT_TRY_ASSIGN(const Rows pieces, connection.query("SELECT place, data FROM piece WHERE sequence_id = $1 AND "
                                                            "place >= $2 AND place < $3 ORDER BY place",
                                                            of));
    if (pieces.count() == 0) return damaged();
    for (int i = 0; i < pieces.count(); ++i) {
      const auto unpacked = decompress(pieces.blob(i, 1), kPieceBytes);
      if (pieces.integer(i, 0) != place + i || !unpacked || bytes.size() + unpacked->size() > size) return damaged();
      bytes += *unpacked;
    }
  }
  if (bytes.size() != size || sha256(bytes) != row.sequence.digest) return damaged();
  return bytes;
}

}  // namespace opwright::store::postgresql
