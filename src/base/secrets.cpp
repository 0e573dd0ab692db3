#include "base/secrets.h"

#include <algorithm>
#include <array>
#include <optional>

namespace opwright {
namespace {

using View = std::string_view;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_word(char c) { return is_digit(c) || is_lower(c) || is_upper(c); }
bool is_name(char c) { return is_word(c) || c == '_' || c == '-' || c == '.'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool is_quote(char c) { return c == '"' || c == '\'' || c == '`'; }

template <std::size_t N>
bool contains(const std::array<View, N>& list, View word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// ---------------------------------------------------------------------------------------------------------- names

// A name that ends in one of these is that of a secret.
constexpr std::array<View, 15> kSecretWords{"token",     "secret",     "password",      "passwd",      "passwort",
                                            "pwd",       "passphrase", "credential",    "credentials", "apikey",
                                            "accesskey", "auth",       "authorization", "cookie",      "signature"};
// … unless it is a token of language models: --pad-token, eos_token.
constexpr std::array<View, 27> kModelTokens{
    "pad", "eos", "bos", "unk", "sep", "cls", "mask",  "image", "stop",  "special", "next",   "per",  "first", "last",
    "new", "max", "min", "num", "n",   "end", "start", "audio", "video", "text",    "prompt", "time", "each"};
// Keys in small letters that open nothing.
constexpr std::array<View, 18> kPlainKeys{"sort",  "primary", "foreign", "cache", "group", "partition",
                                          "index", "order",   "row",     "dict",  "map",   "config",
                                          "hash",  "lookup",  "public",  "kv",    "query", "attention"};
// Values that are none.
constexpr std::array<View, 11> kNoSecrets{"true", "false", "none", "null", "yes", "no", "on", "off", "0", "1", "auto"};

std::string lowered(View text) {
  std::string out(text);
  for (char& c : out)
    if (is_upper(c)) c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// HF_TOKEN, --hf-token and hfToken have the same parts.
std::vector<std::string> parts_of(View name) {
  std::vector<std::string> parts(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool hump = i > 0 && is_upper(name[i]) && (is_lower(name[i - 1]) || is_digit(name[i - 1]));
    if ((!is_word(name[i]) || hump) && !parts.back().empty()) parts.emplace_back();
    if (is_word(name[i])) parts.back() += lowered(name.substr(i, 1));
  }
  if (parts.back().empty()) parts.pop_back();
  return parts;
}

bool is_secret_name(View name) {
  const std::vector<std::string> parts = parts_of(name);
  if (parts.empty()) return false;
  const std::string& last = parts.back();
  const std::string before = parts.size() > 1 ? parts[parts.size() - 2] : "";
  if (last == "token") return !contains(kModelTokens, before);
  if (contains(kSecretWords, last)) return true;
  if (last != "key" || before.empty()) return false;
  return std::none_of(name.begin(), name.end(), is_lower) || !contains(kPlainKeys, before);
}

bool is_secret_value(View value) { return !value.empty() && !contains(kNoSecrets, lowered(value)); }

// --------------------------------------------------------------------------------------------------------- shapes

struct Shape {
  View start;
  std::size_t least;  // characters behind it
  bool marks;         // '-' and '_' among them
};
// Tokens that are known by how they begin.
constexpr std::array kShapes{
    Shape{"hf_", 20, false},  Shape{"ghp_", 20, false},     Shape{"gho_", 20, false},       Shape{"ghu_", 20, false},
    Shape{"ghs_", 20, false}, Shape{"ghr_", 20, false},     Shape{"github_pat_", 20, true}, Shape{"glpat-", 15, true},
    Shape{"sk-", 16, true},   Shape{"sk_live_", 16, false}, Shape{"xoxa-", 10, true},       Shape{"xoxb-", 10, true},
    Shape{"xoxp-", 10, true}, Shape{"xoxr-", 10, true},     Shape{"xoxs-", 10, true},       Shape{"AKIA", 16, false},
    Shape{"ASIA", 16, false}, Shape{"AIza", 30, true},      Shape{"npm_", 30, false},       Shape{"pypi-", 16, true}};

std::size_t run_of(View text, std::size_t at, bool marks) {
  std::size_t end = at;
  while (end < text.size() && (is_word(text[end]) || (marks && (text[end] == '-' || text[end] == '_')))) ++end;
  return end - at;
}

// A JSON web token: three parts of base64, the first of which is an object.
std::size_t web_token(View text, std::size_t at) {
  if (!text.substr(at).starts_with("eyJ")) return 0;
  std::size_t end = at;
  for (int part = 0; part < 3; ++part) {
    const std::size_t size = run_of(text, end, true);
    if (size < 8) return 0;
    end += size;
    if (part == 2) return end - at;
    if (end >= text.size() || text[end] != '.') return 0;
    ++end;
  }
  return 0;
}

// Bytes of a known token at `at`, where a word begins; 0 none.
std::size_t token_at(View text, std::size_t at) {
  if (text[at] == 'e') return web_token(text, at);
  for (const Shape& shape : kShapes) {
    if (!text.substr(at).starts_with(shape.start)) continue;
    const std::size_t size = run_of(text, at + shape.start.size(), shape.marks);
    if (size >= shape.least) return shape.start.size() + size;
  }
  return 0;
}

// ----------------------------------------------------------------------------------------------------------- values

struct Found {
  std::size_t from = 0, to = 0;  // what is masked
};

std::size_t skip_blanks(View text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

std::size_t past_escape(View text, std::size_t at) { return at < text.size() && text[at] == '\\' ? at + 1 : at; }

// Where the text ends that the quote at `quote` began. One that was escaped ends at the next that is.
std::size_t end_of_quoted(View text, std::size_t quote, bool escaped) {
  const char mark = text[quote];
  std::size_t at = quote + 1;
  if (escaped) return std::min(text.find(std::string{'\\', mark}, at), text.size());
  for (; at < text.size(); ++at) {
    if (text[at] == '\\' && mark != '\'') {
      ++at;
    } else if (text[at] == mark) {
      if (mark != '\'' || text.substr(at, 4) != "'\\''") return at;
      at += 3;  // a shell's way to put a quote into quotes
    }
  }
  return text.size();
}

// A value: quoted (also with the escaped quotes of a text inside another), or up to what ends a word of a shell or URL.
std::optional<Found> value_at(View text, std::size_t at) {
  const std::size_t quote = past_escape(text, at);
  if (quote < text.size() && is_quote(text[quote])) return Found{quote + 1, end_of_quoted(text, quote, quote > at)};
  std::size_t end = at;
  constexpr View kEnds = "&;|<>){}],";
  while (end < text.size() && !is_blank(text[end]) && !is_quote(text[end]) && kEnds.find(text[end]) == View::npos &&
         !(text[end] == '\\' && end + 1 < text.size() && is_quote(text[end + 1])))
    ++end;
  if (end == at) return std::nullopt;
  return Found{at, end};
}

std::optional<Found> if_secret(View text, std::optional<Found> found) {
  if (found && is_secret_value(text.substr(found->from, found->to - found->from))) return found;
  return std::nullopt;
}

// Authorization: Bearer abc. The rest of the line, or of the quoted text.
Found header_value(View text, std::size_t at) {
  constexpr std::array<View, 6> kSchemes{"bearer", "basic", "token", "digest", "apikey", "negotiate"};
  const std::size_t word = run_of(text, at, false);
  if (contains(kSchemes, lowered(text.substr(at, word)))) at = skip_blanks(text, at + word);
  std::size_t end = at;
  while (end < text.size() && text[end] != '\n' && !is_quote(text[end])) ++end;
  return {at, end};
}

// A name ends at `end`: what follows may be its value.
//   NAME=value  NAME: value  "NAME": "value"  --NAME value
std::optional<Found> named_value(View text, std::size_t begin, std::size_t end) {
  const View name = text.substr(begin, end - begin);
  if (!is_secret_name(name)) return std::nullopt;
  std::size_t at = past_escape(text, end);
  at = at < text.size() && is_quote(text[at]) ? at + 1 : end;
  const std::size_t sign = skip_blanks(text, at);
  if (sign < text.size() && text[sign] == '=' && sign == at) return if_secret(text, value_at(text, sign + 1));
  if (sign < text.size() && text[sign] == ':') {
    const std::size_t value = skip_blanks(text, sign + 1);
    const std::string last = parts_of(name).back();
    if ((last == "authorization" || last == "cookie") && at == end) return header_value(text, value);
    return if_secret(text, value_at(text, value));
  }
  const bool is_flag = name.starts_with('-') && at == end && sign > end;
  const bool in_list = name.starts_with('-') && at > end && sign < text.size() && text[sign] == ',';
  if (in_list) {  // ["--token", "abc"]
    const auto value = value_at(text, skip_blanks(text, sign + 1));
    const bool quoted = value && is_quote(text[value->from - 1]);
    return quoted && text.substr(value->from, 1) != "-" ? if_secret(text, value) : std::nullopt;
  }
  if (is_flag && sign < text.size() && text[sign] != '-') return if_secret(text, value_at(text, sign));
  return std::nullopt;
}

// curl --user name:password: behind the colon.
std::optional<Found> user_password(View text, std::size_t begin, std::size_t end) {
  const View name = text.substr(begin, end - begin);
  if (name != "-u" && name != "--user" && name != "--proxy-user") return std::nullopt;
  if (end >= text.size() || (text[end] != '=' && !is_blank(text[end]))) return std::nullopt;
  const auto value = value_at(text, text[end] == '=' ? end + 1 : skip_blanks(text, end));
  if (!value) return std::nullopt;
  const View both = text.substr(value->from, value->to - value->from);
  const std::size_t colon = both.find(':');
  if (colon == View::npos || colon + 1 == both.size() || both.find('/') != View::npos) return std::nullopt;
  return Found{value->from + colon + 1, value->to};
}

// scheme://user:password@host: `at` is behind the two slashes.
std::optional<Found> user_info(View text, std::size_t at) {
  std::size_t end = at, last = View::npos;
  while (end < text.size() && !is_blank(text[end]) && !is_quote(text[end]) && text[end] != '/' && text[end] != '?' &&
         text[end] != '#' && text[end] != '<' && text[end] != '>') {
    if (text[end] == '@') last = end;
    ++end;
  }
  if (last == View::npos || last == at || text.substr(at, last - at) == "git") return std::nullopt;
  return Found{at, last};
}

constexpr View kKeyBegin = "-----BEGIN ";
constexpr View kKeyEnd = "-----END ";

// The lines between -----BEGIN … PRIVATE KEY----- and its end.
std::optional<Found> private_key(View text, std::size_t at) {
  if (!text.substr(at).starts_with(kKeyBegin)) return std::nullopt;
  constexpr View kTitle = "PRIVATE KEY-----";
  const std::size_t title = text.substr(at, 80).find(kTitle);
  if (title == View::npos) return std::nullopt;
  const std::size_t from = at + title + kTitle.size();
  return Found{from, std::min(text.find(kKeyEnd, from), text.size())};
}

std::optional<Found> secret_at(View text, std::size_t at) {
  if (auto key = private_key(text, at)) return key;
  if (text.substr(at).starts_with("://")) return user_info(text, at + 3);
  const bool starts = at == 0 || !is_name(text[at - 1]);
  if (starts && is_name(text[at])) {
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    if (auto found = named_value(text, at, end)) return found;
    if (auto found = user_password(text, at, end)) return found;
  }
  if (at == 0 || !is_word(text[at - 1]))
    if (const std::size_t size = token_at(text, at); size > 0) return Found{at, at + size};
  return std::nullopt;
}

}  // namespace

std::string masked(View text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const auto found = secret_at(text, at);
    if (!found || found->to <= found->from) {
      out += text[at++];
      continue;
    }
    out += text.substr(at, found->from - at);
    out += kMaskedText;
    at = found->to;
  }
  return out;
}

std::vector<std::string> masked_words(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool secret = false;
  for (const std::string& word : words) {
    if (secret && !word.starts_with("--") && is_secret_value(word)) {
      out.emplace_back(kMaskedText);
      secret = false;
      continue;
    }
    const std::size_t sign = word.find('=');
    const View name = View(word).substr(0, sign);
    const bool named = !name.empty() && std::all_of(name.begin(), name.end(), is_name) && is_secret_name(name);
    secret = named && sign == std::string::npos && name.starts_with('-');
    if (named && sign != std::string::npos && is_secret_value(View(word).substr(sign + 1)))
      out.push_back(std::string(name) + "=" + std::string(kMaskedText));
    else
      out.push_back(masked(word));
  }
  // curl -u name:password as two words
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string pair = words[i - 1] + " " + words[i];
    if (out[i] != words[i]) continue;
    if (const auto found = user_password(pair, 0, words[i - 1].size()); found && found->to == pair.size())
      out[i] = pair.substr(words[i - 1].size() + 1, found->from - words[i - 1].size() - 1) + std::string(kMaskedText);
  }
  return out;
}

}  // namespace opwright
