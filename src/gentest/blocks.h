// Generated text between marks, in files that people write into: what is outside of the marks is theirs.
//
//   # >>> opwright gentest: NAME >>> --update rewrites the text between these marks; yours goes outside of them
//   …
//   # <<< opwright gentest: NAME 0123456789abcdef <<<
//
// The last mark has a hash of the text: one that somebody changed is noticed, and never overwritten.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright::gentest {

struct Block {
  std::string name;  // letters, digits, `_`; once a file
  std::string text;  // whole lines
};

// A new file. `comment`: how a line becomes one, "# " or "// ".
std::string file_of(std::span<const Block> blocks, std::string_view comment);

struct Updated {
  std::string text;
  std::size_t rewritten = 0, unchanged = 0, added = 0, removed = 0;  // blocks
};
// `existing` with these blocks in the place of its own: those of the same name are replaced where they stand, new ones
// follow the last one, others are taken out. Everything else stays byte for byte. Refuses, naming `path` and the line,
// where a mark is damaged, where the text of a block was changed by hand, and where there are no marks at all.
Result<Updated> update_blocks(std::string_view existing, std::span<const Block> blocks, std::string_view comment,
                              const std::string& path);

}  // namespace opwright::gentest
