#include "store/store.h"

#include <fmt/format.h>

#include <algorithm>

#include "store/postgresql_door.h"
#include "store/sqlite_door.h"

namespace opwright::store {
namespace {

constexpr std::string_view kSqlite = "sqlite:";

bool is_scheme(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  return !text.empty() && is_letter(text.front()) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.';
  });
}

}  // namespace

Result<Url> parse_url(std::string_view text) {
  if (text.starts_with(kSqlite)) {
    std::string_view path = text.substr(kSqlite.size());
    if (path.starts_with("//")) {
      path.remove_prefix(2);
      if (!path.starts_with('/'))
        return fail(ErrorCode::kUsage,
                    fmt::format("--store {}: a file is on no host; write sqlite:FILE, or sqlite:///FOLDER/FILE with "
                                "three slashes",
                                text));
    }
    if (path.empty()) return fail(ErrorCode::kUsage, fmt::format("--store {}: names no file; write sqlite:FILE", text));
    return Url{Url::Kind::kSqlite, std::string(path)};
  }
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos || !is_scheme(text.substr(0, colon)))
    return Url{Url::Kind::kSqlite, std::string(text)};
  const std::string_view scheme = text.substr(0, colon);
  if (scheme == "postgresql" || scheme == "postgres") return Url{Url::Kind::kPostgresql, std::string(text)};
  // Not the rest of the text: it may hold a password.
  return fail(ErrorCode::kUsage,
              fmt::format("--store {}://…: no store is named so; known are sqlite:FILE and postgresql://…, and a file "
                          "of this name is written ./{}://…",
                          scheme, scheme));
}

Result<std::unique_ptr<Store>> open(const std::string& url) {
  OPWRIGHT_TRY_ASSIGN(const Url parsed, parse_url(url));
  switch (parsed.kind) {
    case Url::Kind::kSqlite:
      return sqlite::store_at(parsed.path);
    case Url::Kind::kPostgresql:
      return postgresql::store_at(parsed.path);
  }
  return fail(ErrorCode::kUsage, "no store is named so");
}

std::string shown(const std::string& url) {
  const auto parsed = parse_url(url);
  return parsed && parsed->kind == Url::Kind::kPostgresql ? postgresql::shown(url) : url;
}

Result<std::unique_ptr<Reader>> open_reader(const std::string& url, int wait_ms, const std::string& identity) {
  OPWRIGHT_TRY_ASSIGN(const auto store, open(url));
  return store->reader(wait_ms, identity);
}

Result<std::unique_ptr<Writer>> open_writer(const std::string& url, int wait_ms, const std::string& identity,
                                            Durability durability) {
  OPWRIGHT_TRY_ASSIGN(const auto store, open(url));
  return store->writer(wait_ms, identity, durability);
}

Result<std::unique_ptr<Lookup>> open_lookup(const std::string& url, int wait_ms) {
  OPWRIGHT_TRY_ASSIGN(const auto store, open(url));
  return store->lookup(wait_ms);
}

Result<std::unique_ptr<ResultsReader>> open_results(const std::string& url, int wait_ms) {
  OPWRIGHT_TRY_ASSIGN(const auto store, open(url));
  return store->results_reader(wait_ms);
}

Result<std::unique_ptr<ResultsWriter>> open_results_writer(const std::string& url, int wait_ms, Durability durability) {
  OPWRIGHT_TRY_ASSIGN(const auto store, open(url));
  return store->results_writer(wait_ms, durability);
}

}  // namespace opwright::store
