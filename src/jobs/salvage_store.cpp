#include "jobs/salvage_store.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "base/hash.h"
#include "normalize/normalize.h"
#include "select/arguments.h"
#include "select/facts.h"
#include "select/terms.h"
#include "store/store.h"

namespace opwright::jobs {
namespace {

bool exists(const std::string& path) {
  struct stat info{};
  return lstat(path.c_str(), &info) == 0;
}

}  // namespace

Result<std::int64_t> check_meaning(const std::string& file, int wait_ms, store::sqlite::Inspection& inspection) {
  const auto add = [&](const std::string& what) { inspection.add(what); };
  OPWRIGHT_TRY_ASSIGN(const auto salvage, store::sqlite::Salvage::open(file, wait_ms, add));
  normalize::Normalizer normalizer;
  using Entry = std::pair<std::uint64_t, std::int64_t>;  // term, configuration
  std::vector<Entry> wanted, found;
  std::vector<store::Fact> wanted_facts, found_facts;
  std::vector<store::Word> words;
  std::vector<std::int64_t> seen;
  std::vector<select::Term> terms;
  std::set<std::pair<std::int64_t, Hash128>> meant;  // configuration, its parts by one of its texts
  OPWRIGHT_TRY(salvage->forms([&](const store::sqlite::SavedForm& saved) -> Status {
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
    select::append_facts(*config, saved.form.configuration, wanted_facts, words);
    meant.emplace(saved.form.configuration.value, xxh128(select::parts_of(*config)));
    seen.push_back(saved.form.configuration.value);
    return {};
  }));
  OPWRIGHT_TRY(store::sqlite::for_each_posting(
      file, wait_ms, [&](std::uint64_t term, std::int64_t configuration) { found.emplace_back(term, configuration); }));
  OPWRIGHT_TRY(store::sqlite::for_each_parts(file, wait_ms, [&](std::int64_t configuration, const std::string& parts) {
    if (select::are_current(parts) && !meant.contains({configuration, xxh128(parts)}))
      inspection.add(
          fmt::format("table record: the arguments of configuration {} are not those of its texts", configuration));
  }));
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
  OPWRIGHT_TRY_ASSIGN(const std::int64_t first_with_facts,
                      store::sqlite::for_each_fact(file, wait_ms, [&](const store::Fact& fact) {
                        if (fact.kind != store::kSourceFact && fact.kind != store::kMachineFact)
                          found_facts.push_back(fact);
                      }));
  std::erase_if(wanted_facts, [&](const store::Fact& fact) { return fact.configuration.value < first_with_facts; });
  const auto in_order = [](const store::Fact& a, const store::Fact& b) {
    return std::tie(a.configuration, a.kind, a.value) < std::tie(b.configuration, b.kind, b.value);
  };
  std::sort(wanted_facts.begin(), wanted_facts.end(), in_order);
  wanted_facts.erase(std::unique(wanted_facts.begin(), wanted_facts.end()), wanted_facts.end());
  std::sort(found_facts.begin(), found_facts.end(), in_order);
  std::vector<store::Fact> other_facts;
  std::set_symmetric_difference(wanted_facts.begin(), wanted_facts.end(), found_facts.begin(), found_facts.end(),
                                std::back_inserter(other_facts), in_order);
  if (!other_facts.empty())
    inspection.add(
        fmt::format("table fact: {} entries of the index are not those of the configurations, the first is of "
                    "configuration {}",
                    other_facts.size(), other_facts.front().configuration.value));
  return static_cast<std::int64_t>(seen.size());
}

Result<SalvageReport> salvage_store(const SalvageOptions& options) {
  OPWRIGHT_TRY_ASSIGN(const std::string file, store::sqlite::file_of(options.store));
  OPWRIGHT_TRY_ASSIGN(const std::string target, store::sqlite::file_of(options.target));
  OPWRIGHT_TRY(store::sqlite::check_store_name(target));
  if (exists(target))
    return fail(ErrorCode::kUsage, fmt::format("{}: there is a file already; --repair makes a new store, name another "
                                               "(nothing was changed)",
                                               target));
  if (!exists(file)) return fail(ErrorCode::kNotFound, fmt::format("{}: no store there", file));
  SalvageReport report;
  std::vector<std::string>& lost = report.lost;
  const auto lose = [&](const std::string& what) {
    if (std::find(lost.begin(), lost.end(), what) == lost.end()) lost.push_back(what);
  };
  IngestOptions saving;
  saving.store = options.target;
  saving.wait_ms = options.wait_ms;
  saving.durability = store::Durability::kEveryCommit;
  saving.salvage = lose;
  OPWRIGHT_TRY_ASSIGN(report.imported, ingest({file}, saving));
  for (const auto& [kind, loss] : report.imported.losses)
    if (kind != "duplicate_key") lose(fmt::format("{} x {}: {}", loss.count, kind, loss.example));
  OPWRIGHT_TRY_ASSIGN(const auto writer,
                      store::open_results_writer(options.target, options.wait_ms, store::Durability::kConsistent));
  OPWRIGHT_TRY_ASSIGN(const auto salvage, store::sqlite::Salvage::open(file, options.wait_ms, lose));
  OPWRIGHT_TRY(salvage->runs(
      [&](const RunRecord& run) { return ++report.runs, writer->begin(run); },
      [&](const RunRecord& run, const CaseRecord& record) { return ++report.results, writer->add(run.uid, record); }));
  // What is not a row that is lost: missing rows, old ones, indexes.
  OPWRIGHT_TRY_ASSIGN(const store::sqlite::Inspection inspection,
                      store::sqlite::inspect(file, options.wait_ms, store::sqlite::Depth::kEverything));
  for (const std::string& what : inspection.listed) lose(what);
  return report;
}

}  // namespace opwright::jobs
