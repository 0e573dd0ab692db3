#include "format/read_trace.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/input.h"
#include "base/json.h"
#include "base/json_memory.h"
#include "base/limits.h"
#include "base/text.h"
#include "format/folder_listing.h"
#include "format/graph/graph_reader.h"
#include "format/jsonl/jsonl_reader.h"
#include "format/master/master_reader.h"
#include "format/native/native_reader.h"
#include "format/native/trace_file.h"
#include "format/per_op/per_op_reader.h"

namespace opwright::format {
namespace {

namespace fs = std::filesystem;
using json::Node;

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::size_t kPeek = 256 * 1024;
constexpr std::size_t kMaxDocument = 0xFFFFFF00;  // the parser counts bytes with 32 bits

enum class Kind { kNative, kLines, kRecord, kGraph, kMaster, kLater };  // kLater: the document decides

constexpr std::string_view kSupported =
    "opwright reads master JSON (both eras), per-op records and folders of them, op JSONL, graph captures, and its own "
    "native traces, plain, .gz or .zst";

std::size_t skip_space(std::string_view text, std::size_t at) {
  while (at < text.size() && is_space(text[at])) ++at;
  return at;
}

// The keys of the outermost object as far as `text` shows them; enough to tell the formats apart.
std::vector<std::string> outer_keys(std::string_view text, std::size_t at) {
  std::vector<std::string> keys;
  int depth = 0;
  bool key_next = false;
  for (; at < text.size() && keys.size() < 32; ++at) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t start = ++at;
      while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
      if (at >= text.size()) break;
      if (depth == 1 && key_next) keys.emplace_back(text.substr(start, at - start));
      key_next = false;
    } else if (c == '{' || c == '[') {
      ++depth;
      key_next = c == '{' && depth == 1;
    } else if (c == '}' || c == ']') {
      if (--depth == 0) break;
    } else if (c == ',') {
      key_next = depth == 1;
    }
  }
  return keys;
}

bool has(const std::vector<std::string>& keys, std::string_view key);

// A later line that is a record of op JSONL: the first one may be damaged.
bool has_op_line(std::string_view text) {
  constexpr int kLines = 16;
  for (int i = 0; i < kLines; ++i) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.starts_with('{') && line.find_last_not_of(" \r") != std::string_view::npos &&
        line[line.find_last_not_of(" \r")] == '}' && has(outer_keys(line, 0), "op_name"))
      return true;
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  return false;
}

bool has(const std::vector<std::string>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

Error not_a_trace(const std::string& path, const std::string& seen) {
  return {ErrorCode::kNotATrace, fmt::format("{}: not a trace ({}); {}", path, seen, kSupported)};
}

Error not_valid(const std::string& path, std::string_view text, const json::ParseError& error) {
  if (error.too_deep) return {ErrorCode::kUnsupported, fmt::format("{}: {}", path, error.what)};
  return {ErrorCode::kBadInput,
          fmt::format("{}: not valid JSON at {}; nothing was imported from it", path, json::describe(text, error))};
}

// Documents that are small enough to be taken whole: graphs, reports, single records.
Status read_document(std::string_view text, const std::string& path, TraceSink& sink) {
  json::Document document;
  const auto root = document.parse(text);
  if (!root) return fail(not_valid(path, text, root.error()));
  const Node& node = **root;
  if (node.is(json::Kind::kObject) && node.find("graph") != nullptr)
    return read_graph(*node.find("graph"), text, path, sink);
  if (node.is(json::Kind::kArray) && node.count > 0) {
    if (node.items[0].find("node_type") != nullptr) return read_graph(node, text, path, sink);
    if (node.items[0].find("name") != nullptr && node.items[0].find("arguments") != nullptr)
      return read_python_io(node, text, path, sink);
  }
  return fail(not_a_trace(path, "a JSON list of something else"));
}

// What an input is, by its first bytes.
Result<Kind> recognise(std::string_view peeked, const std::string& shown) {
  const std::size_t mark = peeked.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  const std::size_t first = skip_space(peeked, mark);
  if (first == peeked.size())
    return fail(
        ErrorCode::kBadInput,
        peeked.size() < kPeek
            ? fmt::format("{}: the file is empty; nothing to import", shown)
            : fmt::format("{}: nothing but white space in its first {} bytes; nothing to import", shown, kPeek));
  if (is_native_trace(peeked)) return Kind::kNative;
  if (peeked.starts_with("SQLite format 3"))
    return fail(ErrorCode::kNotATrace,
                fmt::format("{}: a store, not a trace; 'opwright export' makes a trace file of it", shown));
  const char start = peeked[first];
  if (start != '{' && start != '[')
    return fail(not_a_trace(shown, fmt::format("it begins with {:?}", std::string(peeked.substr(first, 12)))));
  std::vector<std::string> keys;
  if (start == '{') keys = outer_keys(peeked, first);
  if (has(keys, "op_name") || has_op_line(peeked)) return Kind::kLines;
  if (has(keys, "operation_name")) return Kind::kRecord;
  if (start == '[' || has(keys, "graph")) return Kind::kGraph;
  return has(keys, "operations") || has(keys, "content") || has(keys, "metadata") ? Kind::kMaster : Kind::kLater;
}

Status read_later(std::string_view text, const std::string& shown, TraceSink& sink) {
  json::Document document;
  const auto root = document.parse(text);
  if (!root) return fail(not_valid(shown, text, root.error()));
  const Node& node = **root;
  if (node.find("operations") != nullptr || node.find("content") != nullptr) return read_master(text, shown, sink);
  if (node.find("graph") != nullptr) return read_document(text, shown, sink);
  std::string seen = "keys";
  for (std::uint32_t i = 0; i < node.count && i < 6; ++i)
    seen += fmt::format("{}{}", i == 0 ? " " : ", ", node.fields[i].key);
  return fail(not_a_trace(shown, node.count == 0 ? "an empty object" : seen));
}

Status read_input(Input&& input, const std::string& shown, const ReadOptions& options, TraceSink& sink) {
  OPWRIGHT_TRY_ASSIGN(const std::string_view peeked, input.peek(kPeek));
  OPWRIGHT_TRY_ASSIGN(const Kind kind, recognise(peeked, shown));
  const std::size_t mark = peeked.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0;
  sink.add_file();
  if (kind == Kind::kNative) return read_native(std::move(input), shown, options, sink);
  if (kind == Kind::kLines) return read_op_jsonl(input, shown, sink);
  OPWRIGHT_TRY_ASSIGN(const Text whole, std::move(input).read_all());
  const std::string_view text = whole.view().substr(mark);
  if (text.size() > kMaxDocument)
    return fail(ErrorCode::kUnsupported,
                fmt::format("{}: one JSON document of more than 4 GiB; split it by operation", shown));
  OPWRIGHT_TRY(json::check_index(text, shown));
  if (kind == Kind::kRecord) return read_per_op_file(text, shown, sink);
  sink.add_bytes(text.size());
  if (kind == Kind::kGraph) return read_document(text, shown, sink);
  return kind == Kind::kMaster ? read_master(text, shown, sink) : read_later(text, shown, sink);
}

Status read_one(const std::string& path, Input::Take take, const ReadOptions& options, TraceSink& sink) {
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path, take));
  return read_input(std::move(input), path == "-" ? "standard input" : path, options, sink);
}

bool may_be_trace(const std::string& name) {
  if (name.starts_with('_') || name.starts_with('.')) return false;
  std::string_view plain = name;
  for (const std::string_view packing : {".gz", ".zst"}) {
    if (plain.ends_with(packing)) plain.remove_suffix(packing.size());
  }
  return plain.ends_with(".json") || plain.ends_with(".jsonl") || plain.ends_with(".opwt");
}

// Reads without keeping: tells whether a document is whole before anything of it is taken.
class NullSink final : public TraceSink {
 public:
  Status observe(const Observed& observed) override {
    const auto arguments = document_.parse(observed.arguments);
    if (arguments || arguments.error().too_deep) return {};
    return fail(ErrorCode::kBadInput, fmt::format("not valid JSON in the arguments of {} at byte {}: {}", observed.op,
                                                  observed.offset, arguments.error().what));
  }
  void lose(const Loss&) override {}
  void leave_out(std::string_view, std::size_t) override {}
  void describe(const TraceInfo&) override {}
  Status end_trace(const TraceInfo&) override { return {}; }
  void add_bytes(std::size_t) override {}
  void add_file() override {}

 private:
  json::Document document_;
};

Status read_whole(const std::string& path, const ReadOptions& options, TraceSink& sink) {
  const std::string name = fs::path(path).filename().string();
  // Lines, and records of native traces, stand for themselves; documents do not.
  if (name.find(".jsonl") == std::string::npos && name.find(".opwt") == std::string::npos) {
    NullSink nowhere;
    OPWRIGHT_TRY(read_one(path, Input::Take::kRegular, options, nowhere));
  }
  return read_one(path, Input::Take::kRegular, options, sink);
}

// In a folder a file that is no trace, or a damaged one, is counted and the rest is read.
Status read_folder(const std::string& folder, const ReadOptions& options, std::size_t& files, TraceSink& sink) {
  if (is_per_op_folder(folder)) return read_per_op_folder(folder, options, sink);
  const auto listed = list_folder(folder);
  if (!listed && (files == 0 || listed.error().code != ErrorCode::kIo)) return fail(listed.error());
  if (!listed) {  // one inside the folder that was named
    sink.lose({"unreadable_file", folder, 0, listed.error().message});
    return {};
  }
  const FolderListing& listing = *listed;
  files += listing.files.size();
  if (files > limits().files)
    return fail(over_limit(folder, &Limits::files, fmt::format("{} files and more in it", files)));
  for (const auto& [what, count] : listing.skipped) sink.leave_out(what, count);
  for (const FolderListing::Entry& entry : listing.files) {
    const std::string path = folder + "/" + entry.name;
    if (entry.is_folder) {
      OPWRIGHT_TRY(read_folder(path, options, files, sink));
    } else if (!may_be_trace(entry.name)) {
      sink.leave_out("files that are no traces", 1);
    } else if (const Status read = read_whole(path, options, sink); !read) {
      if (read.error().code == ErrorCode::kNotATrace) {
        sink.leave_out("files that are no traces", 1);
        continue;
      }
      if (read.error().code != ErrorCode::kBadInput && read.error().code != ErrorCode::kUnsupported) return read;
      sink.lose({"unreadable_file", path, 0, read.error().message});
    }
  }
  return {};
}

}  // namespace

Status read_trace(const std::string& path, const ReadOptions& options, TraceSink& sink) {
  std::error_code error;
  std::size_t files = 0;
  if (path != "-" && fs::is_directory(path, error)) return read_folder(path, options, files, sink);
  return read_one(path, Input::Take::kAny, options, sink);
}

Result<std::optional<Input>> fetch_stream(const std::string& path) {
  struct stat info{};
  const bool there = path == "-" ? fstat(STDIN_FILENO, &info) == 0 : stat(path.c_str(), &info) == 0;
  if (!there || S_ISREG(info.st_mode) || S_ISDIR(info.st_mode)) return std::nullopt;
  const std::string shown = path == "-" ? "standard input" : path;
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path));
  OPWRIGHT_TRY_ASSIGN(const std::string_view peeked, input.peek(kPeek));
  OPWRIGHT_TRY_ASSIGN(const Kind kind, recognise(peeked, shown));  // what is no trace is not waited for
  OPWRIGHT_TRY(input.spool(kind == Kind::kLines ? &Limits::total : &Limits::document));
  return std::optional<Input>(std::move(input));
}

Status read_fetched(Input&& input, const std::string& path, const ReadOptions& options, TraceSink& sink) {
  return read_input(std::move(input), path == "-" ? "standard input" : path, options, sink);
}

}  // namespace opwright::format
