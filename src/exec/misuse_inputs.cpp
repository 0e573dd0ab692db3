// Mistakes that changed inputs, or a changed call, express: the operator's own reference computes what they lead to.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "dialect/ttnn/compute_config.h"
#include "exec/misuse.h"
#include "model/quantize.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

// A tensor as rows of its last dimension, and those as planes.
struct Grid {
  explicit Grid(const HostTensor& tensor)
      : width(std::max<std::int64_t>(1, row_length(tensor.spec.shape))),
        rows(tensor.size() / width),
        height(tensor.spec.shape.size() > 1 ? tensor.spec.shape[tensor.spec.shape.size() - 2] : 1) {}
  std::int64_t width, rows, height;
};

void copy(const HostTensor& from, std::int64_t source, HostTensor& to, std::int64_t target) {
  if (to.integer())
    to.ints[static_cast<std::size_t>(target)] = from.ints[static_cast<std::size_t>(source)];
  else
    to.floats[static_cast<std::size_t>(target)] = from.floats[static_cast<std::size_t>(source)];
}

void clear(HostTensor& tensor, std::int64_t i) {
  if (tensor.integer())
    tensor.ints[static_cast<std::size_t>(i)] = 0;
  else
    tensor.floats[static_cast<std::size_t>(i)] = 0;
}

// Every element from another place of the same tensor; `from` says which (row, column).
template <class From>
void rearrange(HostTensor& tensor, const From& from) {
  const HostTensor old = tensor;
  const Grid grid(tensor);
  for (std::int64_t r = 0; r < grid.rows; ++r)
    for (std::int64_t c = 0; c < grid.width; ++c) copy(old, from(r, c), tensor, r * grid.width + c);
}

// What a call overwrites, hands through or must have as it is says nothing about the use of data.
bool is_structure(Role role) {
  switch (role) {
    case Role::kBuffer:
    case Role::kReciprocals:
    case Role::kBounds:
    case Role::kOffsets:
    case Role::kIndices:
    case Role::kChannels:
    case Role::kRotation:
    case Role::kUsers:
    case Role::kPositions:
    case Role::kTokenIds:
    case Role::kPages:
      return true;
    default:
      return false;
  }
}

bool is_handed_over(Role role) { return role != Role::kBuffer && role != Role::kReciprocals && role != Role::kBounds; }

void previous_data(MisuseBench& bench) {
  for (std::size_t slot = 0; slot < bench.inputs().size(); ++slot)
    if (is_handed_over(bench.role(slot)))
      bench.wrong_input("previous call's data", slot, [&](HostTensor& tensor) {
        tensor = bench.other_inputs()[slot];
        return true;
      });
}

void one_shard_stale(MisuseBench& bench) {
  for (std::size_t slot = 0; slot < bench.inputs().size(); ++slot) {
    const auto& memory = bench.inputs()[slot].spec.memory;
    if (is_structure(bench.role(slot)) || !memory || !memory->shard || memory->shard->shape.size() != 2) continue;
    bench.wrong_input("one shard stale", slot, [&](HostTensor& tensor) {
      const Grid grid(tensor);
      const std::int64_t high = memory->shard->shape[0];
      const std::int64_t wide = memory->shard->shape[1];
      if (high <= 0 || wide <= 0) return false;
      const std::int64_t down = (grid.rows + high - 1) / high;
      const std::int64_t across = (grid.width + wide - 1) / wide;
      if (down * across < 2) return false;
      const std::int64_t y = down / 2 * high;
      const std::int64_t x = across / 2 * wide;
      for (std::int64_t r = y; r < std::min(y + high, grid.rows); ++r)
        for (std::int64_t c = x; c < std::min(x + wide, grid.width); ++c)
          copy(bench.other_inputs()[slot], r * grid.width + c, tensor, r * grid.width + c);
      return true;
    });
  }
}

void wrong_places(MisuseBench& bench) {
  for (std::size_t slot = 0; slot < bench.inputs().size(); ++slot) {
    const Role role = bench.role(slot);
    const bool pages = role == Role::kPages || role == Role::kPositions || role == Role::kTokenIds;
    if (is_structure(role) && !pages) continue;
    const Grid grid(bench.inputs()[slot]);
    if (grid.rows > 1) {
      bench.wrong_input("row 0 for all rows", slot, [&](HostTensor& tensor) {
        rearrange(tensor, [](std::int64_t, std::int64_t c) { return c; });
        return true;
      });
      bench.wrong_input("neighbour row", slot, [&](HostTensor& tensor) {
        rearrange(tensor, [&](std::int64_t r, std::int64_t c) { return (r + 1) % grid.rows * grid.width + c; });
        return true;
      });
    }
    if (grid.width > 1) {
      bench.wrong_input("column 0 for all columns", slot, [&](HostTensor& tensor) {
        rearrange(tensor, [&](std::int64_t r, std::int64_t) { return r * grid.width; });
        return true;
      });
      bench.wrong_input("neighbour channel", slot, [&](HostTensor& tensor) {
        rearrange(tensor, [&](std::int64_t r, std::int64_t c) { return r * grid.width + (c + 1) % grid.width; });
        return true;
      });
    }
  }
}

void dropped_tiles(MisuseBench& bench) {
  for (std::size_t slot = 0; slot < bench.inputs().size(); ++slot) {
    if (is_structure(bench.role(slot))) continue;
    const Grid grid(bench.inputs()[slot]);
    const auto cut = [&](std::string_view name, std::int64_t row, std::int64_t column, std::int64_t high,
                         std::int64_t wide) {
      bench.wrong_input(name, slot, [&](HostTensor& tensor) {
        for (std::int64_t r = 0; r < grid.rows; ++r) {
          const std::int64_t y = r % grid.height;
          if (y < row || y >= row + high) continue;
          for (std::int64_t c = column; c < std::min(column + wide, grid.width); ++c) clear(tensor, r * grid.width + c);
        }
        return true;
      });
    };
    const auto last = [](std::int64_t n) { return (n - 1) / kTile * kTile; };
    if (grid.width > kTile) {
      cut("last tile of the row dropped", 0, last(grid.width), grid.height, kTile);
      cut("first tile of the row dropped", 0, 0, grid.height, kTile);
    }
    if (grid.height > kTile) cut("last tile of the column dropped", last(grid.height), 0, kTile, grid.width);
  }
}

void swapped_operands(MisuseBench& bench) {
  for (std::size_t slot = 0; slot + 1 < bench.inputs().size(); ++slot) {
    const HostTensor& a = bench.inputs()[slot];
    const HostTensor& b = bench.inputs()[slot + 1];
    if (is_structure(bench.role(slot)) || is_structure(bench.role(slot + 1)) || a.spec.shape != b.spec.shape ||
        a.integer() != b.integer())
      continue;
    const std::array both{slot, slot + 1};
    std::array<HostTensor, 2> turned{b, a};
    std::size_t next = 0;
    bench.wrong_inputs("swapped operands", both, [&](HostTensor& tensor) {
      turned[next].spec = tensor.spec;
      tensor = std::move(turned[next++]);
      return true;
    });
  }
}

std::string_view missing(const OpSpec& op, std::string_view param, Role role) {
  const bool norm = std::ranges::any_of(op.params, [](const Param& p) { return p.name == "epsilon"; });
  if (role == Role::kGains) return "missing gamma";
  if (role == Role::kMask) return "missing mask";
  if (param.find("bias") != std::string_view::npos) return norm ? "missing beta" : "missing bias";
  if (param.find("residual") != std::string_view::npos) return "missing residual";
  if (param.find("sink") != std::string_view::npos) return "missing sink";
  return "missing operand";
}

void missing_operands(MisuseBench& bench) {
  for (const Param& param : bench.op().params)
    if (!param.required && param.role && !is_structure(*param.role) && bench.call().slot(param.name))
      bench.without(missing(bench.op(), param.name, *param.role), param.name);
}

bool has(const OpSpec& op, std::string_view param) {
  return std::ranges::any_of(op.params, [&](const Param& p) { return p.name == param; });
}

void with_argument(MisuseBench& bench, std::string_view name, std::string_view param, Value value) {
  BoundCall call = bench.call();
  call.set(param, std::move(value));
  if (call.tensors.size() == bench.call().tensors.size()) bench.wrong_call(name, param, call);
}

void numbers(MisuseBench& bench) {
  const BoundCall& call = bench.call();
  if (has(bench.op(), "epsilon")) {
    const auto epsilon = call.number("epsilon", 1e-12);
    if (epsilon) with_argument(bench, "epsilon x 100", "epsilon", Value(*epsilon * 100));
    with_argument(bench, "missing epsilon", "epsilon", Value(0.0));
  }
  if (!has(bench.op(), "scale")) return;
  const TensorSpec* queries = call.tensor("input_tensor_q");
  const double usual = queries == nullptr ? 1.0 : 1.0 / std::sqrt(static_cast<double>(row_length(queries->shape)));
  const auto scale = call.number("scale", usual);
  if (!scale) return;
  with_argument(bench, "missing scale", "scale", Value(1.0));
  with_argument(bench, "scale of half the width", "scale", Value(*scale * std::sqrt(2.0)));
}

void flags(MisuseBench& bench) {
  const BoundCall& call = bench.call();
  const auto turned = [&](std::string_view flag, std::string_view operand) {
    const TensorSpec* spec = call.tensor(operand);
    const auto set = call.flag(flag, false);
    if (spec == nullptr || !set || spec->shape.size() < 2) return;
    if (spec->shape.back() == spec->shape[spec->shape.size() - 2])
      with_argument(bench, "transposed flag ignored", flag, Value(!*set));
  };
  turned("transpose_a", "input_tensor_a");
  turned("transpose_b", "input_tensor_b");
  for (const std::string_view flag : {"is_causal", "is_causal_mask"})
    if (has(bench.op(), flag) && call.flag(flag, flag == "is_causal").value_or(false))
      with_argument(bench, "causal flag ignored", flag, Value(false));
  if (has(bench.op(), "count_include_pad"))
    if (const auto set = call.flag("count_include_pad", true))
      with_argument(bench, "padding counted wrongly", "count_include_pad", Value(!*set));
  if (call.passed("sliding_window_size")) {
    BoundCall whole = call;
    whole.erase("sliding_window_size");
    bench.wrong_call("window ignored", "sliding_window_size", whole);
  }
}

void another_dimension(MisuseBench& bench) {
  const auto dim = bench.call().integer("dim");
  if (!dim || !*dim || bench.inputs().empty()) return;
  const Shape& shape = bench.inputs()[0].spec.shape;
  const auto rank = static_cast<std::int64_t>(shape.size());
  const std::int64_t at = **dim < 0 ? **dim + rank : **dim;
  if (at < 0 || at >= rank) return;
  const bool keeps_shape = bench.output().spec.shape == shape;
  for (std::int64_t other = rank - 1; other >= 0; --other) {
    const std::int64_t extent = shape[static_cast<std::size_t>(other)];
    if (other == at || extent < 2 || (!keeps_shape && extent != shape[static_cast<std::size_t>(at)])) continue;
    with_argument(bench, "dim off by one", "dim", Value(other - rank));
    return;
  }
}

// One place further within the tile that it lies in: caches and blocks are whole tiles.
std::int64_t moved(std::int64_t position, std::int64_t by) {
  const std::int64_t next = position + by;
  return next >= 0 && next / kTile == position / kTile ? next : position;
}

struct Move {
  std::string_view name;
  std::int64_t by;
};
constexpr std::array kMoves{Move{"position +1", 1}, Move{"position -1", -1}};

void positions(MisuseBench& bench) {
  for (const auto& [name, by] : kMoves) {
    for (std::size_t slot = 0; slot < bench.inputs().size(); ++slot)
      if (bench.role(slot) == Role::kPositions && bench.inputs()[slot].integer())
        bench.wrong_input(name, slot, [&](HostTensor& tensor) {
          for (std::int64_t& position : tensor.ints) position = moved(position, by);
          return true;
        });
    for (const std::string_view param : {"cur_pos", "update_idxs", "update_idx", "token_index"}) {
      if (!has(bench.op(), param) || !bench.call().passed(param)) continue;
      const auto places = bench.call().ints(param);
      if (!places || !*places) continue;
      List list;
      for (const std::int64_t position : **places) list.emplace_back(moved(position, by));
      const bool alone = bench.call().find(param)->as_list() == nullptr && list.size() == 1;
      with_argument(bench, name, param, alone ? list[0] : Value(list));
    }
  }
  // The last tile of keys is left out.
  for (std::size_t slot = 0; slot < bench.inputs().size(); ++slot)
    if (bench.role(slot) == Role::kPositions && bench.inputs()[slot].integer() &&
        bench.call().tensor("input_tensor_k") != nullptr)
      bench.wrong_input("last tile of the sum dropped", slot, [&](HostTensor& tensor) {
        for (std::int64_t& position : tensor.ints)
          if (position >= kTile) position = position / kTile * kTile - 1;
        return true;
      });
}

// Angles are positions too.
void angles(MisuseBench& bench) {
  std::vector<std::size_t> slots;
  for (std::size_t slot = 0; slot < bench.inputs().size(); ++slot)
    if (bench.role(slot) == Role::kCosines || bench.role(slot) == Role::kSines) slots.push_back(slot);
  if (slots.empty() || Grid(bench.inputs()[slots[0]]).rows < 2) return;
  for (const auto& [name, by] : kMoves)
    bench.wrong_inputs(name, slots, [&](HostTensor& tensor) {
      const Grid grid(tensor);
      rearrange(tensor,
                [&](std::int64_t r, std::int64_t c) { return (r + by + grid.rows) % grid.rows * grid.width + c; });
      return true;
    });
}

void indices(MisuseBench& bench) {
  for (std::size_t slot = 0; slot < bench.inputs().size(); ++slot) {
    if (!bench.inputs()[slot].integer() || bench.inputs()[slot].ints.empty()) continue;
    if (bench.role(slot) == Role::kTokenIds)
      bench.wrong_input("index off by one", slot, [](HostTensor& tensor) {
        const std::int64_t most = *std::ranges::max_element(tensor.ints);
        for (std::int64_t& id : tensor.ints) id = id == most ? std::max<std::int64_t>(0, id - 1) : id + 1;
        return true;
      });
    if (bench.role(slot) == Role::kPages)
      bench.wrong_input("page table ignored", slot, [](HostTensor& tensor) {
        std::ranges::sort(tensor.ints);
        return true;
      });
    if (bench.role(slot) == Role::kUsers)
      bench.wrong_input("neighbour user", slot, [](HostTensor& tensor) {
        std::ranges::rotate(tensor.ints, tensor.ints.begin() + 1);
        return true;
      });
  }
  const auto starts = bench.call().ints("starts");
  const auto ends = bench.call().ints("ends");
  if (!starts || !ends || !*starts || !*ends || (*starts)->size() != (*ends)->size() || bench.inputs().empty()) return;
  const Shape& shape = bench.inputs()[0].spec.shape;
  for (std::size_t d = 0; d < (*starts)->size() && d < shape.size(); ++d) {
    if ((**starts)[d] < 0 || (**ends)[d] < 0 || (**ends)[d] + 1 > shape[d]) continue;
    List from, to;
    for (std::size_t i = 0; i < (*starts)->size(); ++i) {
      from.emplace_back((**starts)[i] + (i == d ? 1 : 0));
      to.emplace_back((**ends)[i] + (i == d ? 1 : 0));
    }
    BoundCall call = bench.call();
    call.set("starts", Value(from));
    call.set("ends", Value(to));
    bench.wrong_call("index off by one", "starts, ends", call);
  }
}

// Elements of dimension 1 that belong to one head.
std::int64_t head_of(const Shape& shape) { return shape.size() == 4 ? shape[2] * shape[3] : 0; }

void heads(MisuseBench& bench) {
  const auto keys = bench.call().slot("input_tensor_k");
  const auto values = bench.call().slot("input_tensor_v");
  if (!keys || !values) return;
  const Shape& shape = bench.inputs()[*keys].spec.shape;
  const std::int64_t head = head_of(shape);
  if (head == 0 || shape[1] < 2) return;
  const std::array both{*keys, *values};
  bench.wrong_inputs("wrong kv head", both, [&](HostTensor& tensor) {
    const std::int64_t all = shape[1] * head_of(tensor.spec.shape);
    const std::int64_t one = head_of(tensor.spec.shape);
    const HostTensor old = tensor;
    for (std::int64_t i = 0; i < tensor.size(); ++i) copy(old, i / all * all + (i % all + one) % all, tensor, i);
    return true;
  });
}

// Query head h reads key head h modulo their number, where neighbours share one: keys and values as many as queries say
// it.
void heads_modulo(MisuseBench& bench) {
  constexpr std::int64_t kMost = std::int64_t{1} << 23;
  const auto queries = bench.call().slot("input_tensor_q");
  const auto keys = bench.call().slot("input_tensor_k");
  const auto values = bench.call().slot("input_tensor_v");
  if (!queries || !keys || !values) return;
  const Shape& asked = bench.inputs()[*queries].spec.shape;
  const Shape& shape = bench.inputs()[*keys].spec.shape;
  if (asked.size() != 4 || shape.size() != 4) return;
  const bool decodes = has(bench.op(), "cur_pos") || has(bench.op(), "cur_pos_tensor");
  const std::int64_t heads = asked[decodes ? 2 : 1];
  const std::int64_t shared = shape[1];
  if (shared < 2 || heads <= shared || heads % shared != 0) return;
  if (bench.inputs()[*keys].size() / shared * heads > kMost) return;
  std::vector<HostTensor> inputs(bench.inputs().begin(), bench.inputs().end());
  BoundCall call = bench.call();
  for (const std::size_t slot : {*keys, *values}) {
    const HostTensor& old = bench.inputs()[slot];
    if (old.integer() || old.spec.shape.size() != 4 || old.spec.shape[1] != shared) return;
    HostTensor& wide = inputs[slot];
    wide.spec.shape[1] = heads;
    call.tensors[slot].spec.shape[1] = heads;
    const std::int64_t one = head_of(old.spec.shape);
    wide.floats.resize(static_cast<std::size_t>(wide.size()));
    for (std::int64_t i = 0; i < wide.size(); ++i) {
      const std::int64_t head = i / one % heads;
      copy(old, (i / one / heads * shared + head % shared) * one + i % one, wide, i);
    }
  }
  bench.wrong_values("kv head modulo", "input_tensor_k, input_tensor_v", bench.reference(call, inputs));
}

void windows(MisuseBench& bench) {
  for (std::size_t slot = 0; slot < bench.inputs().size(); ++slot) {
    if (bench.role(slot) == Role::kSines)
      bench.wrong_input("sign of the sine", slot, [](HostTensor& tensor) {
        for (float& value : tensor.floats) value = -value;
        return true;
      });
    const Shape& shape = bench.inputs()[slot].spec.shape;
    if (bench.role(slot) == Role::kRotation && shape.size() > 1 && shape.back() == shape[shape.size() - 2])
      bench.wrong_input("rotation transposed", slot, [](HostTensor& tensor) {
        const Grid grid(tensor);
        rearrange(tensor, [&](std::int64_t r, std::int64_t c) {
          return (r / grid.height * grid.height + c) * grid.width + r % grid.height;
        });
        return true;
      });
    if (bench.role(slot) == Role::kWeights && shape.size() == 4 && shape[2] * shape[3] > 1 && shape[2] <= kTile)
      bench.wrong_input("kernel mirrored", slot, [](HostTensor& tensor) {
        const Shape& s = tensor.spec.shape;
        rearrange(tensor, [&](std::int64_t r, std::int64_t c) {
          return (r / s[2] * s[2] + s[2] - 1 - r % s[2]) * s[3] + s[3] - 1 - c;
        });
        return true;
      });
  }
  const auto groups = bench.call().integer("groups");
  const auto image = bench.call().slot("input_tensor");
  if (!groups || !*groups || **groups < 2 || !image) return;
  const std::int64_t width = row_length(bench.inputs()[*image].spec.shape);
  const std::int64_t of_group = width / **groups;
  if (of_group < 1) return;
  bench.wrong_input("wrong group", *image, [&](HostTensor& tensor) {
    rearrange(tensor, [&](std::int64_t r, std::int64_t c) { return r * width + (c + of_group) % width; });
    return true;
  });
}

float cut_off(float value, int bits) {
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  return std::ldexp(std::trunc(std::ldexp(fraction, bits)), exponent - bits);
}

// What was asked for as high fidelity runs in one phase: five bits of one operand meet seven of the other.
void precision(MisuseBench& bench) {
  const Value* asked = bench.call().find("compute_kernel_config");
  if (asked == nullptr) asked = bench.call().find("compute_config");
  if (asked == nullptr || bench.budget().kind != ErrorBudget::Kind::kContraction || bench.inputs().size() < 2) return;
  const auto config = compute_config_of(*asked, {.fidelity = Fidelity::kLoFi});
  if (!config) return;
  if (config->fidelity == Fidelity::kHiFi3 || config->fidelity == Fidelity::kHiFi4) {
    const std::array both{std::size_t{0}, std::size_t{1}};
    int bits = 5;
    bench.wrong_inputs("lower fidelity", both, [&](HostTensor& tensor) {
      for (float& value : tensor.floats)
        if (std::isfinite(value)) value = cut_off(value, bits);
      bits = 7;
      return !tensor.integer();
    });
  }
  // Partial sums that go through bfloat16 although float32 was asked for.
  const Grid grid(bench.inputs()[0]);
  constexpr std::int64_t kParts = 8;
  if (!config->fp32_acc || grid.width < 2 * kParts) return;
  const std::array first{std::size_t{0}};
  const auto part = [&](std::int64_t from, std::int64_t to) {
    return bench.reference_with(first, [&](HostTensor& tensor) {
      for (std::int64_t i = 0; i < tensor.size(); ++i)
        if (i % grid.width < from || i % grid.width >= to) clear(tensor, i);
      return true;
    });
  };
  const std::vector<double> nothing = part(0, 0);
  std::vector<double> sum(nothing.size(), 0.0);
  std::vector<double> whole(nothing.size(), 0.0);
  for (std::int64_t i = 0; i < kParts; ++i) {
    const std::vector<double> more = part(i * grid.width / kParts, (i + 1) * grid.width / kParts);
    if (more.size() != sum.size()) return;
    for (std::size_t at = 0; at < sum.size(); ++at) {
      whole[at] += more[at] - nothing[at];
      sum[at] = round_bfloat16(static_cast<float>(sum[at] + more[at] - nothing[at]));
    }
  }
  for (std::size_t at = 0; at < sum.size(); ++at) {
    // Only where the output is the sum: not behind a function.
    if (std::abs(whole[at] + nothing[at] - bench.exact()[at]) > 1e-6 * (1 + std::abs(bench.exact()[at]))) return;
    sum[at] += nothing[at];
  }
  bench.wrong_values("coarser accumulation", bench.call().tensors[0].param, sum);
}

}  // namespace

void misuse_without_copies(MisuseBench& bench) {
  for (const auto ask : {missing_operands, numbers, positions}) ask(bench);
}

void misuse_inputs(MisuseBench& bench) {
  for (const auto ask :
       {previous_data, one_shard_stale, wrong_places, dropped_tiles, swapped_operands, missing_operands, numbers, flags,
        another_dimension, positions, angles, indices, heads, heads_modulo, windows, precision})
    ask(bench);
}

}  // namespace opwright
