#include "device/sim/reduce_engine.h"

#include <algorithm>
#include <array>

namespace opwright::sim {
namespace {

constexpr std::int64_t kTile = 32;
constexpr int kGroup = 8;   // terms that are aligned and added together
constexpr int kStep = 16;   // terms of one instruction
constexpr int kLanes = 64;  // columns that are worked on together

// One fidelity phase: which part of the data meets which part of the scaler.
struct Phase {
  bool low_data = false;
  float scaler = 0;
  int shift = 0;  // added to the exponents of the products
};

struct Phases {
  std::array<Phase, 4> phase;
  int count = 0;
};

// `data_in_a`: columns (the data in SrcA), else rows. Phases whose part of the scaler is zero add nothing.
Phases phases_of(float scaler, EngineMode mode, bool data_in_a) {
  const std::uint32_t mask = data_in_a ? engine::kUpper7 : engine::kUpper5;
  const float high = engine::keep(scaler, mask);
  const float low = (data_in_a ? scaler : engine::keep(scaler, engine::kUpper10)) - high;
  const int data_shift = data_in_a ? -5 : -7;
  const int scaler_shift = data_in_a ? -7 : -5;
  const Phase all[4] = {
      {false, high, 0},
      data_in_a ? Phase{true, high, data_shift} : Phase{false, low, scaler_shift},
      data_in_a ? Phase{false, low, scaler_shift} : Phase{true, high, data_shift},
      {true, low, data_shift + scaler_shift},
  };
  const int wanted = mode.fidelity == Fidelity::kLoFi
                         ? 1
                         : (mode.fidelity == Fidelity::kHiFi2 ? 2 : (mode.fidelity == Fidelity::kHiFi3 ? 3 : 4));
  Phases out;
  for (int i = 0; i < wanted; ++i)
    if (all[i].scaler != 0) out.phase[static_cast<std::size_t>(out.count++)] = all[i];
  return out;
}

// Adds the sums of two groups to what the destination holds.
float accumulate(float held, float first, float second, int first_exponent, int second_exponent, Dst dst) {
  if (dst == Dst::kFp32) return held + (first + second);
  const int largest = std::max({engine::exponent(held), first_exponent, second_exponent});
  if (engine::unusual(largest)) return engine::round_away(held + first + second);
  return engine::round_away(engine::align_away(held, largest) + engine::align_up(first, largest) +
                            engine::align_up(second, largest));
}

}  // namespace

float fpu_row_sum(std::span<const float> row, float scaler, EngineMode mode) {
  return fpu_row_sum(row, scaler, mode, 0.0F);
}

float fpu_row_sum(std::span<const float> row, float scaler, EngineMode mode, float start) {
  const Phases phases = phases_of(scaler, mode, false);
  const int scaler_exponent = engine::exponent(scaler) - 127;
  const auto count = static_cast<std::int64_t>(row.size());
  float held = start;
  for (std::int64_t at = 0; at < count; at += kTile) {
    alignas(64) std::array<float, kTile> high;
    alignas(64) std::array<float, kTile> low;
    std::array<int, kTile / kGroup> largest{};
    const std::int64_t width = std::min(kTile, count - at);
    for (std::int64_t i = 0; i < kTile; ++i) {
      const float value = i < width ? engine::source(row[static_cast<std::size_t>(at + i)]) : 0.0F;
      const auto lane = static_cast<std::size_t>(i);
      high[lane] = engine::keep(value, engine::kUpper7);
      low[lane] = value - high[lane];
    }
    for (std::size_t g = 0; g < largest.size(); ++g) {
      int exponent = 0;
      for (std::size_t i = 0; i < kGroup; ++i) exponent = std::max(exponent, engine::exponent(high[g * kGroup + i]));
      largest[g] = exponent;
    }
    for (int p = 0; p < phases.count; ++p) {
      const Phase& phase = phases.phase[static_cast<std::size_t>(p)];
      const float* part = phase.low_data ? low.data() : high.data();
      std::array<float, kTile / kGroup> sums{};
      std::array<int, kTile / kGroup> exponents{};
      for (std::size_t g = 0; g < sums.size(); ++g) {
        if (largest[g] == 0) continue;
        const int exponent = largest[g] + scaler_exponent + phase.shift;
        exponents[g] = exponent;
        float sum = 0;
        if (engine::unusual(exponent)) {
          for (std::size_t i = 0; i < kGroup; ++i) sum += part[g * kGroup + i] * phase.scaler;
        } else {
          for (std::size_t i = 0; i < kGroup; ++i)
            sum += engine::align_away(part[g * kGroup + i] * phase.scaler, exponent);
        }
        sums[g] = sum;
      }
      for (std::size_t g = 0; g < sums.size(); g += 2)
        if (largest[g] != 0 || largest[g + 1] != 0)
          held = accumulate(held, sums[g], sums[g + 1], exponents[g], exponents[g + 1], mode.dst);
    }
  }
  return held;
}

void fpu_column_sums(const float* data, std::int64_t rows, std::int64_t stride, float scaler, EngineMode mode,
                     std::span<float> sums) {
  const Phases phases = phases_of(scaler, mode, true);
  const int scaler_exponent = engine::exponent(scaler) - 127;
  const auto columns = static_cast<std::int64_t>(sums.size());
  std::ranges::fill(sums, 0.0F);
  for (std::int64_t column = 0; column < columns; column += kLanes) {
    const std::int64_t width = std::min<std::int64_t>(kLanes, columns - column);
    for (std::int64_t row = 0; row < rows; row += kStep) {
      const std::int64_t height = std::min<std::int64_t>(kStep, rows - row);
      std::array<std::array<int, kLanes>, 2> largest{};
      for (std::int64_t r = 0; r < height; ++r) {
        const float* line = data + (row + r) * stride + column;
        auto& exponents = largest[r < kGroup ? 0 : 1];
        for (std::int64_t i = 0; i < width; ++i) {
          const auto lane = static_cast<std::size_t>(i);
          exponents[lane] = std::max(exponents[lane], engine::exponent(engine::source(line[i])));
        }
      }
      for (int p = 0; p < phases.count; ++p) {
        const Phase& phase = phases.phase[static_cast<std::size_t>(p)];
        const int shift = scaler_exponent + phase.shift;
        std::array<std::array<float, kLanes>, 2> groups{};
        for (std::int64_t r = 0; r < height; ++r) {
          const float* line = data + (row + r) * stride + column;
          auto& group = groups[r < kGroup ? 0 : 1];
          const auto& exponents = largest[r < kGroup ? 0 : 1];
          for (std::int64_t i = 0; i < width; ++i) {
            const auto lane = static_cast<std::size_t>(i);
            const float value = engine::source(line[i]);
            const float high = engine::keep(value, engine::kUpper5);
            const float part = phase.low_data ? engine::keep(value, engine::kUpper10) - high : high;
            const float product = part * phase.scaler;
            const int exponent = exponents[lane] + shift;
            group[lane] += engine::unusual(exponent) ? product : engine::align_away(product, exponent);
          }
        }
        for (std::int64_t i = 0; i < width; ++i) {
          const auto lane = static_cast<std::size_t>(i);
          float& held = sums[static_cast<std::size_t>(column + i)];
          const int first = largest[0][lane];
          const int second = largest[1][lane];
          if (first == 0 && second == 0) continue;
          held = accumulate(held, groups[0][lane], groups[1][lane], first == 0 ? 0 : first + shift,
                            second == 0 ? 0 : second + shift, mode.dst);
        }
      }
    }
  }
}

}  // namespace opwright::sim
