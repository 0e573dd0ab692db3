#include "format/master/provenance.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/json_write.h"
#include "model/test_id.h"

namespace opwright::format {
namespace {

constexpr std::int64_t kMostCalls = std::int64_t{1} << 40;  // more is no count; sums of these do not overflow

using json::Kind;
using json::Node;

std::string run_uid(const Node& ids) {  // [25, 26] -> "run:25,26"
  std::string uid = "run:";
  for (const Node& id : ids) {
    if (uid.size() > 4) uid += ',';
    uid += id.text;
  }
  return uid;
}

template <class F>
void for_each_entry(const Node* node, F&& use) {  // one value or a list of them
  if (node == nullptr || node->is(Kind::kNull)) return;
  if (node->is(Kind::kArray)) {
    for (const Node& item : *node) use(item);
  } else {
    use(*node);
  }
}

void append_extra(std::string& extra, std::string_view key, const Node& value) {
  extra += extra.empty() ? "{" : ", ";
  json::append_quoted(extra, key);
  extra += ": ";
  json::append_python(extra, value, {.sort_keys = true});
}

void pair_up(std::vector<std::string_view> sources, std::vector<std::string_view> machines, std::string_view extra,
             std::vector<Sighting>& sightings) {
  const auto see = [&](std::string_view source, std::string_view machine) {
    Sighting sighting;
    sighting.source = source;
    sighting.machine = machine;
    sighting.extra = extra;
    sightings.push_back(sighting);
  };
  if (sources.size() > 1 && machines.size() > 1) {
    // Two lists side by side do not say who ran where: neither is paired with the other.
    for (const auto source : sources) see(source, {});
    for (const auto machine : machines) see({}, machine);
    return;
  }
  if (sources.empty()) sources.emplace_back();
  if (machines.empty()) machines.emplace_back();
  for (const auto source : sources) {
    for (const auto machine : machines) see(source, machine);
  }
}

}  // namespace

void Provenance::clear() {
  executions_ = contexts_ = source_ = machine_ = {};
  used_ = 0;
}

bool Provenance::take(std::string_view field, std::string_view json_text) {
  if (field == "executions")
    executions_ = json_text;
  else if (field == "contexts")
    contexts_ = json_text;
  else if (field == "source")
    source_ = json_text;
  else if (field == "machine_info")
    machine_ = json_text;
  else
    return false;
  return true;
}

std::string_view Provenance::keep(std::string text) {
  if (used_ == kept_.size()) kept_.emplace_back();
  kept_[used_] = std::move(text);
  return kept_[used_++];
}

std::string_view Provenance::keep_json(const Node& node) {
  std::string text;
  json::append_python(text, node, {.sort_keys = true});
  return keep(std::move(text));
}

Status Provenance::read(std::vector<Sighting>& sightings) {
  if (!executions_.empty()) OPWRIGHT_TRY(recall_executions(sightings));
  if (!contexts_.empty()) OPWRIGHT_TRY(read_contexts(sightings));
  if (!source_.empty() || !machine_.empty()) OPWRIGHT_TRY(read_lists(sightings));
  return {};
}

Status Provenance::recall_executions(std::vector<Sighting>& sightings) {
  constexpr std::size_t kMostRemembered = 4096;
  const Hash128 hash = xxh128(executions_);
  if (const auto known = remembered_.find(hash); known != remembered_.end()) {
    sightings = known->second.sightings;
    return {};
  }
  OPWRIGHT_TRY(read_executions(sightings));
  if (remembered_.size() >= kMostRemembered) remembered_.clear();
  Remembered& remembered = remembered_[hash];
  const auto own = [&](std::string_view& text) { text = remembered.texts.emplace_back(text); };
  for (Sighting sighting : sightings) {
    own(sighting.source);
    own(sighting.machine);
    own(sighting.trace_uid);
    own(sighting.extra);
    remembered.sightings.push_back(sighting);
  }
  return {};
}

Status Provenance::read_executions(std::vector<Sighting>& sightings) {
  const auto root = document_.parse(executions_);
  if (!root) return fail(ErrorCode::kBadInput, "executions: " + json::describe(executions_, root.error()));
  if (!(*root)->is(Kind::kArray)) return fail(ErrorCode::kBadInput, "executions are not an array");
  for (const Node& execution : **root) {
    if (!execution.is(Kind::kObject)) return fail(ErrorCode::kBadInput, "an execution is not an object");
    Sighting sighting;
    std::string extra;
    const Node* test_ids = nullptr;
    for (std::uint32_t i = 0; i < execution.count; ++i) {
      const auto& [key, value] = execution.fields[i];
      if (key == "source" && value.is(Kind::kString))
        sighting.source = value.text;
      else if (key == "machine_info" && value.is(Kind::kObject))
        sighting.machine = keep_json(value);
      else if (key == "count" && value.as_int64().value_or(-1) >= 0 && *value.as_int64() <= kMostCalls)
        sighting.count = *value.as_int64();
      else if (key == "trace_uid" && value.is(Kind::kString))
        sighting.trace_uid = value.text;
      else if (key == "trace_run_ids" && value.is(Kind::kArray))
        sighting.trace_uid = keep(run_uid(value));
      else if (key == "test_ids" && value.is(Kind::kObject))
        test_ids = &value;
      else
        append_extra(extra, key, value);
    }
    if (test_ids != nullptr) {
      read_test_ids(*test_ids, extra, sighting, sightings);
      continue;
    }
    if (!extra.empty()) sighting.extra = keep(extra + "}");
    sightings.push_back(sighting);
  }
  return {};
}

// Our own exports name a test function as source, and beside it the ids of its tests with their counts: each is a
// sighting, as in the trace they come from. What the counts leave of the execution's own is the function's.
void Provenance::read_test_ids(const Node& ids, std::string extra, const Sighting& execution,
                               std::vector<Sighting>& sightings) {
  const std::string_view plain = extra.empty() ? std::string_view() : keep(extra + "}");
  const std::string_view marked = keep(fmt::format("{}\"{}\": true}}", extra.empty() ? "{" : extra + ", ", kOfTestIds));
  std::int64_t rest = execution.count;
  for (std::uint32_t i = 0; i < ids.count; ++i) {
    Sighting sighting = execution;
    sighting.source = keep(std::string(ids.fields[i].key));
    sighting.count = std::max(ids.fields[i].value.as_int64().value_or(kUncounted), kUncounted);
    sighting.extra = marked;
    if (sighting.count > 0) rest -= std::min(rest, sighting.count);
    sightings.push_back(sighting);
  }
  if (rest <= 0 && ids.count > 0) return;
  Sighting sighting = execution;
  sighting.count = rest;
  sighting.extra = plain;
  sightings.push_back(sighting);
}

// What is no text where a text is expected stays as its JSON.
std::string_view Provenance::text_of(const Node& node) { return node.is(Kind::kString) ? node.text : keep_json(node); }

Status Provenance::read_contexts(std::vector<Sighting>& sightings) {
  const auto root = second_.parse(contexts_);
  if (!root) return fail(ErrorCode::kBadInput, "contexts: " + json::describe(contexts_, root.error()));
  for_each_entry(*root, [&](const Node& context) {
    std::vector<std::string_view> sources, machines;
    std::string extra;
    if (!context.is(Kind::kObject)) {
      sources.push_back(text_of(context));
    } else {
      for_each_entry(context.find("source"), [&](const Node& source) { sources.push_back(text_of(source)); });
      for_each_entry(context.find("machine_info"),
                     [&](const Node& machine) { machines.push_back(keep_json(machine)); });
      for (std::uint32_t i = 0; i < context.count; ++i) {
        const auto& [key, value] = context.fields[i];
        if (key != "source" && key != "machine_info") append_extra(extra, key, value);
      }
    }
    pair_up(sources, machines, extra.empty() ? std::string_view() : keep(extra + "}"), sightings);
  });
  return {};
}

Status Provenance::read_lists(std::vector<Sighting>& sightings) {
  std::vector<std::string_view> sources, machines;
  if (!source_.empty()) {
    const auto root = second_.parse(source_);
    if (!root) return fail(ErrorCode::kBadInput, "source: " + json::describe(source_, root.error()));
    for_each_entry(*root, [&](const Node& node) { sources.push_back(keep(std::string(text_of(node)))); });
  }
  if (!machine_.empty()) {
    const auto root = second_.parse(machine_);
    if (!root) return fail(ErrorCode::kBadInput, "machine_info: " + json::describe(machine_, root.error()));
    for_each_entry(*root, [&](const Node& node) { machines.push_back(keep_json(node)); });
  }
  pair_up(sources, machines, {}, sightings);
  return {};
}

void read_metadata(const Node& metadata, TraceInfo& info, TraceSink& sink) {
  if (!metadata.is(Kind::kObject)) return;
  TraceInfo named;
  for (std::uint32_t i = 0; i < metadata.count; ++i) {
    const auto& [key, value] = metadata.fields[i];
    const bool scalar = value.is(Kind::kString) || value.is(Kind::kNumber) || value.is(Kind::kBool);
    if (key == "trace_uid" && value.is(Kind::kString))
      named.uid = value.text;
    else if (key == "trace_run_id" && value.is_integer())
      named.uid = "run:" + std::string(value.text);
    else if (key == "trace_run_ids" && value.is(Kind::kArray))
      named.uid = run_uid(value);
    else if (key == "models" && value.is(Kind::kArray) && value.count == 1 && value.items[0].is(Kind::kString))
      info.only_source = value.items[0].text;  // files of 1a name their model here alone
    else if (key == "software_versions" && value.is(Kind::kObject)) {
      for (std::uint32_t k = 0; k < value.count; ++k)
        named.facts.emplace_back(value.fields[k].key, value.fields[k].value.text);
    } else if (scalar) {
      named.facts.emplace_back(key, value.text);
    }
  }
  info.facts = named.facts;
  if (!named.uid.empty()) {
    named.format = "master";
    sink.describe(named);
  }
}

}  // namespace opwright::format
