#include "replay/carried_values.h"

#include <algorithm>

#include "model/quantize.h"

namespace opwright::replay {
namespace {

// As the dtype of `spec` keeps values: whole numbers, or floats.
Values in_kind_of(const TensorSpec& spec, Values values) {
  if (is_integer(spec.dtype.value)) {
    for (const float value : values.floats) values.ints.push_back(static_cast<std::int64_t>(value));
    values.floats.clear();
  } else {
    values.floats.insert(values.floats.end(), values.ints.begin(), values.ints.end());
    values.ints.clear();
  }
  return values;
}

Values rounded(const TensorSpec& spec, Values values) {
  HostTensor tensor{spec, std::move(values.floats), std::move(values.ints)};
  quantize(tensor);
  return {std::move(tensor.floats), std::move(tensor.ints)};
}

}  // namespace

std::optional<Content> carried(const Content& from, const TensorSpec& result, HeldBytes& held) {
  if (from.count != volume(result.shape) || !computed(result.dtype.value)) return std::nullopt;
  Content out = from;
  out.dtype = result.dtype.value;
  if (from.dtype == out.dtype) return out;
  Values device = from.device->expanded();
  if (from.chain) {
    Values exact = device;
    from.chain->put_onto(exact);
    exact = in_kind_of(result, std::move(exact));
    device = rounded(result, in_kind_of(result, std::move(device)));
    ChainValues chain(device.size());
    chain.add(device, 0, exact);
    out.chain = chain.differs() ? held.keep(std::move(chain)) : nullptr;
  } else {
    device = rounded(result, in_kind_of(result, std::move(device)));
  }
  out.device = held.keep(Packed(device, out.dtype, row_length(result.shape)));
  return out;
}

}  // namespace opwright::replay
