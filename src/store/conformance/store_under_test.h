// What a store is held to, whatever keeps it: the laws of this folder run for every StoreUnderTest. For tests only.
//
// Laws use the interface alone. What an implementation can never do is listed with the reason.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "base/test_folder.h"
#include "store/store.h"
#include "store/test_calls.h"

namespace opwright::store {

// Somewhere for one store, which is not there yet; what is kept lives as long as this.
struct Place {
  virtual ~Place() = default;
  virtual std::unique_ptr<Store> store() = 0;
  // How the store lies there now, to see that nothing was changed; "" where that cannot be seen.
  virtual std::string bytes() { return ""; }
};

struct StoreUnderTest {
  std::string name;
  std::function<std::unique_ptr<Place>()> make;
  // Places with a store of every older version, by a name; each with the same calls in it.
  std::map<std::string, std::function<std::unique_ptr<Place>()>> older;
  std::map<std::string, std::string> never;  // law -> why this implementation cannot keep it
  std::string missing = {};                  // why it cannot be tried here; "" it can
};
inline void PrintTo(const StoreUnderTest& store, std::ostream* out) { *out << store.name; }

// SQLite, a server of PostgreSQL, and one in memory that shows that the laws ask for neither.
std::vector<StoreUnderTest> all_stores();

class StoreLaws : public ::testing::TestWithParam<StoreUnderTest> {
 protected:
  void SetUp() override {
    if (!GetParam().missing.empty()) GTEST_SKIP() << GetParam().missing;
    const auto& never = GetParam().never;
    const std::string law = ::testing::UnitTest::GetInstance()->current_test_info()->name();
    const auto found = never.find(law.substr(0, law.find('/')));
    if (found != never.end()) GTEST_SKIP() << found->second;
    place_ = GetParam().make();
  }

  std::unique_ptr<Store> store() { return place_->store(); }
  // Leaves the store of before, and goes to a new place.
  void start_anew() { place_ = GetParam().make(); }

  std::unique_ptr<Writer> begin(int wait_ms = 100) {
    auto writer = store()->writer(wait_ms, kIdentity);
    EXPECT_TRUE(writer) << writer.error().message;
    return *std::move(writer);
  }
  std::unique_ptr<Reader> reader() {
    auto opened = store()->reader(100);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  std::unique_ptr<ResultsWriter> results_writer() {
    auto opened = store()->results_writer(5000);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  std::unique_ptr<ResultsReader> results() {
    auto opened = store()->results_reader(5000);
    EXPECT_TRUE(opened) << opened.error().message;
    return *std::move(opened);
  }
  // The traces of the store as "uid format facts".
  std::vector<std::string> traces() {
    std::vector<std::string> lines;
    const auto rows = *reader()->traces();
    for (const TraceRow& row : rows) lines.push_back(row.uid + " " + row.format + " " + row.facts);
    return lines;
  }

  std::unique_ptr<Place> place_;
};

inline std::string name_of_store(const ::testing::TestParamInfo<StoreUnderTest>& info) { return info.param.name; }

// Everything a store holds, as lines that do not depend on ids: two stores hold the same when these are equal.
std::vector<std::string> content_of(Store& store);

}  // namespace opwright::store

#define OPWRIGHT_FOR_ALL_STORES(laws)                                                       \
  INSTANTIATE_TEST_SUITE_P(All, laws, ::testing::ValuesIn(::opwright::store::all_stores()), \
                           ::opwright::store::name_of_store)
