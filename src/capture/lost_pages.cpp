#include "capture/lost_pages.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>
#include <new>

namespace opwright::capture {
namespace {

// Entries are used again and never freed: the handler may be looking at them at any time, and takes no lock.
struct Entry {
  std::atomic<std::uintptr_t> begin{0};  // 0: free
  std::atomic<std::size_t> size{0};
  std::atomic<std::uint64_t> offset{0};
  std::atomic<GuardedFile*> file{nullptr};
  std::atomic<bool> is_replaced{false};  // by ordinary memory: no later fault is ours
  Entry* next = nullptr;
};

std::atomic<Entry*> entries{nullptr};
std::mutex entries_mutex;
std::mutex install_mutex;
// The handler below ours, and the first one that was there; none of them is ever freed either.
std::atomic<const struct sigaction*> below_ours{nullptr}, first_below{nullptr};
std::atomic<long> faulted{0};  // the thread whose fault was passed on

long this_thread() { return ::syscall(SYS_gettid); }

bool replace(Entry& entry) {
  const std::uintptr_t begin = entry.begin.load();
  GuardedFile* const file = entry.file.load();
  if (begin == 0 || file == nullptr) return false;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
  if (::mmap(reinterpret_cast<void*>(begin), entry.size.load(), PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED) {
    return false;
  }
  entry.is_replaced.store(true);
  file->is_lost.store(true);
  if (file->told != nullptr) file->told->store(true);
  return true;
}

bool replace_at(const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  for (Entry* entry = entries.load(); entry != nullptr; entry = entry->next) {
    const std::uintptr_t begin = entry->begin.load();
    if (begin != 0 && at >= begin && at - begin < entry->size.load()) return replace(*entry);
  }
  return false;
}

// A handler above ours raised the signal anew, and so its address is not known: everything beyond the end of its file.
bool replace_what_is_cut() {
  bool any = false;
  for (Entry* entry = entries.load(); entry != nullptr; entry = entry->next) {
    GuardedFile* const file = entry->file.load();
    struct stat now{};
    // Not "is the file lost": the flush thread may have found that out while the handler above ours was at work.
    if (entry->begin.load() == 0 || file == nullptr || entry->is_replaced.load() || ::fstat(file->fd, &now) != 0)
      continue;
    if (static_cast<std::uint64_t>(now.st_size) < entry->offset.load() + entry->size.load())
      any = replace(*entry) || any;
  }
  return any;
}

void on_bus_error(int number, siginfo_t* info, void* context);

bool is_ours(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 && action.sa_sigaction == on_bus_error;
}

bool is_handler(const struct sigaction* action) {
  return action != nullptr &&
         ((action->sa_flags & SA_SIGINFO) != 0 || (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN));
}

void call(const struct sigaction& action, int number, siginfo_t* info, void* context) {
  if ((action.sa_flags & SA_SIGINFO) != 0) {
    action.sa_sigaction(number, info, context);
  } else {
    action.sa_handler(number);
  }
}

// As without us: the handler below; where there is none the program ends by this signal, at the same instruction.
void pass_on(int number, siginfo_t* info, void* context) {
  const bool is_fault = info->si_code > 0;
  const struct sigaction* below = below_ours.load();
  // Python's faulthandler prints, puts back what it found when it came, which is us, and raises the signal anew: it has
  // had its turn, and whoever was there before all of us is next.
  if (info->si_code == SI_TKILL && faulted.load() == this_thread()) {
    faulted.store(-1);
    const struct sigaction* const first = first_below.load();
    below = first != below ? first : nullptr;
  } else if (is_fault) {
    faulted.store(this_thread());
  }
  if (is_handler(below)) return call(*below, number, info, context);
  if (below != nullptr && below->sa_handler == SIG_IGN && !is_fault) return;
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  ::sigaction(number, &standard, nullptr);
  // A fault happens again when we return; what somebody sent has to be sent again.
  if (!is_fault) ::syscall(SYS_tgkill, ::getpid(), this_thread(), number);
}

void on_bus_error(int number, siginfo_t* info, void* context) {
  const int error = errno;
  // What is sent with kill() is never ours, whatever became of our pages: a handler that raises anew does it for its
  // thread.
  const bool is_raised_anew = info->si_code == SI_TKILL && info->si_pid == ::getpid();
  const bool is_mended = info->si_code > 0 ? replace_at(info->si_addr) : is_raised_anew && replace_what_is_cut();
  if (!is_mended) pass_on(number, info, context);
  errno = error;
}

}  // namespace

void keep_guarding() {
  struct sigaction now{};
  if (::sigaction(SIGBUS, nullptr, &now) != 0 || is_ours(now)) return;
  const std::unique_lock lock(install_mutex, std::try_to_lock);
  if (!lock.owns_lock()) return;
  auto* const below = new (std::nothrow) struct sigaction(now);
  if (below == nullptr) return;
  const struct sigaction* none = nullptr;
  first_below.compare_exchange_strong(none, below);
  below_ours.store(below);
  struct sigaction ours{};
  ours.sa_sigaction = on_bus_error;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  sigemptyset(&ours.sa_mask);
  ::sigaction(SIGBUS, &ours, nullptr);
}

bool guard_pages(void* begin, std::size_t size, std::uint64_t offset, GuardedFile& file) {
  keep_guarding();
  const std::lock_guard lock(entries_mutex);
  Entry* entry = entries.load();
  while (entry != nullptr && entry->begin.load() != 0) entry = entry->next;
  if (entry == nullptr) {
    entry = new (std::nothrow) Entry;
    if (entry == nullptr) return false;
    entry->next = entries.load();
    entries.store(entry);
  }
  entry->size.store(size);
  entry->offset.store(offset);
  entry->file.store(&file);
  entry->is_replaced.store(false);
  entry->begin.store(reinterpret_cast<std::uintptr_t>(begin));  // last: with it the entry counts
  return true;
}

void release_pages(void* begin) {
  const std::lock_guard lock(entries_mutex);
  for (Entry* entry = entries.load(); entry != nullptr; entry = entry->next) {
    if (entry->begin.load() == reinterpret_cast<std::uintptr_t>(begin)) entry->begin.store(0);
  }
}

}  // namespace opwright::capture
