// Facts for the index of numbers and texts: what the store looks up for ranges, one dimension, `~`, model and machine.
//
// A fact is a number under a kind; a kind is the hash of a text. Like terms (terms.h), facts narrow and decide nothing:
// a configuration without a fact in the asked range cannot match.
//   dim:R:I    size of dimension I of a tensor of rank R (up to kDeepest)     deep     rank of a tensor of a higher one
//   volume     how many bits the number of elements has                       tensors  how many the call has
//   odd:dtype  1: a tensor has a data type outside the known set (and odd:layout, …)
//   num:dim, num:program_config.per_core_m   an argument, or what lies directly in it, rounded down
//   text:dim   the hash of an argument's folded text, which is a word of the store; kOtherText: too long, or a tensor
#pragma once

#include <cstdint>
#include <vector>

#include "model/op_config.h"
#include "select/selector.h"
#include "store/reader.h"

namespace opwright::select {

inline constexpr std::size_t kDeepest = 8;
inline constexpr std::size_t kLongestWord = 256;
inline constexpr std::int64_t kOtherText = 0;

// Appends the facts of a configuration, each once, and the words they stand for.
void append_facts(const OpConfig& config, ConfigId id, std::vector<store::Fact>& facts,
                  std::vector<store::Word>& words);

// What is in the store that a selector's texts can be compared with before any configuration is read.
struct Vocabulary {
  std::vector<std::string> operations;
  std::vector<store::SourceRow> sources;
  std::vector<store::MachineRow> machines;
  std::vector<store::Word> words;  // of all kinds that were asked for
};
Result<Vocabulary> vocabulary_of(const Selector& selector, store::Reader& reader);

// What every configuration has of which the predicate is true, beside predicate_terms; none when facts do not say.
std::vector<store::AnyOf> predicate_facts(const Predicate& predicate, const Vocabulary& vocabulary);

}  // namespace opwright::select
