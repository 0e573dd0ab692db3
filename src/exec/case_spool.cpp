#include "exec/case_spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "base/nameless_file.h"

namespace opwright {
namespace {

constexpr std::size_t kWriteAtOnce = std::size_t{1} << 18;

}  // namespace

Result<CaseSpool> CaseSpool::create(std::string folder) {
  if (folder.empty()) folder = temporary_folder();
  const int file = open_nameless(folder);
  if (file < 0)
    return fail(ErrorCode::kIo, fmt::format("{}: no temporary file for the plan of the run: {}; set TMPDIR to a folder "
                                            "that can be written",
                                            folder, std::strerror(errno)));
  return CaseSpool(file, std::move(folder));
}

CaseSpool::~CaseSpool() {
  if (file_ >= 0) close(file_);
}

CaseSpool::CaseSpool(CaseSpool&& other) noexcept
    : file_(std::exchange(other.file_, -1)),
      folder_(std::move(other.folder_)),
      written_(other.written_),
      waiting_(std::move(other.waiting_)),
      cases_(std::move(other.cases_)),
      ids_(std::move(other.ids_)),
      names_(std::move(other.names_)) {}

CaseSpool& CaseSpool::operator=(CaseSpool&& other) noexcept {
  std::swap(file_, other.file_);
  folder_ = std::move(other.folder_);
  written_ = other.written_;
  waiting_ = std::move(other.waiting_);
  cases_ = std::move(other.cases_);
  ids_ = std::move(other.ids_);
  names_ = std::move(other.names_);
  return *this;
}

std::uint32_t CaseSpool::op_id(std::string_view op) {
  if (const auto known = ids_.find(op); known != ids_.end()) return known->second;
  const auto id = static_cast<std::uint32_t>(names_.size());
  names_.push_back(&ids_.emplace(op, id).first->first);
  return id;
}

Status CaseSpool::append(std::string_view job, PlannedCase facts) {
  if (job.size() > std::numeric_limits<std::uint32_t>::max())
    return fail(ErrorCode::kUnsupported,
                fmt::format("case {} of the plan takes {} bytes; at most 4 GiB a case", cases_.size(), job.size()));
  facts.offset = file_bytes();
  facts.length = static_cast<std::uint32_t>(job.size());
  waiting_ += job;
  cases_.push_back(facts);
  return waiting_.size() < kWriteAtOnce ? Status() : flush();
}

Status CaseSpool::flush() {
  std::size_t done = 0;
  while (done < waiting_.size()) {
    const ssize_t wrote =
        pwrite(file_, waiting_.data() + done, waiting_.size() - done, static_cast<off_t>(written_ + done));
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0)
      return fail(
          ErrorCode::kIo,
          fmt::format("{}: cannot write the plan of the run ({} cases, {} MB so far): {}; set TMPDIR to a folder "
                      "with more room, or run a part with --shard or --where",
                      folder_, cases_.size(), file_bytes() / 1'000'000,
                      wrote < 0 ? std::strerror(errno) : "nothing was written"));
    done += static_cast<std::size_t>(wrote);
  }
  written_ += done;
  waiting_.clear();
  return {};
}

Result<std::string> CaseSpool::read(std::size_t index) {
  if (index >= cases_.size())
    return fail(ErrorCode::kNotFound, fmt::format("the plan has {} cases, no case {}", cases_.size(), index));
  const PlannedCase& planned = cases_[index];
  if (planned.offset + planned.length > written_) OPWRIGHT_TRY(flush());
  std::string job(planned.length, '\0');
  for (std::size_t done = 0; done < job.size();) {
    const ssize_t got = pread(file_, job.data() + done, job.size() - done, static_cast<off_t>(planned.offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0)
      return fail(ErrorCode::kIo, fmt::format("{}: cannot read case {} of the plan back: {}", folder_, index,
                                              got < 0 ? std::strerror(errno) : "the file is shorter than written"));
    done += static_cast<std::size_t>(got);
  }
  return job;
}

}  // namespace opwright
