#include "fuse/picture.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "base/visible_text.h"
#include "base/words.h"
#include "fuse/describe.h"

namespace opwright::fuse {
namespace {

constexpr int kWidth = 168, kHeight = 40, kGap = 28, kRow = 104, kMargin = 16;

struct Box {
  std::string kind;  // of the style: "op", "activation", "weight", "constant", "state", "output"
  std::string name, more;
  int row = 0;
  double place = 0;  // in the row, for the order
  double x = 0, y = 0;
};

struct Edge {
  std::size_t from = 0, to = 0;
  std::int64_t bytes = 0;
  bool is_internal = false;
};

std::string shape_of(const TensorSpec& spec) {
  return fmt::format("{} {}", fmt::join(on_one_chip(spec).shape, "x"), spec.dtype.name());
}

class Picture {
 public:
  Picture(const FusedTest& test, const ParameterSet& set) : test_(test), set_(set) {
    add_boxes();
    place_boxes();
  }

  std::string svg() const {
    const double width = extent(&Box::x) + kWidth + kMargin, height = extent(&Box::y) + kHeight + kMargin;
    std::string out = fmt::format(
        "<svg class=\"graph\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" role=\"img\" "
        "aria-label=\"{2}: inputs, operations and outputs\">\n",
        width, height, html_text(test_.name));
    for (const Edge& edge : edges_) out += line_of(edge);
    for (const Edge& edge : edges_) out += label_of(edge);
    for (const Box& box : boxes_) out += box_of(box);
    return out + "</svg>\n";
  }

 private:
  const FusedTest& test_;
  const ParameterSet& set_;
  std::vector<Box> boxes_;
  std::vector<Edge> edges_;

  double extent(double Box::* side) const {
    double most = 0;
    for (const Box& box : boxes_) most = std::max(most, box.*side);
    return most;
  }

  const TensorSpec& spec_of(const Source& source) const {
    return source.from == Source::From::kInput ? set_.inputs[source.input]
                                               : set_.calls[source.call].results[source.result];
  }

  // Freeing is no work: calls that return nothing and write nothing are not drawn.
  static bool is_drawn(const FusedCall& call) { return call.results > 0 || !call.writes.empty(); }

  void add_boxes() {
    std::vector<std::size_t> calls(test_.calls.size()), inputs(test_.inputs.size());
    for (std::size_t c = 0; c < test_.calls.size(); ++c) {
      const FusedCall& call = test_.calls[c];
      if (!is_drawn(call)) continue;
      int row = 1;
      for (const Source& source : call.tensors)
        if (source.from == Source::From::kResult) row = std::max(row, boxes_[calls[source.call]].row + 1);
      calls[c] = boxes_.size();
      boxes_.push_back({"op", call.op, call.results == 0 ? "" : shape_of(set_.calls[c].results[0]), row});
    }
    // An input stands right above the first call that takes it.
    for (std::size_t i = 0; i < test_.inputs.size(); ++i) {
      int row = 1;
      if (const auto use = first_use(test_, i); use && is_drawn(test_.calls[use->call]))
        row = boxes_[calls[use->call]].row;
      inputs[i] = boxes_.size();
      boxes_.push_back(
          {std::string(name_of(test_.inputs[i].role)), test_.inputs[i].name, shape_of(set_.inputs[i]), row - 1});
    }
    const auto box_of_source = [&](const Source& source) {
      return source.from == Source::From::kInput ? inputs[source.input] : calls[source.call];
    };
    std::vector<bool> leaves(boxes_.size());
    for (std::size_t o = 0; o < test_.outputs.size(); ++o) {
      const Source& source = test_.outputs[o].source;
      const std::size_t from = box_of_source(source);
      edges_.push_back({from, boxes_.size(), device_bytes(spec_of(source)), false});
      boxes_.push_back({"output", test_.outputs[o].name, shape_of(set_.outputs[o]), boxes_[from].row + 1});
    }
    for (std::size_t c = 0; c < test_.calls.size(); ++c) {
      if (!is_drawn(test_.calls[c])) continue;
      for (const Source& source : test_.calls[c].tensors) {
        const bool is_output = std::ranges::find(test_.outputs, source, &FusedOutput::source) != test_.outputs.end();
        edges_.push_back({box_of_source(source), calls[c], device_bytes(spec_of(source)),
                          source.from == Source::From::kResult && !is_output});
      }
    }
  }

  // Rows from top to bottom; in a row the order in which fewest lines cross: each box at the mean of those above it.
  void place_boxes() {
    std::map<int, std::vector<std::size_t>> rows;
    for (std::size_t b = 0; b < boxes_.size(); ++b) rows[boxes_[b].row].push_back(b);
    for (auto& [row, members] : rows)
      for (std::size_t i = 0; i < members.size(); ++i) boxes_[members[i]].place = static_cast<double>(i);
    for (int pass = 0; pass < 4; ++pass)
      for (auto& [row, members] : rows) {
        std::map<std::size_t, double> wanted;
        for (const std::size_t b : members) {
          double sum = 0;
          int count = 0;
          for (const Edge& edge : edges_)
            if (edge.to == b || edge.from == b) {
              sum += boxes_[edge.to == b ? edge.from : edge.to].place;
              ++count;
            }
          wanted[b] = count == 0 ? boxes_[b].place : sum / count;
        }
        std::ranges::stable_sort(members, {}, [&](std::size_t b) { return wanted[b]; });
        for (std::size_t i = 0; i < members.size(); ++i)
          boxes_[members[i]].place = static_cast<double>(i) - static_cast<double>(members.size() - 1) / 2;
      }
    std::size_t widest = 1;
    for (const auto& [row, members] : rows) widest = std::max(widest, members.size());
    const double middle = (static_cast<double>(widest) * (kWidth + kGap) - kGap) / 2 + kMargin;
    const int first = rows.begin()->first;
    for (Box& box : boxes_) {
      box.x = middle + box.place * (kWidth + kGap) - kWidth / 2.0;
      box.y = kMargin + (box.row - first) * kRow;
    }
  }

  static double center(const Box& box) { return box.x + kWidth / 2.0; }

  std::string line_of(const Edge& edge) const {
    const Box &from = boxes_[edge.from], &to = boxes_[edge.to];
    const double y1 = from.y + kHeight, y2 = to.y, bend = (y2 - y1) / 2;
    return fmt::format("<path class=\"{}\" d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n",
                       edge.is_internal ? "edge internal" : "edge", center(from), y1, center(from), y1 + bend,
                       center(to), y2 - bend, center(to), y2);
  }

  // In the middle of the line; those that end in one box fan out.
  std::string label_of(const Edge& edge) const {
    const Box &from = boxes_[edge.from], &to = boxes_[edge.to];
    const double x = (center(from) + center(to)) / 2, y = (from.y + kHeight + to.y) / 2 + 4;
    return fmt::format("<text class=\"{}\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>\n",
                       edge.is_internal ? "bytes internal" : "bytes", x, y, size_text(edge.bytes));
  }

  static std::string box_of(const Box& box) {
    const std::string_view name = box.kind == "op" ? short_name(box.name) : std::string_view(box.name);
    return fmt::format(
        "<g class=\"box {}\"><title>{} {}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"{}\"/>"
        "<text x=\"{:.1f}\" y=\"{:.1f}\">{}</text><text class=\"more\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text></g>\n",
        box.kind, html_text(box.name), html_text(box.more), box.x, box.y, kWidth, kHeight, box.kind == "op" ? 4 : 18,
        center(box), box.y + 17, html_text(cut_text(name, 26)), center(box), box.y + 32,
        html_text(cut_text(box.more, 30)));
  }
};

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : visible(text)) {
    if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '&')
      out += "&amp;";
    else if (c == '"')
      out += "&quot;";
    else
      out += c;
  }
  return out;
}

std::string picture_of(const FusedTest& test, const ParameterSet& set) { return Picture(test, set).svg(); }

}  // namespace opwright::fuse
