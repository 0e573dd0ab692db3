#include "format/graph/to_native.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/text.h"
#include "format/native/infer_flow.h"
#include "format/native/native_writer.h"
#include "format/reflection.h"

namespace opwright::format {
namespace {

using capture::Encoder;
using json::Kind;
using json::Node;

constexpr std::string_view kTensor = "ttnn.Tensor";

// The tensor that a value is; null where it is none. The grammar leaves namespaces away.
const Struct* tensor_of(const Value& value) {
  const Struct* found = value.as_struct();
  return found != nullptr && last_part(found->type) == last_part(kTensor) ? found : nullptr;
}

const Value* field_of(const Struct& of, std::string_view name) {
  const auto found = std::find_if(of.fields.begin(), of.fields.end(), [&](const auto& f) { return f.first == name; });
  return found == of.fields.end() ? nullptr : &found->second;
}

std::uint64_t id_of(const Struct& tensor) {
  const Value* id = field_of(tensor, "tensor_id");
  return id != nullptr && id->as_int() != nullptr && *id->as_int() > 0 ? static_cast<std::uint64_t>(*id->as_int()) : 0;
}

std::vector<std::uint64_t> ids_of(const Node* list) {
  std::vector<std::uint64_t> ids;
  if (list == nullptr || !list->is(Kind::kArray)) return ids;
  for (const Node& id : *list)
    ids.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(0, id.as_int64().value_or(0))));
  return ids;
}

struct Argument {
  std::int64_t position = -1;  // -1: a keyword
  std::string_view keyword;
  Value value;
};

struct Record {
  const Node* node = nullptr;
  std::string_view op;
  std::vector<Argument> arguments;  // positions first, in their order
};

// A text that the grammar does not read stays a text.
Value value_of(const Node& text) {
  if (!text.is(Kind::kString)) {
    if (text.is(Kind::kNull)) return Value();
    return Value(std::string(text.text));
  }
  auto parsed = parse_reflection(text.text);
  return parsed ? *std::move(parsed) : Value(std::string(text.text));
}

class Converter {
 public:
  Converter(const Node& records, TraceOutput& output) : records_(records), writer_(output, {}) {}

  Result<Conversion> run(std::string_view uid) {
    fact("converted_from", "graph-python-io");
    fact("uid", uid);
    std::vector<Record> all;
    for (const Node& node : records_) {
      Record record = read(node);
      if (record.node != nullptr) all.push_back(std::move(record));
    }
    for (const Record& record : all)
      for (const Argument& argument : record.arguments) find_specs(argument.value);
    for (const Record& record : all) write(record);
    if (!specs_.empty()) tell_flow(writer_, "recorded", 0, 0);
    OPWRIGHT_TRY(writer_.finish());
    conversion_.calls = writer_.calls();
    return conversion_;
  }

 private:
  void fact(std::string_view name, std::string_view text) {
    Encoder encoded;
    encoded.string(text);
    writer_.fact(name, encoded.view());
  }

  Record read(const Node& node) {
    Record record;
    const auto op = node.string_field("name");
    const Node* arguments = node.find("arguments");
    if (!op || arguments == nullptr || !arguments->is(Kind::kObject)) {
      conversion_.lose("unknown_shape", "a record without a name or arguments");
      return record;
    }
    record.node = &node;
    record.op = *op;
    for (std::uint32_t i = 0; i < arguments->count; ++i) {
      const std::string_view key = arguments->fields[i].key;
      std::int64_t position = -1;
      const auto [end, wrong] = std::from_chars(key.data(), key.data() + key.size(), position);
      if (wrong != std::errc() || end != key.data() + key.size() || position < 0) position = -1;
      record.arguments.push_back({position, key, value_of(arguments->fields[i].value)});
    }
    std::stable_sort(record.arguments.begin(), record.arguments.end(), [](const Argument& a, const Argument& b) {
      return static_cast<std::uint64_t>(a.position) < static_cast<std::uint64_t>(b.position);  // keywords last
    });
    return record;
  }

  void find_specs(const Value& value) {
    if (const List* list = value.as_list()) {
      for (const Value& item : *list) find_specs(item);
    } else if (const Struct* tensor = tensor_of(value)) {
      if (const std::uint64_t id = id_of(*tensor); id != 0 && !specs_.contains(id)) specs_[id] = spec(*tensor);
    }
  }

  // Without what belongs to this one tensor.
  ValueId spec(const Struct& tensor) {
    Encoder fields, encoded;
    std::uint64_t count = 0;
    for (const auto& [name, value] : tensor.fields) {
      if (name == "tensor_id" || name == "is_allocated" || name == "device_id") continue;
      fields.field(name);
      put_plain(value, fields);
      ++count;
    }
    encoded.structure(kTensor, count);
    encoded.raw(fields.view());
    return writer_.value(encoded.view());
  }

  void put(const Value& value, Encoder& out) {
    if (const Struct* tensor = tensor_of(value)) {
      uses_.push_back({id_of(*tensor), 0});
      return out.tensor(spec(*tensor));
    }
    const List* list = value.as_list();
    if (list == nullptr) return put_plain(value, out);
    out.list(list->size());
    for (const Value& item : *list) put(item, out);
  }

  // Any value without tensors in it.
  void put_plain(const Value& value, Encoder& out) {
    if (value.is_null()) return out.null();
    if (const bool* flag = value.as_bool()) return out.boolean(*flag);
    if (const std::int64_t* number = value.as_int()) return out.integer(*number);
    if (const double* real = value.as_float()) return out.real(*real);
    if (const std::string* text = value.as_string()) return out.string(*text);
    if (const BigInt* big = std::get_if<BigInt>(&value.data())) return out.big_integer(big->digits);
    if (const Opaque* opaque = value.as_opaque()) return out.opaque(opaque->type, opaque->text);
    Encoder shared;
    if (const Enum* name = value.as_enum()) {
      shared.enumerator(last_part(name->type), name->name);
    } else if (const List* list = value.as_list()) {
      out.list(list->size());
      for (const Value& item : *list) put_plain(item, out);
      return;
    } else if (const Fields* entries = value.as_dict()) {
      out.dict(entries->size());
      for (const auto& [key, item] : *entries) {
        out.string(key);
        put_plain(item, out);
      }
      return;
    } else if (const Struct* of = value.as_struct()) {
      // Shape([1, 32]) is its list, as the recorder has it.
      if (of->type == "Shape" && of->fields.size() == 1 && of->fields[0].second.as_list() != nullptr)
        return put_plain(of->fields[0].second, out);
      shared.structure(last_part(of->type), of->fields.size());
      std::size_t place = 0;
      for (const auto& [member, item] : of->fields) {
        shared.field(member.empty() ? std::to_string(place) : member);
        put_plain(item, shared);
        ++place;
      }
    } else {
      return out.string(to_text(value));
    }
    out.reference(writer_.value(shared.view()));
  }

  void write(const Record& record) {
    Encoder name, encoded;
    name.string(record.op);
    encoded.tag(capture::Tag::kCall);
    encoded.varint(writer_.value(name.view()));
    const auto keyword = std::find_if(record.arguments.begin(), record.arguments.end(),
                                      [](const Argument& argument) { return argument.position < 0; });
    uses_.clear();
    encoded.varint(static_cast<std::uint64_t>(keyword - record.arguments.begin()));
    for (auto argument = record.arguments.begin(); argument != keyword; ++argument) put(argument->value, encoded);
    encoded.varint(static_cast<std::uint64_t>(record.arguments.end() - keyword));
    for (auto argument = keyword; argument != record.arguments.end(); ++argument) {
      encoded.text(argument->keyword);
      put(argument->value, encoded);
    }
    NativeCall call;
    call.seq = writer_.calls() + 1;
    call.call = writer_.value(encoded.view());
    call.tensors = uses_;
    writer_.begin(call, 0);
    const std::vector<std::uint64_t> made = ids_of(record.node->find("output_tensor_ids"));
    if (!made.empty()) {
      Encoder result;
      if (made.size() > 1) result.tuple(made.size());
      for (const std::uint64_t id : made) {
        result.tensor(spec_of(id));
        call.results.push_back({.id = id});
      }
      call.result = writer_.value(result.view());
    }
    writer_.end(call, 0);
  }

  ValueId spec_of(std::uint64_t id) {
    if (const auto known = specs_.find(id); known != specs_.end()) return known->second;
    Encoder unknown;
    unknown.structure(kTensor, 0);
    return writer_.value(unknown.view());
  }

  const Node& records_;
  NativeWriter writer_;
  std::unordered_map<std::uint64_t, ValueId> specs_;  // of the tensors that calls use
  std::vector<TensorUse> uses_;
  Conversion conversion_;
};

}  // namespace

Result<Conversion> python_io_to_native(const Node& records, std::string_view uid, TraceOutput& output) {
  return Converter(records, output).run(uid);
}

}  // namespace opwright::format
