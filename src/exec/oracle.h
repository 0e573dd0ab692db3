// Recorded ground truth: calls with what the real library answered to them. Formats: docs/formats/oracle.md.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "dialect/ttnn/board.h"
#include "dialect/ttnn/tensor_layout.h"
#include "model/host_tensor.h"
#include "model/op_config.h"

namespace opwright {

// How accurate the real kernels were on one output of a call.
struct OracleAccuracy {
  std::size_t output = 0;
  double nrmse = 0;  // rms(error) / std(exact)
  double pcc = 1;
  std::string distribution;
  std::string part;  // which elements were compared, where not all: "written rows only; …"
};

struct OracleCase {
  std::string id;
  OpConfig config;
  Board board;
  enum class Answer : std::uint8_t { kOk, kError, kCrash } answer = Answer::kOk;
  std::vector<OutputSpec> outputs;  // of an accepted call
  bool has_outputs = false;
  std::string stage;    // "input": refused while an input was made, "call"
  std::string message;  // of the error
  std::string kind;     // of the mutation; "" for a real configuration
  bool guessed = false;
  std::optional<OracleAccuracy> accuracy;
  std::string not_run;  // why the record has no figures, where it should: a limit of what it was made with

  // What the real kernels computed from these inputs; empty when the record has no values.
  std::vector<HostTensor> inputs;
  std::vector<HostTensor> results;
};

// Reads a file of either form (JSON lines of calls, or an index of numeric cases beside its .bin) and hands each case
// over. A line that is no case is an error naming the line.
Status read_oracle(const std::string& path, const std::function<Status(OracleCase&&)>& use);

}  // namespace opwright
