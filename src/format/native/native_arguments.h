// The arguments of a call of a native trace as an ArgumentTree: straight from the value table to what the stored form
// says, and to what `lift` understands.
//
// Values get the shape that the library's own tracer gives them, so that a native trace and the per-op files of the
// same run are the same configurations. What that tracer leaves out, and what makes two configurations two, is added:
// ND shard specs, tiles other than 32x32, names of enums inside program configs, members of objects whose printed text
// says nothing.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "format/argument_tree.h"
#include "format/native/native_trace.h"

namespace opwright::format {

class NativeArguments {
 public:
  // `machine_info` of the run outlives it and may be null.
  NativeArguments(NativeTrace& trace, const json::Node* machine_info);

  enum class Outcome { kDone, kNotWhole, kNoJson };
  // kNotWhole: the call's value is not in the file; kNoJson: `wrong` says why. What is handed out holds until the next
  // call is made.
  Outcome make(const NativeCall& call, CallArguments& arguments, std::string_view& op, std::string& wrong);
  // What the call returned, as a tree of the same shape; null when it returned nothing that is in the file.
  json::Node result(const NativeCall& call);

 private:
  struct Slots {  // the tensors of the call at hand, counted while they are met
    const NativeCall* call;
    std::uint32_t next;
  };
  using Fields = std::vector<json::Field>;

  json::Node value(const NativeValue& value_at, Slots& slots);
  json::Node plain(const NativeValue& value_at);  // any value, tensors in it as they were before the call
  json::Node shared(const NativeValue& value_at);
  json::Node object(const NativeValue& value_at);
  json::Node printed_object(const NativeValue& value_at);
  bool members(const NativeValue& value_at, json::Node& out);
  json::Node tensor(const NativeValue& spec, bool freed);  // `freed`: it has no device any more
  bool mesh(const NativeValue& spec, bool freed, json::Node& out);
  json::Node torch_tensor(const NativeValue& spec);
  json::Node memory_config(const NativeValue& config);
  json::Node nd_shard_spec(const NativeValue& spec);
  json::Node compute_config(const NativeValue& config);
  bool program_config(const NativeValue& config, json::Node& out);
  json::Node mesh_device(const NativeValue& device);
  json::Node device_ids(const NativeValue& ids);
  json::Node big_number(std::string_view digits);
  json::Node printed_text(const NativeValue* value_at);  // as a text
  std::string_view printed(const NativeValue* value_at);
  void make_room();

  NativeTrace& trace_;
  ArgumentTree tree_;
  bool has_lost_nesting_;  // whether a call is an outermost one is not known
  std::unordered_map<ValueId, json::Node> shared_;
  json::Document document_;
  std::string wrong_;
};

// What a call did to its arguments, as a number: 0 nothing. Calls with one value and one change have the same
// arguments.
std::uint64_t change_of(const NativeCall& call);
// The same for calls that have the same arguments, result and change, and are both outermost ones or not: what is found
// out about one holds for all.
Hash128 same_call(const NativeCall& call);

}  // namespace opwright::format
