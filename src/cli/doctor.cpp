#include <fmt/format.h>
#include <simdjson.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <zstd.h>

#include <array>
#include <thread>

#include "base/subprocess.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/query.h"
#include "launch/environment.h"
#include "launch/python_probe.h"
#include "normalize/normalize.h"
#include "normalize/op_filter.h"
#include "store/reader.h"
#include "store/schema.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{kWaitFlag};

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  Table table{{{"what"}, {"state"}, {"detail"}}, {}};
  bool healthy = true;
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
  struct stat info{};
  if (stat(env.store.c_str(), &info) != 0) {
    row("store", "none", env.store + ": not there yet; the first import makes it");
  } else {
    auto reader = open_store(args, env);
    auto totals = reader ? reader->totals() : Result<store::Totals>(fail(reader.error()));
    auto intact = reader ? reader->check() : Status(fail(reader.error()));
    if (!totals || !intact) {
      healthy = false;
      row("store", "bad", (!totals ? totals.error() : intact.error()).message);
    } else {
      row("store", "ok",
          fmt::format("{}: schema {}{}, {} of {}, {}, {}, intact", env.store, totals->schema,
                      totals->schema < store::kSchemaVersion ? " (the next import brings it up to date)" : "",
                      plural(totals->configurations, "configuration"), plural(totals->operations, "operation"),
                      plural(totals->traces, "trace"), size_text(totals->bytes)));
    }
  }
  print(table, env);
  return healthy ? kExitOk : kExitFailed;
}

}  // namespace

const Command kDoctor{"doctor", "What is installed, versions, and whether the store is sound.", "", "", 0, 0, kFlags,
                      run};

}  // namespace opwright::cli
