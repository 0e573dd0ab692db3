// The writing half of call_json.h: for every value the tag that decode_value turns into the same value again, and the
// words of `--format json` for the same values. Both are published; what differs between them is in `words_`, nothing
// else.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/json_object.h"
#include "base/json_write.h"
#include "model/call_json.h"
#include "model/position_name.h"

namespace opwright {
namespace {

enum class Words {
  kCalls,  // of oracle files and the device protocol: docs/formats/oracle.md
  kShown   // of scripts, write-only: docs/formats/json-output.md
};

class Encoder {
 public:
  explicit Encoder(Words words, bool slots = false) : words_(words), slots_(slots) {}
  std::string value(const Value& value);
  std::string tensor(const TensorSpec& spec, const Shape* padded = nullptr);

 private:
  std::string fields(const Fields& fields, std::string_view left_out = "");
  std::string list(const List& list);
  std::string structure(const Struct& s);
  std::string config(const Struct& s);
  std::string enumerator(const Enum& e) const;
  std::string shape(const Shape& shape) const;
  std::string shard(const ShardSpec& spec);
  std::string memory(const MemoryConfig& config);

  bool shown() const { return words_ == Words::kShown; }

  Words words_;
  bool slots_;
  std::int64_t next_slot_ = 0;
};

std::string one(std::string_view tag, std::string_view json) { return JsonObject().add_raw(tag, json).text(); }

std::string shape_json(const Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ", ")); }

std::string number_text(double value) {
  if (std::isfinite(value)) return json::float_text(value);
  return one("float", std::isnan(value) ? "\"nan\"" : value < 0 ? "\"-inf\"" : "\"inf\"");
}

// A pair under a name that ends so is read back as a CoreCoord.
constexpr std::string_view kGridSize = "grid_size";

const Value* field_of(const Struct& s, std::string_view name) {
  for (const auto& [key, value] : s.fields)
    if (key == name) return &value;
  return nullptr;
}

// CoreCoord(x=8,y=7) -> [8, 7]
std::optional<Shape> core_coord(const Value& value) {
  const Struct* s = value.as_struct();
  if (s == nullptr || s->type != "CoreCoord" || s->fields.size() != 2) return std::nullopt;
  const Value* x = field_of(*s, "x");
  const Value* y = field_of(*s, "y");
  if (x == nullptr || y == nullptr || x->as_int() == nullptr || y->as_int() == nullptr) return std::nullopt;
  return Shape{*x->as_int(), *y->as_int()};
}

// Whether the fields can stand beside "type", and the reader makes of them what they are.
bool plain_fields(const Struct& s) {
  return std::ranges::all_of(s.fields, [](const auto& field) {
    const auto& [name, value] = field;
    if (name.empty() || name == "type") return false;
    const List* pair = value.as_list();
    return !(name.ends_with(kGridSize) && pair != nullptr && pair->size() == 2);
  });
}

// The tag under which oracle files know a struct of that type; "" for all others.
std::string_view config_tag(std::string_view type) {
  if (type.ends_with("ComputeKernelConfig")) return "compute_kernel_config";
  if (type == "Conv2dConfig") return "conv_config";
  if (type == "CoreGrid") return "core_grid";
  if (type.ends_with("ProgramConfig")) return "program_config";
  return "";
}

bool is_range_list(const Struct& s) {
  if (s.type != "CoreRangeSet" || s.fields.size() != 1 || !s.fields[0].first.empty()) return false;
  const List* ranges = s.fields[0].second.as_list();
  return ranges != nullptr && std::ranges::all_of(*ranges, [](const Value& range) {
           const List* corners = range.as_list();
           return corners != nullptr && corners->size() == 4 &&
                  std::ranges::all_of(*corners, [](const Value& n) { return n.as_int() != nullptr; });
         });
}

std::string Encoder::shape(const Shape& shape) const { return shown() ? to_text(shape) : shape_json(shape); }

std::string Encoder::enumerator(const Enum& e) const {
  if (shown()) return one("enum", json_string(e.type.empty() ? e.name : e.type + "." + e.name));
  if (e.type == "DataType") return one("dtype", json_string(e.name));
  if (e.type == "Layout") return one("layout", json_string(e.name));
  return one("enum", json_array({e.type, e.name}, false));
}

std::string Encoder::fields(const Fields& fields, std::string_view left_out) {
  JsonObject object;
  std::int64_t position = 0;
  for (const auto& [name, item] : fields) {
    if (!left_out.empty() && name == left_out) continue;
    object.add_raw(shown() && name.empty() ? std::to_string(position++) : name, value(item));
  }
  return object.text();
}

std::string Encoder::list(const List& list) {
  std::vector<std::string> items;
  for (const Value& item : list) items.push_back(value(item));
  return json_array(items, true);
}

// As oracle files write it: {"type": …, field: value, …}
std::string Encoder::config(const Struct& s) {
  JsonObject object;
  if (s.type != "Conv2dConfig" && s.type != "CoreGrid" && s.type != "ComputeKernelConfig") object.add("type", s.type);
  for (const auto& [name, item] : s.fields) {
    const auto pair = name.ends_with(kGridSize) ? core_coord(item) : std::nullopt;
    object.add_raw(name, pair ? shape_json(*pair) : value(item));
  }
  return object.text();
}

std::string Encoder::structure(const Struct& s) {
  if (shown()) return JsonObject().add("struct", s.type).add_raw("fields", fields(s.fields)).text();
  if (const std::string_view tag = config_tag(s.type); !tag.empty() && plain_fields(s)) return one(tag, config(s));
  if (is_range_list(s)) return one("core_range_set", list(*s.fields[0].second.as_list()));
  Fields named;
  std::vector<std::string> items;
  for (const auto& [name, item] : s.fields)
    if (name.empty())
      items.push_back(value(item));
    else
      named.emplace_back(name, item);
  JsonObject object;
  object.add("type", s.type);
  if (!items.empty()) object.add_raw("items", json_array(items, true));
  if (!named.empty() || items.empty()) object.add_raw("fields", fields(named));
  return one("struct", object.text());
}

std::string Encoder::shard(const ShardSpec& spec) {
  std::vector<std::string> grid;
  for (const CoreRange& range : spec.grid)
    grid.push_back(shape({range.start.x, range.start.y, range.end.x, range.end.y}));
  JsonObject object;
  if (shown())
    object.add_raw("shape", shape(spec.shape)).add_raw("grid", json_array(grid, true));
  else
    object.add_raw("grid", json_array(grid, true)).add_raw("shape", shape(spec.shape));
  if (spec.orientation.present()) object.add("orientation", spec.orientation.name());
  if (!spec.distribution.empty()) object.add("distribution", spec.distribution);
  if (!spec.more.empty()) object.add_raw("more", fields(spec.more));
  return object.text();
}

std::string Encoder::memory(const MemoryConfig& config) {
  JsonObject object;
  if (config.layout.present()) object.add("layout", config.layout.name());
  if (config.buffer.present()) object.add("buffer", config.buffer.name());
  if (config.shard) object.add_raw("shard", shard(*config.shard));
  if (config.nd_shard) object.add_raw("nd_shard", shard(*config.nd_shard));
  if (!config.more.empty()) object.add_raw("more", fields(config.more));
  return object.text();
}

std::string Encoder::tensor(const TensorSpec& spec, const Shape* padded) {
  JsonObject object;
  if (slots_) object.add("slot", next_slot_++);
  if (!spec.type.empty()) object.add("type", spec.type);
  if (spec.has_shape || !shown()) object.add_raw("shape", spec.has_shape ? shape(spec.shape) : "null");
  if (padded != nullptr) object.add_raw("padded_shape", shape(*padded));
  if (spec.dtype.present()) object.add("dtype", spec.dtype.name());
  if (spec.layout.present()) object.add("layout", spec.layout.name());
  if (spec.storage.present()) object.add("storage", spec.storage.name());
  if (spec.memory) object.add_raw("memory", memory(*spec.memory));
  if (spec.tile) object.add_raw("tile", shape(*spec.tile));
  if (spec.device_shape) object.add_raw("device_shape", shape(*spec.device_shape));
  if (spec.placement) {
    JsonObject placement;
    placement.add_raw("dims", json_array(spec.placement->dims, false))
        .add_raw("distribution", shape(spec.placement->distribution))
        .add_raw("mesh", shape(spec.placement->mesh));
    object.add_raw("placement", placement.text());
  }
  const bool freed = !shown() && std::ranges::any_of(spec.more, [](const auto& field) {
    return field.first == "deallocated" && field.second.as_bool() != nullptr && *field.second.as_bool();
  });
  if (freed) object.add_bool("deallocated", true);
  if (spec.more.size() > (freed ? 1U : 0U)) object.add_raw("more", fields(spec.more, freed ? "deallocated" : ""));
  return object.text();
}

std::string Encoder::value(const Value& value) {
  return std::visit(
      Overloaded{[](std::monostate) { return std::string("null"); },
                 [](bool b) { return std::string(b ? "true" : "false"); },
                 [](std::int64_t i) { return std::to_string(i); }, [](const BigInt& i) { return i.digits; },
                 [](double d) { return number_text(d); }, [](const std::string& s) { return json_string(s); },
                 [this](const Enum& e) { return enumerator(e); }, [this](const List& items) { return list(items); },
                 [this](const std::shared_ptr<const Dict>& dict) { return one("dict", fields(dict->entries)); },
                 [this](const std::shared_ptr<const Struct>& s) { return structure(*s); },
                 [this](const Opaque& o) {
                   return shown() ? JsonObject().add("opaque", o.type).add("text", o.text).text()
                                  : one("opaque", JsonObject().add("type", o.type).add("text", o.text).text());
                 },
                 [this](const std::shared_ptr<const TensorSpec>& spec) { return one("tensor", tensor(*spec)); },
                 [this](const std::shared_ptr<const MemoryConfig>& config) {
                   return one(shown() ? "memory" : "memory_config", memory(*config));
                 }},
      value.data());
}

}  // namespace

std::string encode_value(const Value& value) { return Encoder(Words::kCalls).value(value); }

std::string shown_value(const Value& value) { return Encoder(Words::kShown).value(value); }

std::string encode_output(const OutputSpec& output) {
  return Encoder(Words::kCalls).tensor(output.spec, &output.padded);
}

Result<std::string> encode_call(std::string_view op, std::span<const Argument> args, bool slots) {
  std::size_t positional = 0;  // arguments come in positional order, whatever names a signature gave to the first ones
  for (std::size_t i = 0; i < args.size(); ++i)
    if (const int position = position_of_name(args[i].name); position >= 0) {
      if (static_cast<std::size_t>(position) != i)
        return fail(ErrorCode::kUnsupported,
                    fmt::format("{}: argument {} of the call stands at position {}: one before it is not in the trace",
                                op, args[i].name, i));
      positional = i + 1;
    }
  Encoder encoder(Words::kCalls, slots);
  std::vector<std::string> positions;
  JsonObject named;
  for (std::size_t i = 0; i < args.size(); ++i)
    if (i < positional)
      positions.push_back(encoder.value(args[i].value));
    else
      named.add_raw(args[i].name, encoder.value(args[i].value));
  return JsonObject().add("op", op).add_raw("args", json_array(positions, true)).add_raw("kwargs", named.text()).text();
}

}  // namespace opwright
