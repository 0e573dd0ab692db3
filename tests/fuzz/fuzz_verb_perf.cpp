// Any bytes as a profiler report, given to every verb that reads one, and as targets for a report that is sound.
#include "verbs.h"

namespace {

using Words = std::vector<std::string>;

const std::vector<Words>& verbs() {
  static const std::vector<Words> all{
      {"perf", "report", "--windows", "--format", "json"},
      {"perf", "report", "--window", "*", "--all"},
      {"perf", "report", "--window", "*", "--explain", "--format", "json"},
      {"perf", "report", "--window", "*", "--like", "detailed", "--format", "json"},
      {"perf", "report", "sound.csv", "--hosts", "--window", "*", "--format", "json"},
      {"perf", "report", "--window", "*", "--to", "csv", "-o", "rows.csv"},
      {"perf", "report", "--window", "*", "--to", "html", "-o", "page.html", "--against", "sound.csv"},
      {"perf", "report", "--window", "*", "--to", "trace", "-o", "events.json"},
      {"perf", "report", "--window", "*", "--to", "benchmark", "-o", "records.json"},
      {"perf", "diff", "report", "sound.csv", "--window", "*", "--format", "json"},
      {"perf", "diff", "sound.csv", "report", "--window", "*", "--all"},
      {"perf", "diff", "report", "sound.csv", "--window", "*", "--config-only", "--format", "json"},
      {"perf", "check", "report", "--write-targets", "targets.yaml"},
      {"perf", "check", "sound.csv", "--targets", "report", "--format", "json"},
  };
  return all;
}

constexpr std::string_view kSound =
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,CORE COUNT,DEVICE FW DURATION [ns],"
    "DEVICE KERNEL DURATION [ns],OP TO OP LATENCY [ns],HOST START TS,HOST END TS\n"
    "MatmulDeviceOperation,tt_dnn_device,1024,0,wormhole_b0,{},64,21000,20500,600,1000,4000\n"
    "BinaryNgDeviceOperation,tt_dnn_device,2048,0,wormhole_b0,{},64,2500,2000,500,101000,104000\n";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto choice = opwright::fuzz::choose(data, size);
  for (const std::size_t verb : choice.of(verbs().size())) {
    const opwright::fuzz::World& world = opwright::fuzz::World::fresh();
    world.write("report", choice.bytes);
    world.write("sound.csv", kSound);
    world.run(verbs()[verb]);
  }
  return 0;
}
