// What is generated: files of blocks, and what became of each configuration.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "gentest/blocks.h"

namespace opwright::gentest {

struct GeneratedFile {
  std::string name;     // in the folder
  std::string comment;  // "# "
  std::vector<Block> blocks;
};

struct OperationCounts {
  std::int64_t configurations = 0, generated = 0, expected_to_fail = 0;
};

struct Generated {
  std::vector<GeneratedFile> files;
  std::map<std::string, OperationCounts> operations;
  std::map<std::string, std::int64_t> not_generated;  // reason -> configurations
  std::map<std::string, std::string> examples;        // reason -> the first of them, a case line
  std::map<std::string, std::int64_t> references;     // who computes the right numbers -> configurations
};

}  // namespace opwright::gentest
