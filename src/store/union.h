// How two statements about one thing become one, whoever came first: the same for every implementation.
#pragma once

#include <string>
#include <string_view>

#include "model/sequence.h"

namespace opwright::store {

// What two files say about one trace is united; of two answers to one question the smaller text stays: the result does
// not depend on the order of imports. Both are JSON objects, and so is what comes out, with its keys sorted.
std::string joined_facts(std::string_view a, std::string_view b);

// A trace has one sequence. Of the one that is there and one that comes for the same uid: which stays.
enum class Stays {
  kBefore,
  kBeforeRenamed,  // one content from two places: under the smaller name
  kNew
};
Stays what_stays(const Sequence& before, const Sequence& coming);

}  // namespace opwright::store
