// Small stores for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test_folder.h"
#include "store/sqlite/reader.h"
#include "store/sqlite/seal.h"
#include "store/sqlite/writer.h"

namespace opwright::store {

inline constexpr const char* kIdentity = "keys 1, terms 1";

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

inline ConfigKey key(std::string_view name) { return sha256(name); }
inline Hash128 fingerprint(std::string_view name) { return xxh128(name); }

// One configuration with one form, under the next free ids of the writer.
inline void add_call(Batch& batch, const Writer& writer, std::string_view name, const std::string& op = "ttnn.add") {
  const auto offset = static_cast<std::int64_t>(batch.configurations.size());
  const ConfigId config{writer.next_configuration().value + offset};
  const FormId form{writer.next_form().value + offset};
  batch.configurations.push_back({config, op, Convention::kPython, key(name)});
  batch.forms.push_back(
      {form, config, fingerprint(name), FormKind::kEra2, 1, 2, 3, op, "{\"name\": \"" + std::string(name) + "\"}"});
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

}  // namespace opwright::store
