// Where a server is, as --store names it. What messages say of it has no password.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace opwright::store::postgresql {

struct Address {
  std::vector<std::pair<std::string, std::string>> parameters;  // of libpq
  std::string shown;                                            // postgresql://user@host:port/database
};

// Reads postgresql://… in any of the ways that libpq knows.
Result<Address> parse_address(std::string_view url);

}  // namespace opwright::store::postgresql
