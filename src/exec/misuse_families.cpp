// Mistakes that no changed input expresses: a small wrong implementation for each family of operators. They take what
// they can from the reference itself (a gain is what the reference makes of a pattern whose statistics are known), so
// that they need not know how weights lie.
#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "dialect/ttnn/activation.h"
#include "exec/misuse.h"
#include "model/op_config.h"
#include "ops/all_ops.h"

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;

// What a hurried kernel computes instead of a function.
struct StandIn {
  std::string_view function;
  std::string_view name;
  double (*wrong)(double x);
};
double hard_sigmoid(double x) { return std::clamp(x / 6 + 0.5, 0.0, 1.0); }
double quick_sigmoid(double x) { return 1 / (1 + std::exp(-1.702 * x)); }
constexpr std::array kStandIns{
    StandIn{"sigmoid", "hard sigmoid", hard_sigmoid},
    StandIn{"sigmoid_accurate", "hard sigmoid", hard_sigmoid},
    StandIn{"silu", "x hard sigmoid", [](double x) { return x * hard_sigmoid(x); }},
    StandIn{"silu", "relu", [](double x) { return std::max(x, 0.0); }},
    StandIn{"gelu", "x sigmoid(1.702 x)", [](double x) { return x * quick_sigmoid(x); }},
    StandIn{"gelu", "relu", [](double x) { return std::max(x, 0.0); }},
    StandIn{"tanh", "cut off at 1", [](double x) { return std::clamp(x, -1.0, 1.0); }},
    StandIn{"exp", "(1 + x/32)^32", [](double x) { return std::pow(std::max(0.0, 1 + x / 32), 32); }},
    StandIn{"log", "of x + 0.05", [](double x) { return std::log(x + 0.05); }},
    StandIn{"sqrt", "one step from x", [](double x) { return 0.5 * (x + 1); }},
    StandIn{"rsqrt", "4 % short", [](double x) { return 0.96 / std::sqrt(x); }},
    StandIn{"reciprocal", "4 % short", [](double x) { return 0.96 / x; }},
    StandIn{"relu", "leaky", [](double x) { return x < 0 ? 0.01 * x : x; }},
    StandIn{"relu6", "relu", [](double x) { return std::max(x, 0.0); }},
    StandIn{"erf", "tanh", [](double x) { return std::tanh(x); }},
    StandIn{"cos", "three terms", [](double x) { return 1 - x * x / 2 + x * x * x * x / 24; }},
    StandIn{"sin", "two terms", [](double x) { return x - x * x * x / 6; }},
    StandIn{"square", "|x|", [](double x) { return std::abs(x); }},
    StandIn{"abs", "x", [](double x) { return x; }},
    StandIn{"neg", "-|x|", [](double x) { return -std::abs(x); }},
};

bool names_activation(std::string_view name) { return name.find("activation") != std::string_view::npos; }

// The value without the activations in its fields; what they were goes to `found`.
Value stripped(const Value& value, Value& found) {
  const Struct* config = value.as_struct();
  if (config == nullptr) return value;
  Fields fields;
  for (const auto& [name, field] : config->fields) {
    if (names_activation(name) && !field.is_null()) {
      found = field;
      fields.emplace_back(name, Value());
    } else {
      fields.emplace_back(name, stripped(field, found));
    }
  }
  return Value::structure(config->type, std::move(fields));
}

std::vector<double> each(const std::vector<double>& values, double (*function)(double)) {
  std::vector<double> out;
  out.reserve(values.size());
  for (const double v : values) out.push_back(function(v));
  return out;
}

void fused_functions(MisuseBench& bench) {
  for (const Argument& argument : bench.call().args) {
    Value found;
    BoundCall plain = bench.call();
    if (names_activation(argument.name)) {
      found = argument.value;
      plain.erase(argument.name);
    } else {
      plain.set(argument.name, stripped(argument.value, found));
    }
    const List* list = found.as_list();
    if (found.is_null() || (list != nullptr && list->empty())) continue;
    bench.wrong_call("activation ignored", argument.name, plain);
    const bool on_operand =
        argument.name.find("_a_") != std::string::npos || argument.name.find("_b_") != std::string::npos;
    const auto functions = activations_of(found, argument.name);
    if (on_operand || !functions || functions->size() != 1) continue;
    const std::vector<double> before = bench.reference(plain, bench.inputs());
    for (const StandIn& stand_in : kStandIns)
      if (stand_in.function == functions->front().name && !is_approximate(functions->front()))
        bench.wrong_values("activation approximated", stand_in.name, each(before, stand_in.wrong));
  }
}

void plain_functions(MisuseBench& bench) {
  if (bench.inputs().empty() || bench.inputs()[0].spec.shape != bench.output().spec.shape ||
      bench.inputs()[0].integer())
    return;
  const std::string_view name = short_name(bench.op().name);
  // Where the call itself asks for the fast variant, another one is no mistake.
  for (const Argument& argument : bench.call().args)
    if (argument.name.find("approx") != std::string::npos && bench.call().flag(argument.name, false).value_or(true))
      return;
  for (const StandIn& stand_in : kStandIns) {
    if (stand_in.function != name) continue;
    std::vector<double> wrong;
    for (std::int64_t r = 0; r < bench.rows().count(); ++r)
      for (std::int64_t c = 0; c < bench.rows().length; ++c)
        wrong.push_back(stand_in.wrong(bench.inputs()[0].at(bench.rows().at(r) * bench.rows().length + c)));
    bench.wrong_values("activation approximated", stand_in.name, std::move(wrong));
  }
}

// Rows that sum to 1, from which any other sum over them follows.
void softmax_sums(MisuseBench& bench) {
  const bool softmax =
      std::ranges::any_of(bench.op().params, [](const Param& param) { return param.name == "numeric_stable"; });
  if (!softmax || bench.inputs().empty()) return;
  const HostTensor& input = bench.inputs()[0];
  const std::int64_t width = bench.rows().length;
  const std::int64_t count = bench.rows().count();
  const std::vector<double>& right = bench.exact();
  const auto sum = [&](std::int64_t row, std::int64_t from, std::int64_t to) {
    double out = 0;
    for (std::int64_t c = from; c < to; ++c) out += right[static_cast<std::size_t>(row * width + c)];
    return out;
  };
  for (std::int64_t r = 0; r < count; ++r)
    if (std::abs(sum(r, 0, width) - 1) > 1e-6) return;  // along another dimension
  const auto divided = [&](std::string_view name, auto by) {
    std::vector<double> wrong = right;
    for (std::int64_t r = 0; r < count; ++r) {
      const double divisor = by(r);
      for (std::int64_t c = 0; c < width; ++c) {
        double& value = wrong[static_cast<std::size_t>(r * width + c)];
        value = divisor > 0 ? value / divisor : value;
      }
    }
    bench.wrong_values(name, "input_tensor", std::move(wrong));
  };
  const std::int64_t last = (width - 1) / kTile * kTile;
  if (last > 0) {
    divided("last tile of the sum dropped", [&](std::int64_t r) { return sum(r, 0, last); });
    divided("first tile of the sum dropped", [&](std::int64_t r) { return sum(r, kTile, width); });
  }
  if (width > 1) divided("statistics of half the row", [&](std::int64_t r) { return 2 * sum(r, 0, width / 2); });
  // The logarithm of a row's sum: score - log(probability), of the largest, which no mask hides.
  const double scale = bench.call().number("scale", 1.0).value_or(1.0);
  std::vector<double> logs;
  for (std::int64_t r = 0; r < count; ++r) {
    std::int64_t best = 0;
    for (std::int64_t c = 1; c < width; ++c)
      if (right[static_cast<std::size_t>(r * width + c)] > right[static_cast<std::size_t>(r * width + best)]) best = c;
    logs.push_back(scale * input.at(bench.rows().at(r) * width + best) -
                   std::log(right[static_cast<std::size_t>(r * width + best)]));
  }
  const auto at = [&](std::int64_t r) { return logs[static_cast<std::size_t>(r)]; };
  if (count > 1) {
    divided("statistics of row 0", [&](std::int64_t r) { return std::exp(at(0) - at(r)); });
    divided("statistics of another row", [&](std::int64_t r) { return std::exp(at((r + 1) % count) - at(r)); });
  }
  if (width % kTile != 0)
    divided("padding taken as data",
            [&](std::int64_t r) { return 1 + static_cast<double>(kTile - width % kTile) * std::exp(-at(r)); });
}

// What a norm takes from the values that it normalises.
struct Statistics {
  double mean = 0;
  double variance = 0;
};

// A norm over rows, or over groups of channels of an image: y = (x - mean) / sqrt(variance + epsilon) gain + shift.
class Norm {
 public:
  static std::optional<Norm> of(MisuseBench& bench) {
    const BoundCall& call = bench.call();
    const auto input = call.slot("input_tensor");
    const bool norm =
        std::ranges::any_of(bench.op().params, [](const Param& param) { return param.name == "epsilon"; });
    if (!norm || !input || bench.inputs()[*input].spec.shape != bench.output().spec.shape || call.slot("stats"))
      return std::nullopt;
    Norm out;
    out.epsilon_ = call.number("epsilon", 1e-12).value_or(1e-12);
    out.width_ = bench.rows().length;
    const HostTensor& values = bench.inputs()[*input];
    const auto groups = call.integer("num_groups");
    if (groups && *groups && values.spec.shape.size() == 4) {
      out.groups_ = **groups;
      out.height_ = values.spec.shape[1] * values.spec.shape[2];
    }
    if (out.groups_ < 1 || out.width_ % out.groups_ != 0 || out.width_ * out.height_ / out.groups_ < 2)
      return std::nullopt;
    std::vector<std::size_t> slots{*input};
    const auto residual = call.slot("residual_input_tensor");
    if (residual) slots.push_back(*residual);
    const auto probe = [&](auto value) {
      bool first = true;
      return bench.reference_with(slots, [&](HostTensor& tensor) {
        for (std::size_t i = 0; i < tensor.floats.size(); ++i)
          tensor.floats[i] = first ? static_cast<float>(value(static_cast<std::int64_t>(i))) : 0.0F;
        first = false;
        return true;
      });
    };
    const auto sign = [&](std::int64_t i) { return (i / out.width_ + i % out.width_) % 2 == 0 ? 1.0 : -1.0; };
    const std::vector<double> ones = probe([](std::int64_t) { return 1.0; });
    const std::vector<double> signs = probe(sign);
    const std::vector<double> turned = probe([&](std::int64_t i) { return -sign(i); });
    if (signs.empty() || ones.size() != signs.size() || turned.size() != signs.size()) return std::nullopt;
    // The shift is what is left of opposite patterns. Rows of one value vanish, or are 0 / 0, where the mean is taken
    // out.
    for (std::size_t i = 0; i < signs.size(); ++i) out.shift_.push_back((signs[i] + turned[i]) / 2);
    out.centred_ = std::ranges::equal(ones, out.shift_, [](double a, double b) { return !(std::abs(a - b) > 1e-6); });
    const std::int64_t of_group = out.width_ / out.groups_;
    for (std::size_t i = 0; i < ones.size(); ++i) {
      const auto c = static_cast<std::int64_t>(i) % out.width_;
      // The pattern's mean: nothing but where both sides of a group are odd.
      const bool odd = of_group % 2 == 1 && (out.groups_ == 1 ? out.height_ == 1 : out.height_ % 2 == 1);
      const std::int64_t begin = c / of_group * of_group;
      const std::int64_t row = out.groups_ == 1 ? bench.rows().at(static_cast<std::int64_t>(i) / out.width_) : 0;
      const double mean = !odd || !out.centred_ ? 0.0
                                                : (row % 2 == 0 ? 1.0 : -1.0) * (begin % 2 == 0 ? 1.0 : -1.0) /
                                                      static_cast<double>(of_group * out.height_);
      const double x = sign(bench.rows().at(static_cast<std::int64_t>(i) / out.width_) * out.width_ + c);
      out.gain_.push_back((signs[i] - out.shift_[i]) * std::sqrt(1 - mean * mean + out.epsilon_) / (x - mean));
    }
    for (std::int64_t i = 0; i < values.size(); ++i)
      out.x_.push_back(values.at(i) + (residual ? bench.inputs()[*residual].at(i) : 0.0));
    // Only where this is what the reference computes.
    const std::vector<double> again =
        out.result(bench.rows(), [&](std::int64_t block, std::int64_t begin) { return out.own(block, begin); });
    for (std::size_t i = 0; i < again.size(); ++i)
      if (!(std::abs(again[i] - bench.exact()[i]) <= 1e-4 * (1 + std::abs(bench.exact()[i])))) return std::nullopt;
    return out;
  }

  std::int64_t width() const { return width_; }
  std::int64_t of_group() const { return width_ / groups_; }
  std::int64_t groups() const { return groups_; }
  std::int64_t height() const { return height_; }
  bool centred() const { return centred_; }
  double epsilon() const { return epsilon_; }
  std::int64_t total_rows() const { return static_cast<std::int64_t>(x_.size()) / width_; }

  // Of the columns from … to of the rows first … first + height; divided by `count` where that is not their number.
  Statistics over(std::int64_t first, std::int64_t height, std::int64_t from, std::int64_t to, double count = 0) const {
    if (count == 0) count = static_cast<double>(height * (to - from));
    Statistics out;
    const auto all = [&](auto use) {
      for (std::int64_t r = first; r < first + height; ++r)
        for (std::int64_t c = from; c < to; ++c) use(x_[static_cast<std::size_t>(r * width_ + c)]);
    };
    if (centred_) all([&](double x) { out.mean += x / count; });
    all([&](double x) { out.variance += (x - out.mean) * (x - out.mean) / count; });
    return out;
  }
  Statistics own(std::int64_t block, std::int64_t begin) const {
    return over(block * height_, height_, begin, begin + of_group());
  }
  // `take` says the statistics of a block of rows for the group of columns that begins there.
  template <class Take>
  std::vector<double> result(const Rows& rows, const Take& take, bool outside = false) const {
    std::vector<double> out;
    std::vector<Statistics> of_groups;
    std::int64_t block = -1;
    for (std::int64_t r = 0; r < rows.count(); ++r) {
      if (rows.at(r) / height_ != block) {
        block = rows.at(r) / height_;
        of_groups.clear();
        for (std::int64_t g = 0; g < groups_; ++g) of_groups.push_back(take(block, g * of_group()));
      }
      for (std::int64_t c = 0; c < width_; ++c) {
        const auto at = static_cast<std::size_t>(r * width_ + c);
        const Statistics& statistics = of_groups[static_cast<std::size_t>(c / of_group())];
        const double root =
            outside ? std::sqrt(statistics.variance) + epsilon_ : std::sqrt(statistics.variance + epsilon_);
        const double x = x_[static_cast<std::size_t>(rows.at(r) * width_ + c)];
        out.push_back((x - statistics.mean) / root * gain_[at] + shift_[at]);
      }
    }
    return out;
  }

 private:
  double epsilon_ = 0;
  std::int64_t width_ = 1;
  std::int64_t groups_ = 1;
  std::int64_t height_ = 1;  // rows that share statistics
  bool centred_ = false;
  std::vector<double> x_;  // of the whole input
  std::vector<double> shift_, gain_;
};

void norm_statistics(MisuseBench& bench) {
  const auto norm = Norm::of(bench);
  if (!norm) return;
  const auto ask = [&](std::string_view name, auto statistics, bool outside = false) {
    bench.wrong_values(name, "input_tensor", norm->result(bench.rows(), statistics, outside));
  };
  const std::int64_t high = norm->height();
  const std::int64_t wide = norm->of_group();
  const std::int64_t blocks = norm->total_rows() / high;
  const auto over = [&](std::int64_t block, std::int64_t begin) { return norm->own(block, begin); };
  if (blocks > 1) {
    ask("statistics of row 0", [&](std::int64_t, std::int64_t begin) { return over(0, begin); });
    ask("statistics of another row", [&](std::int64_t b, std::int64_t begin) { return over((b + 1) % blocks, begin); });
  }
  if (norm->groups() > 1) {
    ask("group 1", [&](std::int64_t b, std::int64_t) { return norm->over(b * high, high, 0, norm->width()); });
    ask("wrong group", [&](std::int64_t b, std::int64_t begin) { return over(b, (begin + wide) % norm->width()); });
  }
  if (high > 1) {
    ask("statistics of half the row",
        [&](std::int64_t b, std::int64_t begin) { return norm->over(b * high, high / 2, begin, begin + wide); });
    if (high > kTile)
      ask("last tile of the sum dropped", [&](std::int64_t b, std::int64_t begin) {
        return norm->over(b * high, (high - 1) / kTile * kTile, begin, begin + wide);
      });
  } else if (wide > 1) {
    ask("statistics of half the row",
        [&](std::int64_t b, std::int64_t begin) { return norm->over(b, 1, begin, begin + wide / 2); });
    const std::int64_t last = (wide - 1) / kTile * kTile;
    if (last > 0) {
      ask("last tile of the sum dropped",
          [&](std::int64_t b, std::int64_t begin) { return norm->over(b, 1, begin, begin + last); });
      ask("first tile of the sum dropped",
          [&](std::int64_t b, std::int64_t begin) { return norm->over(b, 1, begin + kTile, begin + wide); });
    }
    if (wide % kTile != 0)
      ask("padding taken as data", [&](std::int64_t b, std::int64_t begin) {
        return norm->over(b, 1, begin, begin + wide, static_cast<double>((wide / kTile + 1) * kTile));
      });
  }
  if (norm->centred()) {
    ask("mean not subtracted", [&](std::int64_t b, std::int64_t begin) {
      Statistics out = over(b, begin);
      out.mean = 0;
      return out;
    });
    ask("variance around zero", [&](std::int64_t b, std::int64_t begin) {
      Statistics out = over(b, begin);
      out.variance += out.mean * out.mean;
      return out;
    });
  }
  ask("epsilon outside the root", over, true);
}

}  // namespace

void misuse_of_rows(MisuseBench& bench) {
  for (const auto ask : {fused_functions, softmax_sums}) ask(bench);
}

void misuse_families(MisuseBench& bench) {
  for (const auto ask : {fused_functions, plain_functions, softmax_sums, norm_statistics}) ask(bench);
}

}  // namespace opwright
