// libpq as a library that may not be there (libpq.cpp).
#pragma once

namespace opwright::store::postgresql {

bool libpq_is_there();

}  // namespace opwright::store::postgresql
