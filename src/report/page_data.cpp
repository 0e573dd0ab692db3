#include "report/page_data.h"

#include <fmt/format.h>
#include <openssl/evp.h>
#include <zlib.h>

#include <array>
#include <cmath>
#include <cstdlib>
#include <new>
#include <optional>

#include "base/json_object.h"
#include "base/message_pattern.h"
#include "report/agreement.h"
#include "report/case_arguments.h"

namespace opwright::report {
namespace {

// Names as the page's data.js reads them; the order is that of add().
constexpr std::array kColumns{
    "index",    "op",           "suite",        "line",           "repeat",   "dtype",  "layout", "memory",    "models",
    "calls",    "outcome",      "reason",       "blame",          "cluster",  "pcc",    "ulp",    "nrmse",     "bound",
    "fields",   "fields_equal", "faults",       "faults_noticed", "wall",     "device", "kernel", "reference", "l1",
    "attempts", "against",      "disagreement", "agreement",      "elements", "rank",   "terms"};

// The page needs three states: absent, not a number, a number. 1e999 is JSON, and infinite when JavaScript reads it.
std::string number(std::optional<double> value, int digits) {
  if (!value) return "null";
  if (std::isnan(*value)) return "\"nan\"";
  if (std::isinf(*value)) return *value > 0 ? "1e999" : "-1e999";
  return digits == 0 ? fmt::format("{}", *value) : fmt::format("{:.{}g}", *value, digits);
}

std::string shell_escaped(std::string_view text) {
  std::string quoted;
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted;
}

// A command repeats its case line, which the page has already: \x01 stands for it, quoted for a shell. What remains is
// the same text for nearly all cases.
std::string without_line(const CaseRecord& record) {
  const std::string quoted = shell_escaped(record.line);
  const std::size_t at = record.line.empty() ? std::string::npos : record.repeat.find(quoted);
  if (at == std::string::npos) return record.repeat;
  return record.repeat.substr(0, at) + '\x01' + record.repeat.substr(at + quoted.size());
}

std::string_view word_of(Standing standing) {
  switch (standing) {
    case Standing::kPassed:
      return "passed";
    case Standing::kUndecided:
      return "undecided";
    case Standing::kFailed:
      return "failed";
    case Standing::kNoAnswer:
      return "no verdict";
  }
  return "";
}

// Results with one cause have the same text: what report::Analyser makes its clusters of.
std::string cluster_of(const CaseRecord& record) {
  return fmt::format("{}: {}", name_of(record.outcome), message_pattern(record.reason));
}

}  // namespace

std::string run_json(const RunRecord& run, std::string_view since, const CaseHistory* history) {
  std::vector<std::string> outcomes;
  for (const Outcome outcome : all_outcomes()) {
    outcomes.push_back(
        JsonObject().add("name", name_of(outcome)).add("standing", word_of(standing_of(outcome))).text());
  }
  return JsonObject()
      .add("uid", run.uid)
      .add("started", run.started)
      .add("ended", run.ended)
      .add("host", run.host)
      .add("device", run.device)
      .add("numerics", run.numerics)
      .add("command", run.command)
      .add("git_commit", run.git_commit)
      .add("version", run.version)
      .add("suite", run.suite)
      .add("against", run.against)
      .add("facts", run.facts)
      .add("status", run.status)
      .add("seed", fmt::format("{}", run.seed))  // a string: JavaScript rounds 64-bit numbers
      .add("planned", run.planned)
      .add_raw("outcomes", json_array(outcomes, true))
      .add("block", static_cast<std::int64_t>(PageData::kBlock))
      .add_raw("since", since.empty() ? "null" : since)
      .add_raw("past", history == nullptr ? "[]" : history->runs_json())
      .add("past_left_out", history == nullptr ? 0 : history->runs_left_out)
      .text();
}

PageData::PageData() {
  for (const char* name : kColumns) columns_.push_back({name, ""});
}

std::int64_t PageData::place_of(std::string_view text) {
  const auto found = places_.find(text);
  if (found != places_.end()) return found->second;
  strings_.emplace_back(text);
  const auto place = static_cast<std::int64_t>(strings_.size()) - 1;
  places_.emplace(strings_.back(), place);
  return place;
}

void PageData::put(std::size_t column, std::string_view json) {
  std::string& values = columns_[column].values;
  if (!values.empty()) values += ',';
  values += json;
}

void PageData::add(const CaseRecord& record, const CaseTexts& texts, std::string_view past) {
  const CaseArguments arguments = arguments_of(record);
  const auto known = [](std::optional<std::int64_t> value) { return value ? fmt::format("{}", *value) : "null"; };
  const auto text = [this](std::string_view value) { return fmt::format("{}", place_of(value)); };
  const auto count = [](std::int64_t value) { return fmt::format("{}", value); };
  const std::array<std::string, kColumns.size()> values{
      count(record.index),
      text(record.op),
      text(record.suite),
      text(record.line),
      text(without_line(record)),
      text(record.dtype),
      text(record.layout),
      text(record.memory),
      text(record.models),
      count(record.calls),
      count(static_cast<std::int64_t>(record.outcome)),
      text(record.reason),
      text(name_of(record.blame)),
      text(standing_of(record.outcome) == Standing::kPassed ? "" : cluster_of(record)),
      number(record.pcc, 0),
      number(record.ulp, 6),
      number(record.nrmse, 6),
      number(record.bound_used, 6),
      count(record.fields),
      count(record.fields_equal),
      count(record.faults),
      count(record.faults_noticed),
      number(record.wall_seconds, 6),
      number(record.device_seconds, 6),
      number(record.kernel_seconds, 6),
      number(record.reference_seconds, 6),
      count(record.l1_per_core),
      count(record.attempts),
      text(record.against),
      text(record.disagreement),
      text(std::string(name_of(agreement_of(record)))),
      count(record.elements),
      known(arguments.rank),
      known(arguments.terms),
  };
  for (std::size_t i = 0; i < values.size(); ++i) put(i, values[i]);

  if (!block_.empty()) block_ += ',';
  block_ += JsonObject()
                .add("vector", record.vector)
                .add("key", record.key)
                .add("argument", record.argument)
                .add("evidence", record.evidence)
                .add("notes", record.notes)
                .add("verdicts", record.verdicts)
                .add("outputs", record.outputs)
                .add("differences", record.differences)
                .add("unnoticed", record.unnoticed)
                .add("judged", record.judged)
                .add("data", name_of(record.recipe.distribution))
                .add("seed", fmt::format("{}", record.recipe.seed))
                .add("started", record.started)
                .add_raw("cold", number(record.cold_seconds, 6))
                .add("dram", record.dram)
                .add("host_bytes", record.host_bytes)
                .add_raw("arguments", arguments.rows)
                .add("pytest", texts.pytest)
                .add("ttnn", texts.ttnn)
                .add("unspelled", texts.refused)
                .add_raw("past", past)
                .text();
  ++results_;
  if (static_cast<std::size_t>(results_) % kBlock == 0) close_block();
}

void PageData::close_block() {
  if (block_.empty()) return;
  details_.push_back(packed("[" + block_ + "]"));
  block_.clear();
}

const std::vector<std::string>& PageData::details() {
  close_block();
  return details_;
}

std::string PageData::columns_json() const {
  std::string out = "{\"strings\":[";
  bool first = true;
  for (const std::string& text : strings_) {
    if (!first) out += ',';
    out += json_string(text);
    first = false;
  }
  out += "],\"columns\":{";
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    out += fmt::format("{}\"{}\":[{}]", i == 0 ? "" : ",", columns_[i].name, columns_[i].values);
  }
  return out + "}}";
}

std::string packed(std::string_view text) {
  uLongf size = compressBound(text.size());
  std::string squeezed(size, '\0');
  // It fails for want of memory only.
  if (compress2(reinterpret_cast<Bytef*>(squeezed.data()), &size, reinterpret_cast<const Bytef*>(text.data()),
                text.size(), Z_DEFAULT_COMPRESSION) != Z_OK)
    throw std::bad_alloc();
  std::string out(4 * ((size + 2) / 3) + 1, '\0');
  const int written = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(out.data()),
                                      reinterpret_cast<const unsigned char*>(squeezed.data()), static_cast<int>(size));
  out.resize(static_cast<std::size_t>(written));
  return out;
}

}  // namespace opwright::report
