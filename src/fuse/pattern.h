// A sequence of operations as a person asks for it: `linear,all_gather_async,fast_reduce_nc,slice*3`.
//
// A word is a name with or without the library's (`linear`, `ttnn.linear`), in any of its spellings (`mul` is
// `multiply`), or with `*` and `?` for parts of it; `*3` behind a name is three of them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace opwright::fuse {

class Pattern {
 public:
  static Result<Pattern> parse(std::string_view text);

  const std::string& text() const { return text_; }
  const std::vector<std::string>& words() const { return words_; }  // counts written out
  std::size_t size() const { return words_.size(); }

  // For each word the operations of a trace (by their places in `ops`) that it means. Fails with kNotFound where a word
  // means none, and says what is near.
  Result<std::vector<std::vector<std::uint32_t>>> resolve(const std::vector<std::string>& ops) const;

 private:
  std::string text_;
  std::vector<std::string> words_;
};

// The pattern that finds a sequence of these operations: short names, repeated ones counted.
std::string pattern_of(const std::vector<std::string>& ops);

// Places where a sequence of operations stands in a row: Knuth, Morris and Pratt, one pass however often its beginning
// repeats. `meant` as Pattern::resolve gives it; where words mean several operations, places are tried one by one.
std::vector<std::size_t> find_in_row(const std::vector<std::uint32_t>& ops,
                                     const std::vector<std::vector<std::uint32_t>>& meant);

}  // namespace opwright::fuse
