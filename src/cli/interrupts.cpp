#include "cli/interrupts.h"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>

namespace opwright::cli {
namespace {

std::atomic<int> interrupts{0};
int wake_ends[2] = {-1, -1};
struct sigaction old_int, old_term;

extern "C" void on_interrupt(int) {
  interrupts.fetch_add(1);
  [[maybe_unused]] const ssize_t count = write(wake_ends[1], "!", 1);
}

}  // namespace

Interrupts::Interrupts() {
  interrupts.store(0);
  [[maybe_unused]] const int made = pipe2(wake_ends, O_CLOEXEC | O_NONBLOCK);
  struct sigaction action{};
  action.sa_handler = on_interrupt;
  sigaction(SIGINT, &action, &old_int);
  sigaction(SIGTERM, &action, &old_term);
}

Interrupts::~Interrupts() {
  sigaction(SIGINT, &old_int, nullptr);
  sigaction(SIGTERM, &old_term, nullptr);
  close(wake_ends[0]);
  close(wake_ends[1]);
}

const std::atomic<int>* Interrupts::count() const { return &interrupts; }
int Interrupts::wake() const { return wake_ends[0]; }

}  // namespace opwright::cli
