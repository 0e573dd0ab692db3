// The life of the recorder: open, threads coming and going, chunks, the flush thread, fork, close.
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <system_error>

#include "capture/crc32c.h"
#include "capture/recorder_thread.h"

int opwright_is_recording_ = 0;

namespace opwright::capture {
namespace {

constexpr auto kLookEvery = std::chrono::milliseconds(20);
// A handler that the program put over ours (faulthandler.enable()) is noticed before the next touch of the file, not
// only by the flush thread: about 100 us of ticks, so that a call pays for a system call at most every so often.
constexpr std::uint64_t kGuardEvery = 1U << 18;

constexpr std::size_t kSpares = 4;
constexpr std::uint32_t kLongTraceUnits = 32;
constexpr std::uint32_t kLongTraceChunk = 4;
constexpr std::uint32_t kCalmLooksBeforeMoreDetail = 50;
constexpr int kMostReopenings = 8;

void guard_now_and_then() {
  static std::atomic<std::uint64_t> guarded{0};
  const std::uint64_t now = ticks();
  if (now - guarded.load(std::memory_order_relaxed) < kGuardEvery) return;
  guarded.store(now, std::memory_order_relaxed);
  keep_guarding();
}

std::string& trouble_text() {
  static auto* const text = new std::string;
  return *text;
}

std::uint64_t system_thread_id() { return static_cast<std::uint64_t>(::syscall(SYS_gettid)); }

// A first figure for readers of a trace that was cut within milliseconds; the flush thread makes it exact.
std::uint64_t first_tick_rate() {
  if (!counter_is_steady()) return 1'000'000'000;
  static const std::uint64_t rate = [] {
    const std::uint64_t ns = steady_ns();
    const std::uint64_t from = ticks();
    while (steady_ns() - ns < 200'000) {
    }
    return static_cast<std::uint64_t>(static_cast<double>(ticks() - from) * 1e9 /
                                      static_cast<double>(steady_ns() - ns));
  }();
  return rate;
}

// Totals of calls without a record, over all operations.
std::uint64_t uncalled_total(const std::deque<Operation>& operations, Uncalled reason) {
  std::uint64_t total = 0;
  for (const Operation& op : operations) total += op.uncalled[static_cast<std::size_t>(reason)].load();
  return total;
}

}  // namespace

std::atomic<std::uint64_t> Recorder::epoch_{0};
std::atomic<Recorder*> Recorder::current_{nullptr};
std::mutex Recorder::lifecycle_;

// ---------------------------------------------------------------------------------------------------------------- open

std::string Recorder::open(const Options& options) {
  const std::lock_guard lock(lifecycle_);
  if (current_.load() != nullptr) return "a trace is being recorded already: " + current_.load()->path();
  static const int fork_handlers = ::pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
  if (fork_handlers != 0) return "cannot watch for forks of the program";
  std::string message;
  auto file = TraceFile::create(options.folder, options.stem, options.max_bytes, message);
  if (file == nullptr) return message;
  auto* recorder = new Recorder(options, std::move(file));
  epoch_.fetch_add(1);
  current_.store(recorder);
  set_on(1);
  recorder->start_flusher();
  return {};
}

Recorder::Recorder(const Options& options, std::unique_ptr<TraceFile> file)
    : options_(options),
      file_(std::move(file)),
      only_(options.only),
      phases_(options.phase),
      start_ns_(steady_ns()),
      start_ticks_(ticks()),
      seen_ticks_(start_ticks_) {
  file_->tell_when_lost(stopped_);
  file_->header().ticks_per_second = first_tick_rate();
  has_barrier_ = ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}

Recorder::~Recorder() = default;

Recorder* Recorder::current() {
  guard_now_and_then();
  if (on() == 2) reopen_after_fork();
  Recorder* recorder = current_.load(std::memory_order_acquire);
  if (recorder == nullptr || !recorder->stopped_.load(std::memory_order_relaxed) || !recorder->file_->is_lost()) {
    return recorder;
  }
  reopen_after_loss(recorder);
  return current_.load(std::memory_order_acquire);
}

// ------------------------------------------------------------------------------------------------------------- threads

// Leaves with its thread, and hands its lane on. Behind a plain pointer: exit handlers may record after the main
// thread's own objects are gone, and then get a state that nobody destroys.
struct Recorder::ThreadSlot {
  Thread*& thread;
  ~ThreadSlot() {
    if (thread->epoch.load() != 0) {
      const std::lock_guard lock(lifecycle_);
      Recorder* recorder = current_.load();
      if (recorder != nullptr && thread->epoch.load() == epoch_.load()) recorder->detach(*thread);
    }
    delete thread;
    thread = nullptr;
  }
};

Recorder::Thread& Recorder::thread() {
  thread_local Thread* thread = nullptr;
  thread_local bool had_one = false;
  if (thread == nullptr) {
    thread = new Thread;
    if (!had_one) {
      had_one = true;
      thread_local ThreadSlot slot{thread};
      static_cast<void>(slot);
    }
  }
  return *thread;
}

bool Recorder::attach(Thread& thread) {
  thread.lane = {};
  thread.stack.clear();
  thread.known = {};
  thread.last = {};
  thread.context = 0;
  thread.context_changed = true;
  thread.phase_wanted = phases_.wants(thread.phase);
  thread.system_id = system_thread_id();
  for (auto* counter :
       {&thread.calls, &thread.errors, &thread.thinned, &thread.recorder_ticks, &thread.first_sightings}) {
    counter->store(0);
  }
  bool adopted = false;
  {
    const std::lock_guard lock(threads_mutex_);
    // Closing takes current_ away before it looks who is here: whoever comes later must not come in.
    if (current_.load() != this) return false;
    if (!idle_lanes_.empty()) {
      thread.lane = idle_lanes_.back();
      idle_lanes_.pop_back();
      adopted = true;
    } else {
      thread.lane.number = next_lane_++;
    }
    threads_.push_back(&thread);
    thread.epoch.store(epoch_.load());
  }
  if (adopted && thread.lane.chunk.data != nullptr) {
    Encoder record;
    record.record(Record::kThread);
    record.varint(thread.system_id);
    write(thread, record.view());
  }
  return true;
}

void Recorder::detach(Thread& thread) {
  const std::lock_guard lock(threads_mutex_);
  ended_.calls += thread.calls.load();
  ended_.errors += thread.errors.load();
  ended_.thinned += thread.thinned.load();
  ended_.recorder_ticks += thread.recorder_ticks.load();
  ended_.first_sightings += thread.first_sightings.load();
  std::erase(threads_, &thread);
  idle_lanes_.push_back(thread.lane);
  thread.lane = {};
  thread.epoch.store(0);
}

// -------------------------------------------------------------------------------------------------------------- chunks

Chunk Recorder::take_chunk(std::uint32_t units) {
  if (units == 1) {
    const std::lock_guard lock(flusher_mutex_);
    if (!spares_.empty()) {
      const Chunk chunk = spares_.front();
      spares_.erase(spares_.begin());
      flusher_wakes_.notify_one();
      return chunk;
    }
  }
  std::string message;
  Chunk chunk = file_->reserve(units, message);
  if (chunk.data == nullptr) stop(State::kDiskFull);
  return chunk;
}

bool Recorder::next_chunk(Thread& thread, std::size_t payload) {
  const std::size_t need = sizeof(ChunkHeader) + sizeof(RecordHeader) + payload;
  const auto units = static_cast<std::uint32_t>((need + kUnit - 1) / kUnit);
  const Chunk chunk = take_chunk(units);
  if (chunk.data == nullptr) return false;
  Lane& lane = thread.lane;
  if (lane.chunk.data != nullptr) {
    {
      const std::lock_guard lock(threads_mutex_);
      used_end_ = std::max(used_end_, lane.chunk.offset + lane.used);
    }
    const std::lock_guard lock(flusher_mutex_);
    retired_.push_back(lane.chunk);
    flusher_wakes_.notify_one();
  }
  start_chunk(thread, chunk);
  return true;
}

void Recorder::start_chunk(Thread& thread, Chunk chunk) {
  Lane& lane = thread.lane;
  lane.chunk = chunk;
  lane.used = sizeof(ChunkHeader);
  lane.seq = std::max(lane.seq, seq_.load(std::memory_order_relaxed));
  if (lane.ticks == 0) lane.ticks = start_ticks_;
  ChunkHeader header{};
  header.units = chunk.units;
  header.lane = lane.number;
  header.ordinal = lane.ordinal++;
  header.base_ticks = lane.ticks;
  header.base_seq = lane.seq;
  header.base_tensor = lane.tensor;
  header.thread = thread.system_id;
  header.context = lane.context;
  header.magic = kChunkMagic;
  header.crc = crc32c(&header, offsetof(ChunkHeader, crc));
  // The magic number last: a chunk that was being begun when the process died is an unused one.
  std::memcpy(chunk.data + sizeof header.magic, reinterpret_cast<const char*>(&header) + sizeof header.magic,
              sizeof header - sizeof header.magic);
  std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(chunk.data))
      .store(kChunkMagic, std::memory_order_release);
}

void Recorder::stop(State state) {
  if (stopped_.exchange(true)) return;
  file_->header().state = static_cast<std::uint32_t>(state);
}

// -------------------------------------------------------------------------------------------------------- flush thread

void Recorder::start_flusher() {
  const std::lock_guard starting(flusher_start_mutex_);
  if (is_closing_ || has_flusher_.exchange(true)) return;
  ending_ = false;
  // With all signals blocked: the model's handlers run on the model's threads. But for the one that a lost page raises.
  sigset_t all, before;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    flusher_ = std::thread([this] { run_flusher(); });
  } catch (const std::system_error&) {  // NOLINT(bugprone-empty-catch)
    // Threads are used up: the model's threads then reserve their chunks themselves, and the header lags.
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Recorder::stop_flusher(bool for_good) {
  const std::lock_guard starting(flusher_start_mutex_);
  is_closing_ = for_good;
  {
    const std::lock_guard lock(flusher_mutex_);
    ending_ = true;
    flusher_wakes_.notify_one();
  }
  if (flusher_.joinable()) flusher_.join();
  has_flusher_.store(false);
}

void Recorder::run_flusher() {
  Thread& thread = Recorder::thread();
  std::uint32_t looks = 0, reserved = 0;
  std::unique_lock lock(flusher_mutex_);
  while (!ending_) {
    if (!retired_.empty()) {
      Chunk full = retired_.back();
      retired_.pop_back();
      lock.unlock();
      TraceFile::unmap(full);
      lock.lock();
      continue;
    }
    if (spares_.size() < kSpares && !stopped_.load()) {
      // A long trace has larger chunks: fewer system calls for the same bytes.
      const std::uint32_t units = ++reserved < kLongTraceUnits ? 1 : kLongTraceChunk;
      lock.unlock();
      std::string message;
      const Chunk chunk = file_->reserve(units, message);  // a failure shows when a thread asks
      lock.lock();
      if (chunk.data != nullptr) {
        spares_.push_back(chunk);
        continue;
      }
    }
    flusher_wakes_.wait_for(lock, kLookEvery);
    if (ending_) break;
    lock.unlock();
    file_->look_after();
    update_header();
    adjust_level();
    if (++looks % 50 == 0) {
      const Inside inside(*this, thread);
      if (inside.ok) write_counts(thread);
    }
    lock.lock();
  }
  lock.unlock();
  if (thread.epoch.load() == epoch_.load()) detach(thread);
}

void Recorder::update_header() {
  Totals totals;
  {
    const std::lock_guard lock(threads_mutex_);
    totals = ended_;
    for (const Thread* thread : threads_) {
      totals.calls += thread->calls.load(std::memory_order_relaxed);
      totals.errors += thread->errors.load(std::memory_order_relaxed);
      totals.thinned += thread->thinned.load(std::memory_order_relaxed);
      totals.recorder_ticks += thread->recorder_ticks.load(std::memory_order_relaxed);
      totals.first_sightings += thread->first_sightings.load(std::memory_order_relaxed);
    }
  }
  Header& header = file_->header();
  {
    const std::lock_guard lock(operations_mutex_);
    header.calls_filtered = uncalled_total(operations_, Uncalled::kFiltered);
    header.calls_lost = uncalled_total(operations_, Uncalled::kLost);
    header.calls_thinned = totals.thinned + uncalled_total(operations_, Uncalled::kThinned);
  }
  const std::uint64_t now = ticks();
  const std::uint64_t ns = steady_ns() - start_ns_;
  if (counter_is_steady() && ns > 1'000'000) {
    header.ticks_per_second =
        static_cast<std::uint64_t>(static_cast<double>(now - start_ticks_) * 1e9 / static_cast<double>(ns));
  }
  header.last_ticks = now;
  header.calls = totals.calls;
  header.errors = totals.errors;
  header.recorder_ticks = totals.recorder_ticks;
  header.first_sightings = totals.first_sightings;
  header.opaque = opaque_.load();
  header.cut = cut_.load();
  header.level = level_.load();
  {
    const std::lock_guard lock(values_mutex_);
    header.values = next_value_ - 1;
  }
}

void Recorder::adjust_level() {
  if (options_.max_overhead <= 0) return;
  const Header& header = file_->header();
  const std::uint64_t passed = header.last_ticks - seen_ticks_;
  if (passed * 10 < header.ticks_per_second) return;  // looks over a tenth of a second at least
  const std::uint64_t spent = header.recorder_ticks - seen_recorder_ticks_;
  seen_ticks_ = header.last_ticks;
  seen_recorder_ticks_ = header.recorder_ticks;
  const double share = static_cast<double>(spent) / static_cast<double>(passed);
  const std::uint32_t level = level_.load();
  std::uint32_t next = level;
  if (share > options_.max_overhead && level < static_cast<std::uint32_t>(Level::kSampled)) next = level + 1;
  calm_looks_ = share < options_.max_overhead / 4 ? calm_looks_ + 1 : 0;
  if (level > 0 && calm_looks_ > kCalmLooksBeforeMoreDetail) next = level - 1;
  if (next == level) return;
  calm_looks_ = 0;
  level_.store(next);
  static constexpr std::string_view kDetail[] = {"everything", "no tensor contents", "no state after calls",
                                                 "one call in 16"};
  note("throttle", "the recorder took " + std::to_string(std::lround(share * 100)) +
                       " % of the time; from here on it records " + std::string(kDetail[next]));
}

void Recorder::write_counts(Thread& thread) {
  struct Count {
    std::uint32_t id;
    std::array<std::uint64_t, 3> calls;
  };
  std::vector<Count> counts;
  {
    const std::lock_guard lock(operations_mutex_);
    for (const Operation& op : operations_) {
      counts.push_back({op.id, {op.uncalled[0].load(), op.uncalled[1].load(), op.uncalled[2].load()}});
    }
  }
  for (const Count& count : counts) {
    for (std::uint64_t reason = 0; reason < count.calls.size(); ++reason) {
      if (count.calls[reason] == 0) continue;
      Encoder record;
      record.record(Record::kCount);
      record.varint(reason);
      record.varint(count.id);
      record.varint(count.calls[reason]);
      write(thread, record.view());
    }
  }
}

void Recorder::flush() { update_header(); }

// --------------------------------------------------------------------------------------------------------------- close

void Recorder::close() {
  const std::lock_guard lock(lifecycle_);
  Recorder* recorder = current_.load();
  const bool of_parent = on() == 2;
  set_on(0);
  if (recorder == nullptr) return;
  if (of_parent) {  // a forked child that called nothing: the trace is not its own
    current_.store(nullptr);
    return;
  }
  recorder->shut_down();
  // Never deleted: a thread may be on its way in with a pointer to it, or hold one of its operations. Emptied instead.
  static auto* const closed = new std::deque<std::unique_ptr<Recorder>>;
  closed->emplace_back(recorder);
}

void Recorder::shut_down() {
  {
    Thread& thread = Recorder::thread();
    const Inside inside(*this, thread);
    if (inside.ok) write_counts(thread);
  }
  stop_flusher(true);
  current_.store(nullptr);  // nobody comes in from here on; those inside are waited for
  if (has_barrier_) ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
  std::vector<Thread*> threads;
  {
    const std::lock_guard lock(threads_mutex_);
    threads = threads_;
  }
  for (Thread* thread : threads) {
    while (thread->busy.load() != 0) ::usleep(50);
  }
  update_header();
  if (!stopped_.load()) file_->header().state = static_cast<std::uint32_t>(State::kClosed);
  const auto leave = [this](Lane& lane) {
    if (lane.chunk.data == nullptr) return;
    used_end_ = std::max(used_end_, lane.chunk.offset + lane.used);
    TraceFile::unmap(lane.chunk);
  };
  for (Thread* thread : threads) {
    leave(thread->lane);
    thread->epoch.store(0);
  }
  for (Lane& lane : idle_lanes_) leave(lane);
  for (Chunk& chunk : spares_) TraceFile::unmap(chunk);
  for (Chunk& chunk : retired_) TraceFile::unmap(chunk);
  file_->finish(used_end_);
  {
    const std::lock_guard lock(values_mutex_);
    values_ = {};
  }
  const std::lock_guard lock(blobs_mutex_);
  blobs_.clear();
}

// ---------------------------------------------------------------------------------------------------------------- fork

// The child's memory is a copy in which only one thread lives: it must never touch the parent's trace, so it leaves the
// whole recorder behind and opens a trace of its own at its first call. The flush thread is ended before: a program
// with one thread stays one (Python warns of forks under threads), and the next call starts it again.
void Recorder::before_fork() {
  lifecycle_.lock();
  Recorder* recorder = current_.load();
  if (recorder == nullptr) return;
  if (on() == 1) recorder->stop_flusher(false);
  recorder->context_mutex_.lock();
}

void Recorder::after_fork_in_parent() {
  if (Recorder* recorder = current_.load()) recorder->context_mutex_.unlock();
  lifecycle_.unlock();
}

void Recorder::after_fork_in_child() {
  if (Recorder* recorder = current_.load()) {
    recorder->context_mutex_.unlock();
    thread().epoch.store(0);
    thread().busy.store(0);
    epoch_.fetch_add(1);
    set_on(2);
  }
  lifecycle_.unlock();
}

// The trace of a process that had another one before: what holds for the process is said again.
std::string Recorder::open_again(const Options& options, std::string_view test,
                                 const std::vector<std::pair<std::string, std::string>>& facts) {
  if (std::string problem = open(options); !problem.empty()) return problem;
  Recorder* recorder = current_.load();
  recorder->set_test(test);
  for (const auto& [name, encoded] : facts) recorder->fact(name, encoded);
  return {};
}

void Recorder::reopen_after_fork() {
  Options options;
  std::string test;
  std::vector<std::pair<std::string, std::string>> facts;
  std::uint32_t parent = 0;
  {
    const std::lock_guard lock(lifecycle_);
    if (on() != 2) return;
    Recorder* of_parent = current_.load();
    options = of_parent->options_;
    test = of_parent->test_;
    facts = of_parent->facts_;
    parent = of_parent->file_->header().pid;
    current_.store(nullptr);  // left behind on purpose: its locks may be held by threads that are not here
    set_on(0);
  }
  if (!open_again(options, test, facts).empty()) return;
  Encoder encoded;
  encoded.integer(parent);
  current_.load()->fact("forked_from", encoded.view());
}

// ---------------------------------------------------------------------------------------------------------------- loss

// Somebody truncated the file, or its disk is gone. The program goes on, and its trace in another file; what was lost
// is told there. Threads that are inside write into memory that belongs to no file any more.
void Recorder::reopen_after_loss(Recorder* lost) {
  Options options;
  std::string test;
  std::vector<std::pair<std::string, std::string>> facts;
  std::string what;
  {
    const std::lock_guard lock(lifecycle_);
    if (current_.load() != lost) return;  // another thread was here before
    lost->stop_flusher(true);
    lost->update_header();
    const std::string calls = std::to_string(lost->file_->header().calls);
    what = lost->path() + " was truncated or could not be written while the program ran; of the " + calls +
           " calls recorded in it, those that it does not hold any more are lost";
    options = lost->options_;
    const std::lock_guard context(lost->context_mutex_);
    test = lost->test_;
    facts = lost->facts_;
    current_.store(nullptr);  // left behind: threads may be inside
    set_on(0);
  }
  static std::atomic<int> times{0};
  std::string problem =
      times.fetch_add(1) < kMostReopenings ? open_again(options, test, facts) : "it happened too often";
  if (problem.empty()) return current_.load()->note("lost", what);
  const std::lock_guard lock(lifecycle_);
  trouble_text() = what + ", and so are all calls after it: " + problem;
}

std::string Recorder::trouble() {
  const std::lock_guard lock(lifecycle_);
  return trouble_text();
}

}  // namespace opwright::capture
