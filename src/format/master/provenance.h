// Who ran a configuration of a master file, in every form the eras had: `executions` (era 2), `source` and
// `machine_info` (1b, 1c), `contexts` (1d).
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/hash.h"
#include "base/json.h"
#include "format/trace_sink.h"

namespace opwright::format {

class Provenance {
 public:
  void clear();
  // False when the field is none of ours.
  bool take(std::string_view field, std::string_view json_text);
  // Sightings of all fields taken; their texts live until the next read().
  Status read(std::vector<Sighting>& sightings);

 private:
  Status recall_executions(std::vector<Sighting>& sightings);
  Status read_executions(std::vector<Sighting>& sightings);
  void read_test_ids(const json::Node& ids, std::string extra, const Sighting& execution,
                     std::vector<Sighting>& sightings);
  Status read_contexts(std::vector<Sighting>& sightings);
  Status read_lists(std::vector<Sighting>& sightings);
  std::string_view keep(std::string text);
  std::string_view keep_json(const json::Node& node);
  std::string_view text_of(const json::Node& node);

  std::string_view executions_, contexts_, source_, machine_;
  json::Document document_;
  json::Document second_;
  std::deque<std::string> kept_;  // a deque: texts stay where they are
  std::size_t used_ = 0;

  // Configurations of one run share their executions to the letter, so most of them are read once.
  struct Remembered {
    std::deque<std::string> texts;
    std::vector<Sighting> sightings;
  };
  std::unordered_map<Hash128, Remembered, Hash128Hasher> remembered_;
};

// Facts of a master's metadata, and the traces it names.
void read_metadata(const json::Node& metadata, TraceInfo& info, TraceSink& sink);

}  // namespace opwright::format
