// Values of per-op files as values of a native trace. What the library's tracer writes in a form of its own becomes
// what the recorder would have written for the same object, and is written back the same; everything else stays a dict.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "capture/encoder.h"
#include "format/native/native_writer.h"

namespace opwright::format {

class JsonValues {
 public:
  explicit JsonValues(NativeWriter& writer) : writer_(writer) {}

  // Appends the encoded value. Specs of tensors and their contents are kept until `clear()`.
  void put(const json::Node& node, capture::Encoder& out);

  const std::vector<ValueId>& specs() const { return specs_; }  // of the tensors, in order
  const std::vector<std::pair<std::uint32_t, Hash128>>& contents() const { return contents_; }  // slot, hash of a blob
  void clear() {
    specs_.clear();
    contents_.clear();
  }

 private:
  bool put_object(const json::Node& node, capture::Encoder& out);
  bool put_tensor(const json::Node& node, capture::Encoder& out);
  bool put_torch_tensor(const json::Node& node, capture::Encoder& out);
  bool put_memory(const json::Node& node, capture::Encoder& out);
  void put_shard_spec(std::string_view text, capture::Encoder& out);
  bool put_compute(const json::Node& node, capture::Encoder& out);
  bool put_matmul(const json::Node& node, std::string_view type, capture::Encoder& out);
  bool put_mesh_device(const json::Node& node, capture::Encoder& out);
  bool put_printed(const json::Node& node, std::string_view type, capture::Encoder& out);
  bool put_topology(const json::Node& mesh, capture::Encoder& out, int& fields);
  void put_number(std::string_view token, capture::Encoder& out);
  bool put_enum(const json::Node* text, capture::Encoder& out);
  void reference(const capture::Encoder& value, capture::Encoder& out);
  // A value with its printed text; false when the same value is known with another text.
  bool keep(const capture::Encoder& value, std::string_view text, bool has_dict, capture::Encoder& out);
  // The blob of nested lists; false when they are not what a tensor of that type and shape gives.
  bool content(const json::Node& shape, std::string_view dtype, const json::Node& values, Hash128& hash);

  NativeWriter& writer_;
  std::vector<ValueId> specs_;
  std::vector<std::pair<std::uint32_t, Hash128>> contents_;
  std::unordered_map<ValueId, std::pair<std::string, bool>> texts_;
};

}  // namespace opwright::format
