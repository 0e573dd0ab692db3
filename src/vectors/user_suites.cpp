#include "vectors/user_suites.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/input.h"
#include "base/near_names.h"
#include "base/text.h"
#include "dialect/dialect.h"
#include "model/value_parse.h"
#include "normalize/normalize.h"
#include "vectors/all_cases.h"
#include "vectors/groups.h"
#include "vectors/validity.h"

namespace opwright::vectors {
namespace {

constexpr std::array<std::string_view, 1> kFileKeys{"suites"};
constexpr std::array<std::string_view, 6> kCaseKeys{"op", "parameters", "data", "seed", "pcc", "seconds"};
constexpr std::size_t kMostBytes = 16U << 20U;
constexpr std::size_t kMostBytesMeant = 64U << 20U;  // aliases can make a small file mean a large one
constexpr std::size_t kPartBytes = 64;               // what a value or a case costs beside its text
constexpr int kDeepest = 32;

// Reads one file. Every error stops it, so that a suite is there whole or not at all.
class SuiteReader {
 public:
  SuiteReader(std::string path, std::uint64_t seed) : path_(std::move(path)), seed_(seed) {}

  Result<std::vector<UserSuite>> read(const YAML::Node& root) {
    if (!root.IsMap()) return error(root, "a file of suites starts with `suites:`");
    OPWRIGHT_TRY(check_keys(root, kFileKeys));
    const YAML::Node suites = root["suites"];
    if (!suites.IsMap() || suites.size() == 0) return error(suites, "`suites:` has names of suites, each with a list");
    std::vector<UserSuite> all;
    std::set<std::string> names;
    for (const auto& entry : suites) {
      OPWRIGHT_TRY_ASSIGN(std::string name, word(entry.first, "the name of a suite"));
      if (name.empty() || name.find_first_of("/,: \t\n\"") != std::string::npos)
        return error(entry.first,
                     fmt::format("'{}' is no name of a suite: no blanks, commas, colons or slashes", name));
      if (!names.insert(name).second) return error(entry.first, fmt::format("suite '{}' stands twice", name));
      UserSuite suite{std::move(name), {}};
      if (!entry.second.IsSequence() || entry.second.size() == 0)
        return error(entry.second, fmt::format("suite '{}' is a list of cases: `- op: ttnn.add`", suite.name));
      for (const YAML::Node& item : entry.second) {
        OPWRIGHT_TRY_ASSIGN(UserCases cases, read_cases(item));
        suite.cases.push_back(std::move(cases));
      }
      all.push_back(std::move(suite));
    }
    return all;
  }

 private:
  tl::unexpected<Error> error(const YAML::Node& node, std::string_view what) const {
    const YAML::Mark mark = node.IsDefined() ? node.Mark() : YAML::Mark::null_mark();
    if (mark.is_null()) return fail(ErrorCode::kBadInput, fmt::format("{}: {}", path_, what));
    return fail(ErrorCode::kBadInput,
                fmt::format("{}, line {}, column {}: {}", path_, mark.line + 1, mark.column + 1, what));
  }

  Result<std::string> word(const YAML::Node& node, std::string_view what) {
    if (!node.IsScalar()) return error(node, fmt::format("{} is a word", what));
    OPWRIGHT_TRY(spend(node, node.Scalar().size()));
    return node.Scalar();
  }

  // Counts what the file means with its aliases followed.
  Status spend(const YAML::Node& node, std::size_t bytes) {
    meant_ += bytes + kPartBytes;
    if (meant_ <= kMostBytesMeant) return {};
    return error(node, fmt::format("with its aliases (*name) written out, the file is larger than {}; split it",
                                   size_words(kMostBytesMeant)));
  }

  // Keys that are not known, or that stand twice.
  Status check_keys(const YAML::Node& map, std::span<const std::string_view> known) {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      OPWRIGHT_TRY_ASSIGN(const std::string key, word(entry.first, "a key"));
      if (std::find(known.begin(), known.end(), key) == known.end())
        return error(entry.first,
                     fmt::format("unknown key '{}'{} Known here: {}", key,
                                 near_names(key, known).empty() ? "." : did_you_mean(near_names(key, known)),
                                 fmt::join(known, ", ")));
      if (!seen.insert(key).second) return error(entry.first, fmt::format("key '{}' stands twice", key));
    }
    return {};
  }

  Result<UserCases> read_cases(const YAML::Node& item) {
    if (!item.IsMap()) return error(item, "a case has keys: `- op: ttnn.add`, then `parameters:` below it");
    OPWRIGHT_TRY(check_keys(item, kCaseKeys));
    if (!item["op"].IsDefined())
      return error(item, "a case needs `op:`, e.g. ttnn.add (or ttnn::add for C++ arguments)");
    UserCases cases;
    cases.line = static_cast<std::size_t>(item.Mark().line + 1);
    OPWRIGHT_TRY_ASSIGN(const std::string op, word(item["op"], "`op:`"));
    if (op.empty() || op.find_first_of(" \t\n(),\"") != std::string::npos)
      return error(item["op"], fmt::format("'{}' is no name of an operation", op));
    cases.convention = op.find("::") != std::string::npos ? Convention::kCpp : Convention::kPython;
    cases.op = operation_name(op);
    cases.recipe.seed = seed_;
    if (const YAML::Node data = item["data"]; data.IsDefined()) {
      OPWRIGHT_TRY_ASSIGN(const std::string name, word(data, "`data:`"));
      const auto distribution = parse_distribution(name);
      if (!distribution) return error(data, no_distribution(name));
      cases.recipe.distribution = *distribution;
    }
    if (const YAML::Node seed = item["seed"]; seed.IsDefined()) {
      if (!seed.IsScalar() || !YAML::convert<std::uint64_t>::decode(seed, cases.recipe.seed))
        return error(seed, "`seed:` is a whole number");
    }
    OPWRIGHT_TRY(read_number(item["pcc"], "pcc", -1, 1, cases.pcc));
    OPWRIGHT_TRY(read_number(item["seconds"], "seconds", 0, 86400, cases.seconds));
    if (const YAML::Node parameters = item["parameters"]; parameters.IsDefined())
      OPWRIGHT_TRY(read_parameters(parameters, cases));
    return cases;
  }

  Status read_number(const YAML::Node& node, std::string_view name, double least, double most,
                     std::optional<double>& out) const {
    if (!node.IsDefined()) return {};
    double number = 0;
    if (!node.IsScalar() || !YAML::convert<double>::decode(node, number) || !(number >= least && number <= most))
      return error(node, fmt::format("`{}:` is a number from {} to {}", name, least, most));
    out = number;
    return {};
  }

  Status read_parameters(const YAML::Node& map, UserCases& cases) {
    if (!map.IsMap()) return error(map, "`parameters:` has names, each with a list of values");
    std::set<std::string> seen;
    for (const auto& entry : map) {
      ParameterList list;
      OPWRIGHT_TRY_ASSIGN(const std::string key, word(entry.first, "the name of a parameter"));
      for (std::size_t from = 0; from <= key.size();) {
        const std::size_t end = std::min(key.find(',', from), key.size());
        const std::string name(trimmed(std::string_view(key).substr(from, end - from)));
        if (name.empty()) return error(entry.first, "the name of a parameter is empty");
        if (!seen.insert(name).second) return error(entry.first, fmt::format("parameter '{}' stands twice", name));
        list.names.push_back(name);
        from = end + 1;
      }
      if (!entry.second.IsSequence() || entry.second.size() == 0)
        return error(entry.second, fmt::format("'{}' has a list of values: [value, …]; `absent` for not passed", key));
      for (const YAML::Node& item : entry.second) {
        OPWRIGHT_TRY_ASSIGN(auto row, read_row(item, list.names));
        list.rows.push_back(std::move(row));
      }
      cases.parameters.push_back(std::move(list));
    }
    return {};
  }

  Result<std::vector<std::optional<Value>>> read_row(const YAML::Node& item, const std::vector<std::string>& names) {
    std::vector<std::optional<Value>> row;
    if (names.size() == 1) {
      OPWRIGHT_TRY_ASSIGN(auto value, read_choice(item));
      row.push_back(std::move(value));
      return row;
    }
    if (!item.IsSequence() || item.size() != names.size())
      return error(item, fmt::format("{} values are wanted, one for each of {}", names.size(), fmt::join(names, ", ")));
    for (const YAML::Node& one : item) {
      OPWRIGHT_TRY_ASSIGN(auto value, read_choice(one));
      row.push_back(std::move(value));
    }
    return row;
  }

  Result<std::optional<Value>> read_choice(const YAML::Node& node) {
    if (node.IsScalar() && node.Scalar() == "absent" && node.Tag() != "!") return std::optional<Value>();
    OPWRIGHT_TRY_ASSIGN(Value value, read_value(node, 0));
    return std::optional<Value>(std::move(value));
  }

  Result<Value> read_value(const YAML::Node& node, int depth) {
    OPWRIGHT_TRY(spend(node, node.IsScalar() ? node.Scalar().size() : 0));
    if (depth > kDeepest) return error(node, "lists nested too deep");
    if (node.IsNull()) return Value();
    if (node.IsSequence()) {
      List list;
      for (const YAML::Node& item : node) {
        OPWRIGHT_TRY_ASSIGN(Value value, read_value(item, depth + 1));
        list.push_back(std::move(value));
      }
      return Value(std::move(list));
    }
    if (!node.IsScalar())
      return error(node, "a value is written as in a case line; put it in single quotes, e.g. '{\"k\":1}'");
    auto value = parse_value(node.Scalar());
    if (!value)
      return error(node, fmt::format("'{}' is no value ({}); write it as in a case line: 3, 0.5, none, true, "
                                     "DataType.BFLOAT16, '\"text\"', 'tensor([32,32] BFLOAT16 TILE DEVICE)'",
                                     node.Scalar().substr(0, 80), value.error().message));
    return *std::move(value);
  }

  std::string path_;
  std::uint64_t seed_;
  std::size_t meant_ = 0;
};

}  // namespace

std::int64_t UserCases::size() const {
  std::int64_t product = 1;
  for (const ParameterList& list : parameters)
    product = saturating_product(product, static_cast<std::int64_t>(list.rows.size()));
  return product;
}

Result<std::vector<UserSuite>> read_user_suites(const std::string& path, std::uint64_t seed) {
  // Named by somebody, so a pipe will do; as little of it as a file of suites can be.
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path));
  OPWRIGHT_TRY_ASSIGN(const std::string_view start, input.peek(kMostBytes + 1));
  return parse_user_suites(std::string(start), path, seed);
}

Result<std::vector<UserSuite>> parse_user_suites(const std::string& text, const std::string& path, std::uint64_t seed) {
  if (text.size() > kMostBytes)
    return fail(ErrorCode::kUnsupported, fmt::format("{}: more than {}; suites of at most so much are read, split it",
                                                     path, size_words(kMostBytes)));
  try {
    return SuiteReader(path, seed).read(YAML::Load(text));
  } catch (const YAML::Exception& problem) {  // the library's only way to say that a text is no YAML
    if (problem.mark.is_null()) return fail(ErrorCode::kBadInput, fmt::format("{}: no YAML: {}", path, problem.msg));
    return fail(ErrorCode::kBadInput, fmt::format("{}, line {}, column {}: no YAML: {}", path, problem.mark.line + 1,
                                                  problem.mark.column + 1, problem.msg));
  }
}

Status for_each_user_vector(const UserSuite& suite, const UseVector& use) {
  for (const UserCases& cases : suite.cases) {
    std::vector<std::size_t> at(cases.parameters.size(), 0);
    while (true) {
      TestVector vector;
      vector.suite = suite.name;
      vector.config.op = cases.op;
      vector.config.convention = cases.convention;
      for (std::size_t i = 0; i < at.size(); ++i) {
        const ParameterList& list = cases.parameters[i];
        for (std::size_t n = 0; n < list.names.size(); ++n)
          if (const auto& value = list.rows[at[i]][n]) vector.config.args.push_back({list.names[n], *value});
      }
      normalize::settle(vector.config);
      vector.recipe = cases.recipe;
      vector.pcc = cases.pcc;
      vector.seconds = cases.seconds;
      vector.mesh = placement_mesh(vector.config);
      if (vector.mesh == "1x1") vector.mesh.clear();
      vector.invalid = why_invalid({vector.config});
      name_vector(vector);
      OPWRIGHT_TRY(use(std::move(vector)));
      std::size_t digit = at.size();
      while (digit > 0 && ++at[digit - 1] == cases.parameters[digit - 1].rows.size()) at[--digit] = 0;
      if (digit == 0) break;
    }
  }
  return {};
}

}  // namespace opwright::vectors
