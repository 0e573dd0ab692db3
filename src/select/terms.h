// Terms for an inverted index: what the store looks up before it asks `matches`.
//
// A term is the hash of a short text such as `dtype:BFLOAT16`. Narrowing by terms is a pre-filter and never the answer:
// a configuration that lacks a required term cannot match; one that has them all may still not match.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/op_config.h"
#include "select/facts.h"
#include "select/selector.h"

namespace opwright::select {

using Term = std::uint64_t;

// Bump when the texts below change: an index on disk that was made by another version must be made again.
inline constexpr int kTermVersion = 1;

// Appends the terms of a configuration, sorted and without duplicates among themselves:
//   op:ttnn.transformer.softmax  op:transformer.softmax  op:softmax        lower case, every end of the name
//   dtype:BFLOAT16  layout:TILE  storage:DEVICE  rank:4  shape:[1,1,32,32]     of each tensor
//   memory:HEIGHT_SHARDED  buffer:L1  sharded  shard:[224,32]                  of each memory config, in a tensor or
//   not arg:dim  (present and not none)   arg:dim=3  (its key, select/argument_key.h, up to kLongestKey characters)
void append_terms(const OpConfig& config, std::vector<Term>& out);
inline constexpr std::size_t kLongestKey = 64;

// Terms that every match has, sorted; empty when the selector cannot narrow.
std::vector<Term> required_terms(const Selector& selector);

// The ways a configuration can match: every match has all terms and facts of at least one of them.
// None: the index cannot narrow this selector down. (required_terms is the part that all ways share.)
std::vector<store::Way> alternatives(const Selector& selector, const Vocabulary& vocabulary);

// Hex digits that the key of every match begins with; "" when the selector does not say.
std::string required_key(const Selector& selector);

}  // namespace opwright::select
