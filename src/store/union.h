// How two statements about one thing become one, whoever came first: the same for every implementation.
#pragma once

#include <string>
#include <string_view>

namespace opwright::store {

// What two files say about one trace is united; of two answers to one question the smaller text stays: the result does
// not depend on the order of imports. Both are JSON objects, and so is what comes out, with its keys sorted.
std::string joined_facts(std::string_view a, std::string_view b);

}  // namespace opwright::store
