#include "exec/selftest_device.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <vector>

namespace opwright {
namespace {

constexpr std::int64_t kTile = 32;
constexpr std::size_t kLeakBytes = std::size_t{64} << 20;
constexpr std::size_t kNeededBytes = std::size_t{256} << 20;
constexpr std::size_t kPage = 4096;
constexpr int kTiredAfter = 4;

Misdeed misdeed_of(const BoundCall& call) {
  if (call.tensors.empty()) return Misdeed::kNone;
  const std::int64_t tiles = row_length(call.tensors.front().spec.shape) / kTile;
  if (tiles < 1 || tiles > static_cast<std::int64_t>(Misdeed::kOnce)) return Misdeed::kNone;
  return static_cast<Misdeed>(tiles);
}

// Memory that is really there.
std::vector<char> touched(std::size_t bytes) {
  std::vector<char> memory(bytes);
  for (std::size_t i = 0; i < bytes; i += kPage) memory[i] = 1;
  return memory;
}

[[noreturn]] void hang() {
  for (;;) pause();
}

bool by_chance() {
  static std::random_device source;
  return source() % 2 == 0;
}

void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  raise(SIGSEGV);
}

const char* broken_marker() { return std::getenv("OPWRIGHT_SELFTEST_BROKEN"); }

class SelftestDevice : public Device {
 public:
  SelftestDevice() : inner_(open_device("sim", *find_board("n150"))), can_(inner_->can()) { can_.name = "selftest"; }

  const Capabilities& can() const override { return can_; }
  Checked<MemoryReport> admit(const DeviceCall& call) override { return inner_->admit(call); }
  Checked<DeviceResult> run(const DeviceCall& call, std::span<const HostTensor> inputs) override {
    const Misdeed misdeed = misdeed_of(call.call);
    before(misdeed);
    auto result = inner_->run(call, inputs);
    ++calls_;
    if (result && (wrong(misdeed) || (misdeed == Misdeed::kOnce && first_time(call.call)) || broken(call.call)))
      for (HostTensor& output : result->outputs)
        for (float& value : output.floats) value += 1.0F;
    return result;
  }

  std::optional<DeviceFailure> settle() override {
    if (last_ == Misdeed::kCrashAfter) crash();
    if (last_ == Misdeed::kWriteAfter) say("one line more\n");
    return std::nullopt;
  }

 private:
  static void say(std::string_view text) {
    [[maybe_unused]] const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
  }

  static bool broken(const BoundCall& call) {
    const char* op = std::getenv("OPWRIGHT_SELFTEST_BROKEN_OP");
    return op != nullptr && call.op == op;
  }

  // Whether no process on this machine has seen the call before.
  static bool first_time(const BoundCall& call) {
    const char* marker = broken_marker();
    if (marker == nullptr) return false;
    const std::string path = std::string(marker) + ".once-" + std::to_string(call.tensors.front().spec.shape.at(2));
    const int file = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    if (file >= 0) close(file);
    return file >= 0;
  }

  void before(Misdeed misdeed) {
    last_ = misdeed;
    switch (misdeed) {
      case Misdeed::kSegfault:
        return crash();
      case Misdeed::kAbort:
        std::abort();
      case Misdeed::kHang:
        hang();
      case Misdeed::kLeak:
        kept_.push_back(touched(kLeakBytes));
        return;
      case Misdeed::kEatMemory:
        for (std::vector<std::vector<char>> eaten;;) eaten.push_back(touched(kLeakBytes));
      case Misdeed::kNeedsMemory:
        touched(kNeededBytes);
        return;
      case Misdeed::kPoison:
        poisoned_ = true;
        return;
      case Misdeed::kHalfPoison:
        poisoned_ = std::exchange(half_poisoned_, true);
        return;
      case Misdeed::kGarbage:
        return say("Segmentation violation, said the device\n");
      case Misdeed::kThrow:
        throw std::runtime_error("the device threw");
      case Misdeed::kExit:
        _exit(0);
      case Misdeed::kKilled:
        raise(SIGKILL);
        return;
      case Misdeed::kBreakMachine:
        if (const char* marker = broken_marker()) close(open(marker, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        return;
      default:
        return;
    }
  }

  bool wrong(Misdeed misdeed) const {
    if (const char* marker = broken_marker(); marker != nullptr && access(marker, F_OK) == 0) return true;
    return misdeed == Misdeed::kWrong || (misdeed == Misdeed::kFlaky && by_chance()) ||
           (misdeed == Misdeed::kPoisoned && poisoned_) || (misdeed == Misdeed::kTired && calls_ > kTiredAfter);
  }

  std::unique_ptr<Device> inner_;
  Capabilities can_;
  std::vector<std::vector<char>> kept_;
  bool poisoned_ = false, half_poisoned_ = false;
  int calls_ = 0;
  Misdeed last_ = Misdeed::kNone;
};

constexpr std::array kNames{"",
                            "none",
                            "segfault",
                            "abort",
                            "hang",
                            "leak",
                            "eats memory",
                            "wrong",
                            "flaky",
                            "poison",
                            "poisoned",
                            "garbage",
                            "throws",
                            "exits",
                            "killed",
                            "needs memory",
                            "reference throws",
                            "reference crashes",
                            "reference hangs",
                            "reference wrong",
                            "reference NaN",
                            "breaks the machine",
                            "crashes after its answer",
                            "writes after its answer",
                            "tired",
                            "half poison",
                            "once"};

}  // namespace

std::string_view name_of(Misdeed misdeed) { return kNames[static_cast<std::size_t>(misdeed)]; }

std::unique_ptr<Device> open_selftest_device() { return std::make_unique<SelftestDevice>(); }

void selftest_tamper(const BoundCall& call, Exact& exact) {
  switch (misdeed_of(call)) {
    case Misdeed::kBadReferenceThrow:
      throw std::runtime_error("the reference cannot");
    case Misdeed::kBadReferenceCrash:
      return crash();
    case Misdeed::kBadReferenceHang:
      hang();
    case Misdeed::kBadReferenceWrong:
      for (double& value : exact.value) value = 0.5 - value;
      return;
    case Misdeed::kBadReferenceNan:
      for (double& value : exact.value) value = std::nan("");
      return;
    default:
      return;
  }
}

}  // namespace opwright
