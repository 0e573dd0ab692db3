// Values of the table in the hands of a device or a reference, without a copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "model/bound_call.h"
#include "model/host_tensor.h"
#include "replay/live_tensors.h"

namespace opwright::replay {

// The values of some contents in the hands of tensors with a spec, and back. A content that is wanted twice is copied.
class Lent {
 public:
  enum class Which : bool { kDevice, kExact };

  Lent(const BoundCall& call, const std::vector<Content*>& contents, Which which) : contents_(contents), which_(which) {
    for (std::size_t i = 0; i < contents.size(); ++i) {
      HostTensor& tensor = tensors_.emplace_back(HostTensor{call.tensors[i].spec, {}, {}});
      const auto before =
          std::ranges::find(contents.begin(), contents.begin() + static_cast<std::ptrdiff_t>(i), contents[i]);
      const auto first = static_cast<std::size_t>(before - contents.begin());
      if (first < i) {
        tensor.floats = tensors_[first].floats;
        tensor.ints = tensors_[first].ints;
        continue;
      }
      Values& values = of(*contents[i]);
      tensor.floats = std::move(values.floats);
      tensor.ints = std::move(values.ints);
      owners_.push_back(i);
    }
  }
  ~Lent() {
    for (const std::size_t i : owners_) {
      Values& values = of(*contents_[i]);
      values.floats = std::move(tensors_[i].floats);
      values.ints = std::move(tensors_[i].ints);
    }
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;

  std::vector<HostTensor>& tensors() { return tensors_; }

 private:
  Values& of(Content& content) const {
    return which_ == Which::kExact && content.diverged ? content.exact : content.device;
  }

  const std::vector<Content*>& contents_;
  Which which_;
  std::vector<HostTensor> tensors_;
  std::vector<std::size_t> owners_;
};

}  // namespace opwright::replay
