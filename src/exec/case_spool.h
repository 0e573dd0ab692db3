// The plan of a run: a million cases, and the parent's memory stays small. The texts of the jobs lie in a file without
// a name (nothing to clean up, whatever ends us); in memory a case is 40 bytes.
//
//   OPWRIGHT_TRY_ASSIGN(CaseSpool spool, CaseSpool::create());
//   OPWRIGHT_TRY(spool.append(job_json, {.op = spool.op_id("ttnn.add"), .weight = calls, …}));
//   OPWRIGHT_TRY_ASSIGN(std::string job, spool.read(17));
//
// Threads: use it from one thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/size_class.h"

namespace opwright {

// What ordering and choosing need to know of a case.
struct PlannedCase {
  std::int64_t bytes = 0;    // estimated, in a worker
  std::int64_t weight = 0;   // calls of the models, or what they cost in a profiler report
  std::uint64_t offset = 0;  // of its job in the file; set by append
  std::uint32_t length = 0;  // … and its bytes
  std::uint32_t op = 0;      // of CaseSpool::op_id
  float seconds = 0;         // estimated
  CaseFeatures features;
};
static_assert(sizeof(PlannedCase) <= 48);

class CaseSpool {
 public:
  // In `folder`; "": $TMPDIR, else /var/tmp (a disk, where /tmp may be memory), else /tmp.
  static Result<CaseSpool> create(std::string folder = "");
  ~CaseSpool();
  CaseSpool(CaseSpool&& other) noexcept;
  CaseSpool& operator=(CaseSpool&& other) noexcept;
  CaseSpool(const CaseSpool&) = delete;
  CaseSpool& operator=(const CaseSpool&) = delete;

  std::uint32_t op_id(std::string_view op);
  const std::string& op_name(std::uint32_t id) const { return *names_[id]; }
  std::size_t ops() const { return names_.size(); }

  Status append(std::string_view job, PlannedCase facts);
  Result<std::string> read(std::size_t index);
  void set_seconds(std::size_t index, double seconds) { cases_[index].seconds = static_cast<float>(seconds); }

  std::size_t size() const { return cases_.size(); }
  std::span<const PlannedCase> cases() const { return cases_; }
  std::uint64_t file_bytes() const { return written_ + waiting_.size(); }

 private:
  CaseSpool(int file, std::string folder) : file_(file), folder_(std::move(folder)) {}
  Status flush();

  int file_ = -1;
  std::string folder_;  // for messages
  std::uint64_t written_ = 0;
  std::string waiting_;  // behind what is written
  std::vector<PlannedCase> cases_;
  std::map<std::string, std::uint32_t, std::less<>> ids_;
  std::vector<const std::string*> names_;  // keys of ids_
};

}  // namespace opwright
