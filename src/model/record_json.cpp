#include "model/record_json.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "base/json_object.h"
#include "base/json_write.h"
#include "model/record_fields.h"

namespace opwright {
namespace {

class Writer {
 public:
  explicit Writer(JsonObject& object) : object_(object) {}
  void operator()(std::string_view name, const std::string& text) const {
    if (!text.empty()) object_.add(name, text);
  }
  void operator()(std::string_view name, std::int64_t number) const {
    if (number != 0 || name == "index") object_.add(name, number);
  }
  void operator()(std::string_view name, std::uint64_t number) const { object_.add_raw(name, std::to_string(number)); }
  void operator()(std::string_view name, int number) const { object_.add(name, std::int64_t{number}); }
  void operator()(std::string_view name, double number) const {
    if (number != 0) object_.add_raw(name, json::figure_text(number));
  }
  void operator()(std::string_view name, const std::optional<double>& number) const {
    if (number) object_.add_raw(name, json::figure_text(*number));
  }
  void operator()(std::string_view name, Outcome outcome) const { object_.add(name, name_of(outcome)); }
  void operator()(std::string_view name, const std::optional<Outcome>& outcome) const {
    if (outcome) object_.add(name, name_of(*outcome));
  }
  void operator()(std::string_view name, Blame blame) const {
    if (blame != Blame::kNobody) object_.add(name, name_of(blame));
  }
  void operator()(std::string_view name, Distribution distribution) const { object_.add(name, flag_of(distribution)); }

 private:
  JsonObject& object_;
};

class Reader {
 public:
  Reader(const json::Node& node, std::string& problem) : node_(node), problem_(problem) {}

  void operator()(std::string_view name, std::string& text) const {
    const json::Node* field = find(name, json::Kind::kString);
    if (field != nullptr) text = field->text;
  }
  void operator()(std::string_view name, std::int64_t& number) const { whole(name, number); }
  void operator()(std::string_view name, std::uint64_t& number) const { whole(name, number); }
  void operator()(std::string_view name, int& number) const { whole(name, number); }
  void operator()(std::string_view name, double& number) const {
    if (const auto found = figure(name)) number = *found;
  }
  void operator()(std::string_view name, std::optional<double>& number) const {
    // null: what earlier versions wrote for every figure that is not finite.
    const json::Node* field = node_.find(name);
    if (field != nullptr && field->is(json::Kind::kNull))
      number = std::nan("");
    else if (const auto found = figure(name))
      number = found;
  }
  void operator()(std::string_view name, Outcome& outcome) const { word(name, parse_outcome, outcome); }
  void operator()(std::string_view name, std::optional<Outcome>& outcome) const {
    if (Outcome found{}; node_.find(name) != nullptr) {
      word(name, parse_outcome, found);
      outcome = found;
    }
  }
  void operator()(std::string_view name, Blame& blame) const { word(name, parse_blame, blame); }
  void operator()(std::string_view name, Distribution& distribution) const {
    word(name, parse_distribution, distribution);
  }

 private:
  const json::Node* find(std::string_view name, json::Kind kind) const {
    const json::Node* field = node_.find(name);
    if (field == nullptr || field->is(kind)) return field;
    problem_ = fmt::format("\"{}\" of a result is of another kind", name);
    return nullptr;
  }
  template <class Number>
  void whole(std::string_view name, Number& number) const {
    const json::Node* field = find(name, json::Kind::kNumber);
    if (field == nullptr) return;
    const auto [end, error] = std::from_chars(field->text.data(), field->text.data() + field->text.size(), number);
    if (error != std::errc() || end != field->text.data() + field->text.size())
      problem_ = fmt::format("\"{}\" of a result is no whole number: {}", name, field->text);
  }
  template <class Parse, class Word>
  void word(std::string_view name, const Parse& parse, Word& out) const {
    const json::Node* field = find(name, json::Kind::kString);
    if (field == nullptr) return;
    if (const auto found = parse(field->text))
      out = *found;
    else
      problem_ = fmt::format("\"{}\" of a result is an unknown word: {}", name, field->text);
  }
  std::optional<double> figure(std::string_view name) const {
    const json::Node* field = node_.find(name);
    if (field == nullptr) return std::nullopt;
    const auto found = json::figure_of(*field);
    if (!found) problem_ = fmt::format("\"{}\" of a result is no number", name);
    return found;
  }

  const json::Node& node_;
  std::string& problem_;
};

}  // namespace

std::string to_json(const CaseRecord& record) {
  JsonObject object;
  const Writer write(object);
  for_each_field(record, [&](const RecordField& field, const auto& value) { write(field.name, value); });
  return object.text();
}

Result<CaseRecord> parse_record(const json::Node& node) {
  if (!node.is(json::Kind::kObject)) return fail(ErrorCode::kBadInput, "a result is no JSON object");
  if (node.find("outcome") == nullptr) return fail(ErrorCode::kBadInput, "a result without \"outcome\"");
  CaseRecord record;
  std::string problem;
  const Reader read(node, problem);
  for_each_field(record, [&](const RecordField& field, auto& value) { read(field.name, value); });
  if (!problem.empty()) return fail(ErrorCode::kBadInput, std::move(problem));
  return record;
}

}  // namespace opwright
