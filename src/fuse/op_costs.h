// What each kind of call of a trace makes and takes, found out once: bytes of its results, time of its kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dialect/ttnn/board.h"
#include "fuse/call_graph.h"
#include "replay/known_calls.h"

namespace opwright::fuse {

struct CallCosts {
  std::vector<std::int64_t> results;  // bytes on one chip
  std::vector<std::int64_t> arguments;
  double move_ns = 0;     // of its results: written and read again, at the best rate of where they lie
  double kernel_ns = 0;   // modelled, or measured
  bool is_known = false;  // whether there is a time
  bool is_heavy = false;  // a product or convolution: what a fused kernel is built around
  bool is_attention = false;
  std::string key;  // of its configuration
};

class OpCosts {
 public:
  OpCosts(format::NativeTrace& trace, const CallGraph& graph, const Board& board)
      : graph_(graph), board_(board), known_(trace, board, Layout::kAbsent, true) {}

  const CallCosts& of(NodeIndex node);
  const std::string& key_of(NodeIndex node) { return of(node).key; }
  // Measured times instead of modelled ones, by the name of the device operation; mean of a row.
  void use_measured(std::unordered_map<std::string, double> ns_by_class) { measured_ = std::move(ns_by_class); }
  double gap_ns() const;
  double dram_rate() const;  // bytes a ns
  replay::KnownCalls& known() { return known_; }

 private:
  CallCosts find(NodeIndex node);

  const CallGraph& graph_;
  Board board_;
  replay::KnownCalls known_;
  std::unordered_map<std::uint32_t, CallCosts> costs_;  // by kind
  std::unordered_map<std::string, double> measured_;
};

}  // namespace opwright::fuse
