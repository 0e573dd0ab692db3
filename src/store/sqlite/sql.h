// A thin owner over SQLite's C interface: every failure becomes an Error that says which file and what to do.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace opwright::store::sqlite {

class Statement {
 public:
  Statement() = default;
  Statement(Statement&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Statement& operator=(Statement&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Statement();

  // Parameters count from 1. Texts and blobs must live until the statement has run.
  Statement& bind(int index, std::int64_t value);
  Statement& bind(int index, std::string_view text);
  Statement& bind_blob(int index, std::string_view bytes);
  Statement& bind_null(int index);
  Statement& bind_real(int index, double value);  // NaN as the text "nan": SQL has none

  // The next row: true; the end: false (the statement can then be bound and run again).
  Result<bool> step();
  // Runs to the end, ignoring rows.
  Status run();
  void reset();
  bool is_prepared() const { return handle_ != nullptr; }

  enum class Kind { kInteger, kReal, kText, kBlob, kNull };
  Kind kind(int column) const;  // as it is stored, whatever the table says
  // The same and its content in one look: checksums are made of every column of every row that is asked for.
  struct Cell {
    Kind kind;
    std::int64_t integer = 0;
    double real = 0;
    std::string_view bytes = {};  // of a text or a blob; valid until the next step()
  };
  Cell cell(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  std::string_view text(int column) const;
  std::string_view blob(int column) const;
  bool is_null(int column) const;

 private:
  friend class Database;
  explicit Statement(sqlite3_stmt* handle) : handle_(handle) {}
  sqlite3_stmt* handle_ = nullptr;
};

class Database {
 public:
  enum class Mode { kRead, kWrite };
  // A new file can be read and written by its owner only; SQLite gives its side files the same rights.
  static Result<Database> open(const std::string& path, Mode mode, int wait_ms);
  Database(Database&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)), path_(std::move(other.path_)) {}
  Database& operator=(Database&& other) noexcept {
    std::swap(handle_, other.handle_);
    std::swap(path_, other.path_);
    return *this;
  }
  ~Database();

  Status execute(const std::string& sql);
  Result<Statement> prepare(std::string_view sql);
  Result<std::int64_t> query_integer(std::string_view sql);
  std::int64_t changes() const;  // rows that the last statement wrote
  Status use_log();              // the write-ahead log; outside a transaction
  // Whether the next commits wait until the disk has them, and all that was committed before. Outside a transaction.
  Status wait_for_disk(bool waits);
  const std::string& path() const { return path_; }

 private:
  static bool is_folded(const std::string& path);
  static Status undo_journal(const std::string& path, int wait_ms);
  static Result<Database> open_immutable(const std::string& path);
  Database(sqlite3* handle, std::string path) : handle_(handle), path_(std::move(path)) {}
  sqlite3* handle_ = nullptr;
  std::string path_;
};

}  // namespace opwright::store::sqlite
