// What a native trace says about the run as a whole, in the words of the other formats: uid, machine, source, facts.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "format/native/native_trace.h"
#include "model/test_id.h"

namespace opwright::format {

struct RunFacts {
  std::string uid;      // of this trace, not of the run; "" when it has none
  std::string machine;  // machine_info as a JSON object; "" unknown
  std::string source;   // names the whole trace, whatever its tests are called; "" not set
  std::string program;  // the tests that were asked for, else script or command line; of calls outside of tests
  ModelTags models;     // HF_MODEL and the like, for sources whose path names no model
  bool tags_all_transformers = false;  // not in traces of older recorders, whose sources stay what they were
  std::vector<std::pair<std::string, std::string>> texts;

  // Where calls of `test` ("" none) come from.
  std::string source_of(std::string_view test) const;
};

RunFacts facts_of_run(NativeTrace& trace);
// Names the content of a trace that has no uid; counters that change while the program runs are not part of it.
std::string digest_of(const NativeFile& file);

}  // namespace opwright::format
