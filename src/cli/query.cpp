#include "cli/query.h"

namespace opwright::cli {

Result<store::Reader> open_store(const ParsedArgs& args, const CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  return store::Reader::open(env.store, wait, identity_of_this_build());
}

Result<select::Selector> selector_of(const ParsedArgs& args) {
  const std::string text = args.value("--where");
  if (text.empty()) return select::Selector{};
  return select::parse_selector(text);
}

}  // namespace opwright::cli
