// The command line: the table of commands turned into a CLI11 parser. The only file that knows CLI11.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>

#include "base/limits.h"
#include "base/near_names.h"
#include "base/secrets.h"
#include "base/text.h"
#include "base/visible_text.h"
#include "cli/command.h"
#include "cli/command_table.h"
#include "jobs/ending.h"
#include "store/store.h"

namespace opwright::cli {
namespace {

constexpr std::array kCommands{&kTrace,   &kImport,    &kOps,     &kStats,   &kShow,   &kExport, &kVerify,
                               &kVectors, &kRun,       &kShrink,  &kResults, &kReport, &kDevice, &kDiff,
                               &kMock,    &kTraces,    &kCalls,   &kReplay,  &kForget, &kDump,   &kTrim,
                               &kConvert, &kReference, &kGentest, &kPerf,    &kFuse,   &kDoctor, &kCompletion};
// Started by other commands, not by people: in no list.
constexpr std::array kHidden{&kWorker, &kKeeper};
// `perf diff`: two words, which `perf` alone would take for files.
constexpr std::array kNested{&kPerfDiff, &kPerfCheck, &kPerfRecord, &kFuseSuggest, &kFuseMake, &kFuseCheck, &kFuseList};

int exit_code(const Error& error) { return jobs::exit_code(jobs::ending_of(error)); }

// A message may hold lines of others, such as the last words of a device program: they are indented, so that none looks
// like a line of ours.
int complain(const Error& error, CommandEnv& env) {
  std::string text;
  for (const char c : masked(error.message)) text += c == '\n' ? std::string("\n  ") : std::string(1, c);
  env.err << "opwright: " << text << '\n';
  return exit_code(error);
}

// Help laid out by us: what it is, how to call it, flags, examples.
std::string help_of(const Command& command) {
  std::string text = fmt::format("{}\n\nUsage: opwright {}{}{} [options]\n", command.summary, command.name,
                                 command.positional.empty() ? "" : " ", command.positional);
  if (command.takes_program) {
    const std::string program = fmt::format("opwright {} [options] -- CMD…\n", command.name);
    if (command.positional.empty())
      text = fmt::format("{}\n\nUsage: {}", command.summary, program);
    else
      text += "       " + program;
  }
  text += '\n';
  if (!command.details.empty()) text += fmt::format("{}\n\n", command.details);
  std::size_t width = 14;
  const auto shown = [](const Flag& flag) {
    return fmt::format("{}{}{}", flag.name, flag.value.empty() ? "" : " ", flag.value);
  };
  for (const Flag& flag : command.flags) width = std::max(width, shown(flag).size());
  text += "Options:\n";
  for (const Flag& flag : command.flags) text += fmt::format("  {:<{}}  {}\n", shown(flag), width, flag.help);
  text +=
      fmt::format("  {:<{}}  {}\n", "--store FILE", width, "the store (default $OPWRIGHT_STORE, else ./opwright.db)");
  text += fmt::format("  {:<{}}  {}\n", "--format F", width, "table, json, jsonl or csv");
  text += fmt::format("  {:<{}}  {}\n", "--wide", width, "tables are not cut to the width of the terminal");
  text +=
      fmt::format("  {:<{}}  {}\n", "--color WHEN", width, "always, never or auto (on terminals, without NO_COLOR)");
  if (!command.reads_input) return text;
  text += "\nLimits of what is read (docs/formats/limits.md):\n";
  for (const LimitFlag& limit : kLimitFlags)
    text += fmt::format("  {:<20}  {}\n", fmt::format("{} {}", limit.flag, limit.value), limit.help);
  return text;
}

std::string general_help() {
  std::string text =
      "opwright turns real model runs into operator tests.\n\n"
      "Usage: opwright [--store FILE] [--format table|json|jsonl|csv] VERB …\n\nVerbs:\n";
  for (const Command* command : kCommands) text += fmt::format("  {:<10}  {}\n", command->name, command->summary);
  text += fmt::format("  {:<10}  {}\n", "help",
                      "Show this, or what a verb does: opwright help VERB. --man: all of it as a manual page.");
  text +=
      "\nThe store is --store, else $OPWRIGHT_STORE, else ./opwright.db.\n"
      "Exit codes: 0 as expected, 1 a difference was found, 2 wrong usage, 3 could not run.\n\n"
      "First steps:\n"
      "  opwright import TRACE      read a trace\n"
      "  opwright ops               what operations it has\n"
      "  opwright show add          every configuration of one\n";
  return text;
}

const Command* find_command(std::string_view name) {
  for (const Command* command : kCommands) {
    if (command->name == name) return command;
  }
  for (const Command* command : kHidden)
    if (command->name == name) return command;
  return nullptr;
}

// "perf" and "diff" -> `perf diff`; null: the second word is an argument of the first.
const Command* find_nested(std::string_view first, std::string_view second) {
  for (const Command* command : kNested)
    if (command->name == fmt::format("{} {}", first, second)) return command;
  return nullptr;
}

// The first word that is neither an option nor the value of a global one.
std::vector<std::string>::const_iterator find_verb(const std::vector<std::string>& args) {
  for (auto arg = args.begin(); arg != args.end(); ++arg) {
    if (!arg->starts_with('-')) return arg;
    if ((*arg == "--store" || *arg == "--format" || *arg == "--color") && arg + 1 != args.end()) ++arg;
  }
  return args.end();
}

Error unknown_verb(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Command* command : kCommands) names.push_back(command->name);
  names.push_back("help");
  const auto near = near_names(name, names);
  return {ErrorCode::kUsage, fmt::format("there is no verb '{}'{} 'opwright help' lists them", name,
                                         did_you_mean(near).empty() ? ";" : did_you_mean(near))};
}

int show_help(std::vector<std::string> args, CommandEnv& env) {
  const auto asks = [&](std::string_view flag) { return std::ranges::find(args, flag) != args.end(); };
  if (asks("--man") || asks("--markdown")) {
    env.out << (asks("--man") ? manual_page() : verbs_markdown());
    return kExitOk;
  }
  std::erase_if(args, [](const std::string& word) { return word.starts_with('-'); });
  if (args.empty()) {
    env.out << general_help();
    return kExitOk;
  }
  const Command* command = args.size() > 1 ? find_nested(args[0], args[1]) : nullptr;
  if (command == nullptr) command = find_command(args.front());
  if (command == nullptr) return complain(unknown_verb(args.front()), env);
  env.out << help_of(*command);
  return kExitOk;
}

Result<OutputFormat> parse_format(const std::string& text) {
  if (text == "table") return OutputFormat::kTable;
  if (text == "json") return OutputFormat::kJson;
  if (text == "jsonl") return OutputFormat::kJsonl;
  if (text == "csv") return OutputFormat::kCsv;
  return fail(ErrorCode::kUsage, fmt::format("--format {}: choose table, json, jsonl or csv", text));
}

Result<Colour> parse_colour(const std::string& text) {
  if (text == "auto") return Colour::kAuto;
  if (text == "always") return Colour::kAlways;
  if (text == "never") return Colour::kNever;
  return fail(ErrorCode::kUsage, fmt::format("--color {}: choose always, never or auto", text));
}

struct Bound {  // where CLI11 puts what it reads for one verb
  const Command* command = nullptr;
  CLI::App* app = nullptr;
  ParsedArgs args;
};

void bind(CLI::App& root, Bound& bound) {
  const Command& command = *bound.command;
  bound.app = root.add_subcommand(std::string(last_part(command.name, " ")), std::string(command.summary));
  bound.app->set_help_flag();
  bound.app->add_flag("-h,--help", bound.args.switches["--help"]);
  for (const Flag& flag : command.flags) {
    std::string name(flag.name);
    if (name == "--output") name = "-o,--output";
    if (flag.value.empty())
      bound.app->add_flag(name, bound.args.switches[std::string(flag.name)]);
    else
      bound.app->add_option(name, bound.args.values[std::string(flag.name)])
          ->expected(1)
          ->take_all()
          ->allow_extra_args(false);
  }
  for (const LimitFlag& limit : kLimitFlags) {
    if (command.reads_input)
      bound.app->add_option(std::string(limit.flag), bound.args.values[std::string(limit.flag)])
          ->expected(1)
          ->take_all()
          ->allow_extra_args(false);
  }
  bound.app->add_option("positional", bound.args.positionals)->expected(0, 1 << 20);
}

Error usage_error(const CLI::ParseError& error, const Command* command, const std::vector<std::string>& args) {
  std::string what = error.what();
  if (const std::size_t colon = what.find(':');
      what.find("required") != std::string::npos && colon != std::string::npos)
    what = what.substr(0, colon) + " needs a value";
  // CLI11 names the arguments it could not place; an unknown flag deserves a suggestion.
  if (command != nullptr) {
    std::vector<std::string_view> known{"--store", "--format", "--wide", "--color", "--help"};
    for (const Flag& flag : command->flags) known.push_back(flag.name);
    for (const LimitFlag& limit : kLimitFlags)
      if (command->reads_input) known.push_back(limit.flag);
    for (const std::string& arg : args) {
      const std::string name = arg.substr(0, arg.find('='));
      if (!name.starts_with("--") || name == "--" || std::find(known.begin(), known.end(), name) != known.end())
        continue;
      const auto near = near_names(name, known);
      what = fmt::format("{} has no option {}{}", command->name, name, did_you_mean(near));
      break;
    }
  }
  return {ErrorCode::kUsage, fmt::format("{}{} See 'opwright help{}{}'", what, what.ends_with('?') ? "" : ".",
                                         command != nullptr ? " " : "", command != nullptr ? command->name : "")};
}

Status take_limits(const Command& command, const ParsedArgs& args) {
  Limits changed = limits();
  // What a store holds was admitted when it was imported, with whatever flag.
  if (!command.reads_input) changed.depth = kDeepestJson;
  for (const LimitFlag& flag : kLimitFlags) {
    const std::string text = args.value(flag.flag);
    if (text.empty()) continue;
    OPWRIGHT_TRY_ASSIGN(changed.*flag.limit, parse_limit(text, flag));
  }
  set_limits(changed);
  return {};
}

int parse_and_run(const Command* chosen, std::vector<std::string> args, std::vector<std::string> program,
                  CommandEnv& env) {
  CLI::App root;
  root.set_help_flag();
  root.fallthrough();
  bool help = false, version = false;
  std::string store, format, colour;
  root.add_flag("-h,--help", help);
  root.add_flag("--version", version);
  root.add_option("--store", store);
  root.add_option("--format", format);
  root.add_option("--color", colour);
  root.add_flag("--wide", env.wide);
  // Only the verb that was named: a file may be called like another one.
  std::vector<Bound> verbs(chosen == nullptr ? 0 : 1);
  for (Bound& verb : verbs) {
    verb.command = chosen;
    bind(root, verb);
  }
  try {
    root.parse(std::vector<std::string>(args.rbegin(), args.rend()));  // CLI11 takes them reversed
  } catch (const CLI::ParseError& error) {
    return complain(usage_error(error, chosen, args), env);
  }
  if (version) {
    env.out << "opwright " << OPWRIGHT_VERSION << '\n';
    return kExitOk;
  }
  if (!store.empty()) env.store = store;
  if (const auto known = store::open(env.store); !known) return complain(known.error(), env);
  if (!format.empty()) {
    const auto parsed = parse_format(format);
    if (!parsed) return complain(parsed.error(), env);
    env.format = *parsed;
  }
  if (!colour.empty()) {
    const auto parsed = parse_colour(colour);
    if (!parsed) return complain(parsed.error(), env);
    env.colour = *parsed;
  }
  for (Bound& verb : verbs) {
    if (!verb.app->parsed()) continue;
    const Command& command = *verb.command;
    if (help || verb.args.is_set("--help")) {
      env.out << help_of(command);
      return kExitOk;
    }
    verb.args.program = std::move(program);
    const int count = static_cast<int>(verb.args.positionals.size());
    if (count < command.min_positionals || (command.max_positionals >= 0 && count > command.max_positionals)) {
      const bool too_many = count > command.min_positionals && count > 0;
      const std::string what = command.positional.empty()
                                   ? fmt::format("takes no argument, but there is '{}'", verb.args.positionals.front())
                               : too_many ? fmt::format("takes {} and no more, but there is '{}'", command.positional,
                                                        verb.args.positionals.back())
                                          : fmt::format("needs {} to work on", command.positional);
      return complain(
          {ErrorCode::kUsage, fmt::format("{} {}. See 'opwright help {}'", command.name, what, command.name)}, env);
    }
    if (const Status limited = take_limits(command, verb.args); !limited) return complain(limited.error(), env);
    const Result<int> done = command.run(verb.args, env);
    return done ? *done : complain(done.error(), env);
  }
  (help ? env.out : env.err) << general_help();
  return help ? kExitOk : kExitUsage;
}

}  // namespace

std::span<const Command* const> commands() { return kCommands; }
std::span<const Command* const> nested_commands() { return kNested; }

bool ParsedArgs::is_set(std::string_view flag) const {
  const auto found = switches.find(flag);
  return found != switches.end() && found->second;
}

std::string ParsedArgs::value(std::string_view flag, std::string_view otherwise) const {
  const auto found = values.find(flag);
  return found == values.end() || found->second.empty() ? std::string(otherwise) : found->second.back();
}

std::vector<std::string> ParsedArgs::all(std::string_view flag) const {
  const auto found = values.find(flag);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

Result<int> wait_ms(const ParsedArgs& args) {
  const std::string text = args.value("--wait", "60");
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (end == text.c_str() || *end != '\0' || !(seconds >= 0) || seconds > 86400) {
    return fail(ErrorCode::kUsage, fmt::format("--wait {}: a number of seconds from 0 to 86400 is needed", text));
  }
  return static_cast<int>(seconds * 1000);
}

Result<std::size_t> count_of(const ParsedArgs& args, std::string_view flag, std::size_t otherwise) {
  const std::string text = args.value(flag);
  if (text.empty()) return otherwise;
  if (text.find_first_not_of("0123456789") != std::string::npos || text.size() > 15)
    return fail(ErrorCode::kUsage, fmt::format("{} {}: a whole number is needed", flag, text));
  return static_cast<std::size_t>(std::stoull(text));
}

namespace {

int run_behind_border(const std::vector<std::string>& args, CommandEnv& env) {
  try {
    const auto verb = find_verb(args);
    if (verb != args.end() && *verb == "help") {
      return show_help({verb + 1, args.end()}, env);
    }
    const Command* command = verb != args.end() ? find_command(*verb) : nullptr;
    auto last = verb;  // of the words that name the command
    if (verb != args.end() && verb + 1 != args.end()) {
      if (const Command* nested = find_nested(*verb, *(verb + 1)); nested != nullptr) {
        command = nested;
        ++last;
      }
    }
    if (verb != args.end() && command == nullptr) return complain(unknown_verb(*verb), env);
    // The user's program begins behind the first `--`; nothing of it is an option of ours.
    const auto dashes = command != nullptr && command->takes_program ? std::find(verb, args.end(), "--") : args.end();
    std::vector<std::string> ours(args.begin(), verb);  // a nested command is called by its second word
    ours.insert(ours.end(), last, dashes);
    return parse_and_run(command, std::move(ours), {dashes == args.end() ? args.end() : dashes + 1, args.end()}, env);
  } catch (const std::bad_alloc&) {
    env.err << "opwright: there is not enough memory for this input; lower --max-document, or give the machine more\n";
    return kExitFailed;
  } catch (const std::exception& error) {
    env.err << "opwright: internal error: " << error.what() << "; please report it with the command line\n";
    return kExitFailed;
  }
}

}  // namespace

int run_command_line(const std::vector<std::string>& args, CommandEnv& world) {
  VisibleStream out(world.out), err(world.err);
  err << std::unitbuf;
  CommandEnv env{.out = out,
                 .err = err,
                 .out_is_terminal = world.out_is_terminal,
                 .err_is_terminal = world.err_is_terminal,
                 .width = world.width,
                 .store = world.store,
                 .format = world.format,
                 .status_is_programs = world.status_is_programs,
                 .past_border = &world.err};
  const int code = run_behind_border(args, env);
  world.status_is_programs = env.status_is_programs;
  return code;
}

}  // namespace opwright::cli
