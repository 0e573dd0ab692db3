// What the recorder keeps for each thread. Internal to recorder*.cpp.
#pragma once

#include <array>
#include <atomic>
#include <string>
#include <vector>

#include "capture/recorder.h"

namespace opwright::capture {

struct Recorder::Thread {
  std::atomic<int> busy{0};  // inside the recorder: it must not close now
  std::atomic<std::uint64_t> epoch{0};
  std::uint64_t system_id = 0;

  Lane lane;
  std::vector<std::uint64_t> stack;  // seq of the calls that run now, outermost first

  std::string phase, label;
  bool phase_wanted = true;
  bool context_changed = true;
  std::uint64_t test_version = 0;
  std::uint32_t context = 0;  // value id

  // Written by this thread, read by the flush thread.
  std::atomic<std::uint64_t> calls{0}, errors{0}, thinned{0}, recorder_ticks{0}, first_sightings{0};
  std::uint32_t sample = 0;

  struct Known {
    Hash hash;
    std::uint32_t id = 0;
  };
  // The short values met last, compared as they are: cheaper than a hash.
  struct Last {
    std::uint32_t id = 0;
    std::uint32_t size = 0;
    char bytes[184];
  };
  std::array<Last, 64> last{};
  Last& last_like(std::string_view encoded) {
    const auto at = [&](std::size_t i) { return static_cast<unsigned char>(encoded[i]); };
    const std::size_t size = encoded.size();
    return last[(size * 7 + at(size / 2) * 3U + at(size - 1)) % last.size()];
  }
  std::array<Known, 1024> known{};  // most values are met again soon: no lock for those
  Encoder payload;

  void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }
};

// A thread is inside the recorder for the life of this object; `ok` is false when the recorder is closing or closed.
struct Recorder::Inside {
  Inside(Recorder& recorder, Thread& of) : thread(of), outermost(of.busy.load(std::memory_order_relaxed) == 0) {
    if (outermost) enter(recorder.has_barrier_);
    ok = current_.load() == &recorder && !recorder.stopped_.load(std::memory_order_relaxed) &&
         (thread.epoch.load(std::memory_order_relaxed) == epoch() || recorder.attach(thread));
  }
  // Closing clears current_ first and looks at `busy` then; here it is the other way round. Neither may be reordered:
  // with the system's barrier on the closing side the compiler is all that must be told.
  void enter(bool has_barrier) {
    if (has_barrier) {
      thread.busy.store(1, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst);
    } else {
      thread.busy.store(1);
    }
  }
  ~Inside() {
    if (outermost) thread.busy.store(0, std::memory_order_release);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  Thread& thread;
  bool outermost;
  bool ok = false;
};

}  // namespace opwright::capture
