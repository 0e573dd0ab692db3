#include "exec/planted_device.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <iterator>
#include <optional>
#include <stdexcept>

#include "base/near_names.h"
#include "exec/call_condition.h"
#include "exec/call_facts.h"

namespace opwright {
namespace {

constexpr std::string_view kPrefix = "planted:";
constexpr std::string_view kIf = " if ";
constexpr std::string_view kAfter = " after ";
constexpr std::string_view kNumber = ".value";
constexpr std::array<std::string_view, 6> kEffects{"wrong", "tail", "refuse", "throw", "crash", "hang"};

struct Fault {
  std::string effect;
  CallCondition when;
  std::vector<Need> numbers;  // of the data: "input_tensor.value > 2"
  std::optional<CallCondition> after;
};

Result<Fault> parse_fault(std::string_view text) {
  const std::size_t at = text.find(kIf);
  Fault fault;
  fault.effect = text.substr(0, at);
  if (at == std::string_view::npos || std::ranges::find(kEffects, fault.effect) == kEffects.end())
    return fail(ErrorCode::kUsage,
                fmt::format("{}{}: EFFECT if CONDITION, with an effect of wrong, tail, refuse, throw, "
                            "crash or hang{}",
                            kPrefix, text, did_you_mean(near_names(fault.effect, kEffects))));
  std::string_view when = text.substr(at + kIf.size());
  if (const std::size_t after = when.find(kAfter); after != std::string_view::npos) {
    OPWRIGHT_TRY_ASSIGN(fault.after, parse_condition(when.substr(after + kAfter.size())));
    when = when.substr(0, after);
  }
  OPWRIGHT_TRY_ASSIGN(fault.when, parse_condition(when));
  const auto is_number = [](const Need& need) { return need.fact.ends_with(kNumber); };
  std::ranges::copy_if(fault.when.needs, std::back_inserter(fault.numbers), is_number);
  std::erase_if(fault.when.needs, is_number);
  return fault;
}

class PlantedDevice : public Device {
 public:
  PlantedDevice(std::string_view name, Fault fault)
      : inner_(open_device("sim", *find_board("n150"))), can_(inner_->can()), fault_(std::move(fault)) {
    can_.name = name;
  }

  const Capabilities& can() const override { return can_; }
  Checked<MemoryReport> admit(const DeviceCall& call) override { return inner_->admit(call); }

  Checked<DeviceResult> run(const DeviceCall& call, std::span<const HostTensor> inputs) override {
    const bool now =
        holds(fault_.when, call.call.op, call.call.args) && (!fault_.after || begun_) && is_fed(call.call, inputs);
    if (fault_.after && holds(*fault_.after, call.call.op, call.call.args)) begun_ = true;
    if (now && fault_.effect == "refuse") return refuse("the planted fault refuses this call");
    if (now && fault_.effect == "throw") throw std::runtime_error("the planted fault threw");
    if (now && fault_.effect == "crash") {
      std::signal(SIGSEGV, SIG_DFL);
      raise(SIGSEGV);
    }
    while (now && fault_.effect == "hang") pause();
    auto result = inner_->run(call, inputs);
    if (now && result)
      for (HostTensor& output : result->outputs) spoil(output);
    return result;
  }

 private:
  // Each condition on numbers holds for one of them.
  bool is_fed(const BoundCall& call, std::span<const HostTensor> inputs) const {
    return std::ranges::all_of(fault_.numbers, [&](const Need& need) {
      const std::string_view input = std::string_view(need.fact).substr(0, need.fact.size() - kNumber.size());
      const auto limit = number_of(need.value);
      const auto slot = call.slot(input);
      if (!limit || !slot || *slot >= inputs.size()) return false;
      return std::ranges::any_of(inputs[*slot].floats, [&](float number) {
        return need.is == Need::Is::kMore ? number > *limit : need.is == Need::Is::kLess && number < *limit;
      });
    });
  }

  void spoil(HostTensor& output) const {
    const bool tail = fault_.effect == "tail";
    const auto change = [&](auto& values, auto by) {
      for (std::size_t i = tail && !values.empty() ? values.size() - 1 : 0; i < values.size(); ++i)
        values[i] = values[i] + by;
    };
    change(output.floats, 16.0F);
    change(output.ints, 1);
  }

  std::unique_ptr<Device> inner_;
  Capabilities can_;
  Fault fault_;
  bool begun_ = false;  // the earlier call was made
};

}  // namespace

bool is_planted_device(std::string_view name) { return name.starts_with(kPrefix); }

Result<std::unique_ptr<Device>> open_planted_device(std::string_view name) {
  OPWRIGHT_TRY_ASSIGN(Fault fault, parse_fault(name.substr(kPrefix.size())));
  return std::make_unique<PlantedDevice>(name, std::move(fault));
}

}  // namespace opwright
