#include "base/atomic_file.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"

namespace opwright {
namespace {

TEST(AtomicFile, IsThereWholeOrNotAtAll) {
  const TestFolder folder;
  const std::string path = folder.write("f", "old");
  {
    auto file = AtomicFile::create(path);
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->append(std::string(1 << 20, 'x')));
    EXPECT_EQ(content_of(path), "old");
  }
  EXPECT_EQ(content_of(path), "old");  // not committed
  EXPECT_EQ(folder.entries(), 1u);
  auto file = AtomicFile::create(path);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(file->append("ab"));
  ASSERT_TRUE(file->append(std::string(1 << 20, 'x')));
  EXPECT_EQ(file->bytes(), 6u + (1 << 20));
  ASSERT_TRUE(file->commit());
  EXPECT_EQ(content_of(path), "ababab" + std::string(1 << 20, 'x'));
  EXPECT_EQ(folder.entries(), 1u);
}

TEST(AtomicFile, AFolderThatIsNotThereIsNamed) {
  const TestFolder folder;
  const auto file = AtomicFile::create(folder.file("no/f"));
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message.find("no/f: cannot write"), std::string::npos);
}

}  // namespace
}  // namespace opwright
