// Values of a tensor as a device stores them, so that a replay takes no more memory than the model did: two bytes of a
// bfloat16, a byte and the sixteenth part of an exponent of a BFLOAT8_B. Nothing is lost: what a form cannot hold bit
// by bit is kept in a wider one.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/host_tensor.h"

namespace opwright::replay {

// Values without a shape, expanded: in logical order, row major. Which of the two holds them is told by the dtype.
struct Values {
  std::vector<float> floats;
  std::vector<std::int64_t> ints;

  std::size_t size() const { return floats.size() + ints.size(); }
};

class Packed {
 public:
  enum class Form : std::uint8_t {
    kFloat32,
    kBfloat16,
    kBlock8,  // 16 neighbours share an exponent: a sign and 7 bits each …
    kBlock4,  // … or 3
    kUint8,
    kUint16,
    kUint32,
    kInt32,
    kInt64,
  };

  Packed() = default;
  // The smallest form that holds them all. `row`: elements of a row of the tensor, in which block floats share
  // exponents.
  Packed(const Values& values, DType dtype, std::int64_t row);

  // Grows by some more values, where the whole would be too much at a time; `all` of them are to come.
  void reserve(DType dtype, std::int64_t row, std::size_t all);
  void append(std::span<const float> values);

  Values expanded() const;
  // Elements from `first` on, of float forms.
  void expand(std::size_t first, std::span<float> out) const;

  std::size_t size() const { return count_; }
  std::size_t bytes() const { return bytes_.capacity(); }
  Form form() const { return form_; }
  bool integer() const { return form_ >= Form::kUint8; }
  double at(std::size_t i) const;

 private:
  void widen(Form form);
  bool pack(std::span<const float> values);

  std::vector<std::uint8_t> bytes_;
  std::size_t count_ = 0;
  Form form_ = Form::kFloat32;
};

}  // namespace opwright::replay
