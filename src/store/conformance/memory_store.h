// A store that is gone with its process: the smallest implementation of the interface, for tests. It keeps everything
// in ordered tables that a transaction copies; nothing of it is shared with SQLite but the rules of union (union.h).
#pragma once

#include <memory>

#include "store/store.h"

namespace opwright::store {

struct MemoryContent;
struct MemoryState;
std::shared_ptr<MemoryState> make_memory();
std::unique_ptr<Store> memory_store(std::shared_ptr<MemoryState> state);

}  // namespace opwright::store
