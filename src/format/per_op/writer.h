// A call of a native trace as the JSON text that the library's own tracer writes for it, byte for byte: what reads
// those files today reads ours. Facts about that text are in docs/formats/per-op.md.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "format/native/native_trace.h"

namespace opwright::format {

class JsonLines;

class PerOpWriter {
 public:
  explicit PerOpWriter(NativeTrace& trace);

  // Appends the record of `call`. False when its value is not whole; nothing is appended then.
  bool write(const NativeCall& call, std::uint64_t operation_id, std::string& out);

  // Objects whose printed text is not in the trace: it was made up from their fields.
  std::size_t texts_made() const { return texts_made_; }
  std::size_t tensors_with_values() const { return tensors_with_values_; }

 private:
  struct Slots {  // the tensors of the call at hand, counted while they are written
    const NativeCall* call;
    const std::vector<TensorData>* data;
    bool result;
    std::uint32_t next;
  };

  void body(const NativeValue& call, bool top, Slots slots, std::string& out);
  void value(const NativeValue& value_at, int level, Slots& slots, std::string& out);
  void shared(const NativeValue& value_at, int level, std::string& out);
  void object(const NativeValue& value_at, int level, std::string& out);
  void printed_object(const NativeValue& value_at, int level, std::string& out);
  // `freed`: the tensor has no device any more.
  void tensor(const NativeValue& spec, int level, const Blob* blob, bool freed, std::string& out);
  void mesh(const NativeValue& spec, int level, bool freed, std::string& out);
  void torch_tensor(const NativeValue& spec, int level, const Blob* blob, std::string& out);
  bool content(const Blob* blob, JsonLines& lines, std::string& out);
  void memory_config(const NativeValue& config, int level, std::string& out);
  void compute_config(const NativeValue& config, int level, std::string& out);
  bool program_config(const NativeValue& config, int level, std::string& out);
  void mesh_device(const NativeValue& device, int level, std::string& out);
  // Any value without tensors in it.
  void plain(const NativeValue& value_at, int level, std::string& out);
  std::string printed(const NativeValue& value_at);
  std::string printed(const NativeValue* value_at) { return value_at != nullptr ? printed(*value_at) : "None"; }
  const Blob* content(const Slots& slots, std::uint32_t slot) const;
  void forget();

  NativeTrace& trace_;
  std::string sweep_source_hash_;
  bool has_lost_nesting_;                                           // whether a call is an outermost one is not known
  std::unordered_map<std::uint64_t, std::string> shared_;           // value id and level -> text
  std::unordered_map<Hash128, std::string, Hash128Hasher> bodies_;  // calls that repeat: name and arguments
  std::unordered_map<std::uint64_t, std::string> results_;          // results that repeat
  std::size_t kept_bytes_ = 0;
  json::Document document_;
  std::size_t texts_made_ = 0;
  std::size_t tensors_with_values_ = 0;
};

}  // namespace opwright::format
