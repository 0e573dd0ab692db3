#include "exec/executed_trace.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
#include <set>

#include "format/read_trace.h"
#include "normalize/normalize.h"

namespace opwright {
namespace {

class LastCall : public format::TraceSink {
 public:
  explicit LastCall(const std::string& op) : op_(op) {}

  Status observe(const Observed& observed) override {
    others_.insert(dotted(observed.op));
    if (dotted(observed.op) != op_) return {};
    format::LiftNotes notes;
    OPWRIGHT_TRY_ASSIGN(found_, normalizer_.normalize(observed.kind, observed.op, observed.arguments, notes));
    return {};
  }
  void lose(const format::Loss& loss) override { lost_ = fmt::format("{}: {}", loss.kind, loss.example); }
  void leave_out(std::string_view, std::size_t) override {}
  void describe(const TraceInfo&) override {}
  Status end_trace(const TraceInfo&) override { return {}; }
  void add_bytes(std::size_t) override {}
  void add_file() override {}

  Result<OpConfig> take(const std::string& path) {
    if (found_) return *std::move(found_);
    return fail(ErrorCode::kBadInput,
                fmt::format("{}: no call of {}; it has {}{}", path, op_,
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

Result<OpConfig> read_executed(const std::string& path, const std::string& op) {
  LastCall sink(op);
  OPWRIGHT_TRY(format::read_trace(path, {.include_failed = true}, sink));
  return sink.take(path);
}

}  // namespace opwright
