#include "store/sqlite/schema.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <type_traits>

#include "base/test_folder.h"
#include "model/record_fields.h"
#include "store/sqlite/lookup.h"
#include "store/sqlite/test_store.h"
#include "store/sqlite_door.h"

namespace opwright::store::sqlite {
namespace {

Database open(const std::string& path, Database::Mode mode = Database::Mode::kWrite) {
  auto database = Database::open(path, mode, 100);
  EXPECT_TRUE(database) << database.error().message;
  return *std::move(database);
}

TEST(Schema, AnEmptyFileBecomesAStore) {
  const TestFolder folder;
  Database database = open(folder.file("s.db"));
  EXPECT_EQ(check_version(database).error().code, ErrorCode::kNotFound);  // nothing imported yet
  ASSERT_TRUE(migrate(database));
  EXPECT_TRUE(check_version(database));
  EXPECT_EQ(*database.query_integer("PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(*database.query_integer("PRAGMA application_id"), 0x6f707772);
  EXPECT_EQ(*database.query_integer("SELECT count(*) FROM source WHERE id = 0"), 1);  // "not known"
  EXPECT_EQ(*database.query_integer("SELECT count(*) FROM machine WHERE id = 0"), 1);
}

TEST(Schema, MigratingAgainChangesNothing) {
  const TestFolder folder;
  Database database = open(folder.file("s.db"));
  ASSERT_TRUE(migrate(database));
  ASSERT_TRUE(database.execute("INSERT INTO operation(name) VALUES ('ttnn.add')"));
  const auto version = *database.query_integer("PRAGMA schema_version");
  ASSERT_TRUE(migrate(database));
  EXPECT_EQ(*database.query_integer("PRAGMA schema_version"), version);
  EXPECT_EQ(*database.query_integer("SELECT count(*) FROM operation"), 1);
}

TEST(Schema, ANewerStoreIsRefused) {
  const TestFolder folder;
  Database database = open(folder.file("s.db"));
  ASSERT_TRUE(migrate(database));
  ASSERT_TRUE(database.execute("PRAGMA user_version = " + std::to_string(kSchemaVersion + 1)));
  for (const Status& status : {migrate(database), check_version(database)}) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kUnsupported);
    EXPECT_NE(status.error().message.find("newer opwright"), std::string::npos);
  }
  EXPECT_EQ(*database.query_integer("PRAGMA user_version"), kSchemaVersion + 1);
}

// ---- older stores: tests/fixtures/stores/vN.db was written by the program of schema N

// What a store says, whatever its schema.
std::string told(const std::string& path) {
  Reader reader = open_reader(path);
  EXPECT_EQ(inspect(path, 100, Depth::kEverything)->damages, 0);
  const Totals totals = *reader.totals();
  std::string text =
      std::to_string(totals.configurations) + " " + std::to_string(totals.forms) + " " + std::to_string(totals.sources);
  const auto operations = reader.operations();
  for (const OperationRow& row : *operations) {
    text += "\n" + row.name + " " + std::to_string(row.configurations) + " " + std::to_string(row.calls) + " " +
            std::to_string(row.uncounted) + " " + std::to_string(row.sources) + " " + std::to_string(row.raised);
  }
  for (const std::string& line : traces_of(path)) text += "\n" + line;
  const auto ids = reader.candidates({});
  for (const ConfigId id : *ids) {
    const auto forms = reader.forms(id);
    for (const FormRow& form : *forms) text += "\n" + form.op + " " + form.text + " " + form.error;
    const auto rows = reader.occurrences(*forms);
    for (const OccurrenceRow& row : *rows) {
      text += "\n" + row.source + " " + row.machine + " " + row.trace_uid + " " + row.sweep_source_hash + " " +
              row.config_hash + " " + row.extra + " " + std::to_string(row.count) + " " + std::to_string(row.raised);
    }
  }
  return text;
}

class OldStore : public ::testing::TestWithParam<int> {
 protected:
  const TestFolder folder_;
  const std::string path_ = folder_.write("old.db", fixture("stores/v" + std::to_string(GetParam()) + ".db"));
};
INSTANTIATE_TEST_SUITE_P(Versions, OldStore, ::testing::Range(1, kSchemaVersion));

TEST_P(OldStore, IsReadAsItLies) {
  const std::string bytes = content_of(path_);
  const std::string text = told(path_);
  EXPECT_GT(text.size(), 10000u);
  EXPECT_EQ(open_reader(path_).totals()->schema, GetParam());
  EXPECT_EQ(content_of(path_), bytes);
  EXPECT_TRUE(Lookup::open(path_, 100)->has_value());  // what a dry run asks
}

TEST_P(OldStore, IsMigratedAndSaysTheSame) {
  const std::string before = told(path_);
  {
    Database database = open(path_);
    ASSERT_TRUE(migrate(database));
    EXPECT_EQ(*database.query_integer("PRAGMA user_version"), kSchemaVersion);
    const int raised = GetParam() < 2 ? 0 : 1;  // schema 2 was the first to tell
    EXPECT_EQ(*database.query_integer("SELECT count(*) FROM occurrence WHERE raised <> 0"), raised);
    EXPECT_EQ(*database.query_integer("SELECT count(*) FROM form WHERE error IS NOT NULL"), raised);
    const int runs = GetParam() < 3 ? 0 : 1;  // schema 3 was the first to have some
    EXPECT_EQ(*database.query_integer("SELECT count(*) FROM run"), runs);
    EXPECT_EQ(*database.query_integer("SELECT count(*) FROM result WHERE config_hash = ''"), runs);
  }
  EXPECT_EQ(told(path_), before);
  EXPECT_EQ(open_reader(path_).totals()->schema, kSchemaVersion);
}

TEST_P(OldStore, HasTheTablesOfANewOneThen) {
  Database old = open(path_), made = open(folder_.file("new.db"));
  ASSERT_TRUE(migrate(old));
  ASSERT_TRUE(migrate(made));
  const auto columns = [](Database& database) {
    auto find = database.prepare(
        "SELECT m.type, m.name, c.name, c.type, c.\"notnull\", c.dflt_value, c.pk FROM sqlite_master m"
        " LEFT JOIN pragma_table_info(m.name) c ORDER BY m.name, c.cid");
    EXPECT_TRUE(find) << find.error().message;
    std::string text;
    while (*find->step()) {
      for (int i = 0; i < 7; ++i) text += std::string(find->text(i)) + " ";
      text += "\n";
    }
    return text;
  };
  EXPECT_EQ(columns(old), columns(made));
}

TEST_P(OldStore, OfAnotherIdentityIsRefusedAndNotMigrated) {
  const auto refused = Writer::begin(path_, 100, "keys 0, terms 0");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(open_reader(path_).totals()->schema, GetParam());
}

// What SQLite keeps a member as: "TEXT", and "REAL?" where it may be absent.
template <class T>
std::string kept_as(const T&) {
  if constexpr (std::is_same_v<T, std::optional<double>>)
    return "REAL?";
  else if constexpr (std::is_floating_point_v<T>)
    return "REAL";
  else if constexpr (std::is_integral_v<T>)
    return "INTEGER";
  else
    return "TEXT";  // words of closed sets too
}

// The columns of `result` and the fields of a result (model/record_fields.h) are one list.
TEST(Schema, TheTableOfResultsHasTheFieldsOfAResult) {
  const TestFolder folder;
  Database database = open(folder.file("s.db"));
  ASSERT_TRUE(migrate(database));
  std::map<std::string, std::string> columns, fields;
  auto find = database.prepare("SELECT name, type, \"notnull\" FROM pragma_table_info('result')");
  while (*find->step())
    columns[std::string(find->text(0))] = std::string(find->text(1)) + (find->integer(2) == 0 ? "?" : "");
  for (const char* own : {"id", "run_id", "sum"}) EXPECT_EQ(columns.erase(own), 1u) << own;
  const CaseRecord record;
  for_each_field(record, [&](const RecordField& field, const auto& member) {
    if (field.place > 0) fields[field.column] = kept_as(member);
  });
  EXPECT_EQ(columns, fields);
}

TEST(Schema, AForeignDatabaseIsRefusedAndLeftAlone) {
  const TestFolder folder;
  Database database = open(folder.file("other.db"));
  ASSERT_TRUE(database.execute("CREATE TABLE photos(id INTEGER)"));
  for (const Status& status : {migrate(database), check_version(database)}) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::kBadInput);
    EXPECT_NE(status.error().message.find("not an opwright store"), std::string::npos);
  }
  EXPECT_EQ(*database.query_integer("SELECT count(*) FROM sqlite_master"), 1);
}

TEST(Schema, AFileThatIsNoDatabaseIsRefused) {
  const TestFolder folder;
  const std::string text(5000, 'x');
  const std::string path = folder.write("text.db", text);
  Database database = open(path);
  const Status status = migrate(database);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kBadInput);
  EXPECT_EQ(content_of(path), text);
}

TEST(Sql, ErrorsNameTheFile) {
  const TestFolder folder;
  const auto missing = Database::open(folder.file("no/such/folder/s.db"), Database::Mode::kWrite, 0);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::kIo);
  EXPECT_NE(missing.error().message.find("no/such/folder/s.db"), std::string::npos);
  EXPECT_FALSE(Database::open(folder.file("absent.db"), Database::Mode::kRead, 0));
  Database database = open(folder.file("s.db"));
  EXPECT_FALSE(database.execute("SELECT nonsense"));
  EXPECT_FALSE(database.prepare("SELECT nonsense"));
}

TEST(Sql, StatementsBindEveryKindAndRunAgain) {
  const TestFolder folder;
  Database database = open(folder.file("s.db"));
  ASSERT_TRUE(database.execute("CREATE TABLE t(i INTEGER, s TEXT, b BLOB, n TEXT)"));
  auto add = database.prepare("INSERT INTO t VALUES (?, ?, ?, ?)");
  ASSERT_TRUE(add);
  const std::string_view bytes("\0\xff", 2);
  ASSERT_TRUE(add->bind(1, INT64_MIN).bind(2, "é").bind_blob(3, bytes).bind_null(4).run());
  ASSERT_TRUE(add->bind(1, std::int64_t{2}).bind(2, "").bind_blob(3, {}).bind(4, "x").run());
  auto find = database.prepare("SELECT i, s, b, n FROM t ORDER BY i");
  ASSERT_TRUE(*find->step());
  EXPECT_EQ(find->integer(0), INT64_MIN);
  EXPECT_EQ(find->text(1), "é");
  EXPECT_EQ(find->blob(2), bytes);
  EXPECT_TRUE(find->is_null(3));
  ASSERT_TRUE(*find->step());
  EXPECT_EQ(find->text(1), "");
  EXPECT_FALSE(find->is_null(1));  // an empty text is a text
  EXPECT_FALSE(*find->step());
  EXPECT_TRUE(*find->step());  // from the start
}

}  // namespace
}  // namespace opwright::store::sqlite
