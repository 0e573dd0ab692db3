// The index of numeric cases writes calls in short: inputs, outputs and a few keywords. What each of them stands for, a
// row an operation. An operation without a row takes its inputs as arg0, arg1, … and its keywords as they are.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace opwright {

enum class From : std::uint8_t {
  kNothing,      // behind the last argument of a row
  kInput,        // input number `at`, which the call must have
  kInputIf,      // the same, where it has so many
  kInputTwice,   // a list of the first input and itself
  kIds,          // keyword `key`, a list of integers, as a tensor of ids in front of the inputs, which are row major
  kNumber,       // keyword `key`
  kNumbers,      // keyword `key`, a list
  kItem,         // number `at` of that list
  kOne,          // 1
  kOnes,         // [1, 1]
  kZeros,        // a zero for each dimension of the first input
  kResultShape,  // the shape of the first output
  kGrowth,       // how much longer each dimension of the first output is, as pairs: before, behind
  kTimes,        // how many times as long it is
  kLastResult,   // the last element of the first output: the index does not name the value that was padded with
  kRowMajor,     // Layout.ROW_MAJOR
  kFalse,
};

struct SpelledArgument {
  std::string_view name;
  From from = From::kNothing;
  std::string_view key = {};
  std::size_t at = 0;
};

struct Spelling {
  std::string_view op;
  std::array<SpelledArgument, 10> arguments;
  bool whole = false;  // no other keyword of the case is an argument
};

inline constexpr std::array kSpellings{
    Spelling{"ttnn.concat", {{{"arg0", From::kInputTwice}}}},
    Spelling{"ttnn.conv2d",
             {{{"input_tensor", From::kInput, "", 0},
               {"weight_tensor", From::kInput, "", 1},
               {"in_channels", From::kNumber, "in_channels"},
               {"out_channels", From::kNumber, "out_channels"},
               {"batch_size", From::kOne},
               {"input_height", From::kItem, "input_hw", 0},
               {"input_width", From::kItem, "input_hw", 1},
               {"kernel_size", From::kNumbers, "kernel"},
               {"stride", From::kOnes},
               {"padding", From::kNumbers, "padding"}}},
             true},
    Spelling{"ttnn.embedding", {{{"arg0", From::kIds, "indices"}, {"arg1", From::kInput, "", 1}}}, true},
    Spelling{"ttnn.experimental.nlp_create_qkv_heads",
             {{{"arg0", From::kInput, "", 0}, {"arg1", From::kInputIf, "", 1}, {"transpose_k_heads", From::kFalse}}}},
    Spelling{"ttnn.layer_norm",
             {{{"arg0", From::kInput, "", 0}, {"weight", From::kInputIf, "", 1}, {"bias", From::kInputIf, "", 2}}}},
    Spelling{"ttnn.linear",
             {{{"arg0", From::kInput, "", 0}, {"arg1", From::kInputIf, "", 1}, {"bias", From::kInputIf, "", 2}}}},
    Spelling{"ttnn.max_pool2d",
             {{{"input_tensor", From::kInput, "", 0},
               {"batch_size", From::kOne},
               {"input_h", From::kItem, "input_hw", 0},
               {"input_w", From::kItem, "input_hw", 1},
               {"channels", From::kNumber, "channels"},
               {"kernel_size", From::kNumbers, "kernel"},
               {"stride", From::kNumbers, "stride"},
               {"padding", From::kNumbers, "padding"},
               {"dilation", From::kOnes}}},
             true},
    Spelling{"ttnn.pad", {{{"arg0", From::kInput, "", 0}, {"arg1", From::kGrowth}, {"arg2", From::kLastResult}}}},
    Spelling{"ttnn.repeat", {{{"arg0", From::kInput, "", 0}, {"arg1", From::kTimes}}}},
    Spelling{"ttnn.reshape", {{{"arg0", From::kInput, "", 0}, {"arg1", From::kResultShape}}}},
    Spelling{"ttnn.rms_norm",
             {{{"arg0", From::kInput, "", 0}, {"weight", From::kInputIf, "", 1}, {"bias", From::kInputIf, "", 2}}}},
    Spelling{"ttnn.slice", {{{"arg0", From::kInput, "", 0}, {"arg1", From::kZeros}, {"arg2", From::kResultShape}}}},
    Spelling{"ttnn.to_layout", {{{"arg0", From::kInput, "", 0}, {"arg1", From::kRowMajor}}}},
    Spelling{"ttnn.transpose",
             {{{"arg0", From::kInput, "", 0}, {"arg1", From::kItem, "dims", 0}, {"arg2", From::kItem, "dims", 1}}}},
};

}  // namespace opwright
