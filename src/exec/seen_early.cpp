#include "exec/seen_early.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "exec/run_order.h"

namespace opwright {
namespace {

std::uint64_t class_of(const PlannedCase& one) {
  const CaseFeatures& f = one.features;
  std::uint64_t name = one.op;
  for (const std::uint64_t part :
       {static_cast<std::uint64_t>(f.dtype), static_cast<std::uint64_t>(f.layout), static_cast<std::uint64_t>(f.buffer),
        static_cast<std::uint64_t>(f.memory), static_cast<std::uint64_t>(f.size)})
    name = name << 6 | part;
  return name;
}

}  // namespace

SeenEarly::SeenEarly(std::span<const PlannedCase> cases, std::span<const std::uint32_t> chosen) : cases_(cases) {
  std::uint32_t ops = 0;
  for (const std::uint32_t index : chosen) {
    classes_.push_back(class_of(cases[index]));
    ops = std::max(ops, cases[index].op + 1);
  }
  seen_op_.resize(ops);
  for (const std::uint32_t index : chosen) seen_op_[cases[index].op] = true;
  operations_ = std::ranges::count(seen_op_, true);
  seen_op_.assign(ops, false);
  std::ranges::sort(classes_);
  classes_.erase(std::ranges::unique(classes_).begin(), classes_.end());
  seen_class_.resize(classes_.size());
}

void SeenEarly::ended(std::uint32_t index, double at, double seconds) {
  while (passed_.size() < kMarks.size() && at > kMarks[passed_.size()]) passed_.push_back(now_);
  const PlannedCase& one = cases_[index];
  seconds_.push_back(seconds);
  if (first_ < 0) first_ = at;
  ++now_.cases;
  if (one.op >= seen_op_.size()) return;
  if (!seen_op_[one.op]) {
    seen_op_[one.op] = true;
    if (++now_.operations == operations_) every_operation_ = at;
  }
  const auto place = std::ranges::lower_bound(classes_, class_of(one)) - classes_.begin();
  if (place == std::ssize(classes_) || seen_class_[static_cast<std::size_t>(place)]) return;
  seen_class_[static_cast<std::size_t>(place)] = true;
  ++now_.classes;
}

std::string SeenEarly::line(double at, const Mark& mark) const {
  return fmt::format("seen after {:.0f} s: {} of {}, {} of {} of dtype, layout, memory and size, {}\n", at,
                     grouped(mark.operations), plural(operations_, "operation"), grouped(mark.classes),
                     plural(std::ssize(classes_), "class", "classes"), plural(mark.cases, "case"));
}

std::string SeenEarly::text(double total, int workers, bool complete, double repeating) const {
  if (seconds_.empty() || total < kMarks.front()) return "";
  std::string text = fmt::format("first result after {:.1f} s", first_);
  if (every_operation_ >= 0) text += fmt::format(", every operation seen after {:.1f} s", every_operation_);
  text += '\n';
  for (std::size_t i = 0; i < kMarks.size() && kMarks[i] < total; ++i)
    text += line(kMarks[i], i < passed_.size() ? passed_[i] : now_);
  if (!complete) return text;
  const double best = longest_first_seconds(seconds_, workers);
  text += fmt::format("all in {:.1f} s; the best order of these cases on {} takes {:.1f} s ({:+.1f} %)", total,
                      plural(workers, "worker"), best, best > 0 ? 100 * (total / best - 1) : 0.0);
  if (repeating > 0) text += fmt::format(", without the {:.1f} s of workers that repeated failures", repeating);
  text += '\n';
  return text;
}

}  // namespace opwright
