#include "cli/doctor_store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "cli/output.h"
#include "cli/query.h"
#include "jobs/ending.h"
#include "store/inspect.h"
#include "store/schema.h"

namespace opwright::cli {
namespace {

constexpr std::size_t kMostShown = 50;

std::string checked_text(const store::Inspection& inspection, bool deep, std::int64_t configurations) {
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

}  // namespace

StoreHealth store_health(bool deep, int wait_ms, const CommandEnv& env) {
  StoreHealth health;
  const auto bad = [&](const std::string& detail) {
    health.sound = false;
    health.rows.emplace_back("bad", detail);
  };
  if (const Status name = store::check_store_name(env.store); !name) return bad(name.error().message), health;
  struct stat info{};
  if (stat(env.store.c_str(), &info) != 0) {
    health.rows.emplace_back("none", env.store + ": not there yet; the first import makes it");
    return health;
  }
  auto inspection = store::inspect(env.store, wait_ms, deep ? store::Depth::kEverything : store::Depth::kRows);
  if (!inspection) return bad(inspection.error().message), health;
  std::int64_t configurations = 0;
  if (deep) {
    const auto checked = jobs::check_meaning(env.store, wait_ms, *inspection);
    if (checked)
      configurations = *checked;
    else
      inspection->add(checked.error().message);
  }
  auto reader = store::Reader::open(env.store, wait_ms, identity_of_this_build());
  auto totals = reader ? reader->totals() : Result<store::Totals>(fail(reader.error()));
  if (!totals && inspection->damages == 0) inspection->add(totals.error().message);  // e.g. keys of another version
  if (inspection->damages > 0) {
    bad(fmt::format("{}: {} found; 'opwright doctor --repair -o NEW' saves the rest into a new store", env.store,
                    plural(inspection->damages, "damage")));
    std::vector<std::string>& listed = inspection->listed;
    std::sort(listed.begin(), listed.end());
    listed.erase(std::unique(listed.begin(), listed.end()), listed.end());
    for (std::size_t i = 0; i < listed.size() && i < kMostShown; ++i) bad(listed[i]);
    if (listed.size() > kMostShown)
      bad(fmt::format("and {} more", inspection->damages - static_cast<std::int64_t>(kMostShown)));
    return health;
  }
  health.rows.emplace_back(
      "ok", fmt::format("{}: schema {}{}, {} of {}, {}, {}; {}", env.store, totals->schema,
                        totals->schema < store::kSchemaVersion ? " (the next import brings it up to date)" : "",
                        plural(totals->configurations, "configuration"), plural(totals->operations, "operation"),
                        plural(totals->traces, "trace"), size_text(totals->bytes),
                        checked_text(*inspection, deep, configurations)));
  return health;
}

Result<int> repair_store(const std::string& target, int wait_ms, CommandEnv& env) {
  if (target.empty()) return fail(ErrorCode::kUsage, "--repair makes a new store; name it: -o NEW.db");
  OPWRIGHT_TRY_ASSIGN(const jobs::SalvageReport report, jobs::salvage_store({env.store, target, wait_ms}));
  const jobs::ImportReport& imported = report.imported;
  Table table{{{"what"}, {"state"}, {"detail"}}, {}};
  table.rows.push_back(
      {"saved", "ok",
       fmt::format("{}: {} of {}, {} with {}", target, plural(imported.configurations, "configuration"),
                   plural(static_cast<std::int64_t>(imported.operations.size()), "operation"),
                   plural(report.runs, "run"), plural(report.results, "result"))});
  for (const std::string& what : report.lost) table.rows.push_back({"damage", "bad", what});
  if (report.lost.empty()) table.rows.push_back({"damage", "none", "all of the store was sound"});
  print(table, env);
  return jobs::exit_code(jobs::ending_of(report));
}

}  // namespace opwright::cli
