#include "select/file_source.h"

#include "model/test_id.h"

namespace opwright::select {

bool is_of_calls(const store::OccurrenceRow& row) {
  return row.config_hash.empty() || row.extra.find(kOfTestIds) != std::string::npos;
}

std::string source_for_files(const store::OccurrenceRow& row) {
  return is_of_calls(row) ? test_function(row.source) : row.source;
}

}  // namespace opwright::select
