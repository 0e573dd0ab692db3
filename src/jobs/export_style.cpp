#include "jobs/export_style.h"

#include <algorithm>
#include <set>

#include "base/json_object.h"

namespace opwright::jobs {
namespace {

// "2026-11-15T09:09:24.115004Z" -> "2026-11-15 09:09:24", as the existing tools write it.
std::string plain_time(std::string_view text) {
  std::string time(text.substr(0, text.find_first_of(".+Z")));
  if (time.size() > 10 && time[10] == 'T') time[10] = ' ';
  return time;
}

}  // namespace

Error damaged_form(std::string_view text, const json::ParseError& error) {
  return {ErrorCode::kBadInput,
          "a stored form is not valid JSON, the store is damaged: " + json::describe(text, error)};
}

Status append_styled(std::string& out, const std::string& compact, json::Style style, int level,
                     json::Document& document) {
  const auto root = document.parse(compact);
  if (!root) return fail(damaged_form(compact, root.error()));
  json::append_python(out, **root, style, level);
  return {};
}

void OperationsText::begin(const std::string& op) {
  op_ = op;
  in_op_ = 0;
}

std::string& OperationsText::next() {
  if (in_op_ == 0) {
    text_ += text_.empty() ? "{\n    " : ",\n    ";
    json::append_quoted(text_, op_);
    text_ += ": {\n      \"configurations\": [";
  }
  text_ += in_op_++ > 0 ? ",\n        " : "\n        ";
  return text_;
}

void OperationsText::end() {
  if (in_op_ == 0) return;
  text_ += "\n      ]\n    }";
  summary_[op_] = in_op_;
}

std::string OperationsText::text() const { return text_.empty() ? "{}" : text_ + "\n  }"; }

std::string OperationsText::summary_json() const {
  JsonObject object;
  for (const auto& [op, count] : summary_) object.add(op, count);
  return object.text();
}

std::string last_updated(const std::vector<store::TraceRow>& traces) {
  std::string latest;
  json::Document document;
  for (const store::TraceRow& trace : traces) {
    const auto facts = document.parse(trace.facts);
    if (!facts) continue;
    for (const char* key : {"last_updated", "timestamp", "started"}) {
      if (const auto text = (*facts)->string_field(key)) latest = std::max(latest, plain_time(*text));
    }
  }
  return latest;
}

std::string sources_json(const std::vector<select::Selected>& selected) {
  std::set<std::string> sources;
  for (const select::Selected& one : selected) {
    for (const store::OccurrenceRow& row : one.occurrences) {
      if (!row.source.empty()) sources.insert(row.source);
    }
  }
  return json_array({sources.begin(), sources.end()}, false);
}

}  // namespace opwright::jobs
