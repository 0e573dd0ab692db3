#include "exec/job.h"

#include <fmt/format.h>

#include <charconv>
#include <type_traits>

#include "base/json_object.h"
#include "base/json_write.h"
#include "model/record_fields.h"
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

constexpr std::string_view kRecorded = "recorded";

Result<std::vector<RecordedReturn>> recorded_of(const json::Node& node) {
  const json::Node* field = node.find(kRecorded);
  return field == nullptr ? std::vector<RecordedReturn>() : parse_returns(*field);
}

}  // namespace

std::string to_json(const Job& job) {
  JsonObject object;
  object.add_raw("record", to_json(job.record)).add_raw("seconds", json::float_text(job.seconds));
  if (!job.board.empty()) object.add("board", job.board);
  if (job.pcc) object.add_raw("pcc", json::float_text(*job.pcc));
  if (job.bytes != 0) object.add("bytes", job.bytes);
  if (job.fresh) object.add_bool("fresh", true);
  if (job.record.recipe.kept) object.add("data", data_text(job.record.recipe));  // no field of a record has it
  if (!job.recorded.empty()) object.add_raw(kRecorded, to_json(job.recorded));
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
  if (const json::Node* fresh = (*root)->find("fresh"); fresh != nullptr) job.fresh = fresh->is_true();
  if (const auto data = (*root)->string_field("data"))
    if (const auto recipe = parse_data(*data)) job.record.recipe.kept = recipe->kept;
  OPWRIGHT_TRY_ASSIGN(job.recorded, recorded_of(**root));
  return job;
}

WorkOrder order_of(const Job& job) {
  return {job.record.index, job.record.line, job.record.recipe, job.board, job.pcc, job.recorded};
}

std::string to_json(const WorkOrder& order) {
  JsonObject object;
  object.add("index", order.index)
      .add("case", order.line)
      .add("data", data_text(order.recipe))
      .add("seed", fmt::format("{}", order.recipe.seed));  // a string: it has 64 bits without a sign
  if (!order.board.empty()) object.add("board", order.board);
  if (order.pcc) object.add_raw("pcc", json::float_text(*order.pcc));
  if (!order.recorded.empty()) object.add_raw(kRecorded, to_json(order.recorded));
  return object.text();
}

Result<WorkOrder> parse_order(std::string_view line) {
  json::Document document;
  const auto root = document.parse(line);
  if (!root) return fail(ErrorCode::kBadInput, "an order is no JSON: " + json::describe(line, root.error()));
  const json::Node* index = (*root)->find("index");
  const auto text = (*root)->string_field("case"), data = (*root)->string_field("data");
  const auto seed = (*root)->string_field("seed");
  const auto recipe = data ? parse_data(*data) : std::nullopt;
  if (index == nullptr || !index->as_int64() || !text || !recipe || !seed)
    return fail(ErrorCode::kBadInput, "an order without \"index\", \"case\", \"data\" or \"seed\"");
  WorkOrder order{*index->as_int64(),
                  std::string(*text),
                  *recipe,
                  std::string((*root)->string_field("board").value_or("")),
                  number(**root, "pcc"),
                  {}};
  OPWRIGHT_TRY_ASSIGN(order.recorded, recorded_of(**root));
  const auto [end, error] = std::from_chars(seed->data(), seed->data() + seed->size(), order.recipe.seed);
  if (error != std::errc() || end != seed->data() + seed->size())
    return fail(ErrorCode::kBadInput, "an order whose \"seed\" is no number");
  return order;
}

CaseRecord joined(const CaseRecord& planned, CaseRecord found) {
  for_each_field(found, [&](const RecordField& field, auto& member) {
    if (!field.planned) return;
    for_each_field(planned, [&](const RecordField& from, const auto& value) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(member)>, std::remove_cvref_t<decltype(value)>>) {
        if (from.name == field.name) member = value;
      }
    });
  });
  found.elements += planned.elements;  // the worker knows the outputs
  return found;
}

}  // namespace opwright
