// Sequences of a store on a server, as they are read.
#pragma once

#include <string>
#include <vector>

#include "store/postgresql/connection.h"
#include "store/rows.h"

namespace opwright::store::postgresql {

// All of them, newest first.
Result<std::vector<SequenceRow>> read_sequences(Connection& connection);
// The native trace, checked as a whole.
Result<std::string> read_trace_bytes(Connection& connection, const SequenceRow& row);

}  // namespace opwright::store::postgresql
