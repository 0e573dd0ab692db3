// A command is data and one function, and its world is handed to it. Help and parsing are made from the same table.
#pragma once

#include <iosfwd>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright::cli {

// Exit codes of every verb (DESIGN §4); how a job ended is jobs/ending.h.
inline constexpr int kExitOk = 0;
inline constexpr int kExitDifference = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitFailed = 3;

enum class OutputFormat { kTable, kJson, kJsonl, kCsv };
enum class Colour { kAuto, kAlways, kNever };

struct Flag {
  std::string_view name;   // "--where"
  std::string_view value;  // "SELECTOR"; "" for a switch
  std::string_view help;
  bool repeatable = false;
};

// The streams that a verb gets are behind a border (base/visible_text.h), which run_command_line() puts there: no verb
// can bring a control character to a terminal, whatever a trace calls its operations. `live()` leads past it, to
// standard error, for the few who move the cursor: they escape what is not their own.
struct CommandEnv {
  std::ostream& out;
  std::ostream& err;
  bool out_is_terminal = false;
  bool err_is_terminal = false;
  int width = 100;  // columns of the terminal
  std::string store;
  OutputFormat format = OutputFormat::kTable;
  bool wide = false;  // tables are as wide as what they hold
  Colour colour = Colour::kAuto;
  bool status_is_programs = false;      // the exit status is that of the user's program, whatever becomes of our output
  std::ostream* past_border = nullptr;  // standard error itself

  std::ostream& live() { return past_border != nullptr ? *past_border : err; }
};

class ParsedArgs {
 public:
  std::vector<std::string> positionals;
  std::vector<std::string> program;  // the words after `--`, untouched, of a verb that runs a program
  std::map<std::string, std::vector<std::string>, std::less<>> values;
  std::map<std::string, bool, std::less<>> switches;

  bool is_set(std::string_view flag) const;
  std::string value(std::string_view flag, std::string_view otherwise = "") const;
  std::vector<std::string> all(std::string_view flag) const;
};

struct Command {
  std::string_view name;  // "perf diff" of a verb of two words
  std::string_view summary;
  std::string_view details;     // what a user should know, with examples
  std::string_view positional;  // "PATH…", "" for none
  int min_positionals = 0;
  int max_positionals = 0;  // -1: any number
  std::span<const Flag> flags;
  Result<int> (*run)(const ParsedArgs& args, CommandEnv& env);
  bool takes_program = false;  // `-- CMD…`: its words are not read as options
  bool reads_input = false;    // takes the flags of limits too (base/limits.h)
};

extern const Command kTrace, kImport, kOps, kStats, kShow, kExport, kVerify, kDiff, kVectors, kRun, kShrink, kResults,
    kReport, kWorker, kKeeper, kDevice, kMock, kTraces, kCalls, kReplay, kForget, kDump, kTrim, kConvert, kReference,
    kGentest, kPerf, kFuse, kDoctor, kCompletion;
// Verbs of two words: each has help and flags of its own.
extern const Command kPerfDiff, kPerfCheck, kPerfRecord, kFuseSuggest, kFuseMake, kFuseCheck, kFuseList;

// Runs a whole command line; argv without the program's name. Never throws. What reaches `world` is harmless text, but
// for the colours and the cursor of the live view.
int run_command_line(const std::vector<std::string>& args, CommandEnv& world);

// The whole number of a flag, or `otherwise`.
Result<std::size_t> count_of(const ParsedArgs& args, std::string_view flag, std::size_t otherwise);
// "--wait 5" -> 5000; the default where the flag is missing.
Result<int> wait_ms(const ParsedArgs& args);
inline constexpr Flag kWaitFlag{"--wait", "SECONDS",
                                "wait this long for another process that writes the store (default 60)"};
inline constexpr Flag kDurableFlag{
    "--durable", "", "wait until the disk has it: what is reported survives a power failure, not only a kill"};
inline constexpr Flag kNoCallsFlag{"--no-calls", "", "keep configurations only, not the calls in their order"};
inline constexpr Flag kWhereFlag{
    "--where", "SELECTOR",
    "only configurations that match, e.g. 'dtype=bfloat8_b and rank=4' (docs/formats/selector.md)"};

}  // namespace opwright::cli
