// A database of its own on the server of $OPWRIGHT_TEST_POSTGRESQL (tools/test_postgresql.py), gone with this. For
// tests only.
#pragma once

#include <memory>
#include <string>

#include "store/conformance/store_under_test.h"

namespace opwright::store {

struct ServerPlace : Place {
  virtual std::string url() const = 0;
  // A statement, as the user who may do everything; the first value of its answer, "" none.
  virtual std::string ask(const std::string& sql) = 0;
};

// Why there is no server to test with; "" there is one.
std::string no_server();
std::unique_ptr<ServerPlace> server_place();

}  // namespace opwright::store
