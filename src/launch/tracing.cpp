#include "launch/tracing.h"

#include "base/json_write.h"
#include "launch/python_package.h"

namespace opwright::launch {
namespace {

std::string options_json(const TraceOptions& options) {
  std::string text;
  const auto add = [&text](std::string_view name, const std::string& value) {
    if (value.empty()) return;
    text += text.empty() ? "{" : ", ";
    json::append_quoted(text, name);
    text += ": ";
    json::append_quoted(text, value);
  };
  add("only", options.only);
  add("phase", options.phase);
  add("first", options.first);
  add("values", options.values);
  add("max_overhead", options.max_overhead);
  add("device_ops", options.device_ops ? "1" : "");
  add("per_test", options.per_test ? "1" : "");
  return text.empty() ? "{}" : text + "}";
}

}  // namespace

Status add_tracing(Environment& environment, const TraceOptions& options) {
  OPWRIGHT_TRY(add_bootstrap(environment));
  environment.set("OPWRIGHT_TRACE", options.folder, "where the trace goes, one file a process");
  environment.set("OPWRIGHT_TRACE_OPTIONS", options_json(options), "what is recorded");
  environment.set("OPWRIGHT_TRACE_UID", options.uid, "the name of this run");
  return {};
}

}  // namespace opwright::launch
