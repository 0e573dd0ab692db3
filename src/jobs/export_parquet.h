// Configurations as Parquet. The file is written by the Python package, where pyarrow is: no part of this program.
#pragma once

#include <string>

#include "base/result.h"
#include "jobs/question.h"

namespace opwright::jobs {

// Runs `python -m opwright.parquet` to its end, with our package in front and this program for its questions; its exit
// status. `python` "": python3 or python on PATH. What it prints is its own, and says how to install what is missing.
Result<int> export_parquet(const Question& question, const std::string& file, const std::string& python);

}  // namespace opwright::jobs
