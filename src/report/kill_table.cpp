#include "report/kill_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/hash.h"
#include "base/json.h"
#include "base/json_write.h"
#include "base/words.h"
#include "report/analysis_view.h"
#include "report/markup.h"
#include "report/side_table.h"

namespace opwright::report {
namespace {

constexpr double kLarge = 0.02;
constexpr std::size_t kMostSurvivors = 20;  // shown

// "inf" is a number that became none, or one where there was none.
double change_of(const json::Node* node) {
  if (node == nullptr) return 0;
  if (node->is(json::Kind::kString)) return INFINITY;
  return std::strtod(std::string(node->text).c_str(), nullptr);
}

std::string change_text(double change) {
  return std::isfinite(change) ? fmt::format("{:.3g} %", 100 * change) : "numbers against none";
}

void count(MisuseClass& into, bool large, bool noticed) {
  ++into.tried;
  into.noticed += noticed ? 1 : 0;
  into.large += large ? 1 : 0;
  into.large_noticed += large && noticed ? 1 : 0;
}

std::string class_json(const MisuseClass& one) {
  return JsonObject()
      .add("class", one.name)
      .add("tried", one.tried)
      .add("noticed", one.noticed)
      .add("large", one.large)
      .add("large_noticed", one.large_noticed)
      .text();
}

}  // namespace

void KillTable::add(const CaseRecord& record) {
  if (record.verdicts.find("\"misuse\"") == std::string::npos) return;
  json::Document document;
  const auto verdicts = document.parse(record.verdicts);
  if (!verdicts) return;
  bool asked = false;
  std::size_t output = 0;
  for (const json::Node& verdict : **verdicts) {
    const json::Node* misuse = verdict.find("misuse");
    for (const json::Node* one = misuse == nullptr ? nullptr : misuse->begin();
         misuse != nullptr && one != misuse->end(); ++one) {
      asked = true;
      const std::string name(one->string_field("class").value_or(""));
      const std::string operand(one->string_field("operand").value_or(""));
      const double change = change_of(one->find("change"));
      const bool noticed = one->find("noticed") != nullptr && one->find("noticed")->is_true();
      const std::string& config = record.key.empty() ? record.line : record.key;
      Instance& instance = classes_[name][xxh64(fmt::format("{}\n{}\n{}\n{}", config, record.suite, output, operand))];
      instance.large = instance.large || change >= kLarge;
      if (instance.noticed) continue;
      const auto forget = [&] {
        if (instance.survivor.empty()) return;
        if (--survivors_[instance.survivor].count == 0) survivors_.erase(instance.survivor);
        instance.survivor.clear();
      };
      if (noticed) {
        instance.noticed = true;
        forget();
      } else if (change >= kLarge && instance.survivor.empty()) {
        instance.survivor = fmt::format("{}\n{}\n{}", name, record.op, operand);
        Survivor& survivor = survivors_[instance.survivor];
        ++survivor.count;
        if (survivor.count > 1 && survivor.change >= change) continue;
        survivor = {name,           record.op,    operand,
                    survivor.count, change,       std::string(one->string_field("why").value_or("")),
                    record.line,    record.repeat};
      }
    }
    ++output;
  }
  if (asked) ++cases_;
}

Kills KillTable::finish() {
  Kills out;
  out.cases = cases_;
  out.all.name = "all";
  for (const auto& [name, instances] : classes_) {
    MisuseClass& one = out.classes.emplace_back();
    one.name = name;
    for (const auto& [key, instance] : instances) {
      count(one, instance.large, instance.noticed);
      count(out.all, instance.large, instance.noticed);
    }
  }
  for (auto& [key, survivor] : survivors_) out.survivors.push_back(std::move(survivor));
  std::ranges::stable_sort(out.survivors, std::greater<>(), &Survivor::count);
  return out;
}

std::vector<std::string> blind_classes(const CaseRecord& record) {
  std::vector<std::string> out;
  if (record.verdicts.find("\"blind\": [\"") == std::string::npos) return out;
  json::Document document;
  const auto verdicts = document.parse(record.verdicts);
  if (!verdicts) return out;
  for (const json::Node& verdict : **verdicts) {
    const json::Node* blind = verdict.find("blind");
    if (blind == nullptr) continue;
    for (const json::Node& one : *blind) {
      std::string name(one.text.substr(0, one.text.find(':')));
      if (std::ranges::find(out, name) == out.end()) out.push_back(std::move(name));
    }
  }
  return out;
}

std::string kills_text(const Kills& kills) {
  if (kills.cases == 0) return "";
  std::string text =
      fmt::format("\nwrong use of data, by class   ({} asked; large: changes the output by 2 % rms or more)\n",
                  plural(kills.cases, "case"));
  text += fmt::format("  {:32} {:>8} {:>9} {:>9} {:>8} {:>9} {:>9}\n", "class", "large", "noticed", "", "all",
                      "noticed", "");
  const auto row = [&](const MisuseClass& one) {
    text += fmt::format("  {:32} {:>8} {:>9} {:>9} {:>8} {:>9} {:>9}\n", one.name, grouped(one.large),
                        grouped(one.large_noticed), one.large == 0 ? "" : share_text(one.large_noticed, one.large),
                        grouped(one.tried), grouped(one.noticed), share_text(one.noticed, one.tried));
  };
  for (const MisuseClass& one : kills.classes) row(one);
  row(kills.all);
  for (std::size_t i = 0; i < std::min(kMostSurvivors, kills.survivors.size()); ++i) {
    const Survivor& one = kills.survivors[i];
    text += fmt::format("  unnoticed {:>4}  {}: {} of {}, {} changed; {}\n", one.count, one.name, one.operand, one.op,
                        change_text(one.change), one.why);
  }
  if (kills.survivors.size() > kMostSurvivors)
    text += fmt::format("  and {} more kinds: --format json\n", kills.survivors.size() - kMostSurvivors);
  return text;
}

std::string kills_json(const Kills& kills) {
  std::vector<std::string> classes, survivors;
  for (const MisuseClass& one : kills.classes) classes.push_back(class_json(one));
  for (const Survivor& one : kills.survivors)
    survivors.push_back(JsonObject()
                            .add("class", one.name)
                            .add("operation", one.op)
                            .add("op", one.op)
                            .add("operand", one.operand)
                            .add("count", one.count)
                            .add_raw("change", json::figure_text(one.change))
                            .add("why", one.why)
                            .add("case", one.line)
                            .add("repeat", one.repeat)
                            .text());
  return JsonObject()
      .add("cases", kills.cases)
      .add("tried", kills.all.tried)
      .add("noticed", kills.all.noticed)
      .add("large", kills.all.large)
      .add("large_noticed", kills.all.large_noticed)
      .add_raw("classes", json_array(classes, true))
      .add_raw("unnoticed", json_array(survivors, true))
      .text();
}

std::string kills_html(const Kills& kills) {
  if (kills.cases == 0) return "";
  SideTable table{
      .title = "Would wrong use of data be noticed?",
      .about = fmt::format("{} asked. Large: what changes the output by 2 % rms or more.", plural(kills.cases, "case")),
      .columns = {"Class", "Large", "Noticed", "All", "Noticed"},
      .rows = {}};
  const auto row = [&](const MisuseClass& one) {
    table.rows.push_back({one.name, grouped(one.large), one.large == 0 ? "" : share_text(one.large_noticed, one.large),
                          grouped(one.tried), share_text(one.noticed, one.tried)});
  };
  for (const MisuseClass& one : kills.classes) row(one);
  row(kills.all);
  std::string survivors;
  for (std::size_t i = 0; i < std::min(kMostSurvivors, kills.survivors.size()); ++i) {
    const Survivor& one = kills.survivors[i];
    survivors +=
        fmt::format("<li>{} × {}: {} of {}, {} changed; {}</li>\n", one.count, markup_text(one.name),
                    markup_text(one.operand), markup_text(one.op), change_text(one.change), markup_text(one.why));
  }
  if (!survivors.empty()) survivors = fmt::format("<h3>Not noticed</h3>\n<ul>\n{}</ul>\n", survivors);
  return side_table_html(table, "misuse", survivors);
}

}  // namespace opwright::report
