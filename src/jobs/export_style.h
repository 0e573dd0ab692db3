// The text around the configurations of a master file, the same in both eras: Python's json.dump(indent=2).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/json_write.h"
#include "select/selected.h"

namespace opwright::jobs {

inline constexpr int kConfigLevel = 4;  // of a configuration inside {"operations": {op: {"configurations": […]}}}

Error damaged_form(std::string_view text, const json::ParseError& error);
// Writes compact JSON text again in Python's style at a level of nesting.
Status append_styled(std::string& out, const std::string& compact, json::Style style, int level,
                     json::Document& document);

// {"ttnn.add": {"configurations": […]}, …}, written operation by operation.
class OperationsText {
 public:
  void begin(const std::string& op);
  std::string& next();  // where the next configuration goes
  void end();           // an operation without configurations leaves nothing

  std::string text() const;
  std::string summary_json() const;  // {op: configurations}
  std::int64_t count() const { return static_cast<std::int64_t>(summary_.size()); }

 private:
  std::string text_;
  std::string op_;
  std::int64_t in_op_ = 0;
  std::map<std::string, std::int64_t> summary_;
};

// The latest time that any of the traces names; "" when none does. Exports carry no time of their own: the same store
// gives the same bytes.
std::string last_updated(const std::vector<store::TraceRow>& traces);
std::string sources_json(const std::vector<select::Selected>& selected);

}  // namespace opwright::jobs
