#include "model/value.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/json_write.h"

namespace opwright {
namespace {

void append_int(std::string& out, std::int64_t value) {
  char digits[24];
  const auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<std::size_t>(end - digits));
}

// Names of traces go into the text as they are only where they cannot be taken for anything else.
bool is_plain(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == ':' || c == '<' || c == '>';
  });
}

// Named members in the order of their names behind the positional ones: the order in a file says nothing.
void append_fields(std::string& out, const Fields& fields) {
  bool first = true;
  const auto comma = [&] {
    if (!first) out += ',';
    first = false;
  };
  std::vector<const Fields::value_type*> named;
  for (const auto& field : fields) {
    if (!field.first.empty()) {
      named.push_back(&field);
      continue;
    }
    comma();
    append_text(out, field.second);
  }
  std::stable_sort(named.begin(), named.end(), [](const auto* a, const auto* b) { return a->first < b->first; });
  for (const auto* field : named) {
    comma();
    append_name(out, field->first);
    out += '=';
    append_text(out, field->second);
  }
}

// The types of values that have a text of their own; a struct of the same name is quoted.
bool is_reserved(std::string_view type) {
  return type == "tensor" || type == "memory" || type == "opaque" || type == "enum";
}

void append_type(std::string& out, std::string_view type) {
  if (is_reserved(type))
    json::append_quoted(out, type);
  else if (!type.empty())
    append_name(out, type);
}

// The two parts of an enum are set apart by a dot, so neither may hold one; and a bare word must not look like another
// kind of value.
void append_enum(std::string& out, const Enum& e) {
  const auto append_word = [&](std::string_view word) {
    if (is_plain(word) && word.find_first_of(".:") == std::string_view::npos)
      out += word;
    else
      json::append_quoted(out, word);
  };
  if (!e.type.empty()) {
    append_word(e.type);
    out += '.';
    append_word(e.name);
    return;
  }
  const bool other_kind =
      e.name == "none" || e.name == "true" || e.name == "false" || e.name == "inf" || e.name == "nan";
  const bool plain = is_plain(e.name) && e.name.find_first_of(".:") == std::string_view::npos;
  const bool bare = plain && !other_kind && (e.name[0] < '0' || e.name[0] > '9');
  out += bare ? "" : "enum(";
  append_word(e.name);
  out += bare ? "" : ")";
}

template <class E>
void append_spelled(std::string& out, std::string_view what, const Spelled<E>& name) {
  if (!name.present()) return;
  out += ' ';
  if (!stands_alone(name.value)) (out += what) += '=';
  append_name(out, name.name());
}

void append_more(std::string& out, const Fields& more) {
  if (more.empty()) return;
  out += " {";
  append_fields(out, more);
  out += '}';
}

void append_grid(std::string& out, const std::vector<CoreRange>& grid) {
  for (std::size_t i = 0; i < grid.size(); ++i) {
    if (i > 0) out += '+';
    out += '(';
    append_int(out, grid[i].start.x);
    out += ',';
    append_int(out, grid[i].start.y);
    out += ")-(";
    append_int(out, grid[i].end.x);
    out += ',';
    append_int(out, grid[i].end.y);
    out += ')';
  }
}

void append_shard(std::string& out, std::string_view word, const ShardSpec& shard) {
  out += ' ';
  out += word;
  out += ' ';
  append_text(out, shard.shape);
  out += " on ";
  append_grid(out, shard.grid);
  append_spelled(out, "orientation", shard.orientation);
  if (!shard.distribution.empty()) append_name(out += " distribution=", shard.distribution);
  append_more(out, shard.more);
}

void append_memory(std::string& out, const MemoryConfig& config) {
  out += "memory(";
  const std::size_t start = out.size();
  append_spelled(out, "buffer", config.buffer);
  append_spelled(out, "layout", config.layout);
  if (out.size() > start) out.erase(start, 1);  // the space before the first name
  if (config.shard) append_shard(out, "shard", *config.shard);
  if (config.nd_shard) append_shard(out, "nd_shard", *config.nd_shard);
  append_more(out, config.more);
  out += ')';
}

void append_tensor(std::string& out, const TensorSpec& spec) {
  out += "tensor(";
  if (!spec.type.empty()) {
    append_name(out, spec.type);
    out += ' ';
  }
  if (spec.has_shape)
    append_text(out, spec.shape);
  else
    out += "shape absent";
  append_spelled(out, "dtype", spec.dtype);
  append_spelled(out, "layout", spec.layout);
  append_spelled(out, "storage", spec.storage);
  if (spec.memory) append_memory(out += ' ', *spec.memory);
  if (spec.tile) append_text(out += " tile ", *spec.tile);
  if (spec.device_shape) append_text(out += " on each device ", *spec.device_shape);
  if (spec.placement) {
    out += " placed [";
    for (std::size_t i = 0; i < spec.placement->dims.size(); ++i) {
      if (i > 0) out += ',';
      const std::string& dim = spec.placement->dims[i];  // Shard(2), Replicate
      const bool shard =
          dim.starts_with("Shard(") && dim.ends_with(')') && is_plain(std::string_view(dim).substr(6, dim.size() - 7));
      if (shard)
        out += dim;
      else
        append_name(out, dim);
    }
    append_text(out += "] over ", spec.placement->distribution);
    append_text(out += " of mesh ", spec.placement->mesh);
  }
  append_more(out, spec.more);
  out += ')';
}

}  // namespace

MemoryConfig::MemoryConfig() = default;
MemoryConfig::MemoryConfig(const MemoryConfig&) = default;
MemoryConfig::MemoryConfig(MemoryConfig&&) noexcept = default;
MemoryConfig& MemoryConfig::operator=(const MemoryConfig&) = default;
MemoryConfig& MemoryConfig::operator=(MemoryConfig&&) noexcept = default;
MemoryConfig::~MemoryConfig() = default;

TensorSpec::TensorSpec() = default;
TensorSpec::TensorSpec(const TensorSpec&) = default;
TensorSpec::TensorSpec(TensorSpec&&) noexcept = default;
TensorSpec& TensorSpec::operator=(const TensorSpec&) = default;
TensorSpec& TensorSpec::operator=(TensorSpec&&) noexcept = default;
TensorSpec::~TensorSpec() = default;

Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

void append_name(std::string& out, std::string_view name) {
  if (is_plain(name))
    out += name;
  else
    json::append_quoted(out, name);
}

Value Value::dict(Fields entries) { return Value(std::make_shared<const Dict>(Dict{std::move(entries)})); }
Value Value::structure(std::string type, Fields fields) {
  return Value(std::make_shared<const Struct>(Struct{std::move(type), std::move(fields)}));
}
Value Value::tensor(TensorSpec spec) { return Value(std::make_shared<const TensorSpec>(std::move(spec))); }
Value Value::memory(MemoryConfig config) { return Value(std::make_shared<const MemoryConfig>(std::move(config))); }

template <class T>
static const T* pointed(const Value::Data& data) {
  const auto* held = std::get_if<std::shared_ptr<const T>>(&data);
  return held != nullptr ? held->get() : nullptr;
}
const Fields* Value::as_dict() const {
  const Dict* dict = pointed<Dict>(data_);
  return dict != nullptr ? &dict->entries : nullptr;
}
const Struct* Value::as_struct() const { return pointed<Struct>(data_); }
const TensorSpec* Value::as_tensor() const { return pointed<TensorSpec>(data_); }
const MemoryConfig* Value::as_memory() const { return pointed<MemoryConfig>(data_); }

void append_text(std::string& out, const Shape& shape) {
  out += '[';
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) out += ',';
    append_int(out, shape[i]);
  }
  out += ']';
}

void append_text(std::string& out, const Value& value) {
  std::visit(Overloaded{[&](std::monostate) { out += "none"; }, [&](bool b) { out += b ? "true" : "false"; },
                        [&](std::int64_t i) { append_int(out, i); }, [&](const BigInt& i) { out += i.digits; },
                        [&](double d) {
                          if (std::isnan(d))
                            out += "nan";
                          else if (std::isinf(d))
                            out += d < 0 ? "-inf" : "inf";
                          else
                            json::append_float(out, d);
                        },
                        [&](const std::string& s) { json::append_quoted(out, s); },
                        [&](const Enum& e) { append_enum(out, e); },
                        [&](const List& list) {
                          out += '[';
                          for (std::size_t i = 0; i < list.size(); ++i) {
                            if (i > 0) out += ',';
                            append_text(out, list[i]);
                          }
                          out += ']';
                        },
                        [&](const std::shared_ptr<const Dict>& dict) {
                          std::vector<const Fields::value_type*> order;
                          for (const auto& entry : dict->entries) order.push_back(&entry);
                          std::stable_sort(order.begin(), order.end(),
                                           [](const auto* a, const auto* b) { return a->first < b->first; });
                          out += '{';
                          for (std::size_t i = 0; i < order.size(); ++i) {
                            if (i > 0) out += ',';
                            json::append_quoted(out, order[i]->first);
                            out += ':';
                            append_text(out, order[i]->second);
                          }
                          out += '}';
                        },
                        [&](const std::shared_ptr<const Struct>& s) {
                          append_type(out, s->type);
                          out += '(';
                          append_fields(out, s->fields);
                          out += ')';
                        },
                        [&](const Opaque& o) {
                          out += "opaque(";
                          append_type(out, o.type);
                          out += ',';
                          json::append_quoted(out, o.text);
                          out += ')';
                        },
                        [&](const std::shared_ptr<const TensorSpec>& spec) { append_tensor(out, *spec); },
                        [&](const std::shared_ptr<const MemoryConfig>& config) { append_memory(out, *config); }},
             value.data());
}

std::string to_text(const Value& value) {
  std::string text;
  append_text(text, value);
  return text;
}
std::string to_text(const Shape& shape) {
  std::string text;
  append_text(text, shape);
  return text;
}
std::string to_text(const TensorSpec& spec) {
  std::string text;
  append_tensor(text, spec);
  return text;
}
std::string to_text(const MemoryConfig& config) {
  std::string text;
  append_memory(text, config);
  return text;
}

// One text means one value (see value.h), so equality is equality of texts.
bool operator==(const Value& a, const Value& b) { return to_text(a) == to_text(b); }

}  // namespace opwright
