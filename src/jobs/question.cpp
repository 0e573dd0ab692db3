#include "jobs/question.h"

#include "store/store.h"

namespace opwright::jobs {

Result<std::unique_ptr<store::Reader>> open_reader(const std::string& store, int wait_ms) {
  return store::open_reader(store, wait_ms, select::identity_of_this_build());
}

Result<select::Selector> parse_where(const std::string& where) {
  if (where.empty()) return select::Selector{};
  return select::parse_selector(where);
}

}  // namespace opwright::jobs
