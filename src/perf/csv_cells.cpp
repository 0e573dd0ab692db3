#include "perf/csv_cells.h"

#include <cstring>

namespace opwright::perf {

// `at` is behind the opening quote, afterwards behind the closing one.
bool CellSplitter::quoted(std::string_view record, std::size_t& at, std::string_view& cell) {
  const std::size_t start = at;
  std::size_t copied = std::string::npos;  // where the cell begins in unescaped_
  std::size_t from = at;
  while (true) {
    const std::size_t quote = record.find('"', at);
    if (quote == std::string_view::npos) return false;
    if (quote + 1 < record.size() && record[quote + 1] == '"') {
      if (copied == std::string::npos) copied = unescaped_.size();
      unescaped_.append(record.substr(from, quote + 1 - from));
      at = from = quote + 2;
      continue;
    }
    at = quote + 1;
    if (copied == std::string::npos) {
      cell = record.substr(start, quote - start);
    } else {
      unescaped_.append(record.substr(from, quote - from));
      cell = std::string_view(unescaped_).substr(copied);
    }
    return true;
  }
}

bool CellSplitter::split(std::string_view record, std::vector<std::string_view>& cells) {
  cells.clear();
  unescaped_.clear();
  unescaped_.reserve(record.size());
  if (separator_ == ';') return split_bracketed(record, cells);
  std::size_t at = 0;
  const char* data = record.data();
  const std::size_t size = record.size();
  while (true) {
    if (at < size && data[at] == '"') {
      std::string_view cell;
      ++at;
      if (!quoted(record, at, cell)) return false;
      cells.push_back(cell);
      while (at < size && data[at] != separator_) ++at;  // nothing belongs between a closing quote and the separator
      if (at == size) return true;
      ++at;
      continue;
    }
    // Most cells are empty or short: a loop finds their end before memchr has begun.
    const std::size_t start = at;
    const std::size_t near = start + 16 < size ? start + 16 : size;
    while (at < near && data[at] != separator_) ++at;
    if (at == near && at < size) {
      const void* found = std::memchr(data + at, separator_, size - at);
      at = found == nullptr ? size : static_cast<std::size_t>(static_cast<const char*>(found) - data);
    }
    cells.push_back(record.substr(start, at - start));
    if (at == size) return true;
    ++at;
  }
}

bool CellSplitter::split_bracketed(std::string_view record, std::vector<std::string_view>& cells) {
  std::size_t at = 0;
  while (true) {
    if (at < record.size() && record[at] == '"') {
      std::string_view cell;
      ++at;
      if (!quoted(record, at, cell)) return false;
      cells.push_back(cell);
      at = record.find(separator_, at);
    } else {
      const std::size_t start = at;
      int depth = 0;
      for (; at < record.size(); ++at) {
        const char c = record[at];
        if (c == '{' || c == '[' || c == '(') ++depth;
        if ((c == '}' || c == ']' || c == ')') && depth > 0) --depth;
        if (c == separator_ && depth == 0) break;
      }
      cells.push_back(record.substr(start, at - start));
    }
    if (at >= record.size()) return true;
    ++at;
  }
}

}  // namespace opwright::perf
