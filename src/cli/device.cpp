#include "device/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "cli/command.h"
#include "cli/device_conform.h"
#include "cli/device_flags.h"
#include "cli/output.h"

namespace opwright::cli {
namespace {

constexpr std::array kFlags{
    Flag{"--oracle", "FILE", "conform: recorded ground truth; more files may follow as arguments", true},
    Flag{"--device", "DEVICE", "conform: the device (default sim, on the board of each record)"},
    kPythonFlag,
    kStartTimeoutFlag,
    Flag{"--op", "OP", "conform: only cases of this operation", true},
    Flag{"--list", "N", "conform: how many disagreements to show (default 10)"},
};

constexpr char kDetails[] =
    "  opwright device list\n"
    "  opwright device conform --oracle calls.jsonl numbers.json\n"
    "  opwright device conform --device ttnn:mock:n150 --oracle calls.jsonl\n\n"
    "list     what devices there are and what they can do\n"
    "conform  agreement of a device with recorded ground truth: which calls are accepted, what they return, how "
    "accurate\n"
    "         the numbers are; each case runs on the board that its record names (docs/formats/oracle.md says how to "
    "make\n"
    "         such a file with the real library)";

// Not rows of the table: what they are shows only when they are started.
constexpr char kPrograms[] =
    "\nand devices that are programs (docs/formats/device-protocol.md):\n"
    "  ttnn             the real library, on whatever the environment selects: hardware or a vendor's simulator\n"
    "  ttnn:mock:BOARD  the real library without hardware: accepts or refuses, computes nothing "
    "('opwright mock --list')\n"
    "  exec:'COMMAND'   any program that speaks the protocol\n"
    "ttnn needs a Python 3.10 or 3.12 that has it: pip install ttnn; --python or $OPWRIGHT_TTNN_PYTHON names it\n";

int list_devices(CommandEnv& env) {
  Table table{{{"device"},
               {"numerics"},
               {"arch"},
               {"chips", true},
               {"grid"},
               {"l1_bank", true},
               {"dram_banks", true},
               {"dram_bank", true}},
              {}};
  for (const Board& board : known_boards()) {
    const auto device = open_device("sim", board);
    table.rows.push_back({device->can().name, name_of(device->can().numerics), name_of(board.arch), board.chips(),
                          fmt::format("{}x{}", board.grid.x, board.grid.y), board.l1_bank, board.dram_banks,
                          board.dram_bank});
  }
  table.rows.push_back(
      {"null", name_of(Numerics::kNone), "", std::int64_t{1}, "", std::int64_t{0}, std::int64_t{0}, std::int64_t{0}});
  print(table, env);
  if (env.format == OutputFormat::kTable) env.out << kPrograms;
  return kExitOk;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  const std::string& what = args.positionals[0];
  if (what == "list") return list_devices(env);
  if (what == "conform") return run_conform(args, env);
  return fail(ErrorCode::kUsage, fmt::format("device has no '{}'; list or conform", what));
}

}  // namespace

const Command kDevice{"device", "List devices, or compare one with recorded ground truth.",
                      kDetails, "list|conform [FILE…]",
                      1,        -1,
                      kFlags,   run,
                      false,    true};

}  // namespace opwright::cli
