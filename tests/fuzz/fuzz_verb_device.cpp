// Any bytes as all that a device program ever says: a case runs on it, and the verb must end with a word about it.
#include "device/external/keeper.h"
#include "verbs.h"

#ifdef OPWRIGHT_LIBFUZZER
// A device program is started by a keeper, which is the same program again.
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  if (*argc == 2 && opwright::kKeeperVerb == (*argv)[1]) std::exit(opwright::keep_program());
  return 0;
}
#endif

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const opwright::fuzz::World& world = opwright::fuzz::World::fresh();
  world.write("said", opwright::fuzz::text_of(data, size));
  world.run({"run", "--device", "exec:cat said", "--format", "json", "--case",
             "ttnn.relu(tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))"});
  return 0;
}
