#include "base/parallel.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace opwright {

namespace {

thread_local bool inside_loop = false;

// One loop at a time: parts are handed out by a counter, workers and the caller take them until none is left.
struct Loop {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t grain = 1;
  const std::function<void(std::int64_t, std::int64_t)>* body = nullptr;
  std::atomic<std::int64_t> next{0};
  std::atomic<bool> failed{false};
  std::exception_ptr error;
  std::mutex error_mutex;

  void take_parts() {
    for (;;) {
      const std::int64_t first = next.fetch_add(grain);
      if (first >= end || failed.load()) return;
      try {
        (*body)(first, std::min(first + grain, end));
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
        failed.store(true);
      }
    }
  }
};

class Pool {
 public:
  explicit Pool(int helpers) {
    for (int i = 0; i < helpers; ++i) threads_.emplace_back([this] { work(); });
  }
  ~Pool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  void run(Loop& loop) {
    {
      const std::lock_guard lock(mutex_);
      loop_ = &loop;
      ++generation_;
      busy_ = static_cast<int>(threads_.size());
    }
    wake_.notify_all();
    inside_loop = true;
    loop.take_parts();
    inside_loop = false;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    loop_ = nullptr;
  }

 private:
  void work() {
    inside_loop = true;
    std::uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return stopping_ || generation_ != seen; });
      if (stopping_) return;
      seen = generation_;
      Loop* loop = loop_;
      lock.unlock();
      loop->take_parts();
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable done_;
  Loop* loop_ = nullptr;
  std::uint64_t generation_ = 0;
  int busy_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

int default_threads() {
  if (const char* text = std::getenv("OPWRIGHT_THREADS")) {
    const long count = std::strtol(text, nullptr, 10);
    if (count > 0) return static_cast<int>(std::min(count, 1024L));
  }
  return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

struct State {
  std::mutex mutex;  // held for the length of a loop
  std::atomic<int> wanted{0};
  int pool_threads = 0;
  std::unique_ptr<Pool> pool;
};
State& state() {
  static State instance;
  return instance;
}

}  // namespace

int threads() {
  const int wanted = state().wanted.load();
  if (wanted > 0) return wanted;
  static const int fallback = default_threads();
  return fallback;
}

void set_threads(int count) { state().wanted.store(std::max(0, count)); }

void parallel_for(std::int64_t begin, std::int64_t end, std::int64_t grain,
                  const std::function<void(std::int64_t first, std::int64_t last)>& f) {
  if (begin >= end) return;
  grain = std::max<std::int64_t>(1, grain);
  const int count = threads();
  State& shared = state();
  // Another loop holds the pool (a second thread of the program): this one runs where it is.
  std::unique_lock lock(shared.mutex, std::defer_lock);
  if (inside_loop || count == 1 || end - begin <= grain || !lock.try_lock()) {
    f(begin, end);
    return;
  }
  if (shared.pool == nullptr || shared.pool_threads != count) {
    shared.pool.reset();
    shared.pool = std::make_unique<Pool>(count - 1);
    shared.pool_threads = count;
  }
  Loop loop;
  loop.begin = begin;
  loop.end = end;
  loop.grain = grain;
  loop.body = &f;
  loop.next.store(begin);
  shared.pool->run(loop);
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace opwright
