#include "jobs/salvage_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "normalize/normalize.h"
#include "select/terms.h"
#include "store/sqlite/results.h"
#include "store/sqlite/salvage.h"
#include "store/sqlite/schema.h"

namespace opwright::jobs {
namespace {

bool exists(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0;
}

}  // namespace

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

Result<SalvageReport> salvage_store(const SalvageOptions& options) {
  const std::string& target = options.target;
  OPWRIGHT_TRY(store::check_store_name(target));
  if (exists(target))
    return fail(ErrorCode::kUsage, fmt::format("{}: there is a file already; --repair makes a new store, name another "
                                               "(nothing was changed)",
                                               target));
  if (!exists(options.store)) return fail(ErrorCode::kNotFound, fmt::format("{}: no store there", options.store));
  SalvageReport report;
  std::vector<std::string>& lost = report.lost;
  const auto lose = [&](const std::string& what) {
    if (std::find(lost.begin(), lost.end(), what) == lost.end()) lost.push_back(what);
  };
  IngestOptions saving;
  saving.store = target;
  saving.wait_ms = options.wait_ms;
  saving.durability = store::Durability::kEveryCommit;
  saving.salvage = lose;
  OPWRIGHT_TRY_ASSIGN(report.imported, ingest({options.store}, saving));
  for (const auto& [kind, loss] : report.imported.losses)
    if (kind != "duplicate_key") lose(fmt::format("{} x {}: {}", loss.count, kind, loss.example));
  OPWRIGHT_TRY_ASSIGN(store::ResultsWriter writer,
                      store::ResultsWriter::open(target, options.wait_ms, store::Durability::kConsistent));
  OPWRIGHT_TRY_ASSIGN(store::Salvage salvage, store::Salvage::open(options.store, options.wait_ms, lose));
  OPWRIGHT_TRY(salvage.runs(
      [&](const RunRecord& run) { return ++report.runs, writer.begin(run); },
      [&](const RunRecord& run, const CaseRecord& record) { return ++report.results, writer.add(run.uid, record); }));
  // What is not a row that is lost: missing rows, old ones, indexes.
  OPWRIGHT_TRY_ASSIGN(const store::Inspection inspection,
                      store::inspect(options.store, options.wait_ms, store::Depth::kEverything));
  for (const std::string& what : inspection.listed) lose(what);
  return report;
}

}  // namespace opwright::jobs
