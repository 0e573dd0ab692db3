// What a Reader gives of many configurations at once.
#include <fmt/format.h>

#include <algorithm>

#include "store/sqlite/reader.h"

namespace opwright::store::sqlite {

Status Reader::cards(std::span<const ConfigId> ids, bool with_parts, const std::function<Status(const Card&)>& use) {
  if (operations_.empty()) {
    OPWRIGHT_TRY(read_whole(Part::kOperation, [&](const Statement& row) -> Status {
      operations_.emplace(row.integer(0), row.text(1));
      return {};
    }));
  }
  Card card;
  const std::string* op = nullptr;
  std::int64_t op_id = -1;
  for (const ConfigId id : ids) {
    card.id = id;
    card.block = range_group(id.value);
    OPWRIGHT_TRY_ASSIGN(const CardBlock* cards, blocks_.cards(database_, verifier_, card.block));
    const CardBlock::Entry& entry = cards->entry(id.value);
    if (!entry.is_there)
      return fail(damage(database_.path(),
                         fmt::format("table card, row {}: configuration {} is not in it", card.block, id.value)));
    if (entry.operation != op_id) {
      const auto found = operations_.find(entry.operation);
      if (found == operations_.end())
        return fail(damage(database_.path(), fmt::format("table operation: row {} is missing", entry.operation)));
      op = &found->second;
      op_id = entry.operation;
    }
    card.op = *op;
    card.convention = static_cast<Convention>(entry.convention);
    std::copy(entry.key.begin(), entry.key.end(), card.key.begin());
    card.seen = cards->seen(entry);
    if (with_parts) {
      OPWRIGHT_TRY_ASSIGN(const RecordBlock* records, blocks_.records(database_, verifier_, card.block));
      const RecordBlock::Entry& record = records->entry(id.value);
      card.has_parts = record.is_there;
      card.table = records->table();
      card.parts = records->places(record);
    }
    OPWRIGHT_TRY(use(card));
  }
  return {};
}

}  // namespace opwright::store::sqlite
