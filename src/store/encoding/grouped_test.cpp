#include "store/encoding/grouped.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace opwright::store {
namespace {

TEST(Grouped, EachNameOnceInOrderWithAscendingIds) {
  Grouped<std::int64_t> grouped;
  for (int time = 0; time < 2; ++time) {  // it can be filled again
    std::map<std::int64_t, std::multiset<std::int64_t>> wanted;
    for (std::int64_t i = 0; i < 5000; ++i) {
      const std::int64_t name = (i * 7919) % 101 - 50, id = (i * 31) % 997;
      grouped.add(name, static_cast<std::uint64_t>(name) * 0x9e3779b97f4a7c15u, id);
      wanted[name].insert(id);
    }
    EXPECT_EQ(grouped.size(), 5000u);
    auto at = wanted.begin();
    const Status done =
        grouped.take([](std::int64_t a, std::int64_t b) { return a < b; },
                     [&](std::int64_t name, std::span<const std::int64_t> ids) -> Status {
                       EXPECT_EQ(name, at->first);
                       EXPECT_TRUE(std::equal(ids.begin(), ids.end(), at->second.begin(), at->second.end())) << name;
                       ++at;
                       return {};
                     });
    EXPECT_TRUE(done);
    EXPECT_EQ(at, wanted.end());
    EXPECT_EQ(grouped.size(), 0u);
  }
}

}  // namespace
}  // namespace opwright::store
