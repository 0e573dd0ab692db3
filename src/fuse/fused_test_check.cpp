#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fuse/fused_test.h"
#include "model/bound_call.h"

namespace opwright::fuse {
namespace {

bool is_name(std::string_view text) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && letter(text.front()) &&
         std::ranges::all_of(text, [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

tl::unexpected<Error> wrong(std::string what) { return fail(ErrorCode::kBadInput, std::move(what)); }

Status check_source(const FusedTest& test, const Source& source, std::size_t before, const std::string& where) {
  if (source.from == Source::From::kInput) {
    if (source.input >= test.inputs.size())
      return wrong(fmt::format("{} is input {}, of {}", where, source.input, test.inputs.size()));
    return {};
  }
  if (source.call >= before || source.result >= test.calls[source.call].results)
    return wrong(
        fmt::format("{} is result {} of call {}, which no earlier call returns", where, source.result, source.call));
  return {};
}

Status check_call(const FusedTest& test, std::size_t c) {
  const FusedCall& call = test.calls[c];
  const std::string where = fmt::format("calls[{}] ({})", c, call.op);
  if (call.op.empty()) return wrong(where + " names no operation");
  for (std::size_t t = 0; t < call.tensors.size(); ++t)
    OPWRIGHT_TRY(check_source(test, call.tensors[t], c, fmt::format("{}: tensor {}", where, t)));
  if (call.shares.size() != call.results)
    return wrong(fmt::format("{}: {} results and {} entries of shares", where, call.results, call.shares.size()));
  const auto count = static_cast<std::int64_t>(call.tensors.size());
  for (const std::int32_t share : call.shares)
    if (share < -1 || share >= count) return wrong(where + ": a result shares the memory of a tensor it does not take");
  for (const auto* list : {&call.writes, &call.frees})
    for (const std::uint32_t slot : *list)
      if (slot >= call.tensors.size()) return wrong(where + ": it writes or frees a tensor it does not take");
  return {};
}

Status check_set(const FusedTest& test, const ParameterSet& set) {
  const std::string where = fmt::format("sets '{}'", set.id);
  if (set.id.empty()) return wrong("a parameter set has no id");
  if (set.calls.size() != test.calls.size() || set.inputs.size() != test.inputs.size() ||
      set.outputs.size() != test.outputs.size() || set.contents.size() != test.inputs.size())
    return wrong(where + ": calls, inputs, outputs or contents are not as many as the test has");
  for (std::size_t c = 0; c < set.calls.size(); ++c) {
    const CallParameters& call = set.calls[c];
    if (call.config.op != test.calls[c].op)
      return wrong(fmt::format("{}: calls[{}] is {}, the sequence has {}", where, c, call.config.op, test.calls[c].op));
    const BoundCall bound(call.config.op, call.config.convention, call.config.args);
    if (bound.tensors.size() != test.calls[c].tensors.size() || call.results.size() != test.calls[c].results)
      return wrong(fmt::format("{}: calls[{}] has {} tensors and {} results, the sequence {} and {}", where, c,
                               bound.tensors.size(), call.results.size(), test.calls[c].tensors.size(),
                               test.calls[c].results));
  }
  for (const Match& match : set.matches)
    if (match.calls.size() != test.calls.size())
      return wrong(
          fmt::format("{}: a match has {} calls, the sequence {}", where, match.calls.size(), test.calls.size()));
  return {};
}

}  // namespace

std::string_view name_of(Role role) {
  switch (role) {
    case Role::kActivation:
      return "activation";
    case Role::kWeight:
      return "weight";
    case Role::kConstant:
      return "constant";
    case Role::kState:
      return "state";
  }
  return "";
}

std::optional<FirstUse> first_use(const FusedTest& test, std::size_t input) {
  const Source wanted = Source::of_input(input);
  for (std::size_t c = 0; c < test.calls.size(); ++c)
    for (std::size_t t = 0; t < test.calls[c].tensors.size(); ++t)
      if (test.calls[c].tensors[t] == wanted) return FirstUse{c, t};
  return std::nullopt;
}

Status check(const FusedTest& test) {
  if (!is_name(test.name)) return wrong(fmt::format("name '{}': letters, digits and _, as Python takes it", test.name));
  if (test.calls.empty()) return wrong("the test has no calls");
  if (test.sets.empty()) return wrong("the test has no parameter set");
  std::set<std::string_view> names;
  const auto add_name = [&](const std::string& name) -> Status {
    if (!is_name(name)) return wrong(fmt::format("a tensor is named '{}': letters, digits and _", name));
    if (!names.insert(name).second) return wrong(fmt::format("two tensors are named '{}'", name));
    return {};
  };
  for (const FusedInput& input : test.inputs) OPWRIGHT_TRY(add_name(input.name));
  for (std::size_t c = 0; c < test.calls.size(); ++c) OPWRIGHT_TRY(check_call(test, c));
  for (const FusedOutput& output : test.outputs) {
    OPWRIGHT_TRY(add_name(output.name));
    OPWRIGHT_TRY(check_source(test, output.source, test.calls.size(), "output " + output.name));
  }
  std::set<std::string_view> ids;
  for (const ParameterSet& set : test.sets) {
    OPWRIGHT_TRY(check_set(test, set));
    if (!ids.insert(set.id).second) return wrong(fmt::format("two parameter sets are called '{}'", set.id));
  }
  return {};
}

}  // namespace opwright::fuse
