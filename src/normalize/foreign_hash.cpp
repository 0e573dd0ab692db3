#include "normalize/foreign_hash.h"

#include <algorithm>

#include "base/hash.h"
#include "base/json_write.h"
#include "format/lift.h"

namespace opwright::normalize {
namespace {

using json::Field;
using json::Kind;
using json::Node;

struct Rules {
  bool cleaned;       // G1: no hash, shard_spec null as "None", no addresses
  bool finite;        // G2: non-finite floats as strings
  bool shapes;        // G3: Shape objects that are values of an object as lists
  bool worker_cores;  // G4: no allowed_worker_cores null
  bool machine_mesh;  // G5: mesh of machine_info
  bool restore;       // "-inf" of the file hashed as -Infinity
};

Rules rules_of(Generation generation, bool restore) {
  const int g = static_cast<int>(generation);
  return {g >= 1, g >= 2, g >= 3, g >= 4, g >= 5, restore};
}

void append_string(std::string& out, std::string_view text, const Rules& rules) {
  if (rules.restore && (text == "inf" || text == "-inf" || text == "nan")) {
    out += text == "inf" ? "Infinity" : text == "-inf" ? "-Infinity" : "NaN";
  } else if (rules.cleaned && text.find(" at 0x") != std::string_view::npos) {
    json::append_quoted(out, format::without_addresses(text));
  } else {
    json::append_quoted(out, text);
  }
}

void append_number(std::string& out, std::string_view token, const Rules& rules) {
  if (rules.finite && (token == "Infinity" || token == "-Infinity" || token == "NaN")) {
    out += token == "Infinity" ? "\"inf\"" : token == "NaN" ? "\"nan\"" : "\"-inf\"";
  } else {
    json::append_number(out, token);
  }
}

// {"type": "Shape", "value": "Shape([1, 2])"} -> the text inside the brackets; no negative numbers, as the existing
// rule.
bool shape_object(const Node& node, std::string& list) {
  if (!node.is(Kind::kObject) || node.string_field("type") != "Shape") return false;
  const auto text = node.string_field("value");
  if (!text || !text->starts_with("Shape([") || !text->ends_with("])") || text->size() < 10) return false;
  const std::string_view inside = text->substr(7, text->size() - 9);
  if (inside.empty() || inside.find_first_not_of("0123456789, \t\n") != std::string_view::npos) return false;
  list = "[";
  std::string digits;
  const auto finish = [&] {
    if (digits.empty()) return;
    if (list.size() > 1) list += ", ";
    const std::size_t first = std::min(digits.find_first_not_of('0'), digits.size() - 1);
    list += digits.substr(first);
    digits.clear();
  };
  for (const char c : inside) {
    if (c >= '0' && c <= '9')
      digits += c;
    else
      finish();
  }
  finish();
  list += "]";
  return true;
}

void append_hashed(std::string& out, const Node& node, const Rules& rules) {
  switch (node.kind) {
    case Kind::kNull:
      out += "null";
      return;
    case Kind::kBool:
      out += node.text;
      return;
    case Kind::kNumber:
      append_number(out, node.text, rules);
      return;
    case Kind::kString:
      append_string(out, node.text, rules);
      return;
    case Kind::kArray:
      out += '[';
      for (std::uint32_t i = 0; i < node.count; ++i) {
        if (i > 0) out += ", ";
        append_hashed(out, node.items[i], rules);
      }
      out += ']';
      return;
    case Kind::kObject: {
      out += '{';
      bool first = true;
      std::string list;
      for (const Field* field : json::sorted_fields(node)) {
        const Node& value = field->value;
        if (field->key == "@text") continue;  // of our own import, beside what the library's files have
        if (rules.cleaned && field->key == "hash" && (value.is_integer() || value.is(Kind::kBool))) continue;
        if (rules.worker_cores && field->key == "allowed_worker_cores" && value.is(Kind::kNull)) continue;
        if (!first) out += ", ";
        first = false;
        json::append_quoted(out, field->key);
        out += ": ";
        if (rules.cleaned && field->key == "shard_spec" && value.is(Kind::kNull))
          out += "\"None\"";
        else if (rules.shapes && shape_object(value, list))
          out += list;
        else
          append_hashed(out, value, rules);
      }
      out += '}';
      return;
    }
  }
}

bool is_missing(const Node* node) {
  return node == nullptr || node->is(Kind::kNull) || (node->is(Kind::kString) && node->text.empty());
}

void append_plain(std::string& out, const Node& node) { json::append_python(out, node, {.sort_keys = true}); }

void append_hardware(std::string& out, const Node* machine) {
  const Node* board = machine != nullptr ? machine->find("board_type") : nullptr;
  if (is_missing(board)) {
    out += "null";
    return;
  }
  out += '[';
  append_plain(out, *board);
  out += ", ";
  const Node* series = machine->find("device_series");
  if (series != nullptr && series->is(Kind::kArray)) series = series->count > 0 ? series->items : nullptr;
  if (series == nullptr)
    out += "null";
  else
    append_plain(out, *series);
  out += ", ";
  const Node* cards = machine->find("card_count");
  if (cards == nullptr)
    out += '1';
  else
    append_plain(out, *cards);
  out += ']';
}

// "[4, 8]" or [4, 8] -> "[4, 8]"; "" when it is neither.
std::string mesh_list(const Node* shape) {
  if (shape == nullptr) return "";
  if (shape->is(Kind::kArray) && shape->count > 0) {
    std::string text;
    append_plain(text, *shape);
    return text;
  }
  if (!shape->is(Kind::kString)) return "";
  json::Document document;
  const auto parsed = document.parse(shape->text);
  return parsed && (*parsed)->is(Kind::kArray) ? mesh_list(*parsed) : "";
}

bool append_legacy_mesh(std::string& out, const Node* machine) {
  const Node* placements = machine != nullptr ? machine->find("tensor_placements") : nullptr;
  if (placements == nullptr || !placements->is(Kind::kArray) || placements->count == 0) return false;
  const Node& first = placements->items[0];
  const std::string mesh = mesh_list(first.find("mesh_device_shape"));
  if (mesh.empty()) return false;
  std::string placement;
  if (const Node* node = first.find("placement")) {
    if (node->is(Kind::kString))
      placement = node->text;
    else
      append_plain(placement, *node);
  }
  std::string dim;
  static constexpr std::string_view kShard = "PlacementShard(";
  for (std::size_t at = placement.find(kShard); at != std::string::npos && dim.empty();
       at = placement.find(kShard, at + 1)) {
    const std::size_t from = at + kShard.size();
    const std::size_t end = placement.find_first_not_of("0123456789", from);
    if (end != std::string::npos && end > from && placement[end] == ')') dim = placement.substr(from, end - from);
  }
  out += "{\"mesh_shape\": " + mesh + ", \"placement_type\": " + (dim.empty() ? "\"replicate\"" : "\"shard\"") +
         ", \"shard_dim\": " + (dim.empty() ? "null" : dim) + "}";
  return true;
}

void append_mesh(std::string& out, const Node* machine, const Rules& rules) {
  if (append_legacy_mesh(out, machine)) return;
  if (rules.machine_mesh && machine != nullptr) {
    if (const std::string mesh = mesh_list(machine->find("mesh_device_shape")); !mesh.empty()) {
      out += "{\"mesh_shape\": " + mesh + ", \"placement_type\": null, \"shard_dim\": null}";
      return;
    }
    const Node* devices = machine->find("device_count");
    if (devices != nullptr && devices->as_int64().value_or(0) > 0) {
      out += "{\"device_count\": " + std::string(devices->text) +
             ", \"mesh_shape\": null, \"placement_type\": null, \"shard_dim\": null}";
      return;
    }
  }
  out += "null";
}

bool has_special_string(const Node& node) {
  if (node.is(Kind::kString)) return node.text == "inf" || node.text == "-inf" || node.text == "nan";
  for (std::uint32_t i = 0; i < node.count; ++i) {
    if (has_special_string(node.is(Kind::kArray) ? node.items[i] : node.fields[i].value)) return true;
  }
  return false;
}

}  // namespace

std::string_view name_of(Generation generation) {
  static constexpr std::string_view kNames[] = {"G0", "G1", "G2", "G3", "G4", "G5"};
  return kNames[static_cast<int>(generation)];
}

std::string config_hash(Generation generation, std::string_view op, const Node& arguments, const Node* machine_info,
                        bool infinities_restored) {
  const Rules rules = rules_of(generation, infinities_restored);
  if (machine_info != nullptr && !machine_info->is(Kind::kObject)) machine_info = nullptr;
  thread_local std::string text;
  text = "{\"arguments\": ";
  append_hashed(text, arguments, rules);
  text += ", \"hardware\": ";
  append_hardware(text, machine_info);
  text += ", \"mesh\": ";
  append_mesh(text, machine_info, rules);
  text += ", \"operation\": ";
  json::append_quoted(text, op);
  text += '}';
  return to_hex(sha256(text));
}

std::bitset<kGenerations> matching_generations(std::string_view stored, std::string_view op, const Node& arguments,
                                               const Node* machine_info) {
  std::bitset<kGenerations> matching;
  const bool maybe_restored = has_special_string(arguments);
  for (int g = 0; g < kGenerations; ++g) {
    const auto generation = static_cast<Generation>(g);
    const bool match =
        config_hash(generation, op, arguments, machine_info) == stored ||
        (g < 2 && maybe_restored && config_hash(generation, op, arguments, machine_info, true) == stored);
    matching.set(static_cast<std::size_t>(g), match);
  }
  return matching;
}

std::string era1_signature(const Node& arguments) {
  std::string text;
  json::append_python_repr(text, arguments);
  return md5_hex(text);
}

std::string to_text(std::bitset<kGenerations> generations) {
  std::string text;
  for (int g = 0; g < kGenerations; ++g) {
    if (!generations.test(static_cast<std::size_t>(g))) continue;
    if (!text.empty()) text += '/';
    text += name_of(static_cast<Generation>(g));
  }
  return text.empty() ? "none" : text;
}

}  // namespace opwright::normalize
