// The store and the selector of a command line.
#pragma once

#include "cli/command.h"
#include "jobs/question.h"

namespace opwright::cli {

using select::append_machine_names;
using select::for_each_selected;
using select::identity_of_this_build;
using select::select_all;
using select::Selected;

// The store of the command line, for asking.
Result<std::unique_ptr<store::Reader>> open_store(const ParsedArgs& args, const CommandEnv& env);

Result<select::Selector> selector_of(const ParsedArgs& args);
// Both, for work that opens the store itself.
Result<jobs::Question> question_of(const ParsedArgs& args, const CommandEnv& env);

// What to select, and the operation that it must be: "" any.
struct Part {
  select::Selector selector;
  std::string op;
};
// Of `[OP] --where`: one for each operation of the store that OP names (`add`, `ttnn.add`, `ttnn::add`); the error says
// which names are near.
Result<std::vector<Part>> parts_of(const ParsedArgs& args, store::Reader& reader);

}  // namespace opwright::cli
