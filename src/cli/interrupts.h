// Ctrl-C during a long command: the first lets it end well, the second ends it at once.
#pragma once

#include <atomic>

namespace opwright::cli {

// While it lives, SIGINT and SIGTERM are counted instead of ending the process.
class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  const std::atomic<int>* count() const;
  int wake() const;  // readable when one came
};

}  // namespace opwright::cli
