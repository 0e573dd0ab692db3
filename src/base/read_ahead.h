// Many small files read by a second thread, a few ahead of whoever works on them, who gets them in order.
//
//   ReadAhead files(paths.size(), [&](std::size_t i) { return paths[i]; });
//   for (…) if (const Status read = files.next(text)) work(text);
//
// Memory: the files at hand and at most three lots of kLotBytes, or of one larger file. Few files are read by the
// caller himself, without a thread.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"

namespace opwright {

class ReadAhead {
 public:
  static constexpr std::size_t kLotFiles = 64, kLotBytes = std::size_t{1} << 19U;

  // `path_of` is asked from the other thread, and outlives this.
  ReadAhead(std::size_t count, std::function<std::string(std::size_t)> path_of);
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // The next file: its content in `text`, or why it cannot be read. Called at most `count` times.
  Status next(std::string& text);

 private:
  struct File {
    Status status;
    std::string text;
  };
  using Lot = std::vector<File>;  // `used` of them are filled: rooms are kept from lot to lot
  struct Read {
    Lot files;
    std::size_t used = 0;
  };

  void read_all();

  std::size_t count_;
  std::function<std::string(std::size_t)> path_of_;
  std::size_t taken_ = 0;  // in `at_hand_`; without a thread: of all
  Read at_hand_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Read> ready_;
  std::vector<Lot> empty_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace opwright
