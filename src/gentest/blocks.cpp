#include "gentest/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/hash.h"

namespace opwright::gentest {
namespace {

constexpr std::string_view kWord = "opwright gentest: ";
constexpr std::string_view kBegin = ">>> ";
constexpr std::string_view kEnd = "<<< ";

std::string digest_of(std::string_view text) { return to_hex(sha256(text)).substr(0, 16); }

std::string text_of(const Block& block, std::string_view comment) {
  return fmt::format(
      "{0}{1}{2}{3} >>> --update rewrites the text between these marks; yours goes outside of them\n"
      "{4}{0}{5}{2}{3} {6} <<<\n",
      comment, kBegin, kWord, block.name, block.text, kEnd, digest_of(block.text));
}

// A piece of an existing file: a block, or text of people (no name).
struct Piece {
  std::string name;
  std::string_view whole;  // with its marks
};

struct Mark {
  bool begins = false;
  std::string name, digest;
};

// Nothing: the line is no mark. An error: it was one.
Result<std::optional<Mark>> mark_in(std::string_view line, std::string_view comment, const std::string& where) {
  const std::size_t at = line.find(kWord);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view before = line.substr(0, at);
  const bool begins = before == std::string(comment) + std::string(kBegin);
  const bool ends = before == std::string(comment) + std::string(kEnd);
  if (!begins && !ends) {
    if (before.find(kBegin) == std::string_view::npos && before.find(kEnd) == std::string_view::npos)
      return std::nullopt;  // somebody speaks of us
    return fail(ErrorCode::kBadInput, fmt::format("{}: a damaged mark; put it right, or delete the file", where));
  }
  std::string_view rest = line.substr(at + kWord.size());
  const std::size_t space = rest.find(' ');
  Mark mark{begins, std::string(rest.substr(0, space)), ""};
  rest.remove_prefix(std::min(space == std::string_view::npos ? rest.size() : space + 1, rest.size()));
  if (ends) {
    mark.digest = std::string(rest.substr(0, rest.find(' ')));
    if (mark.digest.size() != 16 || !rest.ends_with(" <<<"))
      return fail(ErrorCode::kBadInput, fmt::format("{}: a damaged mark; put it right, or delete the file", where));
  } else if (!rest.starts_with(">>>")) {
    return fail(ErrorCode::kBadInput, fmt::format("{}: a damaged mark; put it right, or delete the file", where));
  }
  return mark;
}

Result<std::vector<Piece>> pieces_of(std::string_view text, std::string_view comment, const std::string& path) {
  std::vector<Piece> pieces;
  std::set<std::string> names;
  std::size_t start = 0;    // of the piece
  std::size_t content = 0;  // of the block that is open
  std::string open;
  int number = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at - (text[end - 1] == '\n' ? 1 : 0));
    const std::string where = fmt::format("{}:{}", path, ++number);
    OPWRIGHT_TRY_ASSIGN(const std::optional<Mark> mark, mark_in(line, comment, where));
    if (mark && mark->begins) {
      if (!open.empty())
        return fail(ErrorCode::kBadInput,
                    fmt::format("{}: block {} begins inside of block {}, whose end is missing; put "
                                "the mark back, or delete the file",
                                where, mark->name, open));
      if (!names.insert(mark->name).second)
        return fail(ErrorCode::kBadInput, fmt::format("{}: block {} stands twice; delete one", where, mark->name));
      if (at > start) pieces.push_back({"", text.substr(start, at - start)});
      open = mark->name;
      start = at;
      content = end;
    } else if (mark) {
      if (open != mark->name)
        return fail(ErrorCode::kBadInput,
                    fmt::format("{}: the end of block {}, whose beginning is missing; put the mark "
                                "back, or delete the file",
                                where, mark->name));
      if (digest_of(text.substr(content, at - content)) != mark->digest)
        return fail(
            ErrorCode::kBadInput,
            fmt::format("{}: block {} was changed by hand; move the change out of it (a copy under another name, "
                        "outside of the marks) and delete the block with its marks",
                        where, mark->name));
      pieces.push_back({open, text.substr(start, end - start)});
      open.clear();
      start = end;
    }
    at = end;
  }
  if (!open.empty())
    return fail(ErrorCode::kBadInput,
                fmt::format("{}: the end of block {} is missing; put the mark back, or delete the file", path, open));
  if (start < text.size()) pieces.push_back({"", text.substr(start)});
  return pieces;
}

}  // namespace

std::string file_of(std::span<const Block> blocks, std::string_view comment) {
  std::string text;
  for (const Block& block : blocks) text += (text.empty() ? "" : "\n") + text_of(block, comment);
  return text;
}

Result<Updated> update_blocks(std::string_view existing, std::span<const Block> blocks, std::string_view comment,
                              const std::string& path) {
  OPWRIGHT_TRY_ASSIGN(std::vector<Piece> pieces, pieces_of(existing, comment, path));
  const auto is_block = [](const Piece& piece) { return !piece.name.empty(); };
  const auto last = std::find_if(pieces.rbegin(), pieces.rend(), is_block);
  if (last == pieces.rend())
    return fail(ErrorCode::kBadInput,
                fmt::format("{}: not made by opwright gentest, so it is not touched; choose another folder", path));
  std::map<std::string_view, const Block*> wanted;
  for (const Block& block : blocks) wanted[block.name] = &block;
  std::set<std::string_view> there;
  for (const Piece& piece : pieces) there.insert(piece.name);
  Updated out;
  const auto add_new = [&] {
    for (const Block& block : blocks) {
      if (there.contains(block.name)) continue;
      if (!out.text.empty()) out.text += "\n";
      out.text += text_of(block, comment);
      ++out.added;
    }
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const Piece& piece = pieces[i];
    if (!is_block(piece)) {
      out.text += piece.whole;
    } else if (const auto found = wanted.find(piece.name); found != wanted.end()) {
      const std::string text = text_of(*found->second, comment);
      ++(text == piece.whole ? out.unchanged : out.rewritten);
      out.text += text;
    } else {
      ++out.removed;
      // The empty line that came with it.
      if (out.text.ends_with("\n\n")) out.text.pop_back();
    }
    if (&piece == &*last) add_new();
  }
  return out;
}

}  // namespace opwright::gentest
