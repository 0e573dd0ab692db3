#include "base/json_object.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_write.h"

namespace opwright {

std::string json_string(std::string_view text) {
  std::string out;
  json::append_quoted(out, text);
  return out;
}

std::string& JsonObject::field(std::string_view name) {
  body_ += body_.empty() ? "{" : ", ";
  json::append_quoted(body_, name);
  return body_ += ": ";
}
JsonObject& JsonObject::add(std::string_view name, std::string_view text) {
  json::append_quoted(field(name), text);
  return *this;
}
JsonObject& JsonObject::add(std::string_view name, std::int64_t number) {
  field(name) += std::to_string(number);
  return *this;
}
JsonObject& JsonObject::add_number(std::string_view name, double number) {
  field(name) += std::isfinite(number) ? fmt::format("{:.6g}", number) : "null";  // JSON has no other word for it
  return *this;
}
JsonObject& JsonObject::add_bool(std::string_view name, bool value) {
  field(name) += value ? "true" : "false";
  return *this;
}
JsonObject& JsonObject::add_raw(std::string_view name, std::string_view json) {
  field(name) += json;
  return *this;
}

std::string counts_json(const std::map<std::string, std::int64_t>& counts) {
  JsonObject object;
  for (const auto& [name, count] : counts) object.add(name, count);
  return object.text();
}

std::string json_array(const std::vector<std::string>& items, bool items_are_json) {
  std::string out = "[";
  for (const std::string& item : items) {
    if (out.size() > 1) out += ", ";
    out += items_are_json ? item : json_string(item);
  }
  return out + "]";
}

}  // namespace opwright
