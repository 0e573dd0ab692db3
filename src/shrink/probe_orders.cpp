// Which places of an order a failure needs: a permutation of dimensions cannot be changed at one place alone.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "exec/call_condition.h"
#include "model/value.h"
#include "shrink/edit.h"
#include "shrink/probe.h"

namespace opwright::shrink {
namespace {

constexpr std::size_t kLongest = 5;  // each two of them are exchanged

// The items of a list that has each of 0, 1, … once; empty: it is none.
std::vector<std::int64_t> order_of(const Value& value) {
  std::vector<std::int64_t> order;
  const List* list = value.as_list();
  if (list == nullptr || list->size() < 2 || list->size() > kLongest) return {};
  for (const Value& item : *list)
    if (const std::int64_t* number = item.as_int()) order.push_back(*number);
  std::vector<std::int64_t> plain(list->size());
  std::iota(plain.begin(), plain.end(), 0);
  return std::ranges::is_permutation(order, plain) ? order : std::vector<std::int64_t>();
}

std::string text_of(const std::vector<std::int64_t>& order) {
  List list;
  for (const std::int64_t item : order) list.emplace_back(item);
  return to_text(Value(std::move(list)));
}

}  // namespace

bool Probe::orders() {
  std::vector<std::pair<std::string, std::vector<std::int64_t>>> found;
  for_each_value_fact(now().config, [&](const std::string& name, const Value& value) {
    if (auto order = order_of(value); !order.empty() && !has(name)) found.emplace_back(name, std::move(order));
  });
  for (const auto& [name, order] : found) {
    std::vector<std::int64_t> plain = order;
    std::ranges::sort(plain);
    const auto made = with(now().config, name, text_of(plain));
    if (plain != order && made && rules_.allow(*made) && ask(*made) == Answer::kFails) {
      Subject subject = now();
      subject.config = *made;
      search_.take(std::move(subject));
      return false;
    }
    order_need(name, order);
  }
  return true;
}

void Probe::order_need(const std::string& name, const std::vector<std::int64_t>& order) {
  std::vector<std::size_t> kept(order.size());  // exchanges that pass, by place
  std::vector<std::size_t> asked(order.size());
  std::size_t passing = 0;
  for (std::size_t i = 0; i < order.size(); ++i)
    for (std::size_t j = i + 1; j < order.size(); ++j) {
      std::vector<std::int64_t> other = order;
      std::swap(other[i], other[j]);
      const auto made = with(now().config, name, text_of(other));
      const Answer answer = made && rules_.allow(*made) ? ask(*made) : Answer::kOther;
      if (answer == Answer::kOther) continue;
      const std::size_t passes = answer == Answer::kPasses ? 1 : 0;
      passing += passes;
      for (const std::size_t place : {i, j}) {
        ++asked[place];
        kept[place] += passes;
      }
    }
  if (passing == 0) return;
  std::vector<std::size_t> places;  // which no exchange leaves failing
  for (std::size_t i = 0; i < order.size(); ++i)
    if (asked[i] > 0 && kept[i] == asked[i]) places.push_back(i);
  if (places.empty() || places.size() == order.size())
    add(name, Is::kEqual, text_of(order));
  else
    for (const std::size_t place : places)
      add(fmt::format("{}#{}", name, place), Is::kEqual, std::to_string(order[place]));
}

bool Probe::explained() {
  // With fewer dimensions there is no such place of a list: then the rank is not the reason.
  const bool is_broken = !lower_.args.empty() && std::ranges::any_of(needs_, [&](const Needed& needed) {
    const bool is_of_list = needed.need.fact.find('#') != std::string::npos || needed.need.value.starts_with('[');
    return is_of_list && !holds(needed.need, lower_.args);
  });
  if (is_broken)
    std::erase_if(needs_, [](const Needed& needed) {
      return needed.need.is == Is::kMore && needed.need.fact.ends_with(".rank");
    });
  return true;
}

}  // namespace opwright::shrink
