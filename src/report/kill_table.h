// Which wrong uses of data the cases of a run would notice, by class (exec/misuse.h): the verdicts of `run --mutate`
// say it of each output.
//
// A wrong use is one of a configuration, not of a run of it: where the same configuration ran with several data
// recipes, it is noticed when one of them notices it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json_object.h"
#include "model/case_record.h"

namespace opwright::report {

struct MisuseClass {
  std::string name;
  std::int64_t tried = 0, noticed = 0;        // wrong uses that change the output at all
  std::int64_t large = 0, large_noticed = 0;  // … by 2 % rms or more
};

// Large wrong uses of one kind that no case noticed.
struct Survivor {
  std::string name, op, operand;
  std::int64_t count = 0;
  double change = 0;  // the largest
  std::string why, line, repeat;
};

struct Kills {
  std::int64_t cases = 0;  // that were asked
  MisuseClass all;
  std::vector<MisuseClass> classes;  // by name
  std::vector<Survivor> survivors;   // most first
};

class KillTable {
 public:
  void add(const CaseRecord& record);
  Kills finish();

 private:
  struct Instance {
    bool large = false, noticed = false;
    std::string survivor;  // key of `survivors_` while it is unnoticed
  };
  std::int64_t cases_ = 0;
  std::map<std::string, std::unordered_map<std::uint64_t, Instance>, std::less<>> classes_;
  std::map<std::string, Survivor> survivors_;
};

// Classes of large mistakes that this passed case would not have shown, each once; of plain runs, too.
std::vector<std::string> blind_classes(const CaseRecord& record);

std::string kills_text(const Kills& kills);  // "" where nothing was asked
std::string kills_json(const Kills& kills);
std::string kills_html(const Kills& kills);  // a section of the page; "" where nothing was asked

}  // namespace opwright::report
