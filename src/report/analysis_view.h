// An analysis for people and for scripts.
#pragma once

#include <string>

#include "base/json_object.h"
#include "report/analysis.h"

namespace opwright::report {

struct TextOptions {
  std::size_t clusters = 5;  // of each kind; the others are counted
  std::size_t groups = 10;   // rows of the table of operators
  std::size_t worst = 0;     // cases of each kind with their repeat lines; 0: the least PCC only
  std::size_t width = 100;   // columns: case lines are cut, repeat lines never
};
std::string analysis_text(const Analysis& analysis, const TextOptions& options);
std::string clusters_text(const std::vector<Cluster>& clusters, std::size_t most, std::size_t width);
std::string worst_text(const Analysis& analysis, std::size_t most, std::size_t width);

// docs/formats/json-output.md holds the names.
JsonObject analysis_json(const Analysis& analysis);
std::string clusters_json(const std::vector<Cluster>& clusters);
std::string group_json(const Group& group);

// 0.000123 -> "123 µs", 12.3 -> "12.30 s"
std::string seconds_text(double seconds);
// 0.99998765 -> "0.999988"; enough digits to tell it from 1
std::string pcc_text(double pcc);
// "97.3 %"; never 100 % where something is missing, never 0 % where something is there
std::string share_text(std::int64_t part, std::int64_t whole);

}  // namespace opwright::report
