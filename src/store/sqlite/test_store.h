// Small stores for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test_folder.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/seal.h"
#include "store/sqlite/writer.h"
#include "store/test_calls.h"

namespace opwright::store::sqlite {

inline Writer begin(const std::string& path, int wait_ms = 100) {
  auto writer = Writer::begin(path, wait_ms, kIdentity);
  EXPECT_TRUE(writer) << writer.error().message;
  return *std::move(writer);
}

inline Reader open_reader(const std::string& path) {
  auto reader = Reader::open(path, 100);
  EXPECT_TRUE(reader) << reader.error().message;
  return *std::move(reader);
}

// Rows that a test changed by hand get the checksums of their new content.
inline void seal_again(const std::string& path) {
  auto database = Database::open(path, Database::Mode::kWrite, 100);
  ASSERT_TRUE(database->execute("DELETE FROM tally"));
  ASSERT_TRUE(seal(*database));
}

// The traces of a store as "uid format facts".
inline std::vector<std::string> traces_of(const std::string& path) {
  Reader reader = open_reader(path);
  std::vector<std::string> lines;
  const auto rows = reader.traces();
  for (const TraceRow& row : *rows) lines.push_back(row.uid + " " + row.format + " " + row.facts);
  return lines;
}

}  // namespace opwright::store::sqlite
