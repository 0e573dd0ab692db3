#include "store/postgresql/wire.h"

#include <libpq-fe.h>

#include <bit>
#include <cstdlib>

#include "store/postgresql/odd_text.h"

namespace opwright::store::postgresql {
namespace {

// Numbers of types, fixed in every server.
constexpr unsigned kBlobType = 17, kIntegerType = 20, kTextType = 25, kRealType = 701;
constexpr unsigned kBlobsType = 1001, kTextsType = 1009, kIntegersType = 1016;

template <class Number>
void put(std::string& out, Number value) {  // big-endian
  for (int shift = static_cast<int>(sizeof value) * 8 - 8; shift >= 0; shift -= 8)
    out += static_cast<char>(static_cast<std::uint64_t>(value) >> shift);
}

std::uint64_t get(const char* bytes, int size) {
  std::uint64_t value = 0;
  for (int i = 0; i < size; ++i) value = value << 8 | static_cast<std::uint8_t>(bytes[i]);
  return value;
}

void put_sized(std::string& out, std::string_view bytes) {
  put(out, static_cast<std::int32_t>(bytes.size()));
  out += bytes;
}

void put_sized_text(std::string& out, std::string_view text) {
  const std::size_t start = out.size();
  put(out, std::int32_t{0});
  append_as_text(out, text);
  std::string size;
  put(size, static_cast<std::int32_t>(out.size() - start - 4));
  out.replace(start, 4, size);
}

void put_array(std::string& out, unsigned type, std::size_t count) {
  put(out, std::int32_t{count > 0});
  put(out, std::int32_t{0});  // has no nulls
  put(out, static_cast<std::int32_t>(type));
  if (count == 0) return;
  put(out, static_cast<std::int32_t>(count));
  put(out, std::int32_t{1});  // numbered from 1
}

}  // namespace

// ---- parameters

void Params::begin(unsigned type) {
  types_.push_back(type);
  starts_.push_back(bytes_.size());
  nulls_.push_back(false);
}
void Params::end() { sizes_.push_back(static_cast<int>(bytes_.size() - starts_.back())); }

Params& Params::operator<<(std::int64_t value) {
  begin(kIntegerType);
  put(bytes_, value);
  return end(), *this;
}
Params& Params::operator<<(double value) {
  begin(kRealType);
  put(bytes_, std::bit_cast<std::uint64_t>(value));
  return end(), *this;
}
Params& Params::operator<<(const std::optional<double>& value) {
  if (value) return *this << *value;
  begin(kRealType);
  nulls_.back() = true;
  return end(), *this;
}
Params& Params::operator<<(std::string_view text) {
  begin(kTextType);
  append_as_text(bytes_, text);
  return end(), *this;
}
Params& Params::operator<<(const Blob& blob) {
  begin(kBlobType);
  bytes_ += blob.bytes;
  return end(), *this;
}
Params& Params::operator<<(std::span<const std::int64_t> values) {
  begin(kIntegersType);
  put_array(bytes_, kIntegerType, values.size());
  for (const std::int64_t value : values) {
    put(bytes_, std::int32_t{8});
    put(bytes_, value);
  }
  return end(), *this;
}
template <class Text>
Params& Params::texts_of(std::span<const Text> values) {
  begin(kTextsType);
  put_array(bytes_, kTextType, values.size());
  for (const Text& value : values) put_sized_text(bytes_, value);
  return end(), *this;
}
Params& Params::texts(std::span<const std::string> values) { return texts_of(values); }
Params& Params::texts(std::span<const std::string_view> values) { return texts_of(values); }
Params& Params::blobs(std::span<const std::string> values) {
  begin(kBlobsType);
  put_array(bytes_, kBlobType, values.size());
  for (const std::string& value : values) put_sized(bytes_, value);
  return end(), *this;
}

std::vector<const char*> Params::values() const {
  std::vector<const char*> all;
  all.reserve(starts_.size());
  for (std::size_t i = 0; i < starts_.size(); ++i) all.push_back(nulls_[i] ? nullptr : bytes_.data() + starts_[i]);
  return all;
}

// ---- COPY

CopyRows& CopyRows::row(int columns) { return put(bytes_, static_cast<std::int16_t>(columns)), *this; }
CopyRows& CopyRows::operator<<(std::int64_t value) {
  put(bytes_, std::int32_t{8});
  return put(bytes_, value), *this;
}
CopyRows& CopyRows::operator<<(std::string_view text) { return put_sized_text(bytes_, text), *this; }
CopyRows& CopyRows::operator<<(const Blob& blob) { return put_sized(bytes_, blob.bytes), *this; }
CopyRows& CopyRows::null() { return put(bytes_, std::int32_t{-1}), *this; }
std::string_view CopyRows::header() { return {"PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0", 19}; }
std::string_view CopyRows::trailer() { return {"\377\377", 2}; }

// ---- answers

void Rows::Clear::operator()(pg_result* result) const { PQclear(result); }
Rows::Rows(pg_result* result) : result_(result), count_(PQntuples(result)) {}

Rows::operator bool() const {
  const auto status = PQresultStatus(result_.get());
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

std::int64_t Rows::changed() const { return std::strtoll(PQcmdTuples(result_.get()), nullptr, 10); }

std::int64_t Rows::integer(int row, int column) const {
  const int size = PQgetlength(result_.get(), row, column);
  const std::uint64_t value = get(PQgetvalue(result_.get(), row, column), size);
  return size == 4 ? static_cast<std::int32_t>(value) : static_cast<std::int64_t>(value);
}
double Rows::real(int row, int column) const {
  return std::bit_cast<double>(get(PQgetvalue(result_.get(), row, column), 8));
}
std::string Rows::text(int row, int column) const { return bytes_of_text(blob(row, column)); }
std::string_view Rows::blob(int row, int column) const {
  return {PQgetvalue(result_.get(), row, column), static_cast<std::size_t>(PQgetlength(result_.get(), row, column))};
}
bool Rows::is_null(int row, int column) const { return PQgetisnull(result_.get(), row, column) != 0; }

std::vector<std::int64_t> Rows::integers(int row, int column) const {
  constexpr std::size_t kHead = 20, kStep = 12;  // dimensions, flag, type, count, lower bound; size and number
  const std::string_view bytes = blob(row, column);
  std::vector<std::int64_t> values;
  values.reserve(bytes.size() / kStep);
  for (std::size_t at = kHead; at + kStep <= bytes.size(); at += kStep)
    values.push_back(static_cast<std::int64_t>(get(bytes.data() + at + 4, 8)));
  return values;
}

}  // namespace opwright::store::postgresql
