// One call of a replay: its inputs gathered, run on the device, judged twice, its outputs handed to the table.
#pragma once

#include <memory>
#include <unordered_map>
#include <unordered_set>

#include "replay/chain.h"
#include "replay/known_calls.h"
#include "replay/lent_values.h"
#include "replay/outside_data.h"
#include "replay/recorded_results.h"
#include "replay/replay.h"

namespace opwright::replay {

class CallRunner {
 public:
  CallRunner(format::NativeTrace& trace, Device& device, const Options& options, Report& report);

  LiveTensors& table() { return table_; }
  OutsideData& outside() { return outside_; }
  HeldBytes& held() { return held_; }

  // Nothing that an earlier test made is used in this one, where the trace does not say which tensor is which.
  void begin_test(std::string_view test);
  // Nobody knows when a tensor is used last: the latest of each spec stays.
  bool keeps_latest() const { return options_.assume_recent && flow_ != DataFlow::kRecorded; }

  void run(const format::NativeCall& call, KnownCall& known, Step& step);
  // The first result holds what the first argument does, in its own shape and dtype.
  void carry(const format::NativeCall& call, const KnownCall& known, Step& step);
  // What a call takes from outside, made although it does not run; tensors in `others` are somebody else's to make.
  void supply(const format::NativeCall& call, const KnownCall& known, const std::unordered_set<std::uint64_t>& others);
  // Results of a call that nobody ran, and tensors that it wrote.
  void leave_open(const format::NativeCall& call, const KnownCall& known);

 private:
  struct Input {
    std::uint64_t id = 0;
    Content* content = nullptr;
    std::unique_ptr<Content> own;  // of a tensor that the table does not know
  };
  struct Gathered {
    const BoundCall* call = nullptr;
    BoundCall sent;                                   // where nobody here knows the operator
    const std::vector<std::size_t>* slots = nullptr;  // of its tensors, among the recorded ones
    std::vector<Input> inputs;
    std::vector<HostTensor> expanded;  // what the device was given; empty where the chain cannot go on from it
  };

  bool resolve(const format::NativeCall& call, const KnownCall& known, const std::vector<std::size_t>& slots,
               Gathered& gathered, Step& step);
  void fetch(const format::NativeCall& call, const KnownCall& known, const std::vector<std::size_t>& slots,
             Gathered& gathered, Step& step);
  void keep_outside(std::uint64_t id, const KnownCall& known, const TensorSpec& spec, std::size_t slot, Content made);
  bool too_large(const KnownCall& known, const BoundCall& call, Step& step) const;
  CaseResult execute(KnownCall& known, Gathered& gathered, std::vector<Values>* exact);
  CaseResult compute(KnownCall& known, Gathered& gathered, const RunOptions& how);
  std::vector<HostTensor> lent(const KnownCall& known, const Gathered& gathered, Whose whose) const;
  void time_call(const KnownCall& known, const CaseResult& result, const RunOptions& how,
                 const std::vector<HostTensor>* inputs);
  void take_outputs(const format::NativeCall& call, const KnownCall& known, CaseResult& result, Gathered& gathered,
                    std::vector<Values>& exact, Step& step);
  std::vector<HostTensor> chain_inputs(const KnownCall& known, Gathered& gathered) const;
  void follow(const KnownCall& known, Gathered& gathered, const CaseResult& result, const std::vector<Values>& actual,
              std::vector<Values>& exact, std::vector<Content>& made, Step& step);
  static bool exact_holds(const Gathered& gathered);
  void compare(const format::NativeCall& call, std::size_t place, bool of_result, const TensorSpec& spec,
               const Content& content, const Values& values, Step& step);
  void remember_result(std::uint64_t id, const TensorSpec& spec);

  format::NativeTrace& trace_;
  Device& device_;
  const Options& options_;
  Report& report_;
  HeldBytes held_;
  LiveTensors table_;
  OutsideData outside_;
  RecordedResults recorded_;
  DataFlow flow_;
  struct Candidates {
    std::uint64_t latest = 0;
    std::int64_t results = 0;
  };
  std::optional<CasePerf> perf_;                // of the call that ran last
  std::unordered_set<std::uint64_t> accepted_;  // results on a device without numbers: nothing is held of them
  std::string test_;
  std::unordered_map<std::string, Candidates> by_spec_;  // where the trace does not say which tensor is which
};

}  // namespace opwright::replay
