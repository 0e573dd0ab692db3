#include "exec/aftermath.h"

#include <fmt/format.h>
#include <poll.h>

#include "base/words.h"
#include "exec/job.h"

namespace opwright {
namespace {

constexpr double kSeconds = 2;  // for a worker to say what its device did

}  // namespace

std::optional<Aftermath> parse_aftermath(const json::Node& late) {
  const auto outcome = parse_outcome(late.string_field("outcome").value_or(""));
  if (!outcome) return std::nullopt;
  const json::Node* device = late.find("device");
  return Aftermath{*outcome, std::string(late.string_field("reason").value_or("")),
                   device != nullptr && device->is_true()};
}

std::string no_answer(std::string_view line) {
  return fmt::format("the worker wrote what is no answer: {}", cut_text(line, 120));
}

Aftermath garbage_after(std::string_view line) {
  return {Outcome::kHarnessError, no_answer(line) + ", after its answer", false};
}

std::optional<Aftermath> farewell(WorkerProcess& worker, double patience) {
  if (patience > 0) {
    pollfd waiting{worker.answers(), POLLIN, 0};
    poll(&waiting, 1, static_cast<int>(patience * 1000));
  }
  const WorkerProcess::Farewell said = worker.finish(kSeconds, kGoodbye);
  json::Document document;
  bool goodbye = false;
  for (const std::string& line : said.lines) {
    goodbye = goodbye || line == kGoodbye;
    const auto root = document.parse(line);
    if (!root || !(*root)->is(json::Kind::kObject)) return garbage_after(line);
    if (const json::Node* late = (*root)->find("late")) return parse_aftermath(*late).value_or(garbage_after(line));
  }
  if (!said.ended || goodbye) return std::nullopt;
  return Aftermath{Outcome::kCrashed, fmt::format("its process ended with {} after its answer", worker.bury(false)),
                   false};
}

}  // namespace opwright
