// The needs of a failure, as they are found (shrink/needs.h). probe_parts.cpp looks at arguments, dtypes, layouts,
// memory, values and ranks, probe_sizes.cpp at dimensions and shards.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "exec/call_facts.h"
#include "shrink/needs.h"

namespace opwright::shrink {

class Probe {
 public:
  Probe(Search& search, const Rules& rules, Trials& trials) : search_(search), rules_(rules), trials_(trials) {}

  // False: something smaller was found, and all is to be asked again.
  bool look() {
    return simplify() && dimensions() && shards() && values() && orders() && away() && raise() && broadcasts() &&
           differences() && passed() && explained();
  }
  std::vector<Needed> take() { return std::move(needs_); }

 private:
  using Is = Need::Is;

  const Subject& now() const;
  std::string fact(const std::string& name) const;
  Answer ask(const OpConfig& config);
  void add(std::string name, Is is, std::string value, std::string seen = "", std::vector<std::string> same = {});
  bool has(std::string_view name) const;
  // It is the same number as what is needed.
  bool follows(std::string_view name) const;
  // All tensors with leading ones, up to the rank that nearly every operator takes.
  OpConfig lifted() const;
  // Every step that makes it plainer, alone.
  bool simplify();
  void note(const Step& step, const Subject& passing);
  // The number that is enough, and the next nearer to zero.
  void note_number();
  void note_rank(const Step& step, const Subject& passing);
  // Numbers are looked at later: they may have a limit.
  void note_argument(const std::string& name);
  bool dimensions();
  // What passes has other shards: the dimension may not be the reason.
  bool other_cores(const OpConfig& config) const;
  // The same tensors on fewer cores.
  bool shards();
  bool values();
  // Arguments of which nothing in particular is needed. Of a list that none may be missing of, the last item: with one
  // less there is no such place.
  bool passed();
  void value_need(const std::string& name, const std::string& text, const Search::Edge& edge);
  // What is plain already, made something else: all together, and each alone where that passes.
  bool away();
  // Of a higher rank, as far as it fails: dimensions are looked at there, because a case of rank 1 has only one.
  void rank_limit();
  // Only all together may change: one of them stands for all.
  void first_alike(std::string_view kind, const OpConfig& passing);
  Answer ask_changed(const OpConfig& config);
  // Dimensions made larger: a failure may need a number that is no multiple of a tile, or an exact one.
  bool raise();
  Answer sized(const Place& place, std::int64_t size);
  // One more, or two where one more is what another tensor has.
  Answer sized_apart(const Place& place);
  void raise_one(const Place& place, std::int64_t tiles);
  // A limit below, and what one more does.
  void check_threshold(const Place& place);
  // A dimension of 1, or one that is not there, beside a larger one of another tensor.
  bool broadcasts();
  // Dimensions of two tensors that must not be the same.
  bool differences();
  // Lists that are an order, such as that of dimensions: which places of it must be as they are.
  bool orders();
  // Needs that another one is the reason for.
  bool explained();
  void order_need(const std::string& name, const std::vector<std::int64_t>& order);

  Search& search_;
  const Rules& rules_;
  Trials& trials_;
  std::vector<Needed> needs_;
  std::set<std::string> passed_;    // arguments that it passes without
  OpConfig lower_;                  // of a lower rank, where that passes
  std::vector<Needed> with_cores_;  // dimensions with which the number of cores changes
  std::vector<OpConfig> fewer_;     // what passed then
  std::vector<std::string> same_;
  OpConfig base_;  // the case with the most dimensions that fails
};

}  // namespace opwright::shrink
