// Tensors of a replay kept in a folder: what each call was given and made, as NumPy files with their specs beside them.
#pragma once

#include <string>
#include <unordered_set>

#include "base/result.h"
#include "replay/known_calls.h"
#include "replay/replay.h"

namespace opwright::replay {

class TensorFolder {
 public:
  // The folder must be new or empty.
  static Result<TensorFolder> create(const std::string& path);

  // Results and changed arguments of a call that ran, `000118-out0.npy`; of tensors from outside the values that they
  // were given, once, `000118-in-weight.npy`. `.json` says what each is.
  Status keep(const format::NativeCall& call, const KnownCall& known, LiveTensors& table, const Step& step);

 private:
  explicit TensorFolder(std::string path) : path_(std::move(path)) {}
  Status write(const std::string& name, const Content& content, const TensorSpec& spec, std::uint64_t tensor,
               const Step& step);

  std::string path_;
  std::unordered_set<std::uint64_t> saved_;  // tensors from outside
};

}  // namespace opwright::replay
