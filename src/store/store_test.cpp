// How a text names a store.
#include "store/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "store/test_calls.h"

namespace opwright::store {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

std::string file_named(std::string_view text) {
  const auto url = parse_url(text);
  if (!url) return "error: " + url.error().message;
  return url->kind == Url::Kind::kSqlite ? url->path : "a server";
}

TEST(Url, APlainTextIsTheNameOfAFile) {
  for (const char* name : {"opwright.db", "./a b.db", "/tmp/x.db", "a:b.db", "C:store", "2026-11-16T10:00:00.db",
                           "a/b://c.db", "-://x", "://x", "postgres.db", "postgresql", "./sqlite:x.db", "./http://x"})
    EXPECT_EQ(file_named(name), name);
}

TEST(Url, OfSqliteNamesAFile) {
  EXPECT_EQ(file_named("sqlite:x.db"), "x.db");
  EXPECT_EQ(file_named("sqlite:a/b:c.db"), "a/b:c.db");
  EXPECT_EQ(file_named("sqlite:/tmp/x.db"), "/tmp/x.db");
  EXPECT_EQ(file_named("sqlite:///tmp/x.db"), "/tmp/x.db");
}

TEST(Url, OfSqliteWithoutAFileSaysWhatToWrite) {
  for (const char* name : {"sqlite:", "sqlite://", "sqlite://host/x.db"})
    EXPECT_THAT(file_named(name), AllOf(HasSubstr(name), HasSubstr("write sqlite:FILE")));
}

TEST(Url, AnUnknownSchemeNamesTheKnownOnes) {
  for (const char* name : {"mysql://me:secret@host/db", "https://host", "S3+x-y.z://bucket", "file:///x"})
    EXPECT_THAT(file_named(name),
                AllOf(HasSubstr("sqlite:FILE"), HasSubstr("postgresql://"), HasSubstr("./"), Not(HasSubstr("secret"))));
}

TEST(Url, AServerIsNamedWithoutItsPassword) {
  EXPECT_EQ(shown("postgresql://me:secret@host:5433/db?sslmode=require"), "postgresql://me@host:5433/db");
  EXPECT_EQ(shown("postgres://me:secret@/db?host=/run/x"), "postgresql://me@/db?host=/run/x");
  EXPECT_EQ(shown("postgresql://host/db?user=me&password=secret"), "postgresql://me@host/db");
  EXPECT_EQ(shown("a.db"), "a.db");
}

TEST(Url, AnAddressThatIsNoneDoesNotShowItsPassword) {
  for (const char* name :
       {"postgresql://me:sec/ret@host/db", "postgresql://me:sec@ret@host/db", "postgresql://me:12/ret@host/db",
        "postgresql://me@host/db?nothing=secret", "postgresql://me:%zzsecret@host"}) {
    EXPECT_EQ(file_named(name), "a server");
    const auto store = open(name);
    ASSERT_FALSE(store) << name;
    EXPECT_EQ(shown(name), "postgresql://…");
    EXPECT_EQ(store.error().code, ErrorCode::kUsage) << name;
    EXPECT_THAT(store.error().message, AllOf(HasSubstr("?user=USER"), Not(HasSubstr("sec")), Not(HasSubstr("ret@"))));
  }
}

TEST(Url, AServerThatIsNotThereSaysWhichAndNoPassword) {
  const auto reader = open_reader("postgresql://me:secret@127.0.0.1:1/db", 0);
  ASSERT_FALSE(reader);
  EXPECT_EQ(reader.error().code, ErrorCode::kIo);
  EXPECT_THAT(reader.error().message, AllOf(HasSubstr("postgresql://me@127.0.0.1:1/db"), Not(HasSubstr("secret"))));
}

TEST(Url, TwoNamesOfOneFileAreOneStore) {
  const TestFolder folder;
  const std::string path = folder.file("a:b.db");
  {
    const auto writer = *open_writer("sqlite://" + path, 100, kIdentity);
    ASSERT_TRUE(writer->trace({"u", "f", "{}"}));
    ASSERT_TRUE(writer->commit());
  }
  for (const std::string& name : {path, "sqlite:" + path, "sqlite://" + path})
    EXPECT_EQ((*open_reader(name, 100))->traces()->size(), 1u) << name;
}

}  // namespace
}  // namespace opwright::store
