#include "ops/collectives.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "dialect/ttnn/collective_calls.h"

namespace opwright {
namespace {

constexpr std::size_t kNoDimension = SIZE_MAX;
constexpr std::int64_t kMostChips = 1024;  // more than any board has

// The one dimension in which `large` is a multiple of `small`; kNoDimension where they differ otherwise.
std::size_t grown_dimension(const Shape& small, const Shape& large) {
  std::size_t found = kNoDimension;
  if (small.size() != large.size()) return kNoDimension;
  for (std::size_t d = 0; d < small.size(); ++d) {
    if (small[d] == large[d]) continue;
    if (found != kNoDimension || small[d] <= 0 || large[d] % small[d] != 0 || large[d] < small[d]) return kNoDimension;
    found = d;
  }
  return found;
}

struct Ring {
  std::int64_t chips = 0;  // 0: the trace does not say
  bool replicated = false;
};

// The chips of the mesh along the call's axis, and what the placement says of their parts.
Checked<Ring> ring_of(const BoundCall& call, const TensorSpec& input) {
  Ring ring;
  if (!input.placement) return ring;
  const Shape& mesh = input.placement->mesh.empty() ? input.placement->distribution : input.placement->mesh;
  OPWRIGHT_CHECK_ASSIGN(const auto axis, call.integer("cluster_axis"));
  const auto takes_part = [&](std::size_t d) { return !axis || static_cast<std::size_t>(*axis) == d; };
  ring.chips = 1;
  for (std::size_t d = 0; d < mesh.size(); ++d)
    if (takes_part(d))
      ring.chips = std::min(kMostChips + 1, ring.chips * std::clamp<std::int64_t>(mesh[d], 0, kMostChips + 1));
  const std::vector<std::string>& dims = input.placement->dims;
  ring.replicated = !dims.empty();
  for (std::size_t d = 0; d < dims.size(); ++d)
    if (dims[d] != "Replicate" && (dims.size() != mesh.size() || (takes_part(d) && mesh[d] > 1)))
      ring.replicated = false;
  return ring;
}

// Elements of one part, by the shape of the first tensor.
struct Parts {
  const HostTensor& tensor;
  std::int64_t elements = 0, chips = 0;

  explicit Parts(const HostTensor& held) : tensor(held), elements(held.size()) {
    const auto all = static_cast<std::int64_t>(held.integer() ? held.ints.size() : held.floats.size());
    chips = elements == 0 ? 0 : all / elements;
  }
  double at(std::int64_t chip, std::int64_t i) const { return tensor.at(chip * elements + i); }
};

// Place of an element of one shape in another of the same rank, where it lies at the same coordinates, but for
// dimension `d`, of which the whole blocks of `length` are counted apart.
struct Place {
  std::int64_t element = 0, block = 0;
};
Place place_in(const Shape& from, std::int64_t index, const Shape& to, std::size_t d) {
  Place out;
  std::int64_t stride = 1;
  for (std::size_t i = from.size(); i-- > 0;) {
    std::int64_t at = index % from[i];
    index /= from[i];
    if (i == d) {
      out.block = at / to[i];
      at %= to[i];
    }
    out.element += at * stride;
    stride *= to[i];
  }
  return out;
}

}  // namespace

Checked<Exact> collective_reference(const ReferenceJob& job) {
  const CollectiveCall what = collective_call(job.call.op);
  const Parts parts(job.inputs[0]);
  const Shape& given = job.inputs[0].spec.shape;
  const Shape& made = job.outputs[job.output].spec.shape;
  const bool sums = adds_up(what.collective);
  if (parts.chips == 0) return refuse("no part of any chip", job.call.tensors[0].param);
  const std::size_t d = what.collective == Collective::kGather ? grown_dimension(given, made) : kNoDimension;
  Exact out;
  out.value.reserve(static_cast<std::size_t>(job.rows.count() * job.rows.length));
  if (sums) out.magnitude.reserve(out.value.capacity());
  for (std::int64_t r = 0; r < job.rows.count(); ++r) {
    for (std::int64_t c = 0; c < job.rows.length; ++c) {
      const std::int64_t index = job.rows.at(r) * job.rows.length + c;
      const Place place = place_in(made, index, given, d);
      if (sums) {
        double sum = 0, size = 0;
        for (std::int64_t chip = 0; chip < parts.chips; ++chip) {
          const double value = parts.at(chip, place.element);
          sum += value;
          size += std::abs(value);
        }
        out.value.push_back(sum);
        out.magnitude.push_back(size);
        continue;
      }
      std::int64_t chip = 0;
      if (what.collective == Collective::kGather) chip = what.reversed ? parts.chips - 1 - place.block : place.block;
      if (what.collective == Collective::kAllBroadcast) chip = static_cast<std::int64_t>(job.output);
      if (what.collective == Collective::kBroadcast || what.collective == Collective::kPointToPoint) chip = 1;
      if (chip >= parts.chips) return refuse("fewer parts than the result is made of", job.call.tensors[0].param);
      out.value.push_back(parts.at(chip, place.element));
    }
  }
  return out;
}

// A sum goes from chip to chip, and is rounded to the dtype on each.
ErrorBudget collective_budget(const BoundCall& call, std::span<const OutputSpec> outputs, std::size_t output) {
  ErrorBudget out;
  out.kind = ErrorBudget::Kind::kExact;
  out.why = "values are moved";
  const auto exchange = exchange_of(call, outputs);
  if (!adds_up(collective_of(call.op)) || !exchange) return out;
  const DType dtype = outputs[output].spec.dtype.value;
  const int bits = dtype == DType::kFloat32 ? 23 : dtype == DType::kBfloat16 ? 8 : 6;
  out.kind = ErrorBudget::Kind::kElementwise;
  out.ulps = static_cast<double>(exchange->chips);
  out.relative = static_cast<double>(exchange->chips - 1) * std::ldexp(1.0, -bits);
  out.why = fmt::format("a sum over {} chips, rounded on each", exchange->chips);
  return out;
}

const OpSpec* find_collective(std::string_view op) {
  static const auto specs = [] {
    std::vector<OpSpec> out;
    for (const CollectiveCall& call : kCollectiveCalls)
      out.push_back(
          {.name = call.operation, .ccl = true, .reference = collective_reference, .budget = collective_budget});
    return out;
  }();
  const auto found = std::ranges::find(specs, op, &OpSpec::name);
  return found == specs.end() ? nullptr : &*found;
}

Checked<Exchange> exchange_of(const BoundCall& call, std::span<const OutputSpec> outputs) {
  const Collective collective = collective_of(call.op);
  if (call.tensors.empty() || outputs.empty())
    return unsupported("", "an exchange of no recorded tensor, or with no recorded result");
  const TensorSpec& input = call.tensors[0].spec;
  const TensorSpec& output = outputs[0].spec;
  OPWRIGHT_CHECK_ASSIGN(const Ring ring, ring_of(call, input));
  Exchange out{.chips = ring.chips, .replicated = false};
  const auto wrong = [&] {
    return unsupported(call.tensors[0].param, fmt::format("a part of {} and a result of {} are not those of {}",
                                                          to_text(input.shape), to_text(output.shape), call.op));
  };
  if (input.dtype.value != output.dtype.value) return wrong();
  switch (collective) {
    case Collective::kGather:
    case Collective::kReduceScatter:
    case Collective::kPartition: {
      const bool grows = collective == Collective::kGather;
      const Shape& small = grows ? input.shape : output.shape;
      const Shape& large = grows ? output.shape : input.shape;
      if (small == large) {
        out.chips = 1;
        break;
      }
      const std::size_t d = grown_dimension(small, large);
      if (d == kNoDimension) return wrong();
      out.chips = large[d] / small[d];
      break;
    }
    case Collective::kAllBroadcast:
      out.chips = static_cast<std::int64_t>(outputs.size());
      [[fallthrough]];
    default:
      if (input.shape != output.shape) return wrong();
      break;
  }
  // A trace whose mesh is another one than its shapes speak of says nothing of other chips.
  out.replicated = collective == Collective::kPartition || (ring.replicated && ring.chips == out.chips);
  if (collective == Collective::kPointToPoint || collective == Collective::kBroadcast)
    out.chips = std::max<std::int64_t>(out.chips, 2);
  if (out.chips <= 0)
    return unsupported(call.tensors[0].param, "the trace does not say over how many chips the tensor is spread");
  if (out.chips > kMostChips)
    return unsupported(call.tensors[0].param, fmt::format("an exchange between {} chips", out.chips));
  return out;
}

}  // namespace opwright
