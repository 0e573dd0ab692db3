// The manual page and the list of verbs, made of the table of commands.
#include <fmt/format.h>

#include "cli/command_table.h"

namespace opwright::cli {
namespace {

// Text of a manual page: nothing in it is a command of the typesetter.
std::string roff(std::string_view text) {
  std::string out;
  bool starts_line = true;
  for (const char c : text) {
    if (starts_line && (c == '.' || c == '\'')) out += "\\&";
    starts_line = c == '\n';
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else
      out += c;
  }
  return out;
}

// "opwright import PATH… [options]"; where a verb takes a program instead of its arguments, both ways.
std::string usage_of(const Command& command) {
  const std::string name = fmt::format("opwright {}", command.name);
  const std::string plain =
      fmt::format("{}{}{} [options]", name, command.positional.empty() ? "" : " ", command.positional);
  if (!command.takes_program) return plain;
  const std::string program = name + " [options] -- CMD…";
  return command.positional.empty() ? program : fmt::format("{}, or {}", program, plain);
}

void add_flags(std::string& page, std::span<const Flag> flags) {
  for (const Flag& flag : flags) {
    page += fmt::format(".TP\n\\fB{}\\fR", roff(flag.name));
    if (!flag.value.empty()) page += fmt::format(" \\fI{}\\fR", roff(flag.value));
    page += fmt::format("\n{}\n", roff(flag.help));
  }
}

void add_command(std::string& page, const Command& command) {
  page += fmt::format(".SS \"{}\"\n{}\n", roff(usage_of(command)), roff(command.summary));
  if (!command.details.empty()) page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(command.details));
  add_flags(page, command.flags);
}

std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) out += c == '|' ? std::string("\\|") : std::string(1, c);
  return out;
}

}  // namespace

std::string manual_page() {
  std::string page = fmt::format(
      ".TH OPWRIGHT 1 \"\" \"opwright {}\" \"User Commands\"\n"
      ".SH NAME\nopwright \\- turns real model runs into operator tests\n"
      ".SH SYNOPSIS\n\\fBopwright\\fR [\\fB\\-\\-store\\fR \\fIFILE\\fR] [\\fB\\-\\-format\\fR table|json|jsonl|csv] "
      "\\fIVERB\\fR …\n"
      ".SH DESCRIPTION\nReads traces of model runs, keeps each distinct operator call once, and makes tests of them: "
      "each is run in a process of its own and judged against an independent reference.\n"
      ".SH OPTIONS OF EVERY VERB\n",
      OPWRIGHT_VERSION);
  add_flags(page, kGlobalFlags);
  page += ".SH VERBS\n";
  for (const Command* command : commands()) {
    add_command(page, *command);
    for (const Command* nested : nested_commands())
      if (nested->name.starts_with(std::string(command->name) + " ")) add_command(page, *nested);
  }
  page +=
      ".SH EXIT STATUS\n"
      ".TP\n0\nas expected\n.TP\n1\na difference was found, or a case failed\n.TP\n2\nwrong usage\n.TP\n3\ncould not "
      "run\n"
      ".SH ENVIRONMENT\n.TP\n\\fBOPWRIGHT_STORE\\fR\nthe store where no \\-\\-store is given\n"
      ".SH FILES\n.TP\n\\fI./opwright.db\\fR\nthe store where neither names one\n";
  return page;
}

std::string verbs_markdown() {
  std::string text = "| verb | what it does |\n| --- | --- |\n";
  const auto row = [&](const Command& command) {
    text += fmt::format("| `{}` | {} |\n", cell(usage_of(command)), cell(command.summary));
  };
  for (const Command* command : commands()) {
    row(*command);
    for (const Command* nested : nested_commands())
      if (nested->name.starts_with(std::string(command->name) + " ")) row(*nested);
  }
  return text;
}

}  // namespace opwright::cli
