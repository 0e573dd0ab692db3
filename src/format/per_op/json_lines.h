// JSON laid out as Python's json.dump(…, indent=2) does: an object or list under construction, one item a line.
#pragma once

#include <string>
#include <string_view>

#include "base/json_write.h"

namespace opwright::format {

inline void new_line(std::string& out, int level) {
  out += '\n';
  out.append(static_cast<std::size_t>(level) * 2, ' ');
}

// `{` or `[` at `level`; the items stand one level deeper. Closing writes `{}` where there was none.
class JsonLines {
 public:
  JsonLines(std::string& out, int level, char open, char close) : out_(out), level_(level), close_(close) {
    out_ += open;
  }
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;

  std::string& key(std::string_view name) {
    item();
    json::append_quoted(out_, name);
    return out_ += ": ";
  }
  std::string& item() {
    if (!empty_) out_ += ',';
    empty_ = false;
    new_line(out_, level_ + 1);
    return out_;
  }
  void text(std::string_view name, std::string_view value) { json::append_quoted(key(name), value); }
  int inner() const { return level_ + 1; }
  void end() {
    if (!empty_) new_line(out_, level_);
    out_ += close_;
  }

 private:
  std::string& out_;
  int level_;
  char close_;
  bool empty_ = true;
};

inline JsonLines json_object(std::string& out, int level) { return {out, level, '{', '}'}; }
inline JsonLines json_list(std::string& out, int level) { return {out, level, '[', ']'}; }

}  // namespace opwright::format
