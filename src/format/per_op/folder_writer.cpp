#include "format/per_op/folder_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <map>
#include <unordered_map>

#include "base/file_name.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/json.h"
#include "base/json_write.h"
#include "dialect/ttnn/machine_info.h"
#include "format/native/call_stream.h"
#include "format/native/dropped.h"
#include "format/native/run_facts.h"
#include "format/native/value_json.h"
#include "format/per_op/file_time.h"
#include "format/per_op/json_lines.h"
#include "format/per_op/writer.h"

namespace opwright::format {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMetadata = "_trace_metadata.json";
constexpr std::string_view kResults = "_test_results.json";
constexpr std::size_t kLongestOp = 160;  // of a file's name, beside number, time and ending

std::string local_iso_time(std::int64_t unix_ns) {  // datetime.now().isoformat()
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  const std::int64_t micro = unix_ns / 1000 % 1'000'000;
  return micro == 0 ? std::string(text) : fmt::format("{}.{:06}", text, micro);
}

// `ttnn.experimental.add` -> `ttnn_experimental_add`
void append_file_op(std::string_view op, std::string& out) {
  std::string name;
  for (std::size_t i = 0; i < op.size(); ++i) {
    if (op[i] == ':' && i + 1 < op.size() && op[i + 1] == ':') ++i;
    name += op[i];
  }
  // A name never leaves its folder, and fits into it, whatever the trace says. The file itself has the whole.
  out += file_name_part(name, kLongestOp);
}

// Methods of tensors are hooked by us alone; indexing is an operation of the library.
bool is_method(std::string_view op) { return op.starts_with("ttnn.Tensor.") && !op.ends_with("__getitem__"); }

class FolderWriter {
 public:
  FolderWriter(NativeTrace& trace, std::string folder, PerOpOptions options)
      : trace_(trace),
        options_(options),
        folder_(std::move(folder)),
        writer_(trace),
        dropped_(trace, Target::kPerOp),
        numbered_(trace.fact_text("converted_from") == "per-op") {}
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;
  ~FolderWriter() {
    for (const auto& [test, fd] : folders_) close(fd);
    std::error_code ignored;
    if (!committed_ && !temporary_.empty()) fs::remove_all(temporary_, ignored);
  }

  Result<Conversion> run() {
    std::error_code error;
    if (fs::exists(folder_, error) && !(fs::is_directory(folder_, error) && fs::is_empty(folder_, error)))
      return fail(ErrorCode::kUsage,
                  fmt::format("{}: is there already and not empty; give a new folder, nothing was changed", folder_));
    OPWRIGHT_TRY(make_temporary());
    CallStream calls(trace_);
    while (const NativeCall* call = calls.next()) {
      OPWRIGHT_TRY(write_call(*call));
      trace_.values().forget();
    }
    OPWRIGHT_TRY(write_tests());
    OPWRIGHT_TRY(write_metadata());
    dropped_.tell(conversion_);
    conversion_.drop("printed texts of objects (made up from their fields)", writer_.texts_made());
    for (const auto& [kind, entry] : trace_.damage().entries()) conversion_.lose(kind, entry.example, entry.count);
    fs::remove(folder_, error);  // an empty one
    fs::rename(temporary_, folder_, error);
    if (error)
      return fail(ErrorCode::kIo, fmt::format("{}: cannot be made: {}; nothing was changed", folder_, error.message()));
    committed_ = true;
    return conversion_;
  }

 private:
  // A new folder that is ours alone, beside the one that it becomes.
  Status make_temporary() {
    const fs::path parent = fs::path(folder_).parent_path();
    std::error_code error;
    if (!parent.empty()) fs::create_directories(parent, error);
    std::string name =
        (parent / fmt::format(".{}.XXXXXX", fs::path(folder_).filename().string().substr(0, 180))).string();
    if (mkdtemp(name.data()) == nullptr)
      return fail(ErrorCode::kIo, fmt::format("{}: cannot be made: {}", folder_, system_message(errno)));
    temporary_ = std::move(name);
    return {};
  }

  Status write_call(const NativeCall& call) {
    if (call.raised()) {
      conversion_.drop("calls that raised");
      return {};
    }
    if (!call.finished) {
      conversion_.drop("calls that never ended");
      return {};
    }
    const NativeValue* value = trace_.values().call(call.call);
    if (options_.like_existing && value != nullptr && is_method(value->text)) {
      conversion_.drop("methods of tensors");
      return {};
    }
    if (options_.like_existing && call.direct) {
      conversion_.drop("functions that are no operation");
      return {};
    }
    const std::uint64_t number = numbered_ ? call.seq : conversion_.calls + 1;
    text_.clear();
    if (value == nullptr || !writer_.write(call, number, text_)) {
      conversion_.lose("missing_value", fmt::format("call {}: its arguments are not whole in the file", call.seq));
      return {};
    }
    dropped_.add(call);
    OPWRIGHT_TRY_ASSIGN(const int folder, folder_of(trace_.context(call.context).test));
    name_.clear();
    fmt::format_to(std::back_inserter(name_), "{}_", number);
    append_file_op(value->text, name_);
    name_ += '_';
    times_.append(trace_.start_unix_ns() + call.start_ns + call.duration_ns, name_);
    name_ += ".json";
    ++conversion_.calls;
    return write_file(folder, name_, text_);
  }

  // The open folder of a test; "" is the trace's own.
  Result<int> folder_of(std::string_view test) {
    if (const auto known = folders_.find(std::string(test)); known != folders_.end()) return known->second;
    const std::string path = test.empty() ? temporary_ : temporary_ + "/" + to_hex(sha256(test)).substr(0, 16);
    std::error_code ignored;
    fs::create_directories(path, ignored);
    const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return fail(ErrorCode::kIo, fmt::format("{}: cannot be made: {}", path, system_message(errno)));
    folders_.emplace(test, fd);
    return fd;
  }

  Status write_file(int folder, const std::string& name, std::string_view text) {
    const int fd = ::openat(folder, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const auto failed = [&](int fd_open) {
      const int number = errno;
      if (fd_open >= 0) close(fd_open);
      return fail(ErrorCode::kIo,
                  fmt::format("{}/{}: cannot write: {}; nothing was changed", folder_, name, system_message(number)));
    };
    if (fd < 0) return failed(-1);
    while (!text.empty()) {
      const ssize_t put = ::write(fd, text.data(), text.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return failed(fd);
      text.remove_prefix(static_cast<std::size_t>(put));
    }
    if (close(fd) != 0) return failed(-1);
    return {};
  }

  Status write_tests() {
    std::map<std::string, std::string> outcomes;
    for (const TestOutcome& test : trace_.tests()) outcomes[std::string(test.id)] = test.outcome;
    std::size_t passed = 0, failed = 0;
    for (const auto& [test, outcome] : outcomes) {
      OPWRIGHT_TRY_ASSIGN(const int folder, folder_of(test));
      std::string text;
      JsonLines lines = json_object(text, 0);
      lines.text("test_nodeid", test);
      lines.text("status", outcome);
      lines.end();
      OPWRIGHT_TRY(write_file(folder, "_status.json", text));
      if (outcome == "passed") ++passed;
      if (outcome == "failed") ++failed;
    }
    OPWRIGHT_TRY_ASSIGN(const int top, folder_of(""));
    const std::string_view kept = trace_.fact_text("@per_op/_test_results.json");
    if (!kept.empty()) return write_file(top, std::string(kResults), kept);
    if (outcomes.empty() || numbered_) return {};
    std::string text;
    JsonLines lines = json_object(text, 0);
    lines.text("test_path", facts_of_run(trace_).source_of(""));
    lines.key("exit_code") += failed > 0 ? "1" : "0";
    lines.key("passed") += std::to_string(passed);
    lines.key("failed") += std::to_string(failed);
    lines.key("total") += std::to_string(outcomes.size());
    lines.end();
    return write_file(top, std::string(kResults), text);
  }

  Status write_metadata() {
    OPWRIGHT_TRY_ASSIGN(const int top, folder_of(""));
    const std::string_view kept = trace_.fact_text("@per_op/_trace_metadata.json");
    if (!kept.empty() || numbered_)  // a folder without metadata stays one
      return kept.empty() ? Status() : write_file(top, std::string(kMetadata), kept);
    const RunFacts facts = facts_of_run(trace_);
    std::string text;
    JsonLines lines = json_object(text, 0);
    lines.text("test_source", facts.source_of(""));
    // As the native trace is read: so that both count as one.
    if (!trace_.tests().empty() && facts.source.empty()) lines.text("sources", "test_nodeid");
    lines.text("timestamp", local_iso_time(trace_.start_unix_ns()));
    if (!facts.uid.empty()) lines.text("trace_uid", facts.uid);
    lines.key("machine_info");
    json::Document document;
    const auto machine = document.parse(facts.machine.empty() ? "null" : whole_machine(facts.machine));
    if (machine)
      json::append_python(text, **machine, {.indent = 2}, 1);
    else
      text += "null";
    lines.key("trace_count") += std::to_string(conversion_.calls);
    const std::string_view pytest_args = trace_.fact_text("pytest_args");
    if (pytest_args.empty())
      lines.key("pytest_args") += "null";
    else
      lines.text("pytest_args", pytest_args);
    if (const NativeValue* versions = trace_.fact("software_versions"); versions != nullptr) {
      lines.key("software_versions");
      const auto parsed = document.parse(to_json(*versions));
      if (parsed)
        json::append_python(text, **parsed, {.indent = 2}, 1);
      else
        text += "null";
    }
    for (const auto& [name, value] : facts.models) {
      if (facts.tags_all_transformers) lines.text(name, value);
    }
    lines.end();
    return write_file(top, std::string(kMetadata), text);
  }

  NativeTrace& trace_;
  PerOpOptions options_;
  std::string folder_, temporary_;
  PerOpWriter writer_;
  DroppedCounter dropped_;
  bool numbered_;  // calls have the numbers of the files they come from
  bool committed_ = false;
  std::unordered_map<std::string, int> folders_;
  FileTimes times_;
  std::string text_, name_;
  Conversion conversion_;
};

}  // namespace

Result<Conversion> native_to_per_op(NativeTrace& trace, const std::string& folder, PerOpOptions options) {
  std::string path = fs::path(folder).lexically_normal().string();
  if (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return FolderWriter(trace, std::move(path), options).run();
}

}  // namespace opwright::format
