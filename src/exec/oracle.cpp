#include "exec/oracle.h"

#include <fmt/format.h>

#include <cstdlib>

#include "base/input.h"
#include "exec/numeric_oracle.h"
#include "model/call_json.h"

namespace opwright {
namespace {

constexpr std::int64_t kWormholeRows = 10;  // of a whole chip

double number_field(const json::Node& node, std::string_view key) {
  const json::Node* field = node.find(key);
  return field == nullptr || !field->is(json::Kind::kNumber) ? 0.0
                                                             : std::strtod(std::string(field->text).c_str(), nullptr);
}

// A record that names no board was made on one Wormhole chip: the grid of an n150, or all of the chip's rows where a
// shard spec of the call reaches them.
Result<Board> board_of(const json::Node& record, const OpConfig& config) {
  OPWRIGHT_TRY_ASSIGN(Board board, find_board(record.string_field("board").value_or("n150")));
  const auto reach = [&](const MemoryConfig& memory) {
    if (!memory.shard || memory.buffer.value != BufferType::kL1) return;
    for (const CoreRange& range : memory.shard->grid)
      if (range.end.y >= board.grid.y && range.end.y < kWormholeRows) board.grid.y = kWormholeRows;
  };
  if (!record.string_field("board"))
    for (const Argument& argument : config.args) {
      for_each_memory(argument.value, reach);
      for_each_tensor(argument.value, [&](const TensorSpec& spec) {
        if (spec.memory) reach(*spec.memory);
      });
    }
  if (const json::Node* grid = record.find("grid"); grid != nullptr && grid->is(json::Kind::kArray) && grid->count == 2)
    board.grid = {grid->items[0].as_int64().value_or(8), grid->items[1].as_int64().value_or(8)};
  board.l1_small = 24576;  // what the oracle's device was opened with
  if (const json::Node* small = record.find("l1_small")) board.l1_small = small->as_int64().value_or(board.l1_small);
  return board;
}

Status read_outputs(const json::Node& record, OracleCase& out) {
  const json::Node* outputs = record.find("outputs");
  if (outputs == nullptr || !outputs->is(json::Kind::kArray)) return {};
  out.has_outputs = true;
  for (const json::Node& output : *outputs) {
    if (!output.is(json::Kind::kObject) || output.find("shape") == nullptr) continue;
    OPWRIGHT_TRY_ASSIGN(OutputSpec spec, decode_output(output));
    out.outputs.push_back(std::move(spec));
  }
  return {};
}

Result<OracleCase> case_of(const json::Node& record) {
  OracleCase out;
  out.id = record.string_field("id").value_or("");
  const json::Node* call = record.find("call");
  if (call == nullptr) return fail(ErrorCode::kBadInput, "no \"call\" in it");
  OPWRIGHT_TRY_ASSIGN(out.config, decode_call(*call));
  OPWRIGHT_TRY_ASSIGN(out.board, board_of(record, out.config));
  const std::string_view outcome = record.string_field("outcome").value_or("ok");
  out.answer = outcome == "ok"      ? OracleCase::Answer::kOk
               : outcome == "crash" ? OracleCase::Answer::kCrash
                                    : OracleCase::Answer::kError;
  OPWRIGHT_TRY(read_outputs(record, out));
  if (const json::Node* error = record.find("error")) {
    out.stage = error->string_field("stage").value_or("");
    out.message = error->string_field("message").value_or("");
  }
  out.kind = record.string_field("kind").value_or("");
  const json::Node* guessed = record.find("guessed");
  out.guessed = guessed != nullptr && !guessed->is(json::Kind::kNull) && guessed->text != "false";
  if (record.find("nrmse") != nullptr && outcome == "ok") {
    OracleAccuracy accuracy;
    accuracy.output = static_cast<std::size_t>(number_field(record, "out_index"));
    accuracy.nrmse = number_field(record, "nrmse");
    accuracy.pcc = number_field(record, "pcc");
    accuracy.distribution = record.string_field("distribution").value_or("");
    accuracy.part = record.string_field("message").value_or("");
    out.accuracy = std::move(accuracy);
  } else if (record.find("out_index") != nullptr || (record.find("seed") != nullptr && outcome != "ok")) {
    out.not_run = fmt::format("no figures recorded ({})", outcome);
  }
  return out;
}

}  // namespace

Status read_oracle(const std::string& path, const std::function<Status(OracleCase&&)>& use) {
  if (path.ends_with(".json")) return read_numeric_oracle(path, use);
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path));
  json::Document document;
  for (std::size_t line = 1;; ++line) {
    OPWRIGHT_TRY_ASSIGN(const auto record, input.next_line());
    if (!record) break;
    if (record->find_first_not_of(" \t\r") == std::string_view::npos) continue;
    const auto root = document.parse(*record);
    if (!root)
      return fail(ErrorCode::kBadInput, fmt::format("{}:{}: {}", path, line, json::describe(*record, root.error())));
    auto parsed = case_of(**root);
    if (!parsed) return fail(parsed.error().code, fmt::format("{}:{}: {}", path, line, parsed.error().message));
    OPWRIGHT_TRY(use(std::move(*parsed)));
  }
  return {};
}

}  // namespace opwright
