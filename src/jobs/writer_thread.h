// A Writer on a thread of its own, so that parsing and writing use a core each.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "store/writer.h"

namespace opwright::jobs {

class WriterThread {
 public:
  explicit WriterThread(store::Writer& writer);
  ~WriterThread();
  // Waits when the writer is far behind; memory stays bounded.
  void put(store::Batch batch);
  // Ends the thread; the first error of any batch. The Writer belongs to the caller again.
  Status finish();

 private:
  void run();

  store::Writer& writer_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<store::Batch> queue_;
  bool closed_ = false;
  Status status_;
  std::thread thread_;
};

}  // namespace opwright::jobs
