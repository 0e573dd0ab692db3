// Values as the server's binary protocol has them: parameters of a statement, rows of a COPY, rows of an answer.
// Every number of the schema is a bigint or a double, so that there is one width of each.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct pg_result;

namespace opwright::store::postgresql {

struct Blob {
  std::string_view bytes;
};

// Parameters of one statement, $1 first. An array is one parameter.
class Params {
 public:
  Params& operator<<(std::int64_t value);
  Params& operator<<(double value);
  Params& operator<<(const std::optional<double>& value);
  Params& operator<<(std::string_view text);
  Params& operator<<(const Blob& blob);
  Params& operator<<(std::span<const std::int64_t> values);
  Params& operator<<(const std::vector<std::int64_t>& values) { return *this << std::span(values); }
  Params& texts(std::span<const std::string> values);
  Params& texts(std::span<const std::string_view> values);
  Params& blobs(std::span<const std::string> values);

  int count() const { return static_cast<int>(types_.size()); }
  const unsigned* types() const { return types_.data(); }
  const int* sizes() const { return sizes_.data(); }
  std::vector<const char*> values() const;

 private:
  void begin(unsigned type);
  void end();
  template <class Text>
  Params& texts_of(std::span<const Text> values);
  std::string bytes_;
  std::vector<unsigned> types_;
  std::vector<std::size_t> starts_;
  std::vector<int> sizes_;
  std::vector<bool> nulls_;
};

// Rows for one table, as COPY … WITH (FORMAT binary) takes them.
class CopyRows {
 public:
  CopyRows& row(int columns);
  CopyRows& operator<<(std::int64_t value);
  CopyRows& operator<<(std::string_view text);
  CopyRows& operator<<(const Blob& blob);
  CopyRows& null();
  bool is_empty() const { return bytes_.empty(); }
  void clear() { bytes_.clear(); }
  const std::string& bytes() const { return bytes_; }  // between header and trailer
  static std::string_view header();
  static std::string_view trailer();

 private:
  std::string bytes_;
};

// An answer. Views are valid as long as it lives.
class Rows {
 public:
  Rows() = default;
  explicit Rows(pg_result* result);
  explicit operator bool() const;  // the statement succeeded
  pg_result* raw() const { return result_.get(); }
  int count() const { return count_; }
  std::int64_t changed() const;  // rows that the statement wrote
  std::int64_t integer(int row, int column) const;
  double real(int row, int column) const;
  std::string text(int row, int column) const;  // as it was given
  std::string_view blob(int row, int column) const;
  bool is_null(int row, int column) const;
  std::vector<std::int64_t> integers(int row, int column) const;  // of an array

 private:
  struct Clear {
    void operator()(pg_result* result) const;
  };
  std::unique_ptr<pg_result, Clear> result_;
  int count_ = 0;
};

}  // namespace opwright::store::postgresql
