#include "format/per_op/per_op_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/hash.h"
#include "base/input.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/limits.h"
#include "base/read_ahead.h"
#include "format/native/spooled_trace.h"
#include "format/per_op/convert.h"
#include "format/per_op/listing.h"
#include "format/per_op/to_native.h"
#include "model/test_id.h"

namespace opwright::format {
namespace {

namespace fs = std::filesystem;
using json::Kind;
using json::Node;

class FolderReader {
 public:
  FolderReader(const std::string& folder, const ReadOptions& options, TraceSink& sink)
      : folder_(folder), options_(options), sink_(sink) {}

  Status read() {
    read_metadata();
    OPWRIGHT_TRY(list_level(folder_));
    order_records();
    OPWRIGHT_TRY(read_records());
    TraceInfo info;
    info.uid = uid_.empty() ? "content:" + to_hex(digest_.digest()) : uid_;
    info.format = "per-op";
    info.path = folder_;
    info.facts = facts_;
    return sink_.end_trace(info);
  }

  // The calls in their order, beside the reading.
  void keep_calls(PerOpConverter& converter) { converter_ = &converter; }
  Hash128 digest() const { return digest_.digest(); }

  // A record given as text.
  Status read_record(std::string_view text, const std::string& path) {
    const auto root = document_.parse(text);
    if (!root) {
      sink_.lose({"unreadable_file", path, root.error().offset, json::describe(text, root.error())});
      return {};
    }
    return observe(**root, path);
  }

  // No configuration has them. Said by whoever knows that no sequence has them either.
  void leave_out_return_values() {
    if (return_values_ > 0) sink_.leave_out("return values", return_values_);
  }

 private:
  struct Level {
    std::string path, source;
    bool left_out = false;                 // a test that did not pass: its calls are in the sequence alone
    std::optional<std::size_t> converted;  // its number for the converter
  };
  struct Record {
    PerOpFile file;
    std::size_t level;
  };

  Status observe(const Node& record, const std::string& path) {
    if (document_.duplicate_keys() > 0)
      sink_.lose({"duplicate_key", path, 0, "a key stands twice in an object; the last one was taken"});
    const auto op = record.string_field("operation_name");
    if (!op) {
      sink_.lose({"unknown_shape", path, 0, "no operation_name: not a per-op record"});
      return {};
    }
    tree_.clear();
    if (const std::string wrong = convert_record(record, tree_, converted_); !wrong.empty()) {
      sink_.lose({"unknown_shape", path, 0, wrong});
      return {};
    }
    if (record.find("return_value") != nullptr) ++return_values_;
    if (converted_.handles > 0) sink_.leave_out("semaphore arguments", converted_.handles);
    if (converted_.tensors_with_values > 0) sink_.leave_out("tensor values", converted_.tensors_with_values);
    Observed observed;
    observed.kind = FormKind::kEra2;
    observed.op = *op;
    observed.arguments = converted_.text;
    observed.tree = &converted_.tree;
    if (const auto hash = record.string_field("sweep_source_hash")) observed.sweep_source_hash = *hash;
    observed.path = path;
    const std::string machine = merged_machine(machine_, converted_.mesh);
    Sighting sighting;
    sighting.source = source_;
    sighting.machine = machine;
    sighting.trace_uid = uid_;
    sighting.count = 1;
    observed.sightings.push_back(sighting);
    return sink_.observe(observed);
  }

  void read_metadata() {
    source_ = fs::path(folder_).lexically_normal().filename().string();
    if (source_.empty()) source_ = fs::path(folder_).lexically_normal().parent_path().filename().string();
    const std::string path = folder_ + "/_trace_metadata.json";
    std::string text;
    if (!fs::exists(path)) return;
    if (const Status read = read_file(path, text); !read) {
      sink_.lose({"unreadable_file", path, 0, read.error().message});
      return;
    }
    digest_.add(text);
    const auto root = metadata_.parse(text);
    if (!root || !(*root)->is(Kind::kObject)) {
      sink_.lose(
          {"unreadable_file", path, 0, text.empty() ? "empty file: a killed run leaves it so" : "not valid JSON"});
      return;
    }
    const Node& node = **root;
    if (const auto source = node.string_field("test_source")) source_ = *source;
    sources_are_tests_ = node.string_field("sources") == "test_nodeid";
    if (const auto uid = node.string_field("trace_uid")) uid_ = *uid;
    machine_ = node.find("machine_info");
    tree_.use_machine(machine_);
    for (std::uint32_t i = 0; i < node.count; ++i) {
      const auto& [key, value] = node.fields[i];
      if (key == "software_versions" && value.is(Kind::kObject)) {
        for (std::uint32_t k = 0; k < value.count; ++k)
          facts_.emplace_back(value.fields[k].key, value.fields[k].value.text);
      } else if (key != "trace_uid" && (value.is(Kind::kString) || value.is(Kind::kNumber))) {
        facts_.emplace_back(key, value.text);
      }
    }
    name_models(node);
  }

  // A path that says nothing of the model: the environment does.
  void name_models(const Node& node) {
    for (const char* key : {"HF_MODEL", "LLAMA_DIR"}) {
      if (const auto value = node.string_field(key)) models_.emplace_back(key, *value);
    }
    source_ = tagged(source_);
  }

  std::string tagged(std::string source) const {
    return takes_model_from_environment(source, sources_are_tests_) ? with_model_tags(std::move(source), models_)
                                                                    : source;
  }

  Status list_level(const std::string& folder) {
    auto listed = list_per_op(folder);
    if (!listed && listed.error().code == ErrorCode::kUnsupported) return fail(listed.error());
    if (!listed) {
      sink_.lose({"unreadable_file", folder, 0, listed.error().message});
      return {};
    }
    PerOpListing& listing = *listed;
    files_ += listing.records.size();
    if (files_ > limits().files)
      return fail(over_limit(folder_, &Limits::files, fmt::format("{} records and more in it", files_)));
    add_level(folder, std::move(listing.records), false);
    if (listing.side_files > 0) sink_.leave_out("side files", listing.side_files);
    for (const auto& [what, count] : listing.skipped) sink_.leave_out(what, count);
    for (const std::string& name : listing.folders) OPWRIGHT_TRY(list_test(folder + "/" + name));
    return {};
  }

  void add_level(const std::string& folder, std::vector<PerOpFile> files, bool left_out) {
    const auto converted = converter_ != nullptr ? converter_->number_of(folder) : std::nullopt;
    if (left_out && !converted) return;  // nobody asks for them
    levels_.push_back({folder, source_, left_out, converted});
    for (PerOpFile& file : files) records_.push_back({std::move(file), levels_.size() - 1});
  }

  // Calls of several tests interleave: for their sequence they are read in the order of their numbers. Without a uid of
  // its own a trace is named by its content, in the order of the folders.
  void order_records() {
    if (converter_ == nullptr || levels_.size() < 2) return;
    named_by_reading_ = false;
    if (uid_.empty()) {
      for (const Record& record : records_) {
        if (!levels_[record.level].left_out && read_file(path_of(record), text_)) digest_.add(text_);
      }
    }
    std::stable_sort(records_.begin(), records_.end(),
                     [](const Record& a, const Record& b) { return a.file.number < b.file.number; });
  }

  std::string path_of(const Record& record) const { return levels_[record.level].path + "/" + record.file.name; }

  Status read_records() {
    ReadAhead files(records_.size(), [this](std::size_t i) { return path_of(records_[i]); });
    for (const Record& record : records_) {
      const Level& level = levels_[record.level];
      const Status read = files.next(text_);
      const std::string path = path_of(record);
      if (!level.left_out) sink_.add_file();
      if (!read) {
        if (!level.left_out) sink_.lose({"unreadable_file", path, 0, read.error().message});
        continue;
      }
      if (named_by_reading_) digest_.add(text_);
      if (!level.left_out) sink_.add_bytes(text_.size());
      const auto root = document_.parse(text_);
      if (root && level.converted) converter_->record(*level.converted, record.file, **root);
      if (level.left_out) continue;
      source_ = level.source;
      if (root)
        OPWRIGHT_TRY(observe(**root, path));
      else
        sink_.lose({"unreadable_file", path, root.error().offset, json::describe(text_, root.error())});
    }
    return {};
  }

  Status list_test(const std::string& folder) {
    std::string text;
    const std::string path = folder + "/_status.json";
    const std::string source_outside = source_;
    if (fs::exists(path)) {
      if (!read_file(path, text)) text.clear();  // not readable: no status, see below
      json::Document document;
      const auto root = document.parse(text);
      const auto status = root ? (*root)->string_field("status") : std::nullopt;
      const auto test = root ? (*root)->string_field("test_nodeid") : std::nullopt;
      if (sources_are_tests_ && test) source_ = tagged(std::string(*test));
      if (options_.include_failed) {
        // whatever became of it
      } else if (!status) {
        sink_.lose(
            {"unreadable_file", path, 0, "no status: whether the test passed is not known, its calls are left out"});
        source_ = source_outside;
        if (auto calls = list_per_op(folder)) add_level(folder, std::move(calls->records), true);
        return {};
      } else if (*status != "passed") {
        source_ = source_outside;
        sink_.leave_out(fmt::format("tests that {}", *status == "failed"    ? "failed"
                                                     : *status == "skipped" ? "were skipped"
                                                                            : "did not pass"),
                        1);
        if (auto calls = list_per_op(folder)) {
          sink_.leave_out("calls of tests that did not pass", calls->records.size());
          add_level(folder, std::move(calls->records), true);
        }
        return {};
      }
    }
    const Status listed = list_level(folder);
    source_ = source_outside;
    return listed;
  }

  const std::string& folder_;
  const ReadOptions& options_;
  TraceSink& sink_;
  std::string source_, uid_;
  ModelTags models_;
  std::size_t files_ = 0, return_values_ = 0;
  bool sources_are_tests_ = false;  // a folder that we wrote from a native trace
  const Node* machine_ = nullptr;
  PerOpConverter* converter_ = nullptr;
  std::vector<Level> levels_;
  std::vector<Record> records_;
  bool named_by_reading_ = true;  // the digest is made of the records as they are read
  std::vector<std::pair<std::string, std::string>> facts_;
  json::Document metadata_, document_;
  ArgumentTree tree_;
  CallArguments converted_;
  StreamHash digest_;
  std::string text_;
};

}  // namespace

bool is_per_op_folder(const std::string& folder) {
  std::error_code ignored;
  if (fs::exists(folder + "/_trace_metadata.json", ignored)) return true;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    std::uint64_t number = 0;
    if (entry.is_regular_file(ignored) && per_op_number(entry.path().filename().string(), number)) return true;
  }
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (entry.is_directory(ignored) && fs::exists(entry.path() / "_status.json", ignored)) return true;
  }
  return false;
}

Status read_per_op_folder(const std::string& folder, const ReadOptions& options, TraceSink& sink) {
  FolderReader reader(folder, options, sink);
  if (!sink.keeps_calls()) {
    OPWRIGHT_TRY(reader.read());
    reader.leave_out_return_values();
    return {};
  }
  OPWRIGHT_TRY_ASSIGN(SpooledTrace spool, SpooledTrace::create());
  const auto converter = PerOpConverter::of_folder(folder, spool);
  if (converter) reader.keep_calls(**converter);
  OPWRIGHT_TRY(reader.read());
  const Result<Conversion> converted = [&]() -> Result<Conversion> {
    if (!converter) return fail(converter.error());
    return (*converter)->finish(reader.digest());
  }();
  if (converted) return spool.keep(folder, sink);
  OPWRIGHT_TRY(spool.status());
  reader.leave_out_return_values();
  // Nothing but a folder without records, or what cannot be listed, which the reader has told.
  if (converted.error().code != ErrorCode::kNotATrace) sink.leave_out("orders of calls that cannot be read", 1);
  return {};
}

Status read_per_op_file(std::string_view text, const std::string& path, TraceSink& sink) {
  static const std::string kNoFolder;
  const ReadOptions options;
  json::Document document;
  if (const auto root = document.parse(text); !root) {
    return fail(ErrorCode::kBadInput, fmt::format("{}: not valid JSON at {}; nothing was imported from it", path,
                                                  json::describe(text, root.error())));
  }
  FolderReader reader(kNoFolder, options, sink);
  sink.add_bytes(text.size());
  OPWRIGHT_TRY(reader.read_record(text, path));
  reader.leave_out_return_values();
  TraceInfo info;
  info.uid = "content:" + to_hex(xxh128(text));
  info.format = "per-op";
  info.path = path;
  return sink.end_trace(info);
}

}  // namespace opwright::format
