// Secrets in command lines and settings, masked before they are stored or shown. What a program is started with is
// never masked, only what is written down of it. docs/formats/text.md lists the rules; tests/fixtures/secrets.json
// holds the cases that this code and the Python package share.
//
// Needs nothing but the standard library: the Python module compiles it too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opwright {

// What stands where a secret stood.
inline constexpr std::string_view kMaskedText = "***";

// A text with commands or settings in it: a command line, what a shell gets, JSON, a message.
//   "curl --token abc https://me:pw@host"  ->  "curl --token *** https://***@host"
std::string masked(std::string_view text);
// A command line of separate words; a word behind `--token` is a secret as a whole.
std::vector<std::string> masked_words(const std::vector<std::string>& words);

}  // namespace opwright
