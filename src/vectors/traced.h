// Recorded configurations of a store as test vectors.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "select/selected.h"
#include "vectors/groups.h"
#include "vectors/test_vector.h"

namespace opwright::vectors {

// Calls `use` once for each operation that has matches, in the order of names, with the vectors of its matching
// configurations in the order of keys (then groups). With a group a configuration is one vector for each mesh or
// hardware it was seen on, without one it is one vector.
using UseOperation = std::function<Status(const std::string& op, std::vector<TestVector>&& vectors)>;
Status for_each_traced_operation(store::Reader& reader, const select::Selector& selector, GroupBy group,
                                 const std::string& suite, const UseOperation& use);

// `selector` and one of these operations; names as people write them. No name: the selector as it is.
Result<select::Selector> with_ops(const select::Selector& selector, const std::vector<std::string>& ops);

}  // namespace opwright::vectors
