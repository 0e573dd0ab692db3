#include "perf/targets.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <set>

#include "base/input.h"
#include "base/json_object.h"
#include "base/near_names.h"
#include "perf/gate.h"
#include "perf/report_json.h"

namespace opwright::perf {
namespace {

constexpr std::size_t kMostBytes = 16U << 20U;
constexpr std::int64_t kVersion = 1;
constexpr std::array<std::string_view, 8> kFileKeys{"version",   "margin_percent", "margin_ns",  "sides",
                                                    "statistic", "missing",        "incomplete", "windows"};
constexpr std::array<std::string_view, 7> kWindowKeys{"like",    "positions",      "ops", "kernel_ns", "op_to_op_ns",
                                                      "host_ns", "first_op_gap_ns"};
constexpr std::array<std::string_view, 2> kOpKeys{"kernel_ns", "op_to_op_ns"};
constexpr std::array<std::string_view, 4> kTargetKeys{"target", "margin_percent", "margin_ns", "sides"};

class TargetsReader {
 public:
  explicit TargetsReader(const std::string& path) : path_(path) {}

  Result<Targets> read(const YAML::Node& root) {
    OPWRIGHT_TRY(keys_of(root, kFileKeys, "a file of targets"));
    if (!root["windows"]) return error(root, "a file of targets has `windows:`, each with its targets");
    if (const YAML::Node version = root["version"]) {
      OPWRIGHT_TRY_ASSIGN(const double number, number_of(version, "version"));
      if (number != static_cast<double>(kVersion))
        return error(version, fmt::format("version {} of targets; this build reads {}", version.Scalar(), kVersion));
    }
    Targets out;
    Target usual;
    OPWRIGHT_TRY(read_margins(root, usual));
    OPWRIGHT_TRY_ASSIGN(const std::size_t statistic, choice(root["statistic"], {"mean", "median", "min"}, "statistic"));
    out.statistic = static_cast<Statistic>(statistic);
    OPWRIGHT_TRY_ASSIGN(const std::size_t missing, choice(root["missing"], {"fail", "ignore"}, "missing"));
    out.ignore_missing = missing == 1;
    OPWRIGHT_TRY_ASSIGN(const std::size_t incomplete, choice(root["incomplete"], {"fail", "ignore"}, "incomplete"));
    out.ignore_incomplete = incomplete == 1;
    const YAML::Node windows = root["windows"];
    if (!windows.IsMap() || windows.size() == 0) return error(windows, "`windows:` has names of windows");
    OPWRIGHT_TRY(no_name_twice(windows));
    for (const auto& entry : windows) {
      OPWRIGHT_TRY_ASSIGN(WindowTargets one, read_window(entry.first.Scalar(), entry.second, usual));
      out.windows.push_back(std::move(one));
    }
    return out;
  }

 private:
  tl::unexpected<Error> error(const YAML::Node& node, std::string_view what) const {
    const YAML::Mark mark = node.IsDefined() ? node.Mark() : YAML::Mark::null_mark();
    if (mark.is_null()) return fail(ErrorCode::kBadInput, fmt::format("{}: {}", path_, what));
    return fail(ErrorCode::kBadInput,
                fmt::format("{}, line {}, column {}: {}", path_, mark.line + 1, mark.column + 1, what));
  }

  Status no_name_twice(const YAML::Node& map) const {
    std::set<std::string> seen;
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) return error(entry.first, "a name is needed here");
      if (!seen.insert(entry.first.Scalar()).second)
        return error(entry.first, fmt::format("'{}' stands twice", entry.first.Scalar()));
    }
    return {};
  }

  Status keys_of(const YAML::Node& map, std::span<const std::string_view> known, std::string_view what) const {
    if (!map.IsMap()) return error(map, fmt::format("{} is a table of names and values", what));
    OPWRIGHT_TRY(no_name_twice(map));
    for (const auto& entry : map) {
      const std::string& name = entry.first.Scalar();
      if (std::find(known.begin(), known.end(), name) != known.end()) continue;
      return error(entry.first, fmt::format("{} has no '{}'{}", what, name, did_you_mean(near_names(name, known))));
    }
    return {};
  }

  Result<double> number_of(const YAML::Node& node, std::string_view what) const {
    if (node.IsScalar()) {
      const std::string& text = node.Scalar();
      char* end = nullptr;
      const double number = std::strtod(text.c_str(), &end);
      if (!text.empty() && *end == '\0' && std::isfinite(number) && number >= 0) return number;
    }
    return error(node, fmt::format("{} is a number, 0 or more", what));
  }

  Result<std::size_t> choice(const YAML::Node& node, const std::vector<std::string_view>& words,
                             std::string_view what) const {
    if (!node) return std::size_t{0};
    if (node.IsScalar())
      for (std::size_t i = 0; i < words.size(); ++i)
        if (node.Scalar() == words[i]) return i;
    return error(node, fmt::format("{} is {}", what, fmt::join(words, " or ")));
  }

  Status read_margins(const YAML::Node& map, Target& out) const {
    if (const YAML::Node node = map["margin_percent"]) {
      OPWRIGHT_TRY_ASSIGN(out.margin_percent, number_of(node, "margin_percent"));
    }
    if (const YAML::Node node = map["margin_ns"]) {
      OPWRIGHT_TRY_ASSIGN(out.margin_ns, number_of(node, "margin_ns"));
    }
    if (const YAML::Node node = map["sides"]) {
      OPWRIGHT_TRY_ASSIGN(const std::size_t sides, choice(node, {"above", "both"}, "sides"));
      out.sides = static_cast<Sides>(sides);
    }
    return {};
  }

  // 1200, {target: 1200, margin_percent: 3}, unchecked, or null: no target.
  Result<Target> read_target(const YAML::Node& node, const Target& usual, std::string_view what) const {
    Target out = usual;
    if (node.IsNull()) return out;
    if (node.IsScalar() && node.Scalar() == "unchecked") {
      out.unchecked = true;
      return out;
    }
    if (!node.IsMap()) {
      OPWRIGHT_TRY_ASSIGN(out.value,
                          number_of(node, fmt::format("{} (or 'unchecked', or a table with 'target')", what)));
      return out;
    }
    OPWRIGHT_TRY(keys_of(node, kTargetKeys, what));
    OPWRIGHT_TRY(read_margins(node, out));
    if (!node["target"]) return error(node, fmt::format("{} has no 'target'", what));
    if (!node["target"].IsNull()) {
      OPWRIGHT_TRY_ASSIGN(out.value, number_of(node["target"], "target"));
    }
    return out;
  }

  Result<WindowTargets> read_window(const std::string& name, const YAML::Node& node, const Target& usual) const {
    WindowTargets out;
    out.window = name;
    OPWRIGHT_TRY(keys_of(node, kWindowKeys, fmt::format("window '{}'", name)));
    for (const auto& entry : node) {
      const std::string& key = entry.first.Scalar();
      if (key == "like") {
        out.like = like_of(entry.second.IsScalar() ? entry.second.Scalar() : "");
        if (!out.like) return error(entry.second, "like is gpt-oss, deepseek or detailed");
      } else if (key == "positions") {
        OPWRIGHT_TRY_ASSIGN(const double count, number_of(entry.second, "positions"));
        if (count != std::floor(count) || count > 1e9) return error(entry.second, "positions is a whole number");
        out.positions = static_cast<std::int64_t>(count);
      } else if (key == "ops") {
        if (!entry.second.IsMap()) return error(entry.second, "`ops:` has names of operations");
        OPWRIGHT_TRY(no_name_twice(entry.second));
        out.ops.emplace();
        for (const auto& op : entry.second) {
          OPWRIGHT_TRY(keys_of(op.second, kOpKeys, fmt::format("operation '{}'", op.first.Scalar())));
          FigureTargets& targets = (*out.ops)[op.first.Scalar()];
          for (const auto& figure : op.second) {
            OPWRIGHT_TRY_ASSIGN(targets[figure.first.Scalar()],
                                read_target(figure.second, usual, figure.first.Scalar()));
          }
        }
      } else {
        OPWRIGHT_TRY_ASSIGN(out.figures[key], read_target(entry.second, usual, key));
      }
    }
    return out;
  }

  const std::string& path_;
};

// Brackets deeper than any file of targets has: the parser would follow them down its stack.
bool too_deep(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '[' || c == '{') ++depth;
    if (c == ']' || c == '}') --depth;
    if (depth > 32) return true;
  }
  // Block style nests by indentation, and `- - - -` on one line.
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.find_first_not_of(" -?:") > 200 && line.size() > 200) return true;
    at = end;
  }
  return false;
}

}  // namespace

double Target::margin() const { return std::max(std::abs(value) * margin_percent / 100, margin_ns); }

Result<Targets> parse_targets(const std::string& text, const std::string& path) {
  if (text.size() > kMostBytes) return fail(ErrorCode::kBadInput, path + ": larger than any file of targets");
  if (too_deep(text)) return fail(ErrorCode::kBadInput, path + ": nested deeper than any file of targets");
  try {
    return TargetsReader(path).read(YAML::Load(text));
  } catch (const YAML::Exception& problem) {
    const std::string where = problem.mark.is_null()
                                  ? ""
                                  : fmt::format(", line {}, column {}", problem.mark.line + 1, problem.mark.column + 1);
    return fail(ErrorCode::kBadInput, fmt::format("{}{}: {}", path, where, problem.msg));
  }
}

Result<Targets> read_targets(const std::string& path) {
  OPWRIGHT_TRY_ASSIGN(Input input, Input::open(path));
  OPWRIGHT_TRY_ASSIGN(const Text text, std::move(input).read_all());
  return parse_targets(std::string(text.view()), path);
}

std::string targets_text(const std::vector<GateFigures>& windows, double margin_percent, bool yaml) {
  // One walk for both: JSON is a table of quoted names, and YAML takes quoted names too.
  std::string text;
  const auto line = [&](int depth, std::string_view what) {
    text.append(static_cast<std::size_t>(depth) * 2, ' ').append(what).append("\n");
  };
  const std::string open = yaml ? ":" : ": {", comma = yaml ? "" : ",";
  if (!yaml) line(0, "{");
  const int top = yaml ? 0 : 1;
  const auto field = [&](int depth, std::string_view name, const std::string& value, bool last) {
    line(depth, fmt::format("{}: {}{}", json_string(name), value, last ? "" : comma));
  };
  field(top, "version", std::to_string(kVersion), false);
  field(top, "margin_percent", figure_json(margin_percent), false);
  field(top, "sides", json_string("above"), false);
  line(top, json_string("windows") + open);
  for (std::size_t w = 0; w < windows.size(); ++w) {
    const GateFigures& figures = windows[w];
    line(top + 1, json_string(figures.window) + open);
    field(top + 2, "positions", std::to_string(figures.positions), false);
    for (const std::string_view name : kRequiredFigures) {
      const auto found = figures.totals.find(name);
      field(top + 2, name, figure_json(found == figures.totals.end() ? kNoFigure : found->second), false);
    }
    line(top + 2, json_string("ops") + (figures.ops.empty() ? ": {}" : open));
    std::size_t left = figures.ops.size();
    for (const auto& [op, values] : figures.ops) {
      JsonObject object;
      for (const std::string_view name : kOpKeys) {
        const auto found = values.find(name);
        // An operation that is only the first of an iteration has no gap of its own to be held to.
        if (found == values.end() || !has(found->second))
          object.add(name, "unchecked");
        else
          object.add_raw(name, figure_json(found->second));
      }
      field(top + 3, op, object.text(), --left == 0);
    }
    if (!yaml && !figures.ops.empty()) line(top + 2, "}");
    if (!yaml) line(top + 1, w + 1 == windows.size() ? "}" : "},");
  }
  if (!yaml) {
    line(top, "}");
    line(0, "}");
  }
  return text;
}

std::string_view name_of(Sides sides) { return sides == Sides::kBoth ? "both" : "above"; }

std::string_view name_of(Statistic statistic) {
  switch (statistic) {
    case Statistic::kMean:
      return "mean";
    case Statistic::kMedian:
      return "median";
    case Statistic::kMin:
      return "min";
  }
  return "";
}

}  // namespace opwright::perf
