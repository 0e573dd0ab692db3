// All commands, for what is made of them: help, completion of shells, the manual page, docs/verbs.md.
#pragma once

#include <span>
#include <string>

#include "cli/command.h"

namespace opwright::cli {

std::span<const Command* const> commands();         // as `opwright help` lists them
std::span<const Command* const> nested_commands();  // "perf diff"

inline constexpr Flag kGlobalFlags[] = {
    {"--store", "FILE", "the store (default $OPWRIGHT_STORE, else ./opwright.db)"},
    {"--format", "F", "table, json, jsonl or csv"},
    {"--wide", "", "tables are not cut to the width of the terminal"},
    {"--color", "WHEN", "always, never or auto (on terminals, without NO_COLOR)"},
    {"--help", "", "what this verb does"},
};
// Those of the command, of the limits where it reads input, and the global ones.
std::vector<Flag> all_flags(const Command& command);

// A script that completes verbs, their flags, and files: "bash", "zsh" or "fish".
Result<std::string> completion_script(std::string_view shell);
// The manual page, as man(7) has it.
std::string manual_page();
// A row a verb, as docs/verbs.md has them.
std::string verbs_markdown();

}  // namespace opwright::cli
