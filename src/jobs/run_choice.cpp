#include "jobs/run_choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <variant>

#include "base/secrets.h"
#include "base/words.h"
#include "jobs/device_program.h"
#include "jobs/question.h"
#include "vectors/read_vectors.h"

namespace opwright::jobs {
namespace {

constexpr double kDefaultSeconds = 30;
// The default time-out of a case that is known to be long: this many times its estimate, which is rough.
constexpr double kGenerous = 20;

using Text = std::string RunChoice::*;
using OptionalText = std::optional<std::string> RunChoice::*;
using List = std::vector<std::string> RunChoice::*;
using Count = std::optional<std::uint64_t> RunChoice::*;
using Number = std::optional<double> RunChoice::*;
using Seconds = Timeouts RunChoice::*;
using Switch = bool RunChoice::*;

struct Field {
  std::string_view name;
  std::variant<Text, OptionalText, List, Count, Number, Seconds, Switch> member;
};

constexpr std::array kFields{
    Field{"--where", &RunChoice::where},
    Field{"--suite", &RunChoice::suite},
    Field{"--suites", &RunChoice::suites},
    Field{"--op", &RunChoice::ops},
    Field{"--limit", &RunChoice::limit},
    Field{"--count", &RunChoice::count},
    Field{"--randomize", &RunChoice::randomize},
    Field{"--vectors", &RunChoice::vectors},
    Field{"--shard", &RunChoice::shard},
    Field{"--budget", &RunChoice::budget},
    Field{"--device", &RunChoice::device},
    Field{"--against", &RunChoice::against},
    Field{"--seed", &RunChoice::seed},
    Field{"--data", &RunChoice::data},
    Field{"--pcc", &RunChoice::pcc},
    Field{"--sample", &RunChoice::sample},
    Field{"--timeout", &RunChoice::timeouts},
    Field{"--python", &RunChoice::python},
    Field{"--start-timeout", &RunChoice::start_seconds},
    Field{"--dedupe", &RunChoice::dedupe},
    Field{"--keep-invalid", &RunChoice::keep_invalid},
    Field{"--plan-order", &RunChoice::plan_order},
    Field{"--check", &RunChoice::check},
    Field{"--golden", &RunChoice::golden},
    Field{"--mutate", &RunChoice::mutate},
    Field{"--warm", &RunChoice::warm},
    Field{"--profile", &RunChoice::profile},
    Field{"--profile-window", &RunChoice::profile_window},
};

const Field* find_field(std::string_view name) {
  const auto* const found = std::ranges::find(kFields, name, &Field::name);
  return found == kFields.end() ? nullptr : found;
}

Texts as_texts(const std::string& text) { return text.empty() ? Texts() : Texts{text}; }
Texts as_texts(const std::optional<std::string>& text) { return text ? Texts{*text} : Texts(); }
Texts as_texts(const Texts& texts) { return texts; }
Texts as_texts(const std::optional<std::uint64_t>& count) { return count ? Texts{std::to_string(*count)} : Texts(); }
Texts as_texts(const std::optional<double>& number) { return number ? Texts{fmt::format("{}", *number)} : Texts(); }
Texts as_texts(const Timeouts& timeouts) {
  Texts texts;
  if (timeouts.usual) texts.push_back(fmt::format("{}", *timeouts.usual));
  for (const auto& [name, seconds] : timeouts.by_name) texts.push_back(fmt::format("{}={}", name, seconds));
  return texts;
}
Texts as_texts(bool on) { return on ? Texts{"true"} : Texts(); }

Status take(std::string_view, const Texts& texts, std::string& out) {
  out = texts.back();
  return {};
}
Status take(std::string_view, const Texts& texts, std::optional<std::string>& out) {
  out = texts.back();
  return {};
}
Status take(std::string_view, const Texts& texts, Texts& out) {
  out = texts;
  return {};
}
Status take(std::string_view name, const Texts& texts, std::optional<std::uint64_t>& out) {
  const std::string& text = texts.back();
  if (text.empty()) return {};
  if (text.find_first_not_of("0123456789") != std::string::npos || text.size() > 15)
    return fail(ErrorCode::kUsage, fmt::format("{} {}: a whole number is needed", name, text));
  out = std::stoull(text);
  return {};
}
Status take(std::string_view name, const Texts& texts, std::optional<double>& out) {
  const std::string& text = texts.back();
  if (text.empty()) return {};
  if (name == "--start-timeout") {
    OPWRIGHT_TRY_ASSIGN(out, parse_start_seconds(text));
    return {};
  }
  double pcc = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), pcc);
  if (error != std::errc() || end != text.data() + text.size() || !(pcc >= -1 && pcc <= 1))
    return fail(ErrorCode::kUsage, fmt::format("{}: '{}' is no number between -1 and 1", name, text));
  out = pcc;
  return {};
}
// "60", "ttnn.conv2d=120", "xfail_suite=5"
Status take(std::string_view name, const Texts& texts, Timeouts& out) {
  out = {};
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    const std::string number = equals == std::string::npos ? text : text.substr(equals + 1);
    char* end = nullptr;
    const double seconds = std::strtod(number.c_str(), &end);
    if (end == number.c_str() || *end != '\0' || !(seconds > 0))
      return fail(ErrorCode::kUsage, fmt::format("{} {}: SECONDS, OP=SECONDS or SUITE=SECONDS", name, text));
    if (equals == std::string::npos)
      out.usual = seconds;
    else
      out.by_name[text.substr(0, equals)] = seconds;
  }
  return {};
}
Status take(std::string_view, const Texts& texts, bool& out) {
  out = texts.back() == "true";
  return {};
}

vectors::SuiteOptions suite_options(const RunChoice& choice) {
  vectors::SuiteOptions options;
  options.file = choice.suites;
  options.suite = choice.suite.value_or(choice.suites.empty() ? options.suite : "");
  options.ops = choice.ops;
  if (choice.limit) options.limit = static_cast<std::int64_t>(*choice.limit);
  if (choice.count) options.count = static_cast<std::int64_t>(*choice.count);
  options.seed = choice.seed.value_or(options.seed);
  options.randomize = choice.randomize;
  options.dedupe = choice.dedupe;
  return options;
}

}  // namespace

double Timeouts::of(const CaseRecord& record, std::optional<double> own, double estimated) const {
  if (own) return *own;
  if (const auto found = by_name.find(record.op); found != by_name.end()) return found->second;
  if (const auto found = by_name.find(record.suite); found != by_name.end()) return found->second;
  return usual ? *usual : std::max(kDefaultSeconds, kGenerous * estimated);
}

std::vector<std::string_view> choice_fields() {
  std::vector<std::string_view> names;
  for (const Field& field : kFields) names.push_back(field.name);
  return names;
}

bool is_switch(std::string_view field) {
  const Field* found = find_field(field);
  return found != nullptr && std::holds_alternative<Switch>(found->member);
}

Texts texts_of(const RunChoice& choice, std::string_view field) {
  const Field* found = find_field(field);
  if (found == nullptr) return {};
  return std::visit([&](auto member) { return as_texts(choice.*member); }, found->member);
}

Status set_field(RunChoice& choice, std::string_view field, const Texts& texts) {
  const Field* found = find_field(field);
  if (found == nullptr) return fail(ErrorCode::kUsage, fmt::format("a run has no field '{}'", field));
  if (texts.empty()) return {};
  return std::visit([&](auto member) { return take(field, texts, choice.*member); }, found->member);
}

Result<RunOptions> case_options(const RunChoice& choice) {
  RunOptions options;
  if (choice.sample == std::uint64_t{0}) return fail(ErrorCode::kUsage, "--sample: at least 1");
  if (choice.sample) options.most_elements = static_cast<std::int64_t>(*choice.sample);
  const std::string data = choice.data.empty() ? "normal" : choice.data;
  const auto recipe = parse_data(data);
  if (!recipe) return fail(ErrorCode::kUsage, "--data: " + no_distribution(data));
  options.recipe = *recipe;
  options.recipe.seed = choice.seed.value_or(1);
  options.pcc = choice.pcc;
  options.compute = !choice.check;
  options.mutate = choice.mutate;
  options.repeat = choice.warm ? 2 : 1;
  options.capture = true;
  if (choice.golden && !choice.against.empty())
    return fail(ErrorCode::kUsage, "--golden and --against: one second opinion at a time");
  return options;
}

std::string repeat_flags(const RunChoice& choice) {
  std::string text;
  for (const char* flag : {"--pcc", "--sample", "--against", "--python"})
    for (const std::string& value : texts_of(choice, flag))
      text += fmt::format(" {} {}", flag, shell_word(masked(value)));
  for (const char* flag : {"--check", "--golden", "--mutate"})
    if (!texts_of(choice, flag).empty()) text += fmt::format(" {}", flag);
  return text;
}

Status for_each_vector(const RunChoice& choice, const VectorPlace& place, const vectors::UseVector& use) {
  if (!choice.vectors.empty()) return vectors::read_vectors(choice.vectors, use);
  vectors::SuiteOptions options = suite_options(choice);
  options.announce = place.announce;
  OPWRIGHT_TRY_ASSIGN(const select::Selector selector, parse_where(choice.where));
  if (!options.file.empty()) return vectors::for_each_vector_of_file(selector, options, use);
  OPWRIGHT_TRY_ASSIGN(const auto reader, open_reader(place.store, place.wait_ms));
  OPWRIGHT_TRY(check_operations(*reader, options.ops));
  return vectors::for_each_vector(*reader, selector, options, use);
}

}  // namespace opwright::jobs
