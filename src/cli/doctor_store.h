// The store looked after: is it sound, and what can be saved of one that is not.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/command.h"

namespace opwright::cli {

struct StoreHealth {
  bool sound = true;                                      // also where there is none
  std::vector<std::pair<std::string, std::string>> rows;  // state (ok, none, bad) and detail
};

// Rows and their checksums; `deep`: all that can be checked.
StoreHealth store_health(bool deep, int wait_ms, const CommandEnv& env);

// Exit code 0: all of the store is in the new one; 1: some of it could not be saved, and is listed.
Result<int> repair_store(const std::string& target, int wait_ms, CommandEnv& env);

}  // namespace opwright::cli
