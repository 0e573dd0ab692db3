// Calls and values: what happens on the model's threads.
#include "capture/recorder.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstring>

#include "capture/crc32c.h"
#include "capture/recorder_thread.h"

namespace opwright::capture {
namespace {

// Beyond this many distinct values no more are remembered (they are written each time): memory stays bounded.
constexpr std::size_t kMaxRemembered = 1U << 20;
constexpr std::uint32_t kSampleEvery = 16;

std::uint64_t forward(std::uint64_t from, std::uint64_t to) { return to > from ? to - from : 0; }

}  // namespace

// ------------------------------------------------------------------------------------------------------------- records

bool Recorder::write(Thread& thread, std::string_view payload) {
  Lane& lane = thread.lane;
  const std::size_t need = sizeof(RecordHeader) + payload.size();
  if (lane.chunk.data == nullptr || lane.used + need > lane.chunk.size) {
    if (!next_chunk(thread, payload.size())) return false;
  }
  char* at = lane.chunk.data + lane.used;
  std::memcpy(at + sizeof(RecordHeader), payload.data(), payload.size());
  const std::uint32_t crc = crc32c(payload.data(), payload.size());
  std::memcpy(at + offsetof(RecordHeader, crc), &crc, sizeof crc);
  // The length comes last: without it there is no record, whatever kills the process before.
  std::atomic_ref<std::uint32_t>(*reinterpret_cast<std::uint32_t*>(at))
      .store(static_cast<std::uint32_t>(payload.size()), std::memory_order_release);
  lane.used += (need + 3) & ~std::size_t{3};
  if (lane.used > lane.chunk.size) lane.used = lane.chunk.size;
  return true;
}

void Recorder::append(std::string_view payload) {
  Thread& thread = Recorder::thread();
  const Inside inside(*this, thread);
  if (inside.ok) write(thread, payload);
}

// -------------------------------------------------------------------------------------------------------------- values

std::uint32_t Recorder::intern(std::string_view encoded, bool* is_new) {
  Thread& thread = Recorder::thread();
  const Inside inside(*this, thread);
  return inside.ok ? intern(thread, encoded, is_new) : 0;
}

std::uint32_t Recorder::intern(Thread& thread, std::string_view encoded, bool* is_new) {
  if (is_new != nullptr) *is_new = false;
  if (encoded.empty()) return 0;
  Thread::Last& last = thread.last_like(encoded);
  if (last.size == encoded.size() && std::memcmp(last.bytes, encoded.data(), encoded.size()) == 0) return last.id;
  const auto remember = [&](std::uint32_t id) {
    if (encoded.size() <= sizeof last.bytes) {
      std::memcpy(last.bytes, encoded.data(), encoded.size());
      last.size = static_cast<std::uint32_t>(encoded.size());
      last.id = id;
    }
    return id;
  };
  const XXH128_hash_t digest = XXH3_128bits(encoded.data(), encoded.size());
  const Hash hash{digest.low64, digest.high64};
  Thread::Known& known = thread.known[hash.low % thread.known.size()];
  if (known.id != 0 && known.hash == hash) return remember(known.id);

  const std::lock_guard lock(values_mutex_);
  std::uint32_t id = 0;
  if (const auto found = values_.find(hash); found != values_.end()) {
    id = found->second;
  } else {
    // Written before anybody can learn its id, so that no record names a value the file does not have.
    id = next_value_;
    Encoder record;
    record.record(Record::kValue);
    record.varint(id);
    record.raw(encoded);
    if (!write(thread, record.view())) return 0;
    ++next_value_;
    if (values_.size() < kMaxRemembered) values_.emplace(hash, id);
    if (is_new != nullptr) *is_new = true;
  }
  known = {hash, id};
  return remember(id);
}

void Recorder::text(std::uint32_t id, std::uint64_t flags, std::string_view text) {
  Encoder record;
  record.record(Record::kText);
  record.varint(id);
  record.varint(flags);
  record.raw(text);
  append(record.view());
}

void Recorder::tensor(const ResultTensor& tensor, std::uint32_t spec) {
  Encoder record;
  record.record(Record::kTensor);
  record.varint(tensor.id);
  record.varint(tensor.version);
  record.varint(tensor.storage);
  record.varint(tensor.address);
  record.varint(tensor.view_of);
  record.varint(spec);
  append(record.view());
}

bool Recorder::has_blob(const std::array<unsigned char, 16>& hash) {
  const std::lock_guard lock(blobs_mutex_);
  return blobs_.contains(hash);
}

bool Recorder::blob(const std::array<unsigned char, 16>& hash, std::uint32_t description, std::string_view content) {
  Thread& thread = Recorder::thread();
  const Inside inside(*this, thread);
  if (!inside.ok) return false;
  {
    const std::lock_guard lock(blobs_mutex_);
    if (!blobs_.insert(hash).second) return true;
  }
  Encoder record;
  record.record(Record::kBlob);
  record.raw(hash.data(), hash.size());
  record.varint(description);
  record.raw(content);
  // A chunk of its own where it is large, so that the thread's chunk goes on afterwards.
  if (record.size() + sizeof(RecordHeader) <= kUnit / 4) return write(thread, record.view());
  const Lane kept = thread.lane;
  thread.lane.chunk = {};
  const bool written = write(thread, record.view());
  if (written) {
    Lane& lane = thread.lane;
    const std::lock_guard lock(threads_mutex_);
    used_end_ = std::max(used_end_, lane.chunk.offset + lane.used);
    TraceFile::unmap(lane.chunk);
  }
  const std::uint64_t ordinal = thread.lane.ordinal;
  thread.lane = kept;
  thread.lane.ordinal = ordinal;
  return written;
}

// --------------------------------------------------------------------------------------------------------------- calls

Operation* Recorder::operation(std::string_view name) {
  const std::lock_guard lock(operations_mutex_);
  if (const auto found = operation_by_name_.find(name); found != operation_by_name_.end()) return found->second;
  Encoder encoded;
  encoded.string(name);
  Operation& op = operations_.emplace_back();
  op.id = intern(encoded.view());
  op.name = name;
  op.wanted = only_.wants(op.name);
  operation_by_name_.emplace(op.name, &op);
  return &op;
}

bool Recorder::wants(Operation& op) {
  const auto leave_out = [&op](Uncalled reason) {
    op.uncalled[static_cast<std::size_t>(reason)].fetch_add(1, std::memory_order_relaxed);
    return false;
  };
  if (!op.wanted) return leave_out(Uncalled::kFiltered);
  if (stopped_.load(std::memory_order_relaxed)) return leave_out(Uncalled::kLost);
  if (options_.first != 0 && seq_.load(std::memory_order_relaxed) >= options_.first) {
    return leave_out(Uncalled::kFiltered);
  }
  if (phases_.wants_all() && level() != Level::kSampled) return true;
  Thread& thread = Recorder::thread();
  if (!thread.phase_wanted && !phases_.wants_all()) return leave_out(Uncalled::kFiltered);
  if (level() == Level::kSampled && thread.sample++ % kSampleEvery != 0) return leave_out(Uncalled::kThinned);
  return true;
}

void Recorder::refresh_context(Thread& thread) {
  const std::uint64_t version = test_version_.load(std::memory_order_acquire);
  if (!thread.context_changed && version == thread.test_version) return;
  std::string test;
  {
    const std::lock_guard lock(context_mutex_);
    test = test_;
    thread.test_version = test_version_.load();
  }
  thread.context_changed = false;
  Encoder encoded;
  const auto put = [&encoded](std::string_view name, std::string_view text) {
    if (text.empty()) return;
    encoded.string(name);
    encoded.string(text);
  };
  encoded.dict(static_cast<std::uint64_t>(!test.empty()) + static_cast<std::uint64_t>(!thread.phase.empty()) +
               static_cast<std::uint64_t>(!thread.label.empty()));
  put("test", test);
  put("phase", thread.phase);
  put("label", thread.label);
  thread.context = intern(thread, encoded.view(), nullptr);
}

CallToken Recorder::begin(Operation& op, std::string_view call, std::span<const TensorUse> tensors,
                          const Measure& measure) {
  Thread& thread = Recorder::thread();
  const Inside inside(*this, thread);
  const auto lose = [&op] {
    Recorder::lose(op);
    return CallToken{};
  };
  if (!inside.ok) return lose();
  if (!has_flusher_.load(std::memory_order_relaxed)) start_flusher();
  refresh_context(thread);
  Lane& lane = thread.lane;
  bool is_new = false;
  const std::uint32_t id = intern(thread, call, &is_new);
  if (id == 0) return lose();
  if (lane.context != thread.context) {
    Encoder record;
    record.record(Record::kContext);
    record.varint(thread.context);
    if (!write(thread, record.view())) return lose();
    lane.context = thread.context;
  }
  // The running numbers start anew in a new chunk: room first, then the record.
  const std::size_t most = 64 + tensors.size() * 20;
  if (lane.chunk.data == nullptr || lane.used + most + sizeof(RecordHeader) > lane.chunk.size) {
    if (!next_chunk(thread, most)) return lose();
  }
  const std::uint64_t seq = seq_.fetch_add(1, std::memory_order_relaxed) + 1;
  const std::uint64_t parent = thread.stack.empty() ? 0 : thread.stack.back();
  const std::uint64_t now = ticks();
  Encoder& record = thread.payload;
  record.clear();
  record.record(Record::kBegin);
  record.varint(seq - lane.seq);
  record.varint(forward(lane.ticks, now));
  record.varint(parent == 0 ? 0 : seq - parent);
  record.varint(id);
  record.varint(tensors.size());
  for (const TensorUse& tensor : tensors) {
    record.zigzag(static_cast<std::int64_t>(tensor.id - lane.tensor));
    record.varint(tensor.version);
    lane.tensor = tensor.id;
  }
  lane.seq = seq;
  lane.ticks = std::max(lane.ticks, now);
  if (!write(thread, record.view())) return lose();
  thread.stack.push_back(seq);
  thread.add(thread.calls, 1);
  if (is_new) thread.add(thread.first_sightings, 1);
  if (measure.weight != 0) thread.add(thread.recorder_ticks, measure.weight * forward(measure.entered, ticks()));
  return {seq, epoch()};
}

void Recorder::end(const CallToken& token, const Ending& ending, std::uint64_t returned, std::uint32_t weight) {
  if (token.seq == 0 || token.epoch != epoch()) return;
  Thread& thread = Recorder::thread();
  // Calls inside that never ended (a generator that was dropped, an exception through C) end with the one around them.
  while (!thread.stack.empty() && thread.stack.back() >= token.seq) thread.stack.pop_back();
  const Inside inside(*this, thread);
  if (!inside.ok) return;
  Lane& lane = thread.lane;
  const std::size_t most = 96 + ending.tensors.size() * 50 + ending.writes.size() * 30 + ending.frees.size() * 10;
  if (lane.chunk.data == nullptr || lane.used + most + sizeof(RecordHeader) > lane.chunk.size) {
    if (!next_chunk(thread, most)) return;
  }
  Encoder& record = thread.payload;
  record.clear();
  record.record(Record::kEnd);
  // A chunk begun since starts its running seq at the last one given out, which is not before ours.
  record.varint(lane.seq - token.seq);
  record.varint(forward(lane.ticks, returned));
  lane.ticks = std::max(lane.ticks, returned);
  std::uint64_t flags = 0;
  if (ending.error != 0) flags |= kEndError;
  if (ending.result != 0) flags |= kEndResult;
  if (!ending.writes.empty()) flags |= kEndWrites;
  if (!ending.frees.empty()) flags |= kEndFrees;
  if (ending.thinned) flags |= kEndThinned;
  if (ending.direct) flags |= kEndDirect;
  record.varint(flags);
  if (ending.error != 0) record.varint(ending.error);
  if (ending.result != 0) {
    record.varint(ending.result);
    record.varint(ending.tensors.size());
    for (const ResultTensor& tensor : ending.tensors) {
      record.zigzag(static_cast<std::int64_t>(tensor.id - lane.tensor));
      record.varint(tensor.version);
      record.varint(tensor.storage);
      record.varint(tensor.address);
      record.varint(tensor.view_of);
      lane.tensor = tensor.id;
    }
  }
  if (!ending.writes.empty()) {
    record.varint(ending.writes.size());
    for (const Write& write : ending.writes) {
      record.varint(write.slot);
      record.varint(write.spec);
      record.varint(write.version);
    }
  }
  if (!ending.frees.empty()) {
    record.varint(ending.frees.size());
    for (const std::uint32_t slot : ending.frees) record.varint(slot);
  }
  write(thread, record.view());
  if (ending.error != 0) thread.add(thread.errors, 1);
  if (ending.thinned) thread.add(thread.thinned, 1);
  if (weight != 0) thread.add(thread.recorder_ticks, weight * forward(returned, ticks()));
}

// ------------------------------------------------------------------------------------------------------------- context

void Recorder::set_test(std::string_view test) {
  const std::lock_guard lock(context_mutex_);
  test_ = test;
  test_version_.fetch_add(1, std::memory_order_release);
  // In the first page too, so that it is known whatever ends the process. Its end first: a reader sees no mixture.
  char(&shown)[sizeof Header::running_test] = file_->header().running_test;
  std::size_t size = std::min(test.size(), sizeof shown - 1);
  while (size > 0 && size < test.size() && (static_cast<unsigned char>(test[size]) & 0xC0U) == 0x80U) --size;
  std::memset(shown, 0, sizeof shown);
  std::memcpy(shown, test.data(), size);
}

void Recorder::set_phase(std::string_view phase) {
  Thread& thread = Recorder::thread();
  thread.phase = phase;
  thread.phase_wanted = phases_.wants(thread.phase);
  thread.context_changed = true;
}

void Recorder::set_label(std::string_view label) {
  Thread& thread = Recorder::thread();
  thread.label = label;
  thread.context_changed = true;
}

void Recorder::fact(std::string_view name, std::string_view encoded) {
  {
    const std::lock_guard lock(context_mutex_);
    facts_.emplace_back(name, encoded);
  }
  Encoder record;
  record.record(Record::kFact);
  record.text(name);
  record.raw(encoded);
  append(record.view());
}

void Recorder::note(std::string_view kind, std::string_view text) {
  Encoder record;
  record.record(Record::kNote);
  record.text(kind);
  record.text(text);
  append(record.view());
}

void Recorder::test_result(std::string_view test, std::string_view outcome, double seconds) {
  Encoder record;
  record.record(Record::kTest);
  record.dict(3);
  record.string("id");
  record.string(test);
  record.string("outcome");
  record.string(outcome);
  record.string("seconds");
  record.real(seconds);
  append(record.view());
}

}  // namespace opwright::capture
