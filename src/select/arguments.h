// The arguments of stored configurations: from their records, else from their texts.
//
// A record is what the text was understood as when it was imported; `doctor --deep` holds the two against each other. A
// configuration of an older store has none, and is lifted from its first form.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/op_config.h"
#include "normalize/normalize.h"
#include "store/reader.h"

namespace opwright::select {

// What a store keeps of a configuration as its parts (store/rows.h).
std::string parts_of(const OpConfig& config);
// Whether this build writes such parts; those of others are not read.
bool are_current(std::string_view parts);

class Arguments {
 public:
  explicit Arguments(store::Reader& reader) : reader_(reader) {}
  Status fill(const store::Card& card, OpConfig& config);

 private:
  bool fill_from_parts(const store::Card& card, OpConfig& config);

  store::Reader& reader_;
  normalize::Normalizer normalizer_;
  format::LiftNotes notes_;
  std::int64_t block_ = -1;
  std::vector<std::optional<Argument>> known_;  // by place in the block: most are shared by its configurations
};

}  // namespace opwright::select
