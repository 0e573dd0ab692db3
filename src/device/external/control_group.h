// A control group (cgroup v2) for the processes of one device program, where the machine lets us make one below our
// own.
#pragma once

#include <optional>
#include <string>

namespace opwright {

class ControlGroup {
 public:
  // Nothing where there is no cgroup v2, or no right to make one; or OPWRIGHT_CGROUP=off says that it is not wanted.
  static std::optional<ControlGroup> make(const std::string& name);
  ControlGroup(ControlGroup&& other) noexcept;
  ControlGroup& operator=(ControlGroup&&) = delete;
  ~ControlGroup();  // removes the group if nobody is in it

  int members() const { return members_; }  // writing "0" there makes the writer a member: between fork and exec
  void kill_all() const;                    // all members at the same moment, those that they fork meanwhile too
  bool empty() const;

 private:
  ControlGroup() = default;
  std::string path_;
  int members_ = -1;
};

// Ends and removes groups whose names are those of keepers that are gone.
void end_left_behind_groups();

}  // namespace opwright
