// Failures that have one cause: of one operation, ended in the same way with the same message, numbers aside. One of
// them is repeated, and the others share its diagnosis, where that is one of the operation and not of the moment.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "exec/repetition.h"

namespace opwright {

class SharedBlame {
 public:
  enum class Way : std::uint8_t {
    kRepeat,  // nobody has been repeated for this cause
    kWait,    // one is being repeated
    kShare,   // one was
  };
  Way way_of(const CaseRecord& failed) const;

  void begin(const CaseRecord& failed);  // it is being repeated
  void wait(EndedCase failed);           // until that has ended
  // The repeated one has its blame: those that waited for it, and whether they share it. Who does not share it is to be
  // repeated in turn.
  std::pair<std::vector<EndedCase>, bool> end(const CaseRecord& repeated);

  // Writes the blame of the repeated case of its cause into another, which says so.
  void share(CaseRecord& failed) const;

 private:
  struct Cause {
    bool is_repeating = false;
    Blame blame = Blame::kNobody;  // kNobody: not known
    std::string evidence;
    std::vector<EndedCase> waiting;
  };
  static std::string name_of_cause(const CaseRecord& failed);

  std::map<std::string, Cause> causes_;
};

}  // namespace opwright
