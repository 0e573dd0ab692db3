// JSON texts put together field by field.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace opwright {

// A JSON object under construction; fields keep their order.
class JsonObject {
 public:
  JsonObject& add(std::string_view name, std::string_view text);
  JsonObject& add(std::string_view name, const char* text) { return add(name, std::string_view(text)); }
  JsonObject& add(std::string_view name, std::int64_t number);
  JsonObject& add_number(std::string_view name, double number);
  JsonObject& add_bool(std::string_view name, bool value);
  JsonObject& add_raw(std::string_view name, std::string_view json);  // already JSON
  std::string text() const { return body_.empty() ? "{}" : body_ + "}"; }

 private:
  std::string& field(std::string_view name);
  std::string body_;
};

// {"name": count, …}
std::string counts_json(const std::map<std::string, std::int64_t>& counts);
std::string json_array(const std::vector<std::string>& items, bool items_are_json);
std::string json_string(std::string_view text);

}  // namespace opwright
