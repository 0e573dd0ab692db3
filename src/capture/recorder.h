// The recorder of a process: calls go into the trace file, each thread into a chunk of its own. Nothing here throws
// into the model; what cannot be recorded is counted.
//
// A thread's own state is touched by that thread alone, except when the recorder closes: it waits until no thread is
// inside (Thread::busy), then takes the chunks away.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/clock.h"
#include "capture/encoder.h"
#include "capture/filter.h"
#include "capture/trace_file.h"
#include "opwright/capture.h"

namespace opwright::capture {

struct Options {
  std::string folder;
  std::string stem = "trace";
  std::string only;         // globs of operation names, comma separated; "" all
  std::string phase;        // phases, comma separated; "" all
  std::uint64_t first = 0;  // record only the first N calls; 0 all
  double max_overhead = 0;  // share of the run the recorder may take, 0.05 = 5 %; 0 no limit
  std::uint64_t max_bytes = 0;
};

// An operation as the recorder knows it; lives as long as the recorder.
struct Operation {
  std::uint32_t id = 0;  // value id of the name
  std::string name;
  bool wanted = true;
  std::array<std::atomic<std::uint64_t>, 3> uncalled{};  // by Uncalled
};

struct TensorUse {
  std::uint64_t id = 0;
  std::uint64_t version = 0;
};

struct ResultTensor {
  std::uint64_t id = 0;
  std::uint64_t version = 0;
  std::uint64_t storage = 0;
  std::uint64_t address = 0;
  std::uint64_t view_of = 0;
};

struct Write {
  std::uint32_t slot = 0;  // of the tensor in its call
  std::uint32_t spec = 0;
  std::uint64_t version = 0;
};

// How a call ended.
struct Ending {
  std::uint32_t error = 0;   // value id; 0 none
  std::uint32_t result = 0;  // value id; 0: returned nothing, or not looked at
  std::span<const ResultTensor> tensors;
  std::span<const Write> writes;
  std::span<const std::uint32_t> frees;
  bool thinned = false;
  bool direct = false;  // no registered operation: the library's own tracer does not see it
};

// The recorder's own time is measured from when its caller began to look at the call. Who measures only every n-th call
// says so: reading the clock is a tenth of what a call costs.
struct Measure {
  std::uint64_t entered = 0;
  std::uint32_t weight = 0;  // calls this one stands for; 0: not measured
};

// What the caller keeps of a call between begin and end.
struct CallToken {
  std::uint64_t seq = 0;    // 0: not recorded
  std::uint64_t epoch = 0;  // of the recorder that began it
};

enum class Level : std::uint32_t { kFull = 0, kNoData = 1, kNoAfter = 2, kSampled = 3 };

class Recorder {
 public:
  // The process's recorder; replaces none: close() first. "" on success, else what went wrong and what to do.
  static std::string open(const Options& options);
  // Null when off. After a fork this opens the child's own trace; after the loss of its file, another one.
  static Recorder* current();
  // The same without opening one: null in a child that has called nothing yet.
  static Recorder* peek() { return on() == 1 ? current_.load(std::memory_order_acquire) : nullptr; }
  static bool is_on() { return opwright_recording() != 0; }
  static void close();
  // What kept the recorder from going on after its file was lost; "" when nothing did.
  static std::string trouble();
  // Changes whenever value ids start anew: caches of ids must be dropped then.
  static std::uint64_t epoch() { return epoch_.load(std::memory_order_relaxed); }

  const std::string& path() const { return file_->path(); }
  Header& header() { return file_->header(); }
  Level level() const { return static_cast<Level>(level_.load(std::memory_order_relaxed)); }

  Operation* operation(std::string_view name);
  // Is this call to be recorded? Counts it where it is left out. Cheap: comes before anything is encoded.
  bool wants(Operation& op);
  // The value's id, written down when it is new.
  std::uint32_t intern(std::string_view encoded, bool* is_new = nullptr);
  void text(std::uint32_t id, std::uint64_t flags, std::string_view text);
  // Before the call runs. A token with seq 0: not recorded, counted.
  CallToken begin(Operation& op, std::string_view call, std::span<const TensorUse> tensors, const Measure& measure);
  // `returned`: when the operation was through; `weight` as in Measure.
  void end(const CallToken& token, const Ending& ending, std::uint64_t returned, std::uint32_t weight);
  void tensor(const ResultTensor& tensor, std::uint32_t spec);
  // `encoded` belongs to the call: kData and kDevice records, already encoded behind their kind byte.
  void append(std::string_view payload);
  // Content of a tensor, once per hash. False when it is not in the trace.
  bool blob(const std::array<unsigned char, 16>& hash, std::uint32_t description, std::string_view content);
  bool has_blob(const std::array<unsigned char, 16>& hash);

  void set_test(std::string_view test);
  void set_phase(std::string_view phase);
  void set_label(std::string_view label);
  void fact(std::string_view name, std::string_view encoded);
  void note(std::string_view kind, std::string_view text);
  void test_result(std::string_view test, std::string_view outcome, double seconds);
  void count_opaque() { opaque_.fetch_add(1, std::memory_order_relaxed); }
  void count_cut() { cut_.fetch_add(1, std::memory_order_relaxed); }
  // A call that cannot be recorded.
  static void lose(Operation& op) {
    op.uncalled[static_cast<std::size_t>(Uncalled::kLost)].fetch_add(1, std::memory_order_relaxed);
  }
  // Counters as they are now, and the header brought up to date.
  void flush();

  ~Recorder();

 private:
  struct Thread;
  struct Inside;
  struct ThreadSlot;

  Recorder(const Options& options, std::unique_ptr<TraceFile> file);
  static Thread& thread();
  bool attach(Thread& thread);
  void detach(Thread& thread);
  bool write(Thread& thread, std::string_view payload);
  bool next_chunk(Thread& thread, std::size_t payload);
  void start_chunk(Thread& thread, Chunk chunk);
  Chunk take_chunk(std::uint32_t units);
  std::uint32_t intern(Thread& thread, std::string_view encoded, bool* is_new);
  void refresh_context(Thread& thread);
  bool phase_is_wanted(Thread& thread);
  void start_flusher();
  void stop_flusher(bool for_good);
  void run_flusher();
  void update_header();
  void adjust_level();
  void write_counts(Thread& thread);
  void stop(State state);
  void shut_down();
  static void reopen_after_fork();
  static void reopen_after_loss(Recorder* lost);
  static std::string open_again(const Options& options, std::string_view test,
                                const std::vector<std::pair<std::string, std::string>>& facts);
  static void before_fork();
  static void after_fork_in_parent();
  static void after_fork_in_child();

  // opwright_is_recording_: 0 off, 1 on, 2 on in a forked child that has no trace of its own yet
  static int on() { return __atomic_load_n(&opwright_is_recording_, __ATOMIC_SEQ_CST); }
  static void set_on(int on) { __atomic_store_n(&opwright_is_recording_, on, __ATOMIC_SEQ_CST); }
  static std::atomic<std::uint64_t> epoch_;  // NOLINT(readability-identifier-naming): as members
  static std::atomic<Recorder*> current_;    // NOLINT(readability-identifier-naming): as members
  static std::mutex lifecycle_;              // NOLINT(readability-identifier-naming): as members

  const Options options_;
  std::unique_ptr<TraceFile> file_;
  NameFilter only_;
  NameFilter phases_;
  std::atomic<std::uint64_t> seq_{0};
  std::atomic<std::uint32_t> level_{0};
  std::atomic<bool> stopped_{false};  // disk full, or the file lost: nothing more is written
  std::atomic<std::uint64_t> opaque_{0}, cut_{0};

  std::mutex values_mutex_;
  struct Hash {
    std::uint64_t low = 0, high = 0;
    bool operator==(const Hash&) const = default;
  };
  struct HashOfHash {
    std::size_t operator()(const Hash& hash) const { return hash.low; }
  };
  std::unordered_map<Hash, std::uint32_t, HashOfHash> values_;
  std::uint32_t next_value_ = 1;

  std::mutex operations_mutex_;
  std::deque<Operation> operations_;
  std::unordered_map<std::string_view, Operation*> operation_by_name_;

  std::mutex context_mutex_;
  std::string test_;
  std::atomic<std::uint64_t> test_version_{1};
  std::vector<std::pair<std::string, std::string>> facts_;  // for the trace of a forked child

  std::mutex blobs_mutex_;
  std::set<std::array<unsigned char, 16>> blobs_;

  std::mutex threads_mutex_;
  std::vector<Thread*> threads_;
  struct Lane {
    std::uint32_t number = 0;
    std::uint64_t ordinal = 0;
    Chunk chunk;
    std::size_t used = 0;
    std::uint64_t seq = 0, ticks = 0, tensor = 0;
    std::uint32_t context = 0;
  };
  std::vector<Lane> idle_lanes_;  // of threads that ended
  std::uint32_t next_lane_ = 0;
  std::uint64_t used_end_ = kHeaderSize;
  struct Totals {
    std::uint64_t calls = 0, errors = 0, thinned = 0, recorder_ticks = 0, first_sightings = 0;
  };
  Totals ended_;  // of threads that ended

  std::mutex flusher_mutex_;
  std::condition_variable flusher_wakes_;
  std::vector<Chunk> spares_;   // reserved ahead
  std::vector<Chunk> retired_;  // full: unmapped by the flush thread, since that takes as long as a hundred calls
  bool ending_ = false;
  std::atomic<bool> has_flusher_{false};  // a fork ends it; the next call starts it again
  bool is_closing_ = false;               // then nothing starts it again
  std::mutex flusher_start_mutex_;
  bool has_barrier_ = false;  // closing can make every thread's stores visible, so entering needs no fence
  std::uint64_t start_ns_ = 0, start_ticks_ = 0;
  std::uint64_t seen_ticks_ = 0, seen_recorder_ticks_ = 0;
  std::uint32_t calm_looks_ = 0;
  std::thread flusher_;
};

}  // namespace opwright::capture
