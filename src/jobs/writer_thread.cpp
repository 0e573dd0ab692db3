#include "jobs/writer_thread.h"

namespace opwright::jobs {
namespace {
constexpr std::size_t kQueued = 4;
}

WriterThread::WriterThread(store::Writer& writer) : writer_(writer), thread_([this] { run(); }) {}

WriterThread::~WriterThread() { (void)finish(); }

void WriterThread::put(store::Batch batch) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return queue_.size() < kQueued; });
  queue_.push_back(std::move(batch));
  changed_.notify_all();
}

Status WriterThread::finish() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  return status_;
}

void WriterThread::run() {
  while (true) {
    store::Batch batch;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return !queue_.empty() || closed_; });
      if (queue_.empty()) return;
      batch = std::move(queue_.front());
      queue_.pop_front();
      changed_.notify_all();
    }
    if (status_) status_ = writer_.write(batch);  // after an error the rest is thrown away: nothing will be committed
  }
}

}  // namespace opwright::jobs
