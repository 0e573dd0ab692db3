#include "model/record_fields.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>
#include <vector>

namespace opwright {
namespace {

std::vector<RecordField> all_fields() {
  std::vector<RecordField> fields;
  CaseRecord record;
  for_each_field(record, [&](const RecordField& field, const auto&) { fields.push_back(field); });
  return fields;
}

TEST(RecordFields, EveryPlaceIsTakenOnce) {
  std::multiset<int> stored, csv;
  std::set<std::string_view> names, columns;
  for (const RecordField& field : all_fields()) {
    EXPECT_TRUE(names.insert(field.name).second) << field.name;
    EXPECT_EQ(field.place == 0, std::string_view(field.column).empty()) << field.name;
    if (field.place > 0) {
      stored.insert(field.place);
      EXPECT_TRUE(columns.insert(field.column).second) << field.column;
    }
    if (field.csv > 0) csv.insert(field.csv);
  }
  std::multiset<int> all_stored, all_csv;
  for (int i = 1; i <= kStoredFields; ++i) all_stored.insert(i);
  for (int i = 1; i <= kCsvFields; ++i) all_csv.insert(i);
  EXPECT_EQ(stored, all_stored);
  EXPECT_EQ(csv, all_csv);
}

// Every member, by size: a member of CaseRecord that no field names would be lost on its way to the store.
TEST(RecordFields, AllMembersAreNamed) {
  CaseRecord record;
  std::size_t bytes = 0;
  std::set<const void*> members;
  for_each_field(record, [&](const RecordField& field, const auto& member) {
    EXPECT_TRUE(members.insert(&member).second) << field.name;
    bytes += sizeof member;
  });
  bytes += sizeof record.recipe.kept;  // of single cases, which their command line says; no run has it
  EXPECT_LT(sizeof record - bytes, 24U) << "more than padding: a member that is in no field?";
}

// The table of docs/formats/results.md is this list.
TEST(RecordFields, TheDocumentHasThemAll) {
  std::ifstream file(OPWRIGHT_SOURCE_DIR "/docs/formats/results.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::string table;
  for (const RecordField& field : all_fields()) {
    const std::string_view column = field.column;
    table += fmt::format("| `{}` | {} | {} |\n", field.name,
                         column == field.name ? ""
                         : column.empty()     ? "none"
                                              : fmt::format("`{}`", column),
                         field.meaning);
  }
  EXPECT_NE(text.find("| field | column | |\n| --- | --- | --- |\n" + table), std::string::npos) << table;
}

}  // namespace
}  // namespace opwright
