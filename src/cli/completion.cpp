#include <fmt/format.h>

#include <array>

#include "base/limits.h"
#include "base/near_names.h"
#include "base/text.h"
#include "cli/command_table.h"

namespace opwright::cli {
namespace {

constexpr std::array<std::string_view, 3> kShells{"bash", "zsh", "fish"};
constexpr std::string_view kFormats = "table json jsonl csv";

// In single quotes of a shell.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// zsh takes a colon for the end of a word that it describes.
std::string zsh_entry(std::string_view name, std::string_view about) {
  std::string text;
  for (const char c : about) text += c == ':' ? std::string("\\:") : std::string(1, c);
  return quoted(fmt::format("{}:{}", name, text));
}

std::string flag_names(const Command& command) {
  std::string text;
  for (const Flag& flag : all_flags(command)) text += fmt::format("{}{}", text.empty() ? "" : " ", flag.name);
  return text;
}

std::string verb_names() {
  std::string text;
  for (const Command* command : commands()) text += fmt::format("{} ", command->name);
  return text + "help";
}

// The second words of a verb: "diff check" of perf; "" most have none.
std::string second_words(std::string_view verb) {
  std::string text;
  for (const Command* nested : nested_commands()) {
    if (!nested->name.starts_with(std::string(verb) + " ")) continue;
    text += fmt::format("{}{}", text.empty() ? "" : " ", last_part(nested->name, " "));
  }
  return text;
}

// bash and zsh find the verb alike: the first word that is neither an option nor the value of a global one, and with
// the word behind it where the two are a verb.
std::string find_verb_lines(std::string_view words, int first) {
  std::string nested;
  for (const Command* command : nested_commands())
    nested += fmt::format("{}{}", nested.empty() ? "" : "|", quoted(command->name));
  return fmt::format(
      "  local verb= word skip= i\n"
      "  for ((i = {1}; i < at; i++)); do\n"
      "    word=\"${{{0}[i]}}\"\n"
      "    if [[ -n $skip ]]; then skip=; continue; fi\n"
      "    case \"$word\" in\n"
      "      --) return ;;\n"
      "      --store | --format | --color) skip=1 ;;\n"
      "      -*) ;;\n"
      "      *)\n"
      "        if [[ -z $verb ]]; then verb=\"$word\"; continue; fi\n"
      "        case \"$verb $word\" in {2}) verb=\"$verb $word\" ;; esac\n"
      "        break ;;\n"
      "    esac\n"
      "  done\n",
      words, first, nested);
}

std::string bash_script() {
  std::string text =
      "# Completion of opwright for bash, made by `opwright completion bash`.\n"
      "_opwright() {\n"
      "  local cur=\"${COMP_WORDS[COMP_CWORD]}\" prev=\"${COMP_WORDS[COMP_CWORD - 1]}\" at=$COMP_CWORD flags= "
      "seconds=\n"
      "  COMPREPLY=()\n";
  text += fmt::format("  if [[ $prev == --format ]]; then COMPREPLY=($(compgen -W {} -- \"$cur\")); return; fi\n",
                      quoted(kFormats));
  text += find_verb_lines("COMP_WORDS", 1);
  text += "  case \"$verb\" in\n";
  text += fmt::format("    '') seconds={} flags='--store --format --wide --color --help --version' ;;\n",
                      quoted(verb_names()));
  text += fmt::format("    help) seconds={} ;;\n", quoted(verb_names()));
  const auto entry = [&](const Command& command) {
    const std::string seconds = second_words(command.name);
    text += fmt::format("    {}) flags={}{} ;;\n", quoted(command.name), quoted(flag_names(command)),
                        seconds.empty() ? "" : " seconds=" + quoted(seconds));
  };
  for (const Command* command : commands()) entry(*command);
  for (const Command* command : nested_commands()) entry(*command);
  return text +
         "  esac\n"
         "  if [[ $cur == -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$flags\" -- \"$cur\"))\n"
         "  elif [[ -n $seconds && $prev != -* ]]; then\n"
         "    COMPREPLY=($(compgen -W \"$seconds\" -- \"$cur\"))\n"
         "  fi\n"
         "}\n"
         "complete -o default -F _opwright opwright\n";
}

std::string zsh_script() {
  std::string text =
      "#compdef opwright\n"
      "# Completion of opwright for zsh, made by `opwright completion zsh`.\n"
      "_opwright() {\n"
      "  local at=$CURRENT\n"
      "  local -a verbs flags seconds\n";
  text += fmt::format("  if [[ ${{words[CURRENT-1]}} == --format ]]; then compadd {}; return; fi\n", kFormats);
  text += "  verbs=(\n";
  for (const Command* command : commands()) text += fmt::format("    {}\n", zsh_entry(command->name, command->summary));
  text += fmt::format("    {}\n  )\n", zsh_entry("help", "Show what a verb does."));
  text += find_verb_lines("words", 2);
  text += "  case \"$verb\" in\n    '' | help) seconds=($verbs) ;;\n";
  const auto entry = [&](const Command& command) {
    text += fmt::format("    {})\n      flags=(\n", quoted(command.name));
    for (const Flag& flag : all_flags(command)) text += fmt::format("        {}\n", zsh_entry(flag.name, flag.help));
    text += "      )\n";
    for (const Command* nested : nested_commands())
      if (nested->name.starts_with(std::string(command.name) + " "))
        text += fmt::format("      seconds+=({})\n", zsh_entry(last_part(nested->name, " "), nested->summary));
    text += "      ;;\n";
  };
  for (const Command* command : commands()) entry(*command);
  for (const Command* command : nested_commands()) entry(*command);
  return text +
         "  esac\n"
         "  if [[ ${words[CURRENT]} == -* ]]; then\n"
         "    _describe -o option flags\n"
         "  else\n"
         "    if (( $#seconds )); then _describe verb seconds; fi\n"
         "    if [[ -n $verb ]]; then _files; fi\n"
         "  fi\n"
         "}\n"
         "_opwright \"$@\"\n";
}

// fish takes a backslash in single quotes for the beginning of an escape.
std::string fish_quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') out += '\\';
    out += c;
  }
  return out + "'";
}

std::string fish_script() {
  std::string text = "# Completion of opwright for fish, made by `opwright completion fish`.\n";
  const auto line = [&](std::string_view condition, std::string_view rest, std::string_view about) {
    text += fmt::format("complete -c opwright -n {} {} -d {}\n", fish_quoted(condition), rest, fish_quoted(about));
  };
  for (const Command* command : commands())
    line("__fish_use_subcommand", fmt::format("-a {}", command->name), command->summary);
  line("__fish_use_subcommand", "-a help", "Show what a verb does.");
  line("__fish_seen_subcommand_from help", fmt::format("-a {}", fish_quoted(verb_names())), "verb");
  const auto flags = [&](const Command& command, const std::string& condition) {
    for (const Flag& flag : all_flags(command)) {
      const std::string_view name = flag.name.substr(2);
      const std::string value = name == "format"     ? fmt::format(" -x -a {}", fish_quoted(kFormats))
                                : flag.value.empty() ? ""
                                                     : " -r";
      line(condition, fmt::format("-l {}{}", name, value), flag.help);
    }
  };
  for (const Command* command : commands()) {
    const std::string seen = fmt::format("__fish_seen_subcommand_from {}", command->name);
    const std::string seconds = second_words(command->name);
    flags(*command, seconds.empty() ? seen : fmt::format("{}; and not __fish_seen_subcommand_from {}", seen, seconds));
  }
  for (const Command* command : nested_commands()) {
    const std::string_view first = command->name.substr(0, command->name.find(' '));
    const std::string_view second = last_part(command->name, " ");
    const std::string seen = fmt::format("__fish_seen_subcommand_from {}", first);
    line(fmt::format("{}; and not __fish_seen_subcommand_from {}", seen, second_words(first)),
         fmt::format("-a {}", second), command->summary);
    flags(*command, fmt::format("{}; and __fish_seen_subcommand_from {}", seen, second));
  }
  return text;
}

Result<int> run(const ParsedArgs& args, CommandEnv& env) {
  OPWRIGHT_TRY_ASSIGN(const std::string script, completion_script(args.positionals.front()));
  env.out << script;
  return kExitOk;
}

constexpr char kDetails[] =
    "  opwright completion bash > ~/.local/share/bash-completion/completions/opwright\n"
    "  opwright completion zsh > DIR/_opwright      (DIR of $fpath)\n"
    "  opwright completion fish > ~/.config/fish/completions/opwright.fish\n\n"
    "'./x install' and the Debian package put them there themselves.";

}  // namespace

Result<std::string> completion_script(std::string_view shell) {
  if (shell == "bash") return bash_script();
  if (shell == "zsh") return zsh_script();
  if (shell == "fish") return fish_script();
  return fail(
      ErrorCode::kUsage,
      fmt::format("completion {}: no such shell{} choose bash, zsh or fish", shell,
                  did_you_mean(near_names(shell, kShells)).empty() ? ";" : did_you_mean(near_names(shell, kShells))));
}

std::vector<Flag> all_flags(const Command& command) {
  std::vector<Flag> flags(command.flags.begin(), command.flags.end());
  if (command.reads_input)
    for (const LimitFlag& limit : kLimitFlags) flags.push_back({limit.flag, limit.value, limit.help});
  flags.insert(flags.end(), std::begin(kGlobalFlags), std::end(kGlobalFlags));
  return flags;
}

const Command kCompletion{
    "completion", "Print a script that completes verbs and flags in a shell.", kDetails, "bash|zsh|fish", 1, 1, {},
    run};

}  // namespace opwright::cli
