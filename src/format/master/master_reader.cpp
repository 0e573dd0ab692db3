#include "format/master/master_reader.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/text.h"
#include "format/master/provenance.h"

namespace opwright::format {
namespace ondemand = simdjson::ondemand;
namespace {

using simdjson::error_code;

// The text of a value, consumed.
error_code raw_text(ondemand::value value, std::string_view& text) {
  const std::string_view token = value.raw_json_token();
  error_code code = simdjson::SUCCESS;
  if (token.starts_with('{')) {
    ondemand::object object;
    code = value.get_object().get(object);
    if (code == simdjson::SUCCESS) code = object.raw_json().get(text);
  } else if (token.starts_with('[')) {
    ondemand::array array;
    code = value.get_array().get(array);
    if (code == simdjson::SUCCESS) code = array.raw_json().get(text);
  } else {
    text = token;
    if (!json::is_scalar_token(token)) code = simdjson::TAPE_ERROR;
  }
  text = trimmed(text);
  return code;
}

class MasterReader {
 public:
  MasterReader(std::string_view text, const std::string& path, TraceSink& sink)
      : text_(text), path_(path), sink_(sink) {}

  Status read() {
    ondemand::parser parser;
    ondemand::document document;
    if (const auto code =
            parser.iterate(text_.data(), text_.size(), text_.size() + simdjson::SIMDJSON_PADDING).get(document))
      return broken(code, nullptr);
    ondemand::object root;
    if (const auto code = document.get_object().get(root)) return broken(code, &document);
    for (auto entry : root) {
      ondemand::field field;
      if (const auto code = std::move(entry).get(field)) return broken(code, &document);
      std::string_view key;
      if (const auto code = field.unescaped_key().get(key)) return broken(code, &document);
      const Status done = read_section(std::string(key), field.value(), document);
      if (!done) return done;
    }
    if (document.current_location().error() == simdjson::SUCCESS)
      return fail_at(document, "there is more text after the end of the document");
    if (!has_calls_)
      return fail(ErrorCode::kNotATrace, fmt::format("{}: JSON without 'operations' or 'content'; not a trace", path_));
    info_.path = path_;
    if (info_.uid.empty()) info_.uid = "content:" + to_hex(xxh128(text_));
    if (info_.format.empty()) info_.format = "master";
    return sink_.end_trace(info_);
  }

 private:
  Status fail_at(ondemand::document& document, const std::string& what) {
    std::size_t offset = text_.size();
    if (auto at = document.current_location(); at.error() == simdjson::SUCCESS)
      offset = static_cast<std::size_t>(at.value_unsafe() - text_.data());
    offset = std::min(offset, text_.size());
    return fail(ErrorCode::kBadInput, fmt::format("{}: not valid JSON at {}; nothing was imported from it", path_,
                                                  json::describe(text_, {offset, what})));
  }

  Status broken(error_code code, ondemand::document* document) {
    // Before the first value is reached the parser has no place for an error, so we look for it.
    const bool at_start = document == nullptr || code == simdjson::INCOMPLETE_ARRAY_OR_OBJECT;
    if (!at_start) return fail_at(*document, std::string(json::error_text(code)));
    return fail(ErrorCode::kBadInput, fmt::format("{}: not valid JSON at {}; nothing was imported from it", path_,
                                                  json::describe(text_, json::explain(text_, code))));
  }

  std::size_t offset_of(std::string_view part) const { return static_cast<std::size_t>(part.data() - text_.data()); }

  void lose(std::string_view kind, std::string_view part, std::string example) {
    sink_.lose({kind, path_, offset_of(part), std::move(example)});
  }

  Status read_section(const std::string& key, ondemand::value value, ondemand::document& document) {
    has_calls_ = has_calls_ || key == "operations" || key == "content";
    if (key == "operations") return read_operations(value, document);
    if (key == "content") return read_content(value, document);
    std::string_view text;
    if (const auto code = raw_text(value, text)) return broken(code, &document);
    if (key == "metadata") {
      const auto root = small_.parse(text);
      if (!root)
        return fail(ErrorCode::kBadInput,
                    fmt::format("{}: metadata is not valid JSON at {}", path_, json::describe(text, root.error())));
      read_metadata(**root, info_, sink_);
    } else {
      lose("unknown_section", text, fmt::format("section '{}'", key));
    }
    return {};
  }

  Status read_operations(ondemand::value value, ondemand::document& document) {
    ondemand::object operations;
    if (const auto code = value.get_object().get(operations)) return broken(code, &document);
    for (auto entry : operations) {
      ondemand::field field;
      if (const auto code = std::move(entry).get(field)) return broken(code, &document);
      std::string_view name;
      if (const auto code = field.unescaped_key().get(name)) return broken(code, &document);
      const std::string op(name);
      ondemand::value content = field.value();
      const std::string_view token = content.raw_json_token();
      if (!token.starts_with('{')) {
        std::string_view text;
        if (const auto code = raw_text(content, text)) return broken(code, &document);
        lose("unknown_shape", text, fmt::format("operation {} is not an object", op));
        continue;
      }
      ondemand::object body;
      if (const auto code = content.get_object().get(body)) return broken(code, &document);
      const Status done = read_operation(op, body, document);
      if (!done) return done;
    }
    return {};
  }

  Status read_operation(const std::string& op, ondemand::object body, ondemand::document& document) {
    for (auto entry : body) {
      ondemand::field field;
      if (const auto code = std::move(entry).get(field)) return broken(code, &document);
      std::string_view key;
      if (const auto code = field.unescaped_key().get(key)) return broken(code, &document);
      ondemand::value value = field.value();
      const std::string_view token = value.raw_json_token();
      if (key != "configurations" || !token.starts_with('[')) {
        const std::string name(key);
        std::string_view text;
        if (const auto code = raw_text(value, text)) return broken(code, &document);
        lose(name == "configurations" ? "unknown_shape" : "unknown_field", text, fmt::format("{} of {}", name, op));
        continue;
      }
      ondemand::array configurations;
      if (const auto code = value.get_array().get(configurations)) return broken(code, &document);
      for (auto element : configurations) {
        ondemand::value configuration;
        if (const auto code = std::move(element).get(configuration)) return broken(code, &document);
        const Status done = read_configuration(op, configuration, document);
        if (!done) return done;
      }
    }
    return {};
  }

  Status take_field(std::string_view name, std::string_view text, const std::string& op) {
    if (name == "arguments") {
      observed_.arguments = text;
    } else if (name == "config_hash") {
      observed_.config_hash = unquoted(text);
    } else if (name == "sweep_source_hash") {
      observed_.sweep_source_hash = unquoted(text);
    } else if (name == "traced_machine_info") {
      observed_.hashed_machine = text;
    } else if (name != "config_id" && !provenance_.take(name, text)) {  // config_id: a row number of this file
      if (const auto other = small_.parse(text); !other) {
        const json::ParseError error{offset_of(text) + other.error().offset, other.error().what, false};
        return fail(ErrorCode::kBadInput, fmt::format("{}: not valid JSON at {}; nothing was imported from it", path_,
                                                      json::describe(text_, error)));
      }
      lose("unknown_field", text, fmt::format("{} of a configuration of {}", name, op));
    }
    return {};
  }

  bool is_new_name(std::string_view name) {
    constexpr std::size_t kFew = 16;  // those of every real file are compared one by one
    if (std::find(names_.begin(), names_.end(), name) != names_.end()) return false;
    if (names_.size() >= kFew) return more_names_.insert(name).second;
    names_.push_back(name);
    return true;
  }

  Status read_configuration(const std::string& op, ondemand::value value, ondemand::document& document) {
    const std::string_view token = value.raw_json_token();
    observed_ = Observed{};
    observed_.op = op;
    observed_.path = path_;
    observed_.offset = offset_of(token);
    std::string_view text;
    if (token.starts_with('[')) {  // 1a: the arguments are all there is
      if (const auto code = raw_text(value, text)) return broken(code, &document);
      observed_.kind = FormKind::kEra1;
      observed_.arguments = text;
      observed_.sightings.push_back({});
      return emit();
    }
    if (!token.starts_with('{')) {
      if (const auto code = raw_text(value, text)) return broken(code, &document);
      lose("unknown_shape", token, fmt::format("a configuration of {} is {}", op, text.substr(0, 60)));
      return {};
    }
    ondemand::object object;
    if (const auto code = value.get_object().get(object)) return broken(code, &document);
    provenance_.clear();
    names_.clear();
    more_names_.clear();
    for (auto entry : object) {
      ondemand::field field;
      if (const auto code = std::move(entry).get(field)) return broken(code, &document);
      std::string_view key;
      if (const auto code = field.unescaped_key().get(key)) return broken(code, &document);
      // The parser keeps what it unescaped as long as the document.
      const std::string_view name = key;
      if (const auto code = raw_text(field.value(), text)) return broken(code, &document);
      if (!is_new_name(name))
        lose("duplicate_key", text, fmt::format("{} of a configuration of {}; the last one was taken", name, op));
      OPWRIGHT_TRY(take_field(name, text, op));
    }
    if (!observed_.arguments.starts_with('[') && !observed_.arguments.starts_with('{')) {
      lose("unknown_shape", token, fmt::format("a configuration of {} has no arguments", op));
      return {};
    }
    observed_.kind = observed_.arguments.starts_with('[') ? FormKind::kEra1 : FormKind::kEra2;
    const Status read = provenance_.read(observed_.sightings);
    if (!read) {
      lose("unknown_shape", token, fmt::format("{}: {}", op, read.error().message));
      return {};
    }
    return emit();
  }

  // {"content": [{"operation": name, "arguments": […]}]}: raw calls of the era-1 tracer or of the graph serializer.
  Status read_content(ondemand::value value, ondemand::document& document) {
    info_.format = "graph-serialized";
    ondemand::array calls;
    if (const auto code = value.get_array().get(calls)) return broken(code, &document);
    for (auto element : calls) {
      ondemand::value call;
      if (const auto code = std::move(element).get(call)) return broken(code, &document);
      std::string_view text;
      if (const auto code = raw_text(call, text)) return broken(code, &document);
      const auto root = small_.parse(text);
      if (!root)
        return fail(ErrorCode::kBadInput, fmt::format("{}: a call at byte {} is not valid JSON: {}", path_,
                                                      offset_of(text), json::describe(text, root.error())));
      const auto op = (*root)->string_field("operation");
      const json::Node* arguments = (*root)->find("arguments");
      if (!op || arguments == nullptr || !arguments->is(json::Kind::kArray)) {
        lose("unknown_shape", text, "a call without operation or arguments");
        continue;
      }
      content_text_.clear();
      json::append_python(content_text_, *arguments, {});
      observed_ = Observed{};
      observed_.kind = FormKind::kEra1;
      observed_.op = *op;
      observed_.arguments = content_text_;
      observed_.path = path_;
      observed_.offset = offset_of(text);
      observed_.sightings.push_back({.count = 1});
      const Status done = emit();
      if (!done) return done;
    }
    return {};
  }

  Status keep_hashed_machine() {
    const auto machine = small_.parse(observed_.hashed_machine);
    if (!machine)
      return fail(ErrorCode::kBadInput, fmt::format("{}: traced_machine_info at byte {} is not valid JSON", path_,
                                                    offset_of(observed_.hashed_machine)));
    std::string_view& extra = observed_.sightings.front().extra;
    content_text_ = fmt::format("{{\"{}\": ", kTracedMachine);
    json::append_python(content_text_, **machine, {.sort_keys = true});
    content_text_ += extra.empty() ? "}" : ", " + std::string(extra.substr(1));
    extra = content_text_;
    return {};
  }

  static std::string_view unquoted(std::string_view text) {
    return text.size() >= 2 && text.front() == '"' && text.back() == '"' ? text.substr(1, text.size() - 2)
                                                                         : std::string_view();
  }

  Status emit() {
    if (observed_.sightings.empty()) observed_.sightings.push_back({});
    if (!observed_.hashed_machine.empty()) OPWRIGHT_TRY(keep_hashed_machine());
    return sink_.observe(observed_);
  }

  std::string_view text_;
  const std::string& path_;
  TraceSink& sink_;
  bool has_calls_ = false;
  TraceInfo info_;
  Observed observed_;
  Provenance provenance_;
  std::vector<std::string_view> names_;  // of the fields of a configuration
  std::set<std::string_view> more_names_;
  json::Document small_;
  std::string content_text_;
};

}  // namespace

Status read_master(std::string_view text, const std::string& path, TraceSink& sink) {
  return MasterReader(text, path, sink).read();
}

}  // namespace opwright::format
