#include "compare/verdict.h"

#include <fmt/format.h>

#include <cmath>

#include "base/json_write.h"

namespace opwright {
namespace {

std::string index_text(std::int64_t flat, const Shape& shape) {
  std::string text;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t extent = shape[d] > 0 ? shape[d] : 1;
    text = fmt::format("{}{}{}", flat % extent, text.empty() ? "" : ", ", text);
    flat /= extent;
  }
  return "[" + text + "]";
}

// Members of one JSON object, in the order of writing.
class Object {
 public:
  void number(std::string_view key, double value) { raw(key, json::figure_text(value)); }
  void count(std::string_view key, std::int64_t value) { raw(key, fmt::format("{}", value)); }
  void string(std::string_view key, std::string_view value) {
    name(key);
    json::append_quoted(text_, value);
  }
  void strings(std::string_view key, const std::vector<std::string>& values) {
    name(key);
    text_ += '[';
    for (const std::string& value : values) {
      if (text_.back() != '[') text_ += ", ";
      json::append_quoted(text_, value);
    }
    text_ += ']';
  }
  void raw(std::string_view key, std::string_view value) {
    name(key);
    text_ += value;
  }
  std::string take() { return std::move(text_) + "}"; }

 private:
  void name(std::string_view key) {
    if (text_.size() > 1) text_ += ", ";
    json::append_quoted(text_, key);
    text_ += ": ";
  }
  std::string text_ = "{";
};

std::string worst_json(const Verdict& verdict) {
  const WorstElement& worst = verdict.metrics.worst;
  if (worst.index < 0) return "null";
  Object object;
  object.raw("index", index_text(worst.index, verdict.shape));
  object.number("expected", worst.expected);
  object.number("actual", worst.actual);
  object.number("bound", worst.bound);
  return object.take();
}

std::string nonfinite_json(const Nonfinite& seen) {
  Object object;
  object.count("expected", seen.expected);
  object.count("agreed", seen.agreed);
  object.count("nan_as_inf", seen.nan_as_inf);
  object.count("disagreed", seen.disagreed);
  object.count("group_zeroed", seen.group_zeroed);
  return object.take();
}

std::string metrics_json(const Metrics& m) {
  Object object;
  object.count("compared", m.compared);
  object.number("pcc", m.pcc);
  object.number("pcc_ideal", m.pcc_ideal);
  object.number("pcc_floor", m.pcc_floor);
  object.number("max_abs", m.max_abs);
  object.number("max_rel", m.max_rel);
  object.number("nrmse", m.nrmse);
  object.number("rel_rms", m.rel_rms);
  object.number("ulp_max", m.ulp_max);
  object.number("ulp_mean", m.ulp_mean);
  object.number("ulp_p99", m.ulp_p99);
  object.number("exact_share", m.exact_share);
  object.number("within_share", m.within_share);
  object.number("excess", m.excess);
  object.number("scale", m.scale);
  object.number("spread", m.spread);
  object.number("noise", m.noise);
  if (!std::isnan(m.factor_low))
    object.raw("unseen_factor",
               fmt::format("[{}, {}]", json::figure_text(m.factor_low), json::figure_text(m.factor_high)));
  return object.take();
}

std::string misuse_json(const std::vector<Misused>& misuse) {
  std::string text = "[";
  for (const Misused& one : misuse) {
    Object object;
    object.string("class", one.name);
    object.string("operand", one.operand);
    object.number("change", one.change);
    object.raw("noticed", one.noticed ? "true" : "false");
    if (!one.noticed) object.string("why", one.why);
    text += (text.size() > 1 ? ", " : "") + object.take();
  }
  return text + "]";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : "; ") + part;
  return text;
}

}  // namespace

std::string_view name_of(JudgedBy by) {
  switch (by) {
    case JudgedBy::kExact:
      return "exact";
    case JudgedBy::kBound:
      return "bound";
    case JudgedBy::kPccAndBound:
      return "pcc and bound";
  }
  return "";
}

std::string to_text(const Verdict& verdict) {
  const Metrics& m = verdict.metrics;
  std::string text = fmt::format("{} by {}", name_of(verdict.outcome), name_of(verdict.judged_by));
  if (!verdict.reasons.empty()) text += ": " + joined(verdict.reasons);
  if (m.compared > 0) {
    if (m.exact_share == 1.0) {
      text += "; all exact";
    } else {
      text += std::isnan(m.pcc) ? std::string("; no PCC") : fmt::format("; PCC {:.6f}", m.pcc);
      text += fmt::format(", nrmse {:.3g}, ULP mean {:.3g} p99 {:.3g} max {:.3g}, {:.4g} % within the bound", m.nrmse,
                          m.ulp_mean, m.ulp_p99, m.ulp_max, 100 * m.within_share);
      if (m.worst.bound > 0.0) {
        text += fmt::format(", worst {:.2g} of it at {}", std::abs(m.worst.actual - m.worst.expected) / m.worst.bound,
                            index_text(m.worst.index, verdict.shape));
      }
    }
  }
  text += fmt::format("; {} of {} rows", verdict.rows, verdict.total_rows);
  if (!verdict.distribution.empty()) text += fmt::format(", {}, seed {}", verdict.distribution, verdict.seed);
  if (!verdict.notes.empty()) text += "\n  " + joined(verdict.notes);
  if (verdict.outcome != Outcome::kFailed && !std::isnan(m.factor_low))
    text += fmt::format("\n  would not be noticed: all values too large or too small by a factor of {:.4f} to {:.4f}",
                        m.factor_low, m.factor_high);
  if (!verdict.blind.empty()) text += "\n  would not be noticed: " + joined(verdict.blind);
  return text;
}

std::string to_json(const Verdict& verdict) {
  Object object;
  object.string("outcome", name_of(verdict.outcome));
  object.string("judged_by", name_of(verdict.judged_by));
  object.strings("reasons", verdict.reasons);
  object.strings("notes", verdict.notes);
  object.number("pcc_threshold", verdict.pcc_threshold);
  object.raw("metrics", metrics_json(verdict.metrics));
  object.raw("worst", worst_json(verdict));
  object.raw("nonfinite", nonfinite_json(verdict.nonfinite));
  object.count("ties", verdict.ties);
  object.count("rows", verdict.rows);
  object.count("total_rows", verdict.total_rows);
  object.string("distribution", verdict.distribution);
  object.raw("seed", fmt::format("{}", verdict.seed));
  object.string("budget", verdict.budget);
  object.strings("blind", verdict.blind);
  if (!verdict.misuse.empty()) object.raw("misuse", misuse_json(verdict.misuse));
  return object.take();
}

}  // namespace opwright
