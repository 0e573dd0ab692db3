#include "format/per_op/to_native.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/input.h"
#include "base/json.h"
#include "base/limits.h"
#include "format/native/infer_flow.h"
#include "format/native/native_writer.h"
#include "format/per_op/file_time.h"
#include "format/per_op/json_values.h"
#include "format/per_op/listing.h"

namespace opwright::format {
namespace {

namespace fs = std::filesystem;
using capture::Encoder;
using json::Kind;
using json::Node;

}  // namespace

class PerOpConverter::Folder {
 public:
  explicit Folder(TraceOutput& output) : output_(output) {}

  Result<Conversion> run(const std::string& path) {
    std::error_code ignored;
    if (fs::is_directory(path, ignored)) {
      OPWRIGHT_TRY(find_records(path));
    } else {
      folders_.push_back({fs::path(path).parent_path().string(), "", ""});
      if (folders_[0].path.empty()) folders_[0].path = ".";
      add_record({0, fs::path(path).filename().string()}, 0);
    }
    if (records_.empty())
      return fail(ErrorCode::kNotATrace, fmt::format("{}: no per-op file in it; nothing to convert", path));
    start(path);
    if (!has_uid_) digest_ = digest_of_records();
    std::stable_sort(records_.begin(), records_.end(),
                     [](const Record& a, const Record& b) { return a.number < b.number; });
    for (const Record& record : records_) convert(record);
    return finish({});
  }

  // Whoever reads the records hands them in with take().
  Status prepare(const std::string& path) {
    OPWRIGHT_TRY(find_records(path));
    if (records_.empty())
      return fail(ErrorCode::kNotATrace, fmt::format("{}: no per-op file in it; nothing to convert", path));
    start(path);
    if (folders_.size() > 1 && !has_uid_) digest_ = digest_of_records();
    records_ = {};
    for (std::size_t i = 0; i < folders_.size(); ++i) numbers_.emplace(folders_[i].path, i);
    return {};
  }

  std::optional<std::size_t> number_of(const std::string& folder) const {
    const auto found = numbers_.find(folder);
    return found != numbers_.end() ? std::optional(found->second) : std::nullopt;
  }

  void start(const std::string& path) {
    for (const Record& record : records_) {
      if (record.time != 0 && (start_ == 0 || record.time < start_)) start_ = record.time;
    }
    writer_.emplace(output_, NativeWriter::Start{.start_unix_ns = static_cast<std::uint64_t>(start_)});
    values_.emplace(*writer_);
    write_facts(path);
  }

  void take(std::size_t folder, const PerOpFile& file, const Node& root) { take(record_of(file, folder), root); }

  Result<Conversion> finish(const Hash128& digest) {
    if (!has_uid_) fact("uid", "content:" + to_hex(digest_.value_or(digest)));
    flow_.tell(*writer_);
    OPWRIGHT_TRY(writer_->finish());
    conversion_.calls = writer_->calls();
    return conversion_;
  }

 private:
  struct TestFolder {
    std::string path, test, status;
  };
  struct Record {
    std::uint64_t number = 0;
    std::size_t folder = 0;
    std::string name;
    std::int64_t time = 0;  // ns since 1970; 0 unknown
  };

  static Record record_of(const PerOpFile& file, std::size_t folder) {
    return {file.number, folder, file.name, time_of_file(file.name).value_or(0)};
  }
  void add_record(const PerOpFile& file, std::size_t folder) { records_.push_back(record_of(file, folder)); }

  // The order of an import: the folder itself, then its tests by the names of their folders.
  Status find_records(const std::string& path) {
    folders_.push_back({path, "", ""});
    OPWRIGHT_TRY_ASSIGN(const PerOpListing listing, list_per_op(path));
    for (const auto& [what, count] : listing.skipped) conversion_.drop(what, count);
    for (const PerOpFile& file : listing.records) add_record(file, 0);
    for (const std::string& name : listing.folders) {
      TestFolder folder{path + "/" + name, "", ""};
      std::string text;
      json::Document document;
      if (read_file(folder.path + "/_status.json", text)) {
        const auto root = document.parse(text);
        folder.test = root ? (*root)->string_field("test_nodeid").value_or("") : "";
        folder.status = root ? (*root)->string_field("status").value_or("") : "";
        if (folder.test.empty()) conversion_.lose("unreadable_file", folder.path + "/_status.json: no test in it");
      }
      if (to_hex(sha256(folder.test)).substr(0, 16) != name) conversion_.drop("names of folders");
      folders_.push_back(folder);
      OPWRIGHT_TRY_ASSIGN(const PerOpListing inner, list_per_op(folder.path));
      for (const auto& [what, count] : inner.skipped) conversion_.drop(what, count);
      for (const PerOpFile& file : inner.records) add_record(file, folders_.size() - 1);
      conversion_.drop("folders inside folders of tests", inner.folders.size());
      if (records_.size() > limits().files)
        return fail(over_limit(path, &Limits::files, fmt::format("{} records and more in it", records_.size())));
    }
    return {};
  }

  // Without a uid of its own a trace is named by its content, in the order in which an import reads it.
  Hash128 digest_of_records() {
    StreamHash digest;
    if (read_file(folders_[0].path + "/_trace_metadata.json", text_)) digest.add(text_);
    for (const Record& record : records_) {
      if (read_file(path_of(record), text_)) digest.add(text_);
    }
    return digest.digest();
  }

  std::string path_of(const Record& record) const { return folders_[record.folder].path + "/" + record.name; }

  void fact(std::string_view name, std::string_view text) {
    Encoder encoded;
    encoded.string(text);
    writer_->fact(name, encoded.view());
  }

  void write_facts(const std::string& path) {
    fact("converted_from", "per-op");
    std::string text;
    json::Document document;
    std::string source = fs::path(path).lexically_normal().filename().string();
    if (source.empty()) source = fs::path(path).lexically_normal().parent_path().filename().string();
    if (records_.size() == 1 && folders_.size() == 1 && !fs::is_directory(path)) source.clear();
    if (read_file(folders_[0].path + "/_trace_metadata.json", text)) {
      fact("@per_op/_trace_metadata.json", text);
      const auto root = document.parse(text);
      if (root && (*root)->is(Kind::kObject)) {
        const auto uid = (*root)->string_field("trace_uid");
        has_uid_ = uid && !uid->empty();
        if (has_uid_) fact("uid", *uid);
        if (const auto named = (*root)->string_field("test_source")) source = *named;
        if ((*root)->string_field("sources") == "test_nodeid") source.clear();  // each call is its test's own
        write_metadata(**root);
      }
    }
    if (!source.empty()) fact("source", source);
    if (read_file(folders_[0].path + "/_test_results.json", text)) fact("@per_op/_test_results.json", text);
    for (const TestFolder& folder : folders_) {
      if (folder.test.empty() || folder.status.empty()) continue;
      Encoder encoded;
      encoded.dict(2);
      encoded.string("id");
      encoded.string(folder.test);
      encoded.string("outcome");
      encoded.string(folder.status);
      writer_->test(encoded.view());
    }
  }

  void write_metadata(const Node& metadata) {
    Encoder environment;
    std::uint64_t variables = 0;
    for (std::uint32_t i = 0; i < metadata.count; ++i) {
      const auto& [key, value] = metadata.fields[i];
      Encoder encoded;
      if (key == "machine_info" && value.is(Kind::kObject)) {
        values_->put(value, encoded);
        writer_->fact("machine", encoded.view());
      } else if (key == "software_versions" && value.is(Kind::kObject)) {
        values_->put(value, encoded);
        writer_->fact("versions", encoded.view());
      } else if ((key == "HF_MODEL" || key == "LLAMA_DIR") && value.is(Kind::kString)) {
        environment.string(key);
        environment.string(value.text);
        ++variables;
      } else if (key != "trace_uid" && (value.is(Kind::kString) || value.is(Kind::kNumber))) {
        values_->put(value, encoded);
        writer_->fact(key, encoded.view());
      }
    }
    if (variables == 0) return;
    Encoder encoded;
    encoded.dict(variables);
    encoded.raw(environment.view());
    writer_->fact("environment", encoded.view());
  }

  void convert(const Record& record) {
    const std::string path = path_of(record);
    if (const Status read = read_file(path, text_); !read)
      return conversion_.lose("unreadable_file", read.error().message);
    const auto root = document_.parse(text_);
    if (!root) return conversion_.lose("unreadable_file", path + ": " + json::describe(text_, root.error()));
    take(record, **root);
  }

  void take(const Record& record, const Node& root) {
    const auto op = root.string_field("operation_name");
    const Node* args = root.find("args");
    if (!op || args == nullptr || !args->is(Kind::kArray))
      return conversion_.lose("unknown_shape", path_of(record) + ": no operation_name or no args: not a per-op record");
    std::uint64_t number = record.number;
    if (const Node* id = root.find("operation_id"); id != nullptr && id->as_int64().value_or(-1) > 0) {
      if (number == 0) number = static_cast<std::uint64_t>(*id->as_int64());
      if (number != static_cast<std::uint64_t>(*id->as_int64())) conversion_.drop("operation_id other than the file's");
    }
    if (number <= last_number_) {
      number = last_number_ + 1;
      conversion_.drop("numbers that are there twice");
    }
    last_number_ = number;
    write_call(record, number, *op, root, *args);
  }

  void write_call(const Record& record, std::uint64_t number, std::string_view op, const Node& root, const Node& args) {
    Encoder name, call;
    name.string(op);
    call.tag(capture::Tag::kCall);
    call.varint(writer_->value(name.view()));
    call.varint(args.count);
    values_->clear();
    for (std::uint32_t i = 0; i < args.count; ++i) {
      const Node* value = args.items[i].find("value");
      const Node* position = args.items[i].find("position");
      if (position == nullptr || position->as_int64() != static_cast<std::int64_t>(i)) conversion_.drop("positions");
      if (value != nullptr)
        values_->put(*value, call);
      else
        call.null();
    }
    const Node* kwargs = root.find("kwargs");
    const bool has_kwargs = kwargs != nullptr && kwargs->is(Kind::kObject);
    call.varint(has_kwargs ? kwargs->count : 0);
    for (std::uint32_t i = 0; has_kwargs && i < kwargs->count; ++i) {
      call.text(kwargs->fields[i].key);
      values_->put(kwargs->fields[i].value, call);
    }
    NativeCall at;
    at.seq = number;
    at.call = writer_->value(call.view());
    at.context = context_of(record, root);
    flow_.uses(folders_[record.folder].test, values_->specs(), at);
    const auto contents = values_->contents();
    const auto ticks = static_cast<std::uint64_t>(record.time > start_ ? record.time - start_ : 0);
    if (ticks < last_ticks_) conversion_.drop("times that go back");
    last_ticks_ = std::max(last_ticks_, ticks);
    writer_->begin(at, ticks);
    values_->clear();
    if (const Node* result = root.find("return_value"); result != nullptr) {
      Encoder encoded;
      values_->put(*result, encoded);
      at.result = writer_->value(encoded.view());
      flow_.results(values_->specs(), at);
    }
    writer_->end(at, ticks);
    for (const auto& [slot, hash] : contents)
      writer_->data(number, {.slot = slot, .of_result = false, .after = true, .hash = hash});
    for (const auto& [slot, hash] : values_->contents())
      writer_->data(number, {.slot = slot, .of_result = true, .after = true, .hash = hash});
    for (std::uint32_t i = 0; i < root.count; ++i) {
      const std::string_view key = root.fields[i].key;
      if (key != "operation_id" && key != "operation_name" && key != "args" && key != "kwargs" &&
          key != "sweep_source_hash" && key != "return_value")
        conversion_.drop(fmt::format("field {}", key));
    }
  }

  ValueId context_of(const Record& record, const Node& root) {
    const std::string& test = folders_[record.folder].test;
    const std::string sweep(root.string_field("sweep_source_hash").value_or(""));
    if (test.empty() && sweep.empty()) return 0;
    Encoder encoded;
    encoded.dict(static_cast<std::uint64_t>(!test.empty()) + static_cast<std::uint64_t>(!sweep.empty()));
    if (!test.empty()) {
      encoded.string("test");
      encoded.string(test);
    }
    if (!sweep.empty()) {
      encoded.string("sweep_source_hash");
      encoded.string(sweep);
    }
    return writer_->value(encoded.view());
  }

  TraceOutput& output_;
  std::optional<NativeWriter> writer_;
  std::optional<JsonValues> values_;
  FlowInference flow_;
  bool has_uid_ = false;
  std::optional<Hash128> digest_;  // of all records, where this has read them for it
  std::vector<TestFolder> folders_;
  std::unordered_map<std::string, std::size_t> numbers_;  // of folders, by path
  std::vector<Record> records_;
  std::int64_t start_ = 0;
  std::uint64_t last_number_ = 0, last_ticks_ = 0;
  json::Document document_;
  std::string text_;
  Conversion conversion_;
};

PerOpConverter::PerOpConverter() = default;
PerOpConverter::~PerOpConverter() = default;

Result<std::unique_ptr<PerOpConverter>> PerOpConverter::of_folder(const std::string& folder, TraceOutput& output) {
  auto converter = std::unique_ptr<PerOpConverter>(new PerOpConverter);
  converter->folder_ = std::make_unique<Folder>(output);
  OPWRIGHT_TRY(converter->folder_->prepare(folder));
  return converter;
}

std::optional<std::size_t> PerOpConverter::number_of(const std::string& folder) const {
  return folder_->number_of(folder);
}
void PerOpConverter::record(std::size_t folder, const PerOpFile& file, const Node& record) {
  folder_->take(folder, file, record);
}
Result<Conversion> PerOpConverter::finish(const Hash128& digest) { return folder_->finish(digest); }

Result<Conversion> per_op_to_native(const std::string& path, TraceOutput& output) {
  return PerOpConverter::Folder(output).run(path);
}

}  // namespace opwright::format
