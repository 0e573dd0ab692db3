#include "exec/executed_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <set>

#include "base/input.h"
#include "dialect/dialect.h"
#include "format/read_trace.h"
#include "normalize/normalize.h"

namespace opwright {
namespace {

class LastCall : public format::TraceSink {
 public:
  explicit LastCall(const std::string& op) : op_(op) {}

  Status observe(const Observed& observed) override {
    others_.insert(operation_name(observed.op));
    if (operation_name(observed.op) != op_) return {};
    format::LiftNotes notes;
    OPWRIGHT_TRY_ASSIGN(found_, normalizer_.normalize(observed, notes));
    return {};
  }
  void lose(const format::Loss& loss) override { lost_ = fmt::format("{}: {}", loss.kind, loss.example); }
  void leave_out(std::string_view, std::size_t) override {}
  void describe(const TraceInfo&) override {}
  Status end_trace(const TraceInfo&) override { return {}; }
  void add_bytes(std::size_t) override {}
  void add_file() override {}

  Result<OpConfig> take() {
    if (found_) return *std::move(found_);
    return fail(ErrorCode::kBadInput,
                fmt::format("the device's trace: no call of {}; it has {}{}", op_,
                            others_.empty() ? "none at all" : fmt::format("{}", fmt::join(others_, ", ")),
                            lost_.empty() ? "" : "; " + lost_));
  }

 private:
  const std::string& op_;
  normalize::Normalizer normalizer_;
  std::optional<OpConfig> found_;
  std::set<std::string> others_;
  std::string lost_;
};

}  // namespace

Result<OpConfig> read_executed(std::string_view trace, const std::string& op) {
  // Readers take files: one without a name, which nobody else can change or cut.
  const int file = memfd_create("opwright-executed", MFD_CLOEXEC);
  const auto failed = [&](std::string_view what) {
    return fail(ErrorCode::kIo, fmt::format("the device's trace: {}: {}", what, system_message(errno)));
  };
  if (file < 0) return failed("no memory for it");
  const std::unique_ptr<const int, void (*)(const int*)> closed(&file, [](const int* open) { close(*open); });
  for (std::size_t done = 0; done < trace.size();) {
    const ssize_t count = write(file, trace.data() + done, trace.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return failed("no memory for it");
    done += static_cast<std::size_t>(count);
  }
  LastCall sink(op);
  OPWRIGHT_TRY(format::read_trace(fmt::format("/proc/self/fd/{}", file), {.include_failed = true}, sink));
  return sink.take();
}

}  // namespace opwright
