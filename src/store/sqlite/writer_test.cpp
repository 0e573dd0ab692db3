#include "store/sqlite/writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "store/sqlite/lookup.h"
#include "store/sqlite/test_store.h"

namespace opwright::store::sqlite {
namespace {

TEST(Writer, ADiscardedStoreThatWasNotThereBeforeGoesAway) {
  const TestFolder folder;
  {
    Writer writer = begin(folder.file("s.db"));
    EXPECT_GT(folder.entries(), 0u);
    writer.discard();
    EXPECT_EQ(folder.entries(), 0u);
  }
  {
    const Writer dropped = begin(folder.file("s.db"));
  }
  EXPECT_EQ(folder.entries(), 0u);
}

TEST(Writer, AMovedWriterEndsOnce) {
  const TestFolder folder;
  {
    Writer first = begin(folder.file("s.db"));
    Writer second = std::move(first);
    ASSERT_TRUE(second.trace({"u", "f", "{}"}));
    ASSERT_TRUE(second.commit());
  }
  EXPECT_EQ(traces_of(folder.file("s.db")).size(), 1u);
}

}  // namespace
}  // namespace opwright::store::sqlite
