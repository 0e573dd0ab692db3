#include "exec/data_marks.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <vector>

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;
constexpr std::int64_t kEndsEvery = 4;  // rows: the first and the last tile are forgotten most easily

// A number of its own for each row, group or line.
std::uint64_t own(std::uint64_t seed, std::int64_t index) {
  return Random(seed * 0x9E3779B97F4A7C15ULL + static_cast<std::uint64_t>(index)).next();
}

// The power of two nearest to a positive number, by its logarithm.
double power_near(double value) {
  int exponent = 0;
  const double part = std::frexp(value, &exponent);  // 0.5 … 1
  return std::ldexp(1.0, part < M_SQRT1_2 ? exponent - 1 : exponent);
}

// Tiles of a line of `length` numbers; a line of one tile is taken by its faces.
std::int64_t piece_of(std::int64_t length) { return length > kTile ? kTile : kTile / 2; }

// Which pieces of a line stand out: the first and the last in every fourth one, else one of its own.
struct Outstanding {
  std::int64_t one = 0, other = 0;

  Outstanding(std::int64_t line, std::uint64_t number, std::int64_t pieces)
      : one(static_cast<std::int64_t>((number >> 16) % static_cast<std::uint64_t>(pieces))), other(one) {
    if (line % kEndsEvery != 0) return;
    one = pieces - 1;
    other = 0;
  }
  bool operator()(std::int64_t piece) const { return piece == one || piece == other; }
};

// Scale and offset of what shares a statistic. Every fourth of them, the first too, is of the size of `epsilon`.
struct Level {
  float scale = 1;
  float offset = 0;
};
Level level_of(std::uint64_t number, bool first, double epsilon) {
  constexpr float kOffsets[] = {-1.0F, -0.5F, 0.5F, 1.0F};
  const int exponent = static_cast<int>(number % 7) - 3;
  Level out{std::ldexp(1.0F, exponent), kOffsets[number >> 8 & 3]};
  const bool tiny = first || (number >> 10 & 3) == 0;
  // A variance below the smallest normal number is nothing to any device.
  if (tiny && epsilon > 1e-30 && epsilon < 1) out.scale = static_cast<float>(power_near(std::sqrt(epsilon) / 2));
  return out;
}

// How much larger than its neighbours a piece of a line is. The second half is twice as large as the first; a piece
// that stands out makes up a fifth of a sum of squares or more. What is added first must not be so large that a
// bfloat16 accumulator loses what follows: small numbers come first, and large ones among them are limited.
class Sizes {
 public:
  explicit Sizes(std::int64_t pieces) : pieces_(pieces) {
    while (static_cast<double>(larger_ * larger_) < 0.2 * static_cast<double>(pieces)) larger_ *= 2;
  }
  float of(std::int64_t piece, const Outstanding& out) const {
    constexpr float kMostEarly = 8;
    const bool late = 2 * piece >= pieces_;
    return (late ? 2.0F : 1.0F) * (!out(piece) ? 1.0F : late ? larger_ : std::min(2 * larger_, kMostEarly));
  }

 private:
  std::int64_t pieces_;
  float larger_ = 2;
};

double epsilon_of(const OpSpec& op, const BoundCall& call) {
  const bool takes = std::ranges::any_of(op.params, [](const Param& param) { return param.name == "epsilon"; });
  return takes ? call.number("epsilon", 1e-12).value_or(0) : 0;
}

void mark_rows(HostTensor& tensor, std::uint64_t seed, double epsilon) {
  const std::int64_t width = row_length(tensor.spec.shape);
  if (width <= 0) return;
  const std::int64_t piece = piece_of(width);
  const std::int64_t pieces = (width + piece - 1) / piece;
  const Sizes sizes(pieces);
  for (std::int64_t row = 0; row < tensor.size() / width; ++row) {
    const std::uint64_t number = own(seed, row);
    const Level level = level_of(number, row == 0, epsilon);
    const Outstanding out(row, number, pieces);
    float* const values = tensor.floats.data() + row * width;
    for (std::int64_t p = 0; p < pieces; ++p) {
      const float factor = level.scale * sizes.of(p, out);
      for (std::int64_t i = p * piece; i < std::min(width, (p + 1) * piece); ++i)
        values[i] = (values[i] + level.offset) * factor;
    }
  }
}

// Statistics over all rows of an image and a group of its channels.
void mark_groups(HostTensor& tensor, std::uint64_t seed, std::int64_t groups, double epsilon) {
  const Shape& shape = tensor.spec.shape;
  const std::int64_t channels = row_length(shape);
  const std::int64_t rows = channels == 0 || shape[0] == 0 ? 0 : tensor.size() / shape[0] / channels;
  if (rows == 0 || groups <= 0 || channels % groups != 0) return;
  const std::int64_t piece = piece_of(rows);
  const std::int64_t pieces = (rows + piece - 1) / piece;
  const Sizes sizes(pieces);
  const std::int64_t width = channels / groups;
  for (std::int64_t image = 0; image < shape[0]; ++image) {
    for (std::int64_t group = 0; group < groups; ++group) {
      const std::int64_t line = image * groups + group;
      const std::uint64_t number = own(seed, line);
      const Level level = level_of(number, line == 0, epsilon);
      const Outstanding out(line, number, pieces);
      for (std::int64_t row = 0; row < rows; ++row) {
        const float factor = level.scale * sizes.of(row / piece, out);
        float* const values = tensor.floats.data() + (image * rows + row) * channels + group * width;
        for (std::int64_t i = 0; i < width; ++i) values[i] = (values[i] + level.offset) * factor;
      }
    }
  }
}

// A lift of l gives a piece e^l times the weight of another: here twice that of all others together, or a third.
constexpr std::int64_t kManyPieces = 16;
struct Logits {
  float unscale = 1;
  float wide = 2;  // the scale of every second row
  float lift = 0;
};
Logits logits_of(const BoundCall& call, std::int64_t pieces) {
  const double scale = std::abs(call.number("scale", 1.0).value_or(1.0));
  Logits out;
  if (scale > 0x1p-20 && scale < 0x1p20) out.unscale = static_cast<float>(power_near(1 / scale));
  // What follows a piece, or a single number, that outweighs all others is lost in a bfloat16 sum where there are many:
  // there it gets a quarter of the sum, and no row is very wide. Halves, so that bfloat16 keeps them.
  if (pieces > kManyPieces) out.wide = 1.5F;
  const double weight = pieces > kManyPieces ? 1.0 / 3 : 2.0;
  out.lift = static_cast<float>(std::floor(2 * portable_log(weight * static_cast<double>(pieces)) + 0.5) / 2);
  return out;
}

void lift(float* values, std::int64_t count, float scale, float by, float unscale) {
  for (std::int64_t i = 0; i < count; ++i) values[i] = (values[i] * scale + by) * unscale;
}

void mark_logits(const BoundCall& call, std::uint64_t seed, HostTensor& tensor) {
  const Shape& shape = tensor.spec.shape;
  const std::int64_t width = row_length(shape);
  if (width <= 0) return;
  const auto rank = static_cast<std::int64_t>(shape.size());
  std::int64_t dim = call.integer("dim", -1).value_or(-1);
  if (dim < 0) dim += rank;
  const bool along = dim < 0 || dim >= rank - 1;
  const std::int64_t length = along ? width : shape[static_cast<std::size_t>(dim)];
  const std::int64_t piece = piece_of(length);
  const std::int64_t pieces = (length + piece - 1) / piece;
  const Logits logits = logits_of(call, pieces);
  std::int64_t inner = 1;  // rows from one place along another dimension to the next
  for (std::int64_t i = dim + 1; !along && i + 1 < rank; ++i) inner *= shape[static_cast<std::size_t>(i)];
  for (std::int64_t row = 0; row < tensor.size() / width; ++row) {
    const std::int64_t line = along ? row : row / (inner * length) * inner + row % inner;
    const std::uint64_t number = own(seed, line);
    const Outstanding out(line, number, pieces);
    const float scale = (number & 1) != 0 ? logits.wide : 1.0F;
    float* const values = tensor.floats.data() + row * width;
    if (!along) {
      lift(values, width, scale, out(row / inner % length / piece) ? logits.lift : 0.0F, logits.unscale);
      continue;
    }
    for (std::int64_t p = 0; p < pieces; ++p)
      lift(values + p * piece, std::min(piece, width - p * piece), scale, out(p) ? logits.lift : 0.0F, logits.unscale);
  }
}

// Every eighth group of 16 neighbours, which share an exponent in block floats, holds a corner and what lies beside it.
void mark_corners(std::span<const double> corners, std::uint64_t seed, HostTensor& tensor) {
  constexpr std::size_t kGroup = 16;
  constexpr std::size_t kEvery = 8;
  constexpr double kBeside = 0x1p-6;
  std::vector<std::array<float, 4>> values;
  for (const double corner : corners) {
    const auto near = [&](double factor) { return static_cast<float>(corner * factor); };
    if (corner == 0)
      values.push_back({0.0F, -0.0F, 0x1p-10F, -0x1p-10F});
    else
      values.push_back({near(1), near(1 - kBeside), near(1), near(1 + kBeside)});
  }
  std::size_t next = 0;
  const std::size_t first = kGroup * (1 + own(seed, 0) % (kEvery - 1));
  for (std::size_t group = first; group < tensor.floats.size() && !values.empty(); group += kGroup * kEvery, ++next)
    for (std::size_t i = group; i < std::min(tensor.floats.size(), group + kGroup); ++i)
      tensor.floats[i] = values[next % values.size()][i % 4];
}

}  // namespace

void mark(const OpSpec& op, const BoundCall& call, std::size_t slot, Role role, std::uint64_t seed,
          HostTensor& tensor) {
  if (tensor.integer() || tensor.floats.empty()) return;
  const auto times = [&](double factor) {
    if (factor == 1) return;
    for (float& value : tensor.floats) value *= static_cast<float>(factor);
  };
  const double terms = static_cast<double>(op.sum == nullptr ? 1 : std::max<std::int64_t>(1, op.sum(call).terms));
  switch (role) {
    case Role::kNormed:
      if (call.passed("num_groups"))
        mark_groups(tensor, seed, call.integer("num_groups", 1).value_or(1), epsilon_of(op, call));
      else
        mark_rows(tensor, seed, epsilon_of(op, call));
      return;
    case Role::kLogits:
      mark_logits(call, seed, tensor);
      return;
    case Role::kBias:
      // As large as the sums it would cancel them: kernels round them before they add it, which the bound does not
      // know.
      times(power_near(std::sqrt(terms) / 8));
      return;
    default:
      if (slot != 0) return;
      if (op.corners != nullptr) mark_corners(op.corners(call), seed, tensor);
  }
}

}  // namespace opwright
