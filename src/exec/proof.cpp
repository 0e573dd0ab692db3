#include "exec/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "model/config_fields.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

struct Named {
  const Param* param = nullptr;  // null: the operator has no such parameter, or nobody knows the operator
  std::string name;
  const Value* value = nullptr;
  bool taken = false;  // executed arguments: a traced one has found it
};

// Arguments by the names that both sides share. None and not passed are the same to every operator.
std::vector<Named> named_arguments(const OpSpec* op, const OpConfig& config) {
  std::vector<Named> out;
  for (const Argument& argument : config.args) {
    const Param* param = op == nullptr ? nullptr : find_param(*op, config.convention, argument.name);
    out.push_back({param, param == nullptr ? argument.name : std::string(param->name), &argument.value, false});
  }
  return out;
}

FlatConfig fields_of(const std::string& name, const Value& value) {
  OpConfig one;
  one.args.push_back({name, value});
  FlatConfig flat = flatten(one);
  std::erase_if(flat, [](const auto& field) { return field.first == "convention"; });
  return flat;
}

// Fields of a tensor that some kinds of traces do not write down.
bool may_be_unsaid(std::string_view field) {
  constexpr std::array<std::string_view, 7> kUnsaid{".layout", ".storage",   ".tile",        ".device_shape",
                                                    ".type",   ".placement", ".is_in_memory"};
  if (field.find(".memory.") != std::string_view::npos) return false;
  return std::ranges::any_of(kUnsaid, [&](std::string_view end) { return field.ends_with(end); });
}

// The eras write some things differently: flags as numbers, the usual tile and its alignment, the name of a compute
// config, which is one class under several names.
bool same_in_other_words(const FieldChange& change) {
  constexpr std::array<std::string_view, 3> kComputeConfigs{"ComputeKernelConfig", "WormholeComputeKernelConfig",
                                                            "BlackholeComputeKernelConfig"};
  const auto compute_config = [&](const std::string& name) { return std::ranges::count(kComputeConfigs, name) > 0; };
  const std::string_view field = change.field;
  const auto mesh_of = [](const std::string& placement) {
    return placement.substr(std::min(placement.size(), placement.rfind(" of ")));
  };
  const auto everywhere = [](const std::string& placement) { return placement.find("Shard") == std::string::npos; };
  // A copy on every device, said once or once for each dimension of the mesh.
  if (field.ends_with(".placement") && change.to != "absent")
    return everywhere(change.from) && everywhere(change.to) && mesh_of(change.from) == mesh_of(change.to);
  if (change.to == "absent")
    return (field.ends_with(".tile") && change.from == "[32,32]") || field.ends_with(".alignment") ||
           field.find(".nd_shard.") != std::string_view::npos;  // era 1 writes every shard spec twice
  // An enum by its name alone: "LoFi" and MathFidelity.LoFi.
  const auto bare = [](std::string_view text) {
    if (text.size() > 1 && text.front() == '"') text = text.substr(1, text.size() - 2);
    return last_part(text, ".");
  };
  if (!change.from.empty() && change.from.front() == '"' && change.to.find('.') != std::string::npos)
    return bare(change.from) == bare(change.to);
  return (change.from == "0" && change.to == "false") || (change.from == "1" && change.to == "true") ||
         (compute_config(change.from) && compute_config(change.to));
}

bool has_tensor(const Value& value) {
  bool found = false;
  for_each_tensor(value, [&](const TensorSpec&) { found = true; });
  return found;
}

void compare_argument(const Named& traced, const Named& executed, Proof& proof) {
  const FlatConfig from = fields_of(traced.name, *traced.value);
  const FlatConfig to = fields_of(traced.name, *executed.value);
  proof.fields += static_cast<std::int64_t>(from.size());
  proof.equal += static_cast<std::int64_t>(from.size());
  for (const FieldChange& change : changes_between(from, to)) {
    if (same_in_other_words(change)) continue;
    const bool added = change.from == "absent" &&
                       std::ranges::none_of(from, [&](const auto& field) { return field.first == change.field; });
    if (added && has_tensor(*traced.value) && may_be_unsaid(change.field)) {
      proof.unsaid.push_back(fmt::format("{}: {}", change.field, change.to));
      continue;
    }
    if (!added) --proof.equal;
    proof.differences.push_back(fmt::format("{}: {} -> {}", change.field, change.from, change.to));
  }
}

// A traced argument that the executed call does not have under its name.
void missing_argument(const Named& traced, Proof& proof) {
  const FlatConfig from = fields_of(traced.name, *traced.value);
  proof.fields += static_cast<std::int64_t>(from.size());
  if (traced.value->is_null()) {
    proof.equal += static_cast<std::int64_t>(from.size());
  } else if (traced.param != nullptr && traced.param->lost == Lost::kNoMatter) {
    proof.equal += static_cast<std::int64_t>(from.size());
    proof.not_needed.push_back(traced.name);
  } else {
    for (const auto& [field, text] : from) proof.differences.push_back(fmt::format("{}: {} -> absent", field, text));
  }
}

Value with_tensors(const Value& value, std::span<const HostTensor> inputs, std::size_t& next) {
  const auto each = [&](const Fields& fields) {
    Fields out;
    for (const auto& [name, member] : fields) out.emplace_back(name, with_tensors(member, inputs, next));
    return out;
  };
  if (value.as_tensor() != nullptr)
    return next < inputs.size() ? Value::tensor(inputs[next++].spec) : Value::opaque("Tensor", "not handed over");
  if (const List* list = value.as_list()) {
    List out;
    for (const Value& item : *list) out.push_back(with_tensors(item, inputs, next));
    return Value(std::move(out));
  }
  if (const Fields* dict = value.as_dict()) return Value::dict(each(*dict));
  if (const Struct* s = value.as_struct()) return Value::structure(s->type, each(s->fields));
  return value;
}

}  // namespace

Proof compare_executed(const OpConfig& traced, const OpConfig& executed) {
  Proof proof;
  const OpSpec* op = find_op(traced.op);
  proof.fields = 1;  // the operation itself
  if (traced.op == executed.op || (op != nullptr && op == find_op(executed.op)))
    proof.equal = 1;
  else
    proof.differences.push_back(fmt::format("operation: {} -> {}", traced.op, executed.op));
  const std::vector<Named> wanted = named_arguments(op, traced);
  std::vector<Named> given = named_arguments(op, executed);
  const auto take = [&](const auto& fits) -> const Named* {
    const auto found = std::ranges::find_if(given, [&](const Named& g) { return !g.taken && fits(g); });
    if (found == given.end()) return nullptr;
    found->taken = true;
    return &*found;
  };
  // First what stayed where it was; then, of operators with overloads, what is found under another name; then what
  // has changed.
  std::vector<const Named*> partner(wanted.size(), nullptr);
  const auto each_without_partner = [&](const auto& fits) {
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (partner[i] == nullptr) partner[i] = take([&](const Named& g) { return fits(wanted[i], g); });
  };
  each_without_partner([](const Named& w, const Named& g) { return w.name == g.name && *w.value == *g.value; });
  if (op != nullptr && op->rebind != nullptr)
    each_without_partner([](const Named& w, const Named& g) { return !w.value->is_null() && *w.value == *g.value; });
  each_without_partner([](const Named& w, const Named& g) { return w.name == g.name; });
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (partner[i] != nullptr)
      compare_argument(wanted[i], *partner[i], proof);
    else
      missing_argument(wanted[i], proof);
  }
  for (const Named& argument : given) {
    if (argument.taken || argument.value->is_null()) continue;
    if (argument.param != nullptr && argument.param->lost == Lost::kNoMatter)
      proof.not_needed.push_back(argument.name);
    else
      proof.differences.push_back(fmt::format("{}: absent -> {}", argument.name, to_text(*argument.value)));
  }
  return proof;
}

OpConfig recapture(const BoundCall& call, std::span<const HostTensor> inputs) {
  OpConfig config;
  config.op = call.op;
  config.convention = Convention::kPython;
  std::size_t next = 0;
  for (const Argument& argument : call.args)
    config.args.push_back({argument.name, with_tensors(argument.value, inputs, next)});
  return config;
}

}  // namespace opwright
