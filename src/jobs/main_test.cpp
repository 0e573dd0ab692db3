#include <unistd.h>

#include <string_view>

#include "device/external/keeper_test_main.h"
#include "exec/worker.h"

// Runs start workers, which are the same program again.
int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "worker") return opwright::serve_worker(STDIN_FILENO, STDOUT_FILENO);
  return opwright::keep_or_test(argc, argv);
}
