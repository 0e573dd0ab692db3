#include "store/sqlite/writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>

#include "store/sqlite/lookup.h"
#include "store/sqlite/test_store.h"
#include "store/sqlite_door.h"

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

TEST(Writer, TheSmallerKindOfAFormStaysAndTheChecksumsHold) {
  const TestFolder folder;
  const std::string path = folder.file("s.db");
  Writer writer = begin(path);
  Batch batch;
  add_call(batch, writer, "a");
  add_call(batch, writer, "b");
  batch.forms[0].kind = FormKind::kNative;
  ASSERT_TRUE(writer.write(batch));
  ASSERT_TRUE(writer.add_examples(std::vector<RaisedExample>{{FormId{1}, "bad"}}));
  ASSERT_TRUE(writer.lower_kinds(std::vector<FormId>{FormId{1}, FormId{2}, FormId{77}}, FormKind::kEra2));
  ASSERT_TRUE(writer.lower_kinds(std::vector<FormId>{FormId{1}}, FormKind::kNative));
  ASSERT_TRUE(writer.commit());
  Reader reader = open_reader(path);
  for (const std::int64_t id : {1, 2}) EXPECT_EQ(reader.forms(ConfigId{id})->front().kind, FormKind::kEra2);
  EXPECT_EQ(reader.forms(ConfigId{1})->front().error, "bad");
  EXPECT_EQ(inspect(path, 100, Depth::kEverything)->damages, 0);
}

}  // namespace
}  // namespace opwright::store::sqlite
