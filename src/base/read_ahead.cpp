#include "base/read_ahead.h"

#include <utility>

#include "base/input.h"

namespace opwright {
namespace {

constexpr std::size_t kMostReady = 2;

}  // namespace

ReadAhead::ReadAhead(std::size_t count, std::function<std::string(std::size_t)> path_of)
    : count_(count), path_of_(std::move(path_of)) {
  if (count_ > kLotFiles) thread_ = std::thread([this] { read_all(); });
}

ReadAhead::~ReadAhead() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void ReadAhead::read_all() {
  for (std::size_t i = 0; i < count_;) {
    Read lot;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return ends_ || ready_.size() < kMostReady; });
      if (ends_) return;
      if (!empty_.empty()) {
        lot.files = std::move(empty_.back());
        empty_.pop_back();
      }
    }
    for (std::size_t bytes = 0; i < count_ && lot.used < kLotFiles && bytes < kLotBytes; ++i) {
      if (lot.used == lot.files.size()) lot.files.emplace_back();
      File& file = lot.files[lot.used++];
      file.status = read_file(path_of_(i), file.text);
      bytes += file.text.size();
    }
    {
      const std::lock_guard lock(mutex_);
      ready_.push_back(std::move(lot));
    }
    changed_.notify_all();
  }
}

Status ReadAhead::next(std::string& text) {
  if (!thread_.joinable()) return read_file(path_of_(taken_++), text);
  if (taken_ == at_hand_.used) {
    std::unique_lock lock(mutex_);
    if (!at_hand_.files.empty()) empty_.push_back(std::move(at_hand_.files));
    changed_.wait(lock, [this] { return !ready_.empty(); });
    at_hand_ = std::move(ready_.front());
    ready_.pop_front();
    taken_ = 0;
    lock.unlock();
    changed_.notify_all();
  }
  File& file = at_hand_.files[taken_++];
  text.swap(file.text);
  return std::move(file.status);
}

}  // namespace opwright
