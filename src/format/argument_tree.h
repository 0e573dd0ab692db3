// The arguments of a Python call as a tree of the shape that an era-2 master has, {"arg0": …, "memory_config": …}, made
// from the shape that the library's own tracer gives to values ({"type": "ttnn.Tensor", "original_shape": …}).
//
// One tree serves twice: its text is the form that a store keeps, and `lift` gives it meaning without reading that text
// again. The rules are those of the existing tracer, so that a trace and the master made from it hold the same
// configurations with the same hashes.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json.h"
#include "format/mesh_facts.h"

namespace opwright {
struct Dialect;
}

namespace opwright::format {

// A call's arguments. `tree` lives until the ArgumentTree that made it is cleared.
struct CallArguments {
  json::Node tree;                      // an object, keys sorted at every level
  std::string text;                     // the same as JSON, without blanks
  MeshFacts mesh;                       // of the first tensor that has one
  std::size_t handles = 0;              // keyword arguments left out (is_handle_argument)
  std::size_t tensors_with_values = 0;  // element values are not part of a configuration
};

class ArgumentTree {
 public:
  // `machine_info` of the run outlives the tree and may be null: what mesh a tensor lies on can follow from it.
  explicit ArgumentTree(const json::Node* machine_info = nullptr);
  void use_machine(const json::Node* machine_info) { machine_ = machine_info; }

  // Values. Texts that are handed in outlive the tree, or are kept in it by keep().
  static json::Node null() { return {}; }
  static json::Node boolean(bool value);
  static json::Node number(std::string_view token);  // a special float becomes its name, as a text
  json::Node text(std::string_view text);            // without addresses; bytes that are no UTF-8 as JSON writes them
  std::string_view key(std::string_view name);       // likewise, addresses and all
  json::Node list(std::span<const json::Node> items);
  // Of several fields with one name the last one holds.
  json::Node object(std::vector<json::Field>& fields);
  // A value of a parsed record, with all that is in it.
  json::Node copy(const json::Node& value);
  std::string_view keep(std::string_view text);

  // The call itself: its arguments in their order.
  void begin_call(std::string_view op);
  void add(std::string name, const json::Node& value);
  bool is_left_out(std::string_view keyword);  // counts it where it is
  // Empty, or what is wrong with the call.
  std::string end_call(CallArguments& call);

  // Forgets all values.
  void clear();
  std::size_t bytes() const { return bytes_; }

 private:
  template <class T>
  T* room(std::size_t count);
  json::Node sealed(std::vector<json::Field>& fields, const json::Node* mesh);
  json::Node placement(const json::Node& mesh, const json::Node& placements);
  json::Node shard_spec(const json::Node& value);
  bool append(std::string& out, const json::Node& node, std::size_t depth, CallArguments& call);

  const json::Node* machine_;
  const Dialect* dialect_ = nullptr;  // of the call at hand: it says what is no argument
  std::vector<std::byte> first_block_ = std::vector<std::byte>(16 * 1024);  // most calls need no more
  std::optional<std::pmr::monotonic_buffer_resource> arena_;
  std::size_t bytes_ = 0;
  std::unordered_map<const json::Field*, MeshFacts> meshes_;  // by the fields of the object that has one
  std::vector<std::pair<std::string, json::Node>> arguments_;
  std::size_t handles_ = 0, tensors_with_values_ = 0;
};

}  // namespace opwright::format
