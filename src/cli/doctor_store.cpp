#include "cli/doctor_store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "app/ingest.h"
#include "cli/output.h"
#include "cli/query.h"
#include "normalize/normalize.h"
#include "select/terms.h"
#include "store/inspect.h"
#include "store/results.h"
#include "store/salvage.h"
#include "store/schema.h"

namespace opwright::cli {
namespace {

constexpr std::size_t kMostShown = 50;

bool exists(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0;
}

// What the store alone cannot know: a text means the configuration under whose key it is kept, and the index has the
// terms of each. Says how many configurations were looked at.
Result<std::int64_t> check_meaning(const std::string& path, int wait_ms, store::Inspection& inspection) {
  const auto add = [&](const std::string& what) { inspection.add(what); };
  OPWRIGHT_TRY_ASSIGN(store::Salvage salvage, store::Salvage::open(path, wait_ms, add));
  normalize::Normalizer normalizer;
  using Entry = std::pair<std::uint64_t, std::int64_t>;  // term, configuration
  std::vector<Entry> wanted, found;
  std::vector<std::int64_t> seen;
  std::vector<select::Term> terms;
  OPWRIGHT_TRY(salvage.forms([&](const store::SavedForm& saved) -> Status {
    format::LiftNotes notes;
    const auto config = normalizer.normalize(saved.form.kind, saved.form.op, saved.form.text, notes);
    if (!config) {
      inspection.add(fmt::format("table form, row {}: its text is not understood ({})", saved.form.id.value,
                                 config.error().message));
      return {};
    }
    const std::string_view key(reinterpret_cast<const char*>(config->key.data()), config->key.size());
    if (!saved.key.empty() && saved.key != key)
      inspection.add(fmt::format("table form, row {}: its text is another configuration than the one it is kept under",
                                 saved.form.id.value));
    if (saved.occurrences.empty())
      inspection.add(fmt::format("table form, row {}: nothing says where it was seen", saved.form.id.value));
    terms.clear();
    select::append_terms(*config, terms);
    for (const select::Term term : terms) wanted.emplace_back(term, saved.form.configuration.value);
    seen.push_back(saved.form.configuration.value);
    return {};
  }));
  OPWRIGHT_TRY(store::for_each_posting(
      path, wait_ms, [&](std::uint64_t term, std::int64_t configuration) { found.emplace_back(term, configuration); }));
  const auto settle = [](auto& all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
  };
  settle(wanted);
  settle(found);
  settle(seen);
  std::vector<Entry> differ;
  std::set_symmetric_difference(wanted.begin(), wanted.end(), found.begin(), found.end(), std::back_inserter(differ));
  if (!differ.empty())
    inspection.add(
        fmt::format("table posting: {} entries of the index are not those of the configurations, the first "
                    "is of configuration {}",
                    differ.size(), differ.front().second));
  return static_cast<std::int64_t>(seen.size());
}

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
    const auto checked = check_meaning(env.store, wait_ms, *inspection);
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
  OPWRIGHT_TRY(store::check_store_name(target));
  if (exists(target))
    return fail(ErrorCode::kUsage, fmt::format("{}: there is a file already; --repair makes a new store, name another "
                                               "(nothing was changed)",
                                               target));
  if (!exists(env.store)) return fail(ErrorCode::kNotFound, fmt::format("{}: no store there", env.store));
  std::vector<std::string> lost;
  const auto lose = [&](const std::string& what) {
    if (std::find(lost.begin(), lost.end(), what) == lost.end()) lost.push_back(what);
  };
  app::IngestOptions options;
  options.store = target;
  options.wait_ms = wait_ms;
  options.durability = store::Durability::kEveryCommit;
  options.salvage = lose;
  OPWRIGHT_TRY_ASSIGN(const app::ImportReport report, app::ingest({env.store}, options));
  for (const auto& [kind, loss] : report.losses)
    if (kind != "duplicate_key") lose(fmt::format("{} x {}: {}", loss.count, kind, loss.example));
  std::int64_t runs = 0, results = 0;
  OPWRIGHT_TRY_ASSIGN(store::ResultsWriter writer,
                      store::ResultsWriter::open(target, wait_ms, store::Durability::kConsistent));
  OPWRIGHT_TRY_ASSIGN(store::Salvage salvage, store::Salvage::open(env.store, wait_ms, lose));
  OPWRIGHT_TRY(salvage.runs(
      [&](const RunRecord& run) { return ++runs, writer.begin(run); },
      [&](const RunRecord& run, const CaseRecord& record) { return ++results, writer.add(run.uid, record); }));
  // What is not a row that is lost: missing rows, old ones, indexes.
  OPWRIGHT_TRY_ASSIGN(const store::Inspection inspection,
                      store::inspect(env.store, wait_ms, store::Depth::kEverything));
  for (const std::string& what : inspection.listed) lose(what);
  Table table{{{"what"}, {"state"}, {"detail"}}, {}};
  table.rows.push_back({"saved", "ok",
                        fmt::format("{}: {} of {}, {} with {}", target, plural(report.configurations, "configuration"),
                                    plural(static_cast<std::int64_t>(report.operations.size()), "operation"),
                                    plural(runs, "run"), plural(results, "result"))});
  for (const std::string& what : lost) table.rows.push_back({"damage", "bad", what});
  if (lost.empty()) table.rows.push_back({"damage", "none", "all of the store was sound"});
  print(table, env);
  return lost.empty() ? kExitOk : kExitDifference;
}

}  // namespace opwright::cli
