#include "exec/job.h"

#include <fmt/format.h>

#include <charconv>

#include "base/json_object.h"
#include "base/json_write.h"
#include "model/record_json.h"

namespace opwright {
namespace {

std::optional<double> number(const json::Node& node, std::string_view name) {
  const json::Node* field = node.find(name);
  if (field == nullptr || !field->is(json::Kind::kNumber)) return std::nullopt;
  double value = 0;
  std::from_chars(field->text.data(), field->text.data() + field->text.size(), value);
  return value;
}

}  // namespace

std::string to_json(const Job& job) {
  JsonObject object;
  object.add_raw("record", to_json(job.record)).add_raw("seconds", json::float_text(job.seconds));
  if (!job.board.empty()) object.add("board", job.board);
  if (job.pcc) object.add_raw("pcc", json::float_text(*job.pcc));
  if (job.bytes != 0) object.add("bytes", job.bytes);
  return object.text();
}

Result<Job> parse_job(std::string_view line) {
  json::Document document;
  const auto root = document.parse(line);
  if (!root) return fail(ErrorCode::kBadInput, "a job is no JSON: " + json::describe(line, root.error()));
  const json::Node* record = (*root)->find("record");
  if (record == nullptr) return fail(ErrorCode::kBadInput, "a job without \"record\"");
  Job job;
  OPWRIGHT_TRY_ASSIGN(job.record, parse_record(*record));
  job.board = (*root)->string_field("board").value_or("");
  job.pcc = number(**root, "pcc");
  job.seconds = number(**root, "seconds").value_or(job.seconds);
  job.bytes = static_cast<std::int64_t>(number(**root, "bytes").value_or(0));
  return job;
}

}  // namespace opwright
