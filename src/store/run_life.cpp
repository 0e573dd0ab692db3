#include "store/run_life.h"

#include <fmt/format.h>
#include <unistd.h>

#include <charconv>
#include <fstream>
#include <optional>

#include "base/json.h"
#include "base/process_identity.h"

namespace opwright::store {
namespace {

std::string host_name() {
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  return host;
}

std::optional<ProcessIdentity> process_of(const RunRecord& run) {
  json::Document document;
  const auto root = document.parse(run.facts);
  if (!root) return std::nullopt;
  const auto text = (*root)->string_field(kProcessFact);
  return text ? parse_identity(*text) : std::nullopt;
}

// "20261115T200921.123-4711": the number of the process that began it.
std::optional<pid_t> number_of(const std::string& uid) {
  const std::size_t dash = uid.rfind('-');
  if (dash == std::string::npos) return std::nullopt;
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(uid.data() + dash + 1, uid.data() + uid.size(), pid);
  if (error != std::errc() || end != uid.data() + uid.size() || pid <= 0) return std::nullopt;
  return pid;
}

bool is_opwright(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/comm", pid));
  std::string name;
  return std::getline(file, name) && name == "opwright";
}

}  // namespace

std::string status_now(const RunRecord& run) {
  if (run.status != "running") return run.status;
  const bool here = run.host == host_name();
  if (const auto process = process_of(run)) {
    switch (life_of(*process)) {
      case Life::kAlive:
        return "running";
      case Life::kGone:
        return "interrupted";
      case Life::kUnseen:
        // On this machine before it was started again: gone. In another container of it, or elsewhere: who knows.
        return here && process->boot != own_identity().boot ? "interrupted" : "unknown";
    }
  }
  const auto pid = number_of(run.uid);
  if (!pid) return run.status;
  if (!here) return "unknown";
  return is_opwright(*pid) ? "running" : "interrupted";
}

}  // namespace opwright::store
