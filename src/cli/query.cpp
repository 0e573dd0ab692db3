#include "cli/query.h"

namespace opwright::cli {

Result<std::unique_ptr<store::Reader>> open_store(const ParsedArgs& args, const CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  return jobs::open_reader(env.store, wait);
}

Result<select::Selector> selector_of(const ParsedArgs& args) { return jobs::parse_where(args.value("--where")); }

Result<jobs::Question> question_of(const ParsedArgs& args, const CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  return jobs::Question{env.store, wait, args.value("--where")};
}

}  // namespace opwright::cli
