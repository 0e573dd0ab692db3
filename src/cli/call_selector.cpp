#include "cli/call_selector.h"

#include <fmt/format.h>

#include "format/per_op/convert.h"
#include "normalize/provenance_names.h"
#include "select/evaluate.h"
#include "select/selected.h"

namespace opwright::cli {

CallSelector::CallSelector(format::NativeTrace& trace, const select::Selector& selector)
    : trace_(trace),
      selector_(selector),
      facts_(format::facts_of_run(trace)),
      machine_(normalize::name_machine(facts_.machine)),
      writer_(trace, {.extended = true, .values = false}) {
  if (facts_.machine.empty()) return;
  const auto root = machine_document_.parse(facts_.machine);
  if (root && (*root)->is(json::Kind::kObject)) machine_info_ = *root;
}

bool CallSelector::takes(const format::NativeCall& call) {
  // What a selector can ask about: the call, what it did to its arguments, where it was made, what it raised.
  const Hash128 key{
      static_cast<std::uint64_t>(call.call) << 32 | call.context,
      (format::change_of(call) << 1 | (call.parent == 0 ? 1U : 0U)) ^ (static_cast<std::uint64_t>(call.error) << 32)};
  const auto [entry, added] = known_.try_emplace(key, false);
  if (added) entry->second = decide(call);
  return entry->second;
}

bool CallSelector::decide(const format::NativeCall& call) {
  text_.clear();
  format::ConvertedRecord converted;
  const auto misunderstood = [&] { return ++not_understood_, false; };
  if (!writer_.write(call, 0, text_)) return misunderstood();
  const auto root = document_.parse(text_);
  if (!root || !format::convert_record(**root, machine_info_, converted).empty()) return misunderstood();
  format::LiftNotes notes;
  const auto config = normalizer_.normalize(FormKind::kEra2, (*root)->string_field("operation_name").value_or(""),
                                            converted.arguments, notes);
  if (!config) return misunderstood();
  const std::string source = facts_.source_of(trace_.context(call.context).test);
  const normalize::SourceName name = normalize::name_source(source);
  const std::vector<std::string_view> models{source, name.model, name.hf_model};
  std::vector<std::string_view> machines;
  select::append_machine_names(machine_, machines);
  std::string error;
  if (const format::NativeValue* raised = call.error != 0 ? trace_.values().value(call.error) : nullptr)
    error = fmt::format("{}: {}", format::text_of(raised->find("type")), format::text_of(raised->find("message")));
  return select::matches(selector_, {*config, models, machines, 1, call.raised() ? 1 : 0, error});
}

}  // namespace opwright::cli
