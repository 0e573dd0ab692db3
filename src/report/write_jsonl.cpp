#include <fmt/format.h>

#include <charconv>

#include "base/atomic_file.h"
#include "base/input.h"
#include "base/json_object.h"
#include "model/record_json.h"
#include "report/exports.h"

namespace opwright::report {
namespace {

constexpr int kVersion = 1;  // of the file: the first line names it

// One list of the fields for both directions, so that none is written and not read.
template <class Run, class Field>
void for_each_text(Run& run, const Field& field) {
  field("uid", run.uid);
  field("started", run.started);
  field("ended", run.ended);
  field("host", run.host);
  field("device", run.device);
  field("numerics", run.numerics);
  field("command", run.command);
  field("git_commit", run.git_commit);
  field("version", run.version);
  field("suite", run.suite);
  field("against", run.against);
  field("plan", run.plan);
  field("facts", run.facts);
  field("status", run.status);
}

Result<RunRecord> run_of_node(const json::Node& node) {
  RunRecord run;
  std::string problem;
  for_each_text(run, [&](std::string_view name, std::string& text) {
    if (const auto found = node.string_field(name))
      text = *found;
    else
      problem = fmt::format("\"{}\" of the run is missing", name);
  });
  const auto whole = [&](std::string_view name, auto& number) {
    const json::Node* field = node.find(name);
    const std::string_view text = field != nullptr && field->is(json::Kind::kNumber) ? field->text : "";
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
      problem = fmt::format("\"{}\" of the run is no whole number", name);
  };
  whole("seed", run.seed);
  whole("planned", run.planned);
  if (!problem.empty()) return fail(ErrorCode::kBadInput, problem);
  return run;
}

// One pass over the file; every line is parsed, whatever is done with it.
Status read_lines(const std::string& file, const std::function<Status(const RunRecord&)>& begin, const UseResult& use) {
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(file, Input::Take::kRegular));  // it is read twice
  json::Document document;
  std::int64_t number = 0;
  const auto wrong = [&](std::string_view what) {
    return fail(ErrorCode::kBadInput, fmt::format("{}: line {}: {}; nothing was taken from it. It must be a file of "
                                                  "'opwright results RUN --export jsonl:FILE'",
                                                  file, number, what));
  };
  while (true) {
    OPWRIGHT_TRY_ASSIGN(const auto line, input.next_line());
    if (!line) break;
    ++number;
    const auto root = document.parse(*line);
    if (!root) return wrong(root.error().what);
    if (number == 1) {
      const json::Node* version = (*root)->is(json::Kind::kObject) ? (*root)->find("opwright_results") : nullptr;
      const json::Node* node = version != nullptr ? (*root)->find("run") : nullptr;
      if (node == nullptr) return wrong("does not begin with a run");
      if (version->as_int64() != kVersion)
        return fail(ErrorCode::kUnsupported, fmt::format("{}: results format {}, this build reads {}; use a newer "
                                                         "opwright",
                                                         file, version->text, kVersion));
      const auto run = run_of_node(*node);
      if (!run) return wrong(run.error().message);
      OPWRIGHT_TRY(begin(*run));
      continue;
    }
    auto record = parse_record(**root);
    if (!record) return wrong(record.error().message);
    OPWRIGHT_TRY(use(*std::move(record)));
  }
  return number == 0 ? Status(wrong("the file is empty")) : Status();
}

}  // namespace

std::string to_json(const RunRecord& run) {
  JsonObject object;
  for_each_text(run, [&](std::string_view name, const std::string& text) { object.add(name, text); });
  return object.add_raw("seed", std::to_string(run.seed)).add("planned", run.planned).text();
}

Result<RunRecord> parse_run(std::string_view text) {
  json::Document document;
  const auto root = document.parse(text);
  if (!root) return fail(ErrorCode::kBadInput, root.error().what);
  return run_of_node(**root);
}

Result<Exported> write_jsonl(const std::string& file, const RunRecord& run, const ResultStream& results) {
  OPWRIGHT_TRY_ASSIGN(AtomicFile out, AtomicFile::create(file));
  Exported exported;
  OPWRIGHT_TRY(out.append(
      JsonObject().add("opwright_results", std::int64_t{kVersion}).add_raw("run", to_json(run)).text() + "\n"));
  OPWRIGHT_TRY(results([&](CaseRecord&& record) -> Status {
    ++exported.results;
    return out.append(opwright::to_json(record) + "\n");
  }));
  OPWRIGHT_TRY(out.commit());
  exported.bytes = static_cast<std::int64_t>(out.bytes());
  exported.files.push_back(file);
  return exported;
}

Status read_jsonl(const std::string& file, const std::function<Status(const RunRecord&)>& begin, const UseResult& use) {
  if (file == "-") return fail(ErrorCode::kUsage, "--import reads a file twice: standard input will not do");
  OPWRIGHT_TRY(read_lines(file, [](const RunRecord&) { return Status(); }, [](CaseRecord&&) { return Status(); }));
  return read_lines(file, begin, use);
}

}  // namespace opwright::report
