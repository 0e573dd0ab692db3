#include "format/argument_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/json_write.h"
#include "base/limits.h"
#include "base/visible_text.h"
#include "dialect/dialect.h"
#include "format/lift.h"

namespace opwright::format {
namespace {

using json::Field;
using json::Kind;
using json::Node;

bool same_json(const Node& a, const Node& b) {
  if (a.kind == b.kind && a.count == b.count && a.text == b.text && a.items == b.items && a.fields == b.fields)
    return true;
  std::string left, right;
  json::append_python(left, a, {.sort_keys = true});
  json::append_python(right, b, {.sort_keys = true});
  return left == right;
}

const Node* find(const std::vector<Field>& fields, std::string_view key) {
  for (auto it = fields.rbegin(); it != fields.rend(); ++it) {
    if (it->key == key) return &it->value;
  }
  return nullptr;
}

bool is_ascii(std::string_view text) {
  unsigned high = 0;  // no early end: the compiler looks at many bytes at once
  for (const char c : text) high |= static_cast<unsigned char>(c) & 0x80U;
  return high == 0;
}

// Bytes that are no UTF-8 are written as characters of their number, one by one (json::append_quoted): so they must
// stand in the tree, else the tree and its text would not say the same.
std::string sound_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = code_point_at(text, at);
    if (point.sound)
      out += text.substr(at, point.bytes);
    else
      (out += static_cast<char>(0xC0 | point.code >> 6)) += static_cast<char>(0x80 | (point.code & 0x3F));
    at += point.bytes;
  }
  return out;
}

}  // namespace

ArgumentTree::ArgumentTree(const Node* machine_info) : machine_(machine_info) { clear(); }

template <class T>
T* ArgumentTree::room(std::size_t count) {
  bytes_ += count * sizeof(T);
  return static_cast<T*>(arena_->allocate(count * sizeof(T), alignof(T)));
}

void ArgumentTree::clear() {
  meshes_.clear();
  arguments_.clear();
  arena_.emplace(first_block_.data(), first_block_.size());
  bytes_ = 0;
}

std::string_view ArgumentTree::keep(std::string_view text) {
  if (text.empty()) return {};
  char* kept = room<char>(text.size());
  std::memcpy(kept, text.data(), text.size());
  return {kept, text.size()};
}

// ------------------------------------------------------------------------------------------------------------- values

Node ArgumentTree::boolean(bool value) {
  Node node;
  node.kind = Kind::kBool;
  node.text = value ? "true" : "false";
  return node;
}

Node ArgumentTree::number(std::string_view token) {
  Node node;
  node.kind = Kind::kString;
  if (token == "Infinity")
    node.text = "inf";
  else if (token == "-Infinity")
    node.text = "-inf";
  else if (token == "NaN")
    node.text = "nan";
  else {
    node.kind = Kind::kNumber;
    node.text = token;
  }
  return node;
}

Node ArgumentTree::text(std::string_view text) {
  Node node;
  node.kind = Kind::kString;
  if (text.find(" at 0x") != std::string_view::npos) text = keep(without_addresses(text));
  node.text = is_ascii(text) ? text : keep(sound_text(text));
  return node;
}

std::string_view ArgumentTree::key(std::string_view name) { return is_ascii(name) ? name : keep(sound_text(name)); }

Node ArgumentTree::list(std::span<const Node> items) {
  Node node;
  node.kind = Kind::kArray;
  node.count = static_cast<std::uint32_t>(items.size());
  if (items.empty()) return node;
  Node* kept = room<Node>(items.size());
  std::uninitialized_copy(items.begin(), items.end(), kept);
  node.items = kept;
  return node;
}

Node ArgumentTree::object(std::vector<Field>& fields) {
  const auto copied = [&fields](std::string_view key) {
    const Node* found = find(fields, key);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  };
  auto mesh = copied("mesh_device");
  if (mesh && !mesh->is(Kind::kObject)) mesh.reset();
  const auto shape = copied("original_shape"), dtype = copied("original_dtype");
  const bool has_values = shape && find(fields, "values") != nullptr;
  if (has_values) ++tensors_with_values_;
  std::erase_if(fields, [&](const Field& field) {
    if (field.key == "mesh_device") return mesh.has_value();
    if (field.key == "values") return has_values;
    // With values these two describe the copy on the host; without, they mostly repeat the original ones.
    if (field.key == "shape") return shape && (has_values || same_json(*shape, field.value));
    if (field.key == "dtype") return dtype && (has_values || same_json(*dtype, field.value));
    return false;
  });
  for (Field& field : fields) {
    if (field.key == "shard_spec") field.value = shard_spec(field.value);
  }
  if (const Node* placements = mesh ? mesh->find("placements") : nullptr)
    fields.push_back({"tensor_placement", placement(*mesh, *placements)});
  return sealed(fields, mesh ? &*mesh : nullptr);
}

Node ArgumentTree::sealed(std::vector<Field>& fields, const Node* mesh) {
  std::stable_sort(fields.begin(), fields.end(), [](const Field& a, const Field& b) { return a.key < b.key; });
  Node node;
  node.kind = Kind::kObject;
  Field* kept = !fields.empty() || mesh != nullptr ? room<Field>(std::max<std::size_t>(fields.size(), 1)) : nullptr;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i + 1 < fields.size() && fields[i + 1].key == fields[i].key) continue;
    new (kept + node.count++) Field(fields[i]);
  }
  node.fields = kept;
  if (mesh != nullptr) meshes_.emplace(kept, mesh_facts(*mesh, machine_));
  return node;
}

Node ArgumentTree::placement(const Node& mesh, const Node& placements) {
  const Node* distribution = mesh.find("distribution_shape");
  const std::string shape = mesh_shape_of(mesh, machine_);
  std::vector<Field> fields{
      {"distribution_shape", text(keep(distribution != nullptr ? python_list(*distribution) : "None"))},
      {"mesh_device_shape", text(keep(shape.empty() ? "None" : shape))},
      {"placement", text(keep(python_list(placements)))}};
  return sealed(fields, nullptr);
}

// "ShardSpec{grid=[…], shape=[…], orientation=…}" -> {"grid": …, "orientation": …, "shape": …}
Node ArgumentTree::shard_spec(const Node& value) {
  if (!value.is(Kind::kString)) return value;
  if (value.text == "None") return null();
  LiftNotes notes;
  Fields fields;
  fields.emplace_back("shard_spec", Value(std::string(value.text)));
  const MemoryConfig config = read_memory(fields, notes);
  if (!config.shard || !config.shard->more.empty() || !config.shard->orientation.present())
    return value;  // not understood: the text stays as it is
  const ShardSpec& spec = *config.shard;
  const auto whole = [this](std::int64_t number_at) { return number(keep(std::to_string(number_at))); };
  const auto coordinate = [&](const CoreCoord& at) {
    std::vector<Field> xy{{"x", whole(at.x)}, {"y", whole(at.y)}};
    return sealed(xy, nullptr);
  };
  std::vector<Node> grid, shape;
  for (const CoreRange& range : spec.grid) {
    std::vector<Field> ends{{"end", coordinate(range.end)}, {"start", coordinate(range.start)}};
    grid.push_back(sealed(ends, nullptr));
  }
  for (const std::int64_t dim : spec.shape) shape.push_back(whole(dim));
  std::vector<Field> all{
      {"grid", list(grid)}, {"orientation", text(keep(spec.orientation.name()))}, {"shape", list(shape)}};
  return sealed(all, nullptr);
}

Node ArgumentTree::copy(const Node& value) {
  switch (value.kind) {
    case Kind::kNull:
    case Kind::kBool:
      return value;
    case Kind::kNumber:
      return number(value.text);
    case Kind::kString:
      return text(value.text);
    case Kind::kArray: {
      std::vector<Node> items;
      items.reserve(value.count);
      for (const Node& item : value) items.push_back(copy(item));
      return list(items);
    }
    case Kind::kObject: {
      std::vector<Field> fields;
      fields.reserve(value.count);
      const Node* given = value.find("values");
      const bool has_values = given != nullptr && value.find("original_shape") != nullptr;
      for (std::uint32_t i = 0; i < value.count; ++i) {
        const Field& field = value.fields[i];
        // Neither is taken over as it is: elements are many, and a mesh is asked for what it says.
        const bool as_it_is = (has_values && field.key == "values") || field.key == "mesh_device";
        fields.push_back({field.key, as_it_is ? field.value : copy(field.value)});
      }
      return object(fields);
    }
  }
  return {};
}

// ----------------------------------------------------------------------------------------------------------- the call

void ArgumentTree::begin_call(std::string_view op) {
  dialect_ = &dialect_of(op);
  arguments_.clear();
  handles_ = tensors_with_values_ = 0;
}

void ArgumentTree::add(std::string name, const Node& value) {
  if (!is_ascii(name)) name = sound_text(name);
  arguments_.emplace_back(std::move(name), value);
}

bool ArgumentTree::is_left_out(std::string_view keyword) {
  if (!is_handle_argument(*dialect_, keyword)) return false;
  ++handles_;
  return true;
}

std::string ArgumentTree::end_call(CallArguments& call) {
  // The mesh of a call is that of its first tensor in the order of the call.
  call.mesh = {};
  std::vector<std::pair<std::size_t, std::string>> texts;
  for (std::size_t i = 0; i < arguments_.size(); ++i) {
    std::string text;
    if (!append(text, arguments_[i].second, 2, call))
      return "its arguments cannot be written as JSON: " +
             limit_words(&Limits::depth, fmt::format("nested more than {} levels deep", limits().depth));
    texts.emplace_back(i, std::move(text));
  }
  std::sort(texts.begin(), texts.end(),
            [this](const auto& a, const auto& b) { return arguments_[a.first].first < arguments_[b.first].first; });
  std::vector<Field> fields;
  call.text = "{";
  for (const auto& [number_at, text] : texts) {
    const auto& [name, value] = arguments_[number_at];
    if (!fields.empty() && fields.back().key == name) return "argument " + name + " is given twice";
    fields.push_back({keep(name), value});
    if (call.text.size() > 1) call.text += ',';
    json::append_quoted(call.text, name);
    call.text += ':';
    call.text += text;
  }
  call.text += '}';
  call.tree = sealed(fields, nullptr);
  call.handles = handles_;
  call.tensors_with_values = tensors_with_values_;
  return "";
}

// False when it is nested too deep to be read again.
bool ArgumentTree::append(std::string& out, const Node& node, std::size_t depth, CallArguments& call) {
  if (depth > limits().depth) return false;
  switch (node.kind) {
    case Kind::kNull:
      out += "null";
      return true;
    case Kind::kBool:
    case Kind::kNumber:
      out += node.text;
      return true;
    case Kind::kString:
      json::append_quoted(out, node.text);
      return true;
    case Kind::kArray:
      out += '[';
      for (std::uint32_t i = 0; i < node.count; ++i) {
        if (i > 0) out += ',';
        if (!append(out, node.items[i], depth + 1, call)) return false;
      }
      out += ']';
      return true;
    case Kind::kObject:
      if (!call.mesh.known && !meshes_.empty()) {
        if (const auto mesh = meshes_.find(node.fields); mesh != meshes_.end()) call.mesh = mesh->second;
      }
      out += '{';
      for (std::uint32_t i = 0; i < node.count; ++i) {
        if (i > 0) out += ',';
        json::append_quoted(out, node.fields[i].key);
        out += ':';
        if (!append(out, node.fields[i].value, depth + 1, call)) return false;
      }
      out += '}';
      return true;
  }
  return true;
}

}  // namespace opwright::format
