#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "device/sim/gemm_kernel.h"

namespace opwright::sim::engine {

namespace {

struct Operand {
  std::int64_t sign = 0;
  int exponent = 0;              // 0: zero
  std::int64_t significand = 0;  // 11 bits
};
Operand operand_of(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  Operand operand;
  operand.exponent = static_cast<int>(bits >> 23 & 0xFF);
  operand.sign = operand.exponent == 0 ? 0 : bits >> 31;
  operand.significand = (bits >> 13 & 0x3FF) | 0x400;
  return operand;
}

struct Term {
  int exponent = 0;
  std::int64_t value = 0;  // units of 2^-23 of the exponent
};

// x / 2^shift, to nearest; ties go up.
std::int64_t shift_up(std::int64_t x, int shift) {
  if (shift == 0) return x;
  return shift < 31 ? (x + (std::int64_t{1} << (shift - 1))) >> shift : 0;
}
std::int64_t shift_away(std::int64_t x, int shift) { return x < 0 ? -shift_up(-x, shift) : shift_up(x, shift); }

Term add_products(const Operand* in0, const Operand* in1, int phase) {
  Term term;
  int exponents[kGroup];
  for (std::int64_t i = 0; i < kGroup; ++i) {
    const bool zero = in0[i].exponent == 0 || in1[i].exponent == 0;
    exponents[i] = zero ? 0 : in0[i].exponent + in1[i].exponent - 127 - phase_shift(phase);
    term.exponent = std::max(term.exponent, exponents[i]);
  }
  if (term.exponent <= 0) return Term{};
  for (std::int64_t i = 0; i < kGroup; ++i) {
    if (in0[i].exponent == 0 || in1[i].exponent == 0) continue;
    const std::int64_t left = (phase & 2) != 0 ? (in0[i].significand & 15) << 3 : in0[i].significand >> 4;
    const std::int64_t right = (phase & 1) != 0 ? in1[i].significand >> 1 & 31 : in1[i].significand >> 6;
    const std::int64_t product = shift_up(left * right, std::min(term.exponent - exponents[i], 30));
    term.value += in0[i].sign != in1[i].sign ? -product : product;
  }
  term.value *= std::int64_t{1} << (kFp32Bits - kProductBits);
  return term;
}

float accumulate(float dst, const Term& term0, const Term& term1, bool fp32) {
  const auto bits = std::bit_cast<std::uint32_t>(dst);
  const int own = static_cast<int>(bits >> 23 & 0xFF);
  std::int64_t value = own == 0 ? 0 : (bits & 0x7FFFFF) | 0x800000;
  if (bits >> 31 != 0) value = -value;
  const int exponent = std::max({term0.exponent, term1.exponent, own});
  if (exponent <= 0) return 0.0F;
  std::int64_t a = shift_up(term0.value, exponent - term0.exponent);
  std::int64_t b = shift_up(term1.value, exponent - term1.exponent);
  std::int64_t c = shift_away(value, exponent - own);
  constexpr int kDropped = kFp32Bits - kProductBits;
  if (!fp32) {
    a = shift_up(a, kDropped);
    b = shift_up(b, kDropped);
    c = shift_away(c, kDropped);
  }
  const std::int64_t total = a + b + c;
  if (total == 0) return 0.0F;
  const int width = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(std::llabs(total))));
  const int excess = std::max(width - (fp32 ? 24 : 8), 0);
  const double rounded = std::ldexp(static_cast<double>(shift_away(total, excess)), excess);
  const double result = std::ldexp(rounded, exponent - 127 - (fp32 ? kFp32Bits : kProductBits));
  if (std::fabs(result) < 0x1p-126) return 0.0F;
  return static_cast<float>(result);  // beyond the largest number: Inf
}

}  // namespace

void run_exact(const Gemm& job, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns,
               std::int64_t k, std::int64_t tiles, float* dst, std::int64_t stride) {
  const auto in0_at = [&](std::int64_t i, std::int64_t l) {
    return l < job.k ? (job.transpose_a ? job.a[l * job.lda + i] : job.a[i * job.lda + l]) : 0.0F;
  };
  const auto in1_at = [&](std::int64_t l, std::int64_t j) {
    return l < job.k ? (job.transpose_b ? job.b[j * job.ldb + l] : job.b[l * job.ldb + j]) : 0.0F;
  };
  const int phases = phases_of(job.config.fidelity);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      float& value = dst[i * stride + j];
      for (std::int64_t tile = k; tile < k + tiles * kTile; tile += kTile) {
        Operand in0[kTile];
        Operand in1[kTile];
        for (std::int64_t l = 0; l < kTile; ++l) {
          in0[l] = operand_of(in0_at(row + i, tile + l));
          in1[l] = operand_of(in1_at(tile + l, column + j));
        }
        for (int phase = 0; phase < phases; ++phase) {
          for (std::int64_t step = 0; step < kTile; step += kStep) {
            const Term term0 = add_products(in0 + step, in1 + step, phase);
            const Term term1 = add_products(in0 + step + kGroup, in1 + step + kGroup, phase);
            value = accumulate(value, term0, term1, job.config.fp32_acc);
          }
        }
      }
    }
  }
}

float multiply_accumulate(float source_a, float source_b, float dst, int phase, bool fp32) {
  Operand in0[kGroup];
  Operand in1[kGroup];
  in0[0] = operand_of(source_b);
  in1[0] = operand_of(source_a);
  return accumulate(dst, add_products(in0, in1, phase), Term{}, fp32);
}

float add_sources(float source_a, float source_b, bool fp32) {
  Operand larger = operand_of(source_a);
  Operand smaller = operand_of(source_b);
  if (larger.exponent == 0) larger.significand = 0;
  if (smaller.exponent == 0) smaller.significand = 0;
  if (larger.exponent < smaller.exponent ||
      (larger.exponent == smaller.exponent && larger.significand < smaller.significand)) {
    std::swap(larger, smaller);
  }
  const std::int64_t shifted = shift_up(smaller.significand, std::min(larger.exponent - smaller.exponent, 31));
  Term term;
  term.exponent = larger.exponent;
  term.value = (larger.sign == smaller.sign ? larger.significand + shifted : larger.significand - shifted)
               << (kFp32Bits - kProductBits);
  if (larger.sign != 0) term.value = -term.value;
  return accumulate(0.0F, term, Term{}, fp32);
}

}  // namespace opwright::sim::engine
