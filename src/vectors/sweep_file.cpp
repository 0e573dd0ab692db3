#include "vectors/sweep_file.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <utility>

#include "base/atomic_file.h"
#include "base/hash.h"
#include "base/input.h"
#include "base/json_object.h"
#include "base/json_write.h"
#include "base/parallel.h"
#include "vectors/field_names.h"
#include "vectors/sweep_entry.h"
#include "vectors/sweep_hash.h"

namespace opwright::vectors {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kBatch = 1024;  // vectors that are made into text at once

// Equal but for the time of writing; the order of keys does not count.
bool same_content(const json::Node& a, const json::Node& b) {
  if (a.kind != b.kind || a.count != b.count) return false;
  if (a.is(json::Kind::kArray)) return std::equal(a.begin(), a.end(), b.begin(), same_content);
  if (!a.is(json::Kind::kObject)) return a.text == b.text;
  for (std::uint32_t i = 0; i < a.count; ++i) {
    const json::Node* other = b.find(a.fields[i].key);
    if (other == nullptr) return false;
    if (a.fields[i].key != "timestamp" && !same_content(a.fields[i].value, *other)) return false;
  }
  return true;
}

void append_cell(std::string& out, std::string_view label, std::string_view text) {
  out += out.ends_with('{') ? "\n      " : ",\n      ";
  out += label;
  out += text;
}

// What was done with one file.
struct FileReport {
  bool written = false;  // else it had the same content already
  std::size_t bytes = 0;
  std::map<std::string, std::int64_t> notes;
};

using Put = std::function<Status(std::string_view text)>;

}  // namespace

struct SweepWriter::State {
  using Columns = std::map<std::string, std::string>;  // order -> label
  using Suites = std::map<std::string, std::vector<SweepEntry>>;

  SweepOptions options;
  std::vector<TestVector> pending;
  std::map<std::pair<std::string, std::string>, Columns> columns;  // module, suite: what any of its vectors passes
  std::map<std::string, Suites> files;
  SweepReport report;

  void flush() {
    std::vector<SweepEntry> entries(pending.size());
    (void)sha256("");  // the library of hashes begins here: begun on a thread that ends, it would leave memory behind
    parallel_for(0, static_cast<std::int64_t>(pending.size()), 64, [&](std::int64_t first, std::int64_t last) {
      thread_local EntryMaker maker;
      for (std::int64_t i = first; i < last; ++i)
        entries[static_cast<std::size_t>(i)] = maker.make(pending[static_cast<std::size_t>(i)]);
    });
    pending.clear();
    for (SweepEntry& entry : entries) {
      ++report.vectors;
      if (!entry.as_case_line.empty()) ++report.as_case_lines[entry.as_case_line];
      if (entry.has_recipe)
        ++report.notes
              ["a threshold, time-out or distribution of its own, which vector files have no place for (--format jsonl "
               "has)"];
      if (entry.lost_origin) ++report.notes["a traced source or machine that is no JSON"];
      Columns& known = columns[{entry.module, entry.suite}];
      for (const SweepCell& cell : entry.cells) known.try_emplace(cell.column->order, cell.column->label);
      std::string file = entry.module + (entry.group.empty() ? "" : "." + entry.group) + ".json";
      files[std::move(file)][entry.suite].push_back(std::move(entry));
    }
  }

  // The fields that are hashed: all but timestamp, input_hash and tag.
  static void open_vector(std::string& out, const SweepEntry& entry, const Columns& known) {
    static const std::string kAbsent = json_string(kAbsentCell);
    out = "{";
    auto cell = entry.cells.begin();
    for (const auto& [order, label] : known) {
      if (cell != entry.cells.end() && cell->column->order == order)
        append_cell(out, label, *(cell++)->text);
      else
        append_cell(out, label, kAbsent);
    }
    for (const SweepDescription& one : entry.descriptions) append_cell(out, one.label, *one.text);
  }

  // Vector by vector: no text of a whole suite is held.
  Status put_suite(const std::string& suite, const std::vector<SweepEntry>& entries, FileReport& file,
                   const Put& put) const {
    const Columns& known = columns.at({entries.front().module, suite});
    const std::string timestamp = json_string(fmt::format("{:%Y-%m-%d_%H-%M-%S}", fmt::gmtime(options.time)));
    const std::string tag = json_string(options.tag);
    std::set<std::string> hashes;
    json::Document document;
    std::string vector;
    OPWRIGHT_TRY(put("{"));
    for (const SweepEntry& entry : entries) {
      open_vector(vector, entry, known);
      std::string hash = entry.config_hash;
      if (!hash.empty() && hashes.contains(hash)) {
        ++file.notes["the config_hash of another vector too, so its input_hash is taken over the vector"];
        hash.clear();
      }
      if (hash.empty()) {
        const auto parsed = document.parse(vector + "}");
        if (parsed) hash = sweep_hash(**parsed);
      }
      const std::string quoted = json_string(hash);
      OPWRIGHT_TRY(put(fmt::format("{}\n    {}: ", hashes.empty() ? "" : ",", quoted)));
      hashes.insert(std::move(hash));
      append_cell(vector, "\"timestamp\": ", timestamp);
      append_cell(vector, "\"input_hash\": ", quoted);
      append_cell(vector, "\"tag\": ", tag);
      vector += "\n    }";
      OPWRIGHT_TRY(put(vector));
    }
    return put("\n  }");
  }

  // The suites that stand in a file already, as text; a file that is something else stays as it is.
  Result<std::vector<std::pair<std::string, std::string>>> kept_suites(const std::string& path, const Suites& ours,
                                                                       const json::Node*& old,
                                                                       json::Document& document) const {
    std::vector<std::pair<std::string, std::string>> kept;
    std::error_code error;
    if (fs::is_symlink(path, error))
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: a link; it is not followed: take it away, or export to another folder", path));
    if (!fs::exists(path, error)) return kept;
    std::string text;
    OPWRIGHT_TRY(read_file(path, text));
    const auto root = document.parse(text);
    if (!root)
      return fail(ErrorCode::kBadInput,
                  fmt::format("{}: {}; it is not overwritten: move it away, or export to another folder", path,
                              json::describe(text, root.error())));
    bool sound = (*root)->is(json::Kind::kObject);
    for (std::uint32_t i = 0; sound && i < (*root)->count; ++i) {
      const json::Field& suite = (*root)->fields[i];
      sound = suite.value.is(json::Kind::kObject);
      std::string styled;
      if (sound && !ours.contains(std::string(suite.key))) json::append_python(styled, suite.value, {.indent = 2}, 1);
      kept.emplace_back(suite.key, std::move(styled));
    }
    if (!sound)
      return fail(
          ErrorCode::kBadInput,
          fmt::format("{}: no vector file ({{suite: {{input_hash: vector}}}}); it is not overwritten: move it away, or "
                      "export to another folder",
                      path));
    old = *root;
    return kept;
  }

  Result<FileReport> write_file(const std::string& name, const Suites& suites) const {
    const std::string path = options.folder + "/" + name;
    FileReport file;
    json::Document document, own;
    const json::Node* old = nullptr;
    OPWRIGHT_TRY_ASSIGN(const auto kept, kept_suites(path, suites, old, document));
    std::map<std::string, std::string> texts;  // of our suites, to compare them with those that stand there
    bool changed = old == nullptr;
    for (auto suite = suites.begin(); old != nullptr && suite != suites.end(); ++suite) {
      std::string& text = texts[suite->first];
      OPWRIGHT_TRY(put_suite(suite->first, suite->second, file, [&](std::string_view part) -> Status {
        text += part;
        return {};
      }));
      const json::Node* before = old->find(suite->first);
      changed = changed || before == nullptr;
      if (changed) continue;
      const auto now = own.parse(text);
      changed = !now || !same_content(*before, **now);
    }
    if (!changed) return file;
    OPWRIGHT_TRY_ASSIGN(AtomicFile out, AtomicFile::create(path, Links::kReplace));
    OPWRIGHT_TRY(out.append("{"));
    bool first = true;
    const auto begin = [&](const std::string& suite) {
      return out.append(fmt::format("{}\n  {}: ", std::exchange(first, false) ? "" : ",", json_string(suite)));
    };
    const auto add = [&](const std::string& suite, const std::string& text) -> Status {
      OPWRIGHT_TRY(begin(suite));
      return out.append(text);
    };
    for (const auto& [suite, text] : kept) {
      const auto ours = texts.find(suite);
      OPWRIGHT_TRY(add(suite, ours != texts.end() ? ours->second : text));
      if (ours != texts.end()) texts.erase(ours);
    }
    for (const auto& [suite, text] : texts) OPWRIGHT_TRY(add(suite, text));
    for (auto suite = suites.begin(); old == nullptr && suite != suites.end(); ++suite) {
      OPWRIGHT_TRY(begin(suite->first));
      OPWRIGHT_TRY(
          put_suite(suite->first, suite->second, file, [&](std::string_view part) { return out.append(part); }));
    }
    OPWRIGHT_TRY(out.append("\n}"));
    OPWRIGHT_TRY(out.commit());
    file.written = true;
    file.bytes = out.bytes();
    return file;
  }

  // What may not be overwritten is found before anything is written.
  Result<FileReport> check_file(const std::string& name, const Suites& suites) const {
    json::Document document;
    const json::Node* old = nullptr;
    OPWRIGHT_TRY(kept_suites(options.folder + "/" + name, suites, old, document));
    return FileReport{};
  }

  // Many files at once: each waits for the disk.
  template <class F>
  Result<std::vector<FileReport>> for_each_file(F use) {
    std::vector<std::pair<const std::string, Suites>*> list;
    for (auto& file : files) list.push_back(&file);
    std::vector<Result<FileReport>> done(list.size());
    parallel_for(0, static_cast<std::int64_t>(list.size()), 1, [&](std::int64_t first, std::int64_t last) {
      for (auto i = static_cast<std::size_t>(first); i < static_cast<std::size_t>(last); ++i)
        done[i] = use(list[i]->first, list[i]->second);
    });
    std::vector<FileReport> reports;
    for (auto& one : done) {
      if (!one) return tl::unexpected(one.error());
      reports.push_back(*std::move(one));
    }
    return reports;
  }

  Status write_files() {
    OPWRIGHT_TRY(for_each_file([this](const auto& name, const auto& suites) { return check_file(name, suites); }));
    OPWRIGHT_TRY_ASSIGN(const auto done, for_each_file([this](const auto& name, const auto& suites) {
                          return write_file(name, suites);
                        }));
    for (const auto& file : files) report.files.push_back(file.first);
    for (const FileReport& file : done) {
      report.written += file.written ? 1 : 0;
      report.bytes += static_cast<std::int64_t>(file.bytes);
      for (const auto& [note, count] : file.notes) report.notes[note] += count;
    }
    return {};
  }

  Status write_manifest() const {
    JsonObject object;
    object.add("generated_at_utc", fmt::format("{:%Y-%m-%dT%H:%M:%S+00:00}", fmt::gmtime(options.time)))
        .add("vector_grouping_mode", name_of(options.group));
    object.add_raw("module_name", options.module.empty() ? "null" : json_string(options.module))
        .add_raw("model_traced", options.suite == "model_traced" ? "\"all\"" : "null")
        .add_raw("suite_name", options.suite.empty() ? "null" : json_string(options.suite))
        .add_raw("vector_files", json_array(report.files, false));
    json::Document document;
    const std::string text = object.text();
    const auto root = document.parse(text);
    std::string styled;
    if (root) json::append_python(styled, **root, {.indent = 2});
    return write_into(options.folder, std::string(kManifestName), styled);
  }
};

SweepWriter::SweepWriter(SweepOptions options) : state_(std::make_unique<State>()) {
  state_->options = std::move(options);
}
SweepWriter::~SweepWriter() = default;
SweepWriter::SweepWriter(SweepWriter&&) noexcept = default;

Status SweepWriter::add(TestVector&& vector) {
  state_->pending.push_back(std::move(vector));
  if (state_->pending.size() >= kBatch) state_->flush();
  return {};
}

Result<SweepReport> SweepWriter::finish() {
  state_->flush();
  std::error_code error;
  fs::create_directories(state_->options.folder, error);
  if (error)
    return fail(ErrorCode::kIo,
                fmt::format("{}: the folder could not be made: {}", state_->options.folder, error.message()));
  OPWRIGHT_TRY(state_->write_files());
  OPWRIGHT_TRY(state_->write_manifest());
  return std::move(state_->report);
}

}  // namespace opwright::vectors
