#include <fmt/format.h>
#include <simdjson.h>
#include <sqlite3.h>
#include <zstd.h>

#include <array>
#include <thread>

#include "base/subprocess.h"
#include "cli/command.h"
#include "cli/doctor_store.h"
#include "cli/output.h"
#include "launch/environment.h"
#include "launch/python_probe.h"
#include "normalize/normalize.h"
#include "normalize/op_filter.h"
#include "store/schema.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--deep", "", "look at all of the store: indexes, references, every text read again and every key made again"},
    Flag{"--repair", "", "save what is sound of a damaged store into a new one (-o), and list what is not"},
    Flag{"--output", "NEW", "--repair: the new store, a file that is not there yet"}, kWaitFlag};

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const int wait, wait_ms(args));
  if (args.is_set("--repair")) return repair_store(args.value("--output"), wait, env);
  if (!args.value("--output").empty())
    return fail(ErrorCode::kUsage, "-o names the store that --repair makes; give --repair too");
  Table table{{{"what"}, {"state"}, {"detail"}}, {}};
  const auto row = [&](std::string what, std::string state, std::string detail) {
    table.rows.push_back({std::move(what), std::move(state), std::move(detail)});
  };
  row("opwright", "ok",
      fmt::format("{}, identity version {}, store schema {}", OPWRIGHT_VERSION, normalize::kKeyVersion,
                  store::kSchemaVersion));
  row("compiler", "ok", fmt::format("{} C++{}", __VERSION__, __cplusplus / 100 % 100));
  row("json parser", "ok",
      fmt::format("simdjson {}, {} kernel", SIMDJSON_STRINGIFY(SIMDJSON_VERSION),
                  simdjson::get_active_implementation()->name()));
  row("sqlite", "ok", sqlite3_libversion());
  row("zstd", "ok", ZSTD_versionString());
  row("cores", "ok", std::to_string(std::thread::hardware_concurrency()));
  row("operations known", "ok", std::to_string(normalize::known_operations().size()));
  const launch::Environment environment(process_environment());
  if (const auto python = launch::find_ttnn({}, environment))
    row("ttnn", "ok",
        fmt::format("{} in {} (Python {}, torch {}); 'opwright mock' runs it without hardware", python->ttnn_version,
                    python->executable, python->version,
                    python->torch_version.empty() ? "not there" : python->torch_version));
  else
    row("ttnn", "none", python.error().message);
  const StoreHealth health = store_health(args.is_set("--deep"), wait, env);
  for (const auto& [state, detail] : health.rows) row("store", state, detail);
  print(table, env);
  return health.sound ? kExitOk : kExitFailed;
}

}  // namespace

const Command kDoctor{"doctor",
                      "What is installed, versions, and whether the store is sound.",
                      "  opwright doctor\n  opwright doctor --deep\n"
                      "  opwright --store damaged.db doctor --repair -o saved.db",
                      "",
                      0,
                      0,
                      kFlags,
                      run};

}  // namespace opwright::cli
