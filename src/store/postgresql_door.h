// The door to stores on a server of PostgreSQL. Everybody else sees a Store (store.h), and nobody includes a header of
// store/postgresql/.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace opwright::store {
class Store;
}

namespace opwright::store::postgresql {

Result<std::unique_ptr<Store>> store_at(std::string_view url);
// The url as messages say it: without a password.
std::string shown(std::string_view url);

int schema_version();           // that this build writes
std::string library_version();  // of libpq; "" it is not installed

}  // namespace opwright::store::postgresql
