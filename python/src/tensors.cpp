#include "tensors.h"

namespace opwright::python {
namespace {
constexpr std::size_t kHalf = 100'000;
}

const Tensor* Tensors::find(std::uint64_t id) {
  if (const auto found = young_.find(id); found != young_.end()) return &found->second;
  const auto found = old_.find(id);
  if (found == old_.end()) return nullptr;
  const Tensor tensor = found->second;
  remember(tensor);
  return &young_.find(id)->second;
}

void Tensors::remember(const Tensor& tensor) {
  if (young_.size() >= kHalf) {
    old_ = std::move(young_);
    young_.clear();
  }
  young_[tensor.id] = tensor;
}

std::uint64_t Tensors::version(std::uint64_t storage) const {
  if (storage == 0 || versions_.empty()) return 0;
  const auto found = versions_.find(storage);
  return found == versions_.end() ? 0 : found->second;
}

std::uint64_t Tensors::written(std::uint64_t storage) {
  if (storage == 0) return 0;
  if (versions_.size() >= kHalf && versions_.count(storage) == 0) versions_.clear();
  return ++versions_[storage];
}

void Tensors::forget() {
  young_.clear();
  old_.clear();
  versions_.clear();
}

}  // namespace opwright::python
