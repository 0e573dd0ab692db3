#include "jobs/check_health.h"

#include <fmt/format.h>
#include <simdjson.h>
#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <thread>

#include "base/subprocess.h"
#include "base/words.h"
#include "dialect/ttnn/ttnn.h"
#include "jobs/salvage_store.h"
#include "launch/environment.h"
#include "launch/python_probe.h"
#include "normalize/normalize.h"
#include "select/selected.h"
#include "store/postgresql_door.h"
#include "store/sqlite_door.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

constexpr std::size_t kMostShown = 50;

std::string checked_text(const store::sqlite::Inspection& inspection, bool deep, std::int64_t configurations) {
  if (deep && inspection.has_checksums)
    return fmt::format("all of it checked: file, indexes, references, {}, {} made again from their texts",
                       plural(inspection.rows, "checksum"), plural(configurations, "configuration"));
  if (deep)
    return fmt::format(
        "checked without checksums, which schema {} does not have: file, indexes, references, {} made "
        "again from their texts",
        inspection.schema, plural(configurations, "configuration"));
  if (inspection.has_checksums)
    return fmt::format("file and {} checked; not checked: indexes against tables, texts against keys (--deep)",
                       plural(inspection.rows, "checksum"));
  return fmt::format(
      "file, references and packs checked; schema {} has no checksums, so changed rows cannot be noticed",
      inspection.schema);
}

// What lies on the disk of a server is the server's to check; here it is asked whether questions get answers.
void check_server(const HealthOptions& options, Health& health) {
  const std::string name = store::shown(options.store);
  const auto reader = store::open_reader(options.store, options.wait_ms, select::identity_of_this_build());
  const auto totals = reader ? (*reader)->totals() : Result<store::Totals>(fail(reader.error()));
  if (!totals && totals.error().code == ErrorCode::kNotFound) {
    health.rows.push_back({"store", "none", name + ": not there yet; the first import makes it"});
    return;
  }
  const auto row = [&](bool sound, std::string detail) {
    health.sound = health.sound && sound;
    health.rows.push_back({"store", sound ? "ok" : "bad", std::move(detail)});
  };
  if (!totals) return row(false, totals.error().message);
  row(true, fmt::format("{}: schema {}, {} of {}, {}, {}; its rows are checked by the server", name, totals->schema,
                        plural(totals->configurations, "configuration"), plural(totals->operations, "operation"),
                        plural(totals->traces, "trace"), size_text(totals->bytes)));
  if (options.deep)
    row(false,
        name +
            ": not checked: --deep looks into files of SQLite; a server's tables are checked with pg_amcheck, or "
            "import the store into a file (opwright --store FILE import URL) and check that");
}

void check_store(const HealthOptions& options, Health& health) {
  if (const auto url = store::parse_url(options.store); url && url->kind == store::Url::Kind::kPostgresql)
    return check_server(options, health);
  const auto bad = [&](const std::string& detail) {
    health.sound = false;
    health.rows.push_back({"store", "bad", detail});
  };
  const auto file = store::sqlite::file_of(options.store);
  if (!file) return bad(file.error().message);
  if (const Status name = store::sqlite::check_store_name(*file); !name) return bad(name.error().message);
  struct stat info{};
  if (stat(file->c_str(), &info) != 0) {
    health.rows.push_back({"store", "none", options.store + ": not there yet; the first import makes it"});
    return;
  }
  using store::sqlite::Depth;
  auto inspection = store::sqlite::inspect(*file, options.wait_ms, options.deep ? Depth::kEverything : Depth::kRows);
  if (!inspection) return bad(inspection.error().message);
  std::int64_t configurations = 0;
  if (options.deep) {
    const auto checked = check_meaning(*file, options.wait_ms, *inspection);
    if (checked)
      configurations = *checked;
    else
      inspection->add(checked.error().message);
  }
  const auto reader = store::open_reader(options.store, options.wait_ms, select::identity_of_this_build());
  auto totals = reader ? (*reader)->totals() : Result<store::Totals>(fail(reader.error()));
  if (!totals && inspection->damages == 0) inspection->add(totals.error().message);  // e.g. keys of another version
  if (inspection->damages > 0) {
    bad(fmt::format("{}: {} found; 'opwright doctor --repair -o NEW' saves the rest into a new store", options.store,
                    plural(inspection->damages, "damage")));
    std::vector<std::string>& listed = inspection->listed;
    std::sort(listed.begin(), listed.end());
    listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
    for (std::size_t i = 0; i < listed.size() && i < kMostShown; ++i) bad(listed[i]);
    if (listed.size() > kMostShown)
      bad(fmt::format("and {} more", inspection->damages - static_cast<std::int64_t>(kMostShown)));
    return;
  }
  health.rows.push_back(
      {"store", "ok",
       fmt::format("{}: schema {}{}, {} of {}, {}, {}; {}", options.store, totals->schema,
                   totals->schema < store::sqlite::schema_version() ? " (the next import brings it up to date)" : "",
                   plural(totals->configurations, "configuration"), plural(totals->operations, "operation"),
                   plural(totals->traces, "trace"), size_text(totals->bytes),
                   checked_text(*inspection, options.deep, configurations))});
}

void check_installed(Health& health) {
  const auto row = [&](std::string what, std::string state, std::string detail) {
    health.rows.push_back({std::move(what), std::move(state), std::move(detail)});
  };
  row("opwright", "ok",
      fmt::format("{}, identity version {}, store schema {}", OPWRIGHT_VERSION, normalize::kKeyVersion,
                  store::sqlite::schema_version()));
  row("compiler", "ok", fmt::format("{} C++{}", __VERSION__, __cplusplus / 100 % 100));
  row("json parser", "ok",
      fmt::format("simdjson {}, {} kernel", SIMDJSON_STRINGIFY(SIMDJSON_VERSION),
                  simdjson::get_active_implementation()->name()));
  row("sqlite", "ok", std::string(store::sqlite::library_version()));
  if (const std::string libpq = store::postgresql::library_version(); !libpq.empty())
    row("libpq", "ok",
        fmt::format("{}, for stores on a server (schema {})", libpq, store::postgresql::schema_version()));
  else
    row("libpq", "none", "not installed: no stores on a server (Debian: libpq5)");
  row("zstd", "ok", ZSTD_versionString());
  row("cores", "ok", std::to_string(std::thread::hardware_concurrency()));
  row("operations known", "ok", std::to_string(ttnn_dialect().tables().known().size()));
  const launch::Environment environment(process_environment());
  if (const auto python = launch::find_ttnn({}, environment))
    row("ttnn", "ok",
        fmt::format("{} in {} (Python {}, torch {}); 'opwright mock' runs it without hardware", python->ttnn_version,
                    python->executable, python->version,
                    python->torch_version.empty() ? "not there" : python->torch_version));
  else
    row("ttnn", "none", python.error().message);
}

}  // namespace

Health check_health(const HealthOptions& options) {
  Health health;
  check_installed(health);
  check_store(options, health);
  return health;
}

}  // namespace opwright::jobs
