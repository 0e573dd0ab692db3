#include "vectors/dedupe.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/json.h"
#include "base/json_object.h"
#include "ops/all_ops.h"

namespace opwright::vectors {
namespace {

// One spelling for what the eras write differently: C++ has 0 and 1 for bools and names the usual tile and alignment.
Value plain(const Value& value) {
  if (const bool* flag = value.as_bool()) return Value(static_cast<std::int64_t>(*flag));
  if (const List* list = value.as_list()) {
    List out;
    for (const Value& item : *list) out.push_back(plain(item));
    return Value(std::move(out));
  }
  if (const Struct* s = value.as_struct()) {
    Fields fields;
    for (const auto& [name, item] : s->fields)
      if (!item.is_null()) fields.emplace_back(name, plain(item));
    return Value::structure(s->type, std::move(fields));
  }
  const TensorSpec* spec = value.as_tensor();
  if (spec == nullptr) return value;
  TensorSpec out = *spec;
  if (out.tile == Shape{32, 32}) out.tile.reset();
  std::erase_if(out.more, [](const auto& field) { return field.first == "alignment"; });
  if (out.placement && out.placement->mesh == Shape{1, 1}) out.placement.reset();
  return Value::tensor(std::move(out));
}

void unite(std::string& list, const std::string& more) {
  std::set<std::string> names;
  for (const std::string* text : {static_cast<const std::string*>(&list), &more}) {
    for (std::size_t from = 0; from < text->size();) {
      const std::size_t end = std::min(text->find(',', from), text->size());
      std::string name = text->substr(from, end - from);
      if (name.starts_with(' ')) name.erase(0, 1);
      names.insert(std::move(name));
      from = end + 1;
    }
  }
  if (names.size() > 1) names.erase("unknown");
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ",") + name;
  list = std::move(all);
}

// JSON arrays of texts.
void unite_json(std::string& array, const std::string& more) {
  std::set<std::string> items;
  json::Document document;
  for (const std::string* text : {static_cast<const std::string*>(&array), &more}) {
    const auto root = document.parse(*text);
    if (!root) continue;
    for (const json::Node& item : **root) items.emplace(item.text);
  }
  array = json_array({items.begin(), items.end()}, false);
}

}  // namespace

std::string inputs_text(const OpConfig& config) {
  const OpSpec* op = find_op(config.op);
  if (op == nullptr) return to_hex(config.key);
  const auto call = bind(*op, config);
  if (!call || !call->assumed.empty()) return to_hex(config.key);
  std::string text = call->op + "(";
  for (const Argument& argument : call->args) {
    if (argument.value.is_null()) continue;
    text += argument.name + "=";
    append_text(text, plain(argument.value));
    text += ',';
  }
  return text + ")";
}

std::int64_t merge_equal_inputs(std::vector<TestVector>& vectors) {
  std::map<std::tuple<std::string, std::string, std::string>, std::size_t> first;  // inputs, suite, group -> index
  const auto better = [](const TestVector& a, const TestVector& b) {
    return std::make_tuple(!a.invalid.empty(), a.config.convention, a.config.key) <
           std::make_tuple(!b.invalid.empty(), b.config.convention, b.config.key);
  };
  std::vector<bool> gone(vectors.size(), false);
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    const auto [known, is_new] =
        first.try_emplace({inputs_text(vectors[i].config), vectors[i].suite, vectors[i].group}, i);
    if (is_new) continue;
    std::size_t& kept = known->second;
    std::size_t other = i;
    if (better(vectors[other], vectors[kept])) std::swap(other, kept);
    vectors[kept].calls += vectors[other].calls;
    unite(vectors[kept].models, vectors[other].models);
    unite(vectors[kept].sources, vectors[other].sources);
    if (!vectors[other].traced_source.empty()) unite_json(vectors[kept].traced_source, vectors[other].traced_source);
    gone[other] = true;
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < vectors.size(); ++i) {
    if (gone[i]) continue;
    if (next != i) vectors[next] = std::move(vectors[i]);
    ++next;
  }
  const auto merged = static_cast<std::int64_t>(vectors.size() - next);
  vectors.resize(next);
  return merged;
}

}  // namespace opwright::vectors
