#include "base/flat_table.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace opwright {
namespace {

struct Bad {  // many keys share a hash, and its high half too
  std::size_t operator()(std::uint64_t key) const { return (key % 7) << 32 | key; }
};

TEST(FlatMap, FindsWhatIsThereAndNothingElse) {
  FlatMap<std::uint64_t, int, Bad> table;
  std::map<std::uint64_t, int> wanted;
  EXPECT_EQ(table.find(0), nullptr);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    const std::uint64_t key = i * i + (i << 40);
    table.add(key, static_cast<int>(i));
    wanted[key] = static_cast<int>(i);
  }
  EXPECT_EQ(table.size(), wanted.size());
  for (const auto& [key, value] : wanted) {
    ASSERT_NE(table.find(key), nullptr) << key;
    EXPECT_EQ(*table.find(key), value) << key;
    EXPECT_EQ(table.find(key + 1) != nullptr, wanted.contains(key + 1)) << key;
  }
  table.clear();
  EXPECT_TRUE(table.empty());
  EXPECT_EQ(table.find(1), nullptr);
  table.add(1, 5);
  EXPECT_EQ(*table.find(1), 5);
}

TEST(TextStore, ViewsStayGood) {
  TextStore store;
  std::vector<std::pair<std::string, std::string_view>> kept;
  for (int i = 0; i < 2000; ++i) {
    const std::string text(static_cast<std::size_t>(i % 400 == 399 ? 100'000 : i % 97),
                           static_cast<char>('a' + i % 26));
    kept.emplace_back(text, store.keep(text));
  }
  for (const auto& [text, view] : kept) EXPECT_EQ(text, view);
}

}  // namespace
}  // namespace opwright
