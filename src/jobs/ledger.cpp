#include "jobs/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/json_write.h"
#include "dialect/ttnn/machine_info.h"
#include "normalize/provenance_names.h"

namespace opwright::jobs {
namespace {

constexpr std::size_t kJoinAfter = 1 << 16;

std::string facts_json(const TraceInfo& trace) {
  const std::map<std::string, std::string> sorted(trace.facts.begin(), trace.facts.end());
  std::string text = "{";
  for (const auto& [name, value] : sorted) {
    if (text.size() > 1) text += ", ";
    json::append_quoted(text, name);
    text += ": ";
    json::append_quoted(text, value);
  }
  return text + "}";
}

}  // namespace

std::string cut_error(std::string_view text) {
  if (text.size() <= kLongestError) return std::string(text);
  const std::string tail = fmt::format("… ({} bytes)", text.size());
  std::size_t end = kLongestError - tail.size();
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a character
  return std::string(text.substr(0, end)) + tail;
}

std::uint32_t Ledger::Names::number(std::string_view text) {
  if (!texts_.empty() && texts_[last_] == text) return last_;
  const std::uint64_t hash = xxh64(text);
  const std::uint32_t known = numbers_.find(hash, [&](std::uint32_t at) { return texts_[at] == text; });
  if (known != HashIndex::kNone) return last_ = known;
  last_ = static_cast<std::uint32_t>(texts_.size());
  texts_.push_back(store_.keep(text));
  numbers_.add(hash, last_);
  return last_;
}

Ledger::Ledger() : anonymous_(traces_.number("\n0")) {  // no uid has a newline
  extras_.number("");
}

void Ledger::add(FormId form, const Observed& observed) {
  const std::uint32_t sweep = sweeps_.number(observed.sweep_source_hash);
  const std::uint32_t hash = hashes_.number(observed.config_hash);
  for (const Sighting& sighting : observed.sightings) {
    std::uint32_t trace = anonymous_;
    if (!sighting.trace_uid.empty()) {
      trace = traces_.number(sighting.trace_uid);
      if (listed_traces_.empty() || listed_traces_.back() != sighting.trace_uid)
        listed_traces_.emplace_back(sighting.trace_uid);
    }
    current_.push_back(
        {{form.value, trace, sources_.number(sighting.source), machine_number(sighting.machine), sweep, hash},
         extras_.number(sighting.extra),
         sighting.raised > 0 ? std::max(sighting.count, sighting.raised) : sighting.count,  // what raised was called
         sighting.raised});
    if (sighting.raised > 0 && !sighting.error.empty()) {
      std::string& example = errors_[form.value];
      if (std::string error = cut_error(sighting.error); error > example) example = std::move(error);
    }
  }
  if (current_.size() > 2 * joined_ + kJoinAfter) {  // memory follows what is distinct, not how long the input is
    join(current_, true);
    joined_ = current_.size();
  }
}

// A machine in short and the same in whole are one: a trace and the master that was made from it tell of one machine.
std::uint32_t Ledger::machine_number(std::string_view text) {
  if (const auto known = known_machines_.find(text); known != known_machines_.end()) return known->second;
  const std::uint32_t number = machines_.number(short_machine(text));
  known_machines_.emplace(text, number);
  return number;
}

void Ledger::describe(const TraceInfo& trace) { descriptions_.push_back(trace); }

void Ledger::end_trace(const TraceInfo& trace) {
  if (!trace.only_source.empty()) {
    const std::uint32_t unnamed = sources_.number(""), named = sources_.number(trace.only_source);
    for (Entry& entry : current_) {
      if (entry.key.trace == anonymous_ && entry.key.source == unnamed) entry.key.source = named;
    }
  }
  ended_[anonymous_] = trace.uid;
  anonymous_ = traces_.number(fmt::format("\n{}", ended_.size()));
  describe(trace);
  // What a file says about itself holds for the traces it lists.
  std::sort(listed_traces_.begin(), listed_traces_.end());
  listed_traces_.erase(std::unique(listed_traces_.begin(), listed_traces_.end()), listed_traces_.end());
  for (std::string& uid : listed_traces_) {
    if (uid != trace.uid) descriptions_.push_back({std::move(uid), trace.format, trace.path, "", trace.facts});
  }
  listed_traces_.clear();
  settle();
}

void Ledger::join(Entries& entries, bool add_counts) const {
  const auto by_key = [](const Entry& a, const Entry& b) { return a.key < b.key; };
  if (!std::is_sorted(entries.begin(), entries.end(), by_key)) std::stable_sort(entries.begin(), entries.end(), by_key);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (kept == 0 || entries[kept - 1].key != entries[i].key) {
      entries[kept++] = entries[i];
      continue;
    }
    Entry& entry = entries[kept - 1];
    const bool both = entry.count != kUncounted && entries[i].count != kUncounted;
    entry.count = add_counts && both ? entry.count + entries[i].count : std::max(entry.count, entries[i].count);
    entry.raised = add_counts ? entry.raised + entries[i].raised : std::max(entry.raised, entries[i].raised);
    if (extras_.texts()[entries[i].extra] > extras_.texts()[entry.extra]) entry.extra = entries[i].extra;
  }
  entries.resize(kept);
}

// Calls of a sweep that carry its hash only now and then are one kind of call: the existing tracer counts them
// together.
void Ledger::adopt_sweeps() {
  for (std::size_t from = 0; from < current_.size();) {
    std::size_t to = from;
    Entry* named = nullptr;
    const Key& key = current_[from].key;
    const auto of_calls = [&](const Entry& entry) { return hashes_.texts()[entry.key.hash].empty(); };
    for (; to < current_.size(); ++to) {
      Entry& entry = current_[to];
      if (std::tie(entry.key.form, entry.key.trace, entry.key.source, entry.key.machine) !=
          std::tie(key.form, key.trace, key.source, key.machine))
        break;
      if (!of_calls(entry) || sweeps_.texts()[entry.key.sweep].empty()) continue;
      if (named == nullptr || sweeps_.texts()[entry.key.sweep] < sweeps_.texts()[named->key.sweep]) named = &entry;
    }
    for (std::size_t i = from; i < to && named != nullptr; ++i) {
      if (of_calls(current_[i]) && sweeps_.texts()[current_[i].key.sweep].empty())
        current_[i].key.sweep = named->key.sweep;
    }
    from = to;
  }
  join(current_, true);
}

void Ledger::settle() {
  join(current_, true);
  if (sweeps_.texts().size() > 1) adopt_sweeps();
  settled_.insert(settled_.end(), current_.begin(), current_.end());
  join(settled_, false);
  current_.clear();
  joined_ = 0;
}

Ledger::Calls Ledger::calls() const {
  Calls calls;
  const Key* last = nullptr;  // the form of a trace that stands for one call already
  for (std::size_t i = 0; i < settled_.size();) {
    Key key = settled_[i].key;
    std::int64_t most = kUncounted, most_raised = 0;
    std::size_t next = i;
    // Copies of a trace with other hashes stand side by side and count once.
    for (; next < settled_.size(); ++next) {
      key.hash = settled_[next].key.hash;
      if (settled_[next].key != key) break;
      most = std::max(most, settled_[next].count);
      most_raised = std::max(most_raised, settled_[next].raised);
    }
    calls.raised += most_raised;
    if (most != kUncounted) {
      calls.calls += most;
    } else if (last == nullptr || last->form != key.form || last->trace != key.trace) {
      last = &settled_[i].key;
      ++calls.uncounted;
    }
    i = next;
  }
  calls.calls += calls.uncounted;
  return calls;
}

Status Ledger::write(store::Writer& writer) const {
  std::vector<store::NewSource> new_sources;
  for (const std::string_view text : sources_.texts()) {
    const normalize::SourceName name = normalize::name_source(text);
    new_sources.push_back({std::string(text), name.path, name.hf_model, name.model});
  }
  OPWRIGHT_TRY_ASSIGN(const std::vector<SourceId> sources, writer.sources(new_sources));
  std::vector<store::NewMachine> new_machines;
  for (const std::string_view text : machines_.texts())
    new_machines.push_back({std::string(text), normalize::name_machine(text)});
  OPWRIGHT_TRY_ASSIGN(const std::vector<MachineId> machines, writer.machines(new_machines));
  std::set<std::string, std::less<>> used;
  const auto uid_of = [&](std::uint32_t number) -> std::string_view {
    const auto stand_in = ended_.find(number);
    return stand_in != ended_.end() ? std::string_view(stand_in->second) : traces_.texts()[number];
  };
  std::uint32_t last_trace = UINT32_MAX;
  for (const Entry& entry : settled_) {
    if (entry.key.trace != last_trace) used.emplace(uid_of(last_trace = entry.key.trace));
  }
  std::vector<store::NewTrace> new_traces;
  auto undescribed = used;
  for (const TraceInfo& described : descriptions_) {
    if (!used.contains(described.uid)) continue;
    new_traces.push_back({described.uid, described.format, facts_json(described)});
    undescribed.erase(described.uid);
  }
  for (const std::string& uid : undescribed) new_traces.push_back({uid, "", "{}"});
  OPWRIGHT_TRY_ASSIGN(const std::vector<TraceId> new_ids, writer.traces(new_traces));
  std::map<std::string, TraceId, std::less<>> traces;
  for (std::size_t i = 0; i < new_ids.size(); ++i) traces[new_traces[i].uid] = new_ids[i];
  std::vector<store::NewOccurrence> rows;
  rows.reserve(settled_.size());
  std::vector<TraceId> trace_ids(traces_.texts().size());
  for (std::uint32_t i = 0; i < trace_ids.size(); ++i) {
    if (const auto found = traces.find(uid_of(i)); found != traces.end()) trace_ids[i] = found->second;
  }
  // In the order of forms: the table is written from left to right.
  for (const auto& [key, extra, count, raised] : settled_) {
    rows.push_back({{key.form},
                    sources[key.source],
                    machines[key.machine],
                    trace_ids[key.trace],
                    sweeps_.texts()[key.sweep],
                    hashes_.texts()[key.hash],
                    count,
                    extras_.texts()[extra],
                    raised});
  }
  OPWRIGHT_TRY(writer.add_occurrences(rows));
  std::vector<store::RaisedExample> examples;
  for (const auto& [form, error] : errors_) examples.push_back({{form}, error});
  return writer.add_examples(examples);
}

}  // namespace opwright::jobs
