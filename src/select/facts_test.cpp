#include "select/facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/hash.h"
#include "select/evaluate.h"
#include "select/terms.h"
#include "select/test_subjects.h"

namespace opwright::select {
namespace {

// A configuration as the index knows it.
struct Known {
  OpConfig config;
  std::vector<Term> terms;
  std::vector<store::Fact> facts;

  bool has(const std::vector<Term>& wanted) const {
    return std::includes(terms.begin(), terms.end(), wanted.begin(), wanted.end());
  }
  bool has(const store::AnyOf& any) const {
    return std::any_of(any.terms.begin(), any.terms.end(), [&](Term term) { return has(std::vector{term}); }) ||
           has(any.ranges) || has(any.doubtful);
  }
  bool has(const std::vector<store::Range>& ranges) const {
    return std::any_of(ranges.begin(), ranges.end(), [&](const store::Range& range) {
      return std::any_of(facts.begin(), facts.end(), [&](const store::Fact& fact) {
        return fact.kind == range.kind && fact.value >= range.low && fact.value <= range.high;
      });
    });
  }
  // The index says that it matches this way.
  bool is_decided(const store::Way& way) const {
    return way.is_exact && has(way) &&
           std::none_of(way.facts.begin(), way.facts.end(), [&](const store::AnyOf& any) { return has(any.doubtful); });
  }
  bool has(const store::Way& way) const {
    return has(way.terms) &&
           std::all_of(way.facts.begin(), way.facts.end(), [&](const store::AnyOf& any) { return has(any); });
  }
};

struct Index {
  std::vector<Known> known;
  Vocabulary vocabulary;

  void add(OpConfig config) {
    Known one{std::move(config), {}, {}};
    append_terms(one.config, one.terms);
    append_facts(one.config, ConfigId{static_cast<std::int64_t>(known.size() + 1)}, one.facts, vocabulary.words);
    vocabulary.operations.push_back(one.config.op);
    known.push_back(std::move(one));
  }
  bool leaves(const Selector& selector, const Known& one) const {
    const auto ways = alternatives(selector, vocabulary);
    return ways.empty() || std::any_of(ways.begin(), ways.end(), [&](const store::Way& way) { return one.has(way); });
  }
};

// The law of an index: what matches is never excluded, and what it decides matches.
TEST(Facts, WhatMatchesIsNeverExcludedAndWhatIsDecidedMatches) {
  RandomConfigs configs(4);
  RandomSelectors selectors(5);
  Index index;
  for (int i = 0; i < 300; ++i) index.add(configs.config());
  std::size_t narrowing_matches = 0, excluded = 0, decided = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::string text = selectors.text();
    const auto selector = parse_selector(text);
    ASSERT_TRUE(selector) << text;
    if (needs_provenance(*selector)) continue;
    const auto wanted = required_terms(*selector);
    const auto ways = alternatives(*selector, index.vocabulary);
    ASSERT_TRUE(std::is_sorted(wanted.begin(), wanted.end()));
    if (wanted.empty() && ways.empty()) continue;
    for (const Known& one : index.known) {
      const bool possible =
          one.has(wanted) &&
          (ways.empty() || std::any_of(ways.begin(), ways.end(), [&](const auto& way) { return one.has(way); }));
      const bool match = matches(*selector, Subject{one.config});
      std::string arguments;
      if (match && !possible)
        for (const Argument& a : one.config.args) arguments += "\n  " + a.name + "=" + to_text(a.value);
      ASSERT_TRUE(possible || !match) << text << arguments;
      const bool sure = std::any_of(ways.begin(), ways.end(), [&](const auto& way) { return one.is_decided(way); });
      ASSERT_TRUE(match || !sure) << text;
      decided += sure ? 1 : 0;
      narrowing_matches += match ? 1 : 0;
      excluded += possible ? 0 : 1;
    }
  }
  EXPECT_GT(narrowing_matches, 1000u);  // else the law was tested on nothing
  EXPECT_GT(excluded, 100000u);
  EXPECT_GT(decided, 500u);
}

// What each kind of question leaves of some configurations, by what they are made of.
std::string left(const Index& index, std::string_view question) {
  const auto selector = parse_selector(question);
  EXPECT_TRUE(selector) << question;
  std::string names;
  for (const Known& one : index.known) {
    if (index.leaves(*selector, one)) names += one.config.op.back();
  }
  return names;
}

OpConfig config_of(std::string op, const Shape& shape, Value argument) {
  OpConfig config;
  config.op = std::move(op);
  TensorSpec spec;
  spec.shape = shape;
  spec.has_shape = true;
  config.args.push_back({"input", Value(std::make_shared<const TensorSpec>(spec))});
  config.args.push_back({"dim", std::move(argument)});
  return config;
}

TEST(Facts, QuestionsAreNarrowed) {
  Index index;
  index.add(config_of("ttnn.a", {1, 32}, Value(std::int64_t{3})));
  index.add(config_of("ttnn.b", {7, 1, 64}, Value(2.75)));
  index.add(config_of("ttnn.c", {1, 1, 1, 1, 1, 1, 1, 1, 1, 5}, Value(std::string("Text"))));  // too deep: always left
  EXPECT_EQ(left(index, "dim[0]=1"), "ac");
  EXPECT_EQ(left(index, "dim[-1]>=33"), "bc");
  EXPECT_EQ(left(index, "dim[-1]<33"), "ac");
  EXPECT_EQ(left(index, "dim[2]=64"), "bc");
  EXPECT_EQ(left(index, "dim[2]!=64"), "abc");
  EXPECT_EQ(left(index, "dim[0] in (7, 9)"), "bc");
  EXPECT_EQ(left(index, "rank>=3"), "bc");
  EXPECT_EQ(left(index, "rank>9"), "c");
  EXPECT_EQ(left(index, "volume>1000"), "");
  EXPECT_EQ(left(index, "volume>=448"), "b");
  EXPECT_EQ(left(index, "tensors>1"), "");
  EXPECT_EQ(left(index, "arg.dim>=5"), "");
  EXPECT_EQ(left(index, "arg.dim<=2.5"), "ab");  // rounded: a may still be asked
  EXPECT_EQ(left(index, "arg.dim<-1e300"), "");
  EXPECT_EQ(left(index, "arg.dim~EX"), "c");
  EXPECT_EQ(left(index, "arg.dim~75"), "b");
  EXPECT_EQ(left(index, "arg.input~bfloat"), "abc");  // texts of tensors are no words
  EXPECT_EQ(left(index, "op~tnn.B"), "b");
  EXPECT_EQ(left(index, "op~x"), "");
  EXPECT_EQ(left(index, "dtype~bfloat"), "");
}

TEST(Facts, WhatTheIndexDecides) {
  const auto decides = [](std::string_view text) {
    const auto ways = alternatives(*parse_selector(text), {});
    return !ways.empty() && std::ranges::all_of(ways, &store::Way::is_exact);
  };
  for (const char* yes :
       {"dim[-1]=32", "dim[0]>=8 and dtype~bfloat", "op~norm", "op=add or op=sub", "model~llama", "machine=n300",
        "rank in (2, 4)", "shape=[1,32]", "arg.memory_config~width", "sharded", "tensors>2"})
    EXPECT_TRUE(decides(yes)) << yes;
  // Of one tensor, rounded, with wildcards, of the call, or with a part that nothing narrows.
  for (const char* no : {"in0.dim[-1]=32", "in0.dtype=bfloat16", "arg.dim>1", "arg.dim=1", "volume>100", "shape=[*,32]",
                         "dtype=bfloat16 and calls>3", "op=add and not rank=2", "arg.x.y~z", "dim[0]!=1"})
    EXPECT_FALSE(decides(no)) << no;
}

TEST(Facts, ModelsAndMachinesAreFoundByTheirNames) {
  Vocabulary vocabulary;
  vocabulary.sources = {{{0}, "", ""}, {{1}, "models/demos/llama/demo.py::test_x", "meta/Llama"}, {{2}, "a.py", ""}};
  vocabulary.machines = {{{0}, "", "unknown"}, {{1}, "{}", "Wormhole n300 x1"}};
  const auto ranges = [&](std::string_view text) {
    return alternatives(*parse_selector(text), vocabulary).at(0).facts.at(0).ranges;
  };
  using Ranges = std::vector<store::Range>;
  EXPECT_EQ(ranges("model~llama"), (Ranges{{store::kSourceFact, 1, 1}}));
  EXPECT_EQ(ranges("model=meta/llama"), (Ranges{{store::kSourceFact, 1, 1}}));
  EXPECT_EQ(ranges("model~py"), (Ranges{{store::kSourceFact, 1, 2}}));
  EXPECT_EQ(ranges("model~nothing"), Ranges{});
  EXPECT_EQ(ranges("machine=n300"), (Ranges{{store::kMachineFact, 1, 1}}));
  EXPECT_TRUE(alternatives(*parse_selector("model!=llama"), vocabulary).empty());
}

}  // namespace
}  // namespace opwright::select
