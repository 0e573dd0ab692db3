// The C functions of opwright/capture.h, over the recorder.
#include "opwright/capture.h"

#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "capture/content.h"
#include "capture/recorder.h"

using opwright::capture::CallToken;
using opwright::capture::Content;
using opwright::capture::Encoder;
using opwright::capture::Ending;
using opwright::capture::Operation;
using opwright::capture::Options;
using opwright::capture::Recorder;
using opwright::capture::ResultTensor;
using opwright::capture::Tag;
using opwright::capture::TensorUse;
using opwright::capture::Write;

// A call or a kept value under construction. Used again by its thread.
struct opwright_call {
  Recorder* recorder = nullptr;
  Operation* op = nullptr;  // null: a value to keep
  opwright::capture::Measure measure;
  std::uint64_t returned = 0;
  bool running = false;
  CallToken token;
  Encoder bytes;
  std::size_t count_at = 0;     // of the arguments being counted: positional, then keyword
  std::uint64_t arguments = 0;  // counted so far there
  bool in_keywords = false;
  bool in_argument = false;
  std::uint64_t top_values = 0;  // values put at the top since the last argument or since run
  std::uint64_t expected = 0;    // values that open containers still wait for
  std::size_t first_value_end = 0;
  std::vector<TensorUse> uses;
  std::vector<ResultTensor> results;
  std::vector<Write> writes;
  std::vector<std::uint32_t> frees;
  std::uint32_t error = 0;

  void reset(Recorder* of, Operation* operation) {
    recorder = of;
    op = operation;
    running = in_keywords = in_argument = false;
    token = {};
    returned = 0;
    bytes.clear();
    arguments = top_values = expected = 0;
    uses.clear();
    results.clear();
    writes.clear();
    frees.clear();
    error = 0;
  }
  // One value was put that waits for `more` others.
  void put(std::uint64_t more = 0) {
    if (expected > 0) {
      expected += more;
      --expected;
    } else {
      ++top_values;
      expected = more;
    }
    if (top_values == 1 && expected == 0) first_value_end = bytes.size();
  }
  // Ends the argument being built, whatever the caller forgot or put too much: the trace stays readable.
  void close_argument() {
    if (!in_argument) return;
    in_argument = false;
    if (top_values == 0 || expected > 0) {
      while (top_values == 0 || expected > 0) {
        bytes.null();
        put();
      }
      recorder->note("misuse", op->name + ": an argument without its value; recorded as null");
    }
    if (top_values > 1) {
      bytes.cut(first_value_end);
      recorder->note("misuse", op->name + ": more than one value for an argument; the first is recorded");
    }
  }
};

namespace {

constexpr std::uint32_t kMeasureEvery = 8;

// The calls under construction on this thread, innermost last.
struct Pending {
  std::deque<opwright_call> calls;
  std::size_t depth = 0;
  opwright_call value;
  std::uint32_t calls_seen = 0;

  // Is this tensor new to the trace, as far as this thread remembers? Once forgotten it is told again.
  bool meets(std::uint64_t id) {
    if (tensors_epoch != Recorder::epoch()) {
      tensors_epoch = Recorder::epoch();
      tensors = {};
    }
    std::uint64_t& known = tensors[id % tensors.size()];
    return std::exchange(known, id + 1) != id + 1;
  }
  std::array<std::uint64_t, 1024> tensors{};  // id + 1
  std::uint64_t tensors_epoch = 0;

  struct Known {
    const char* address = nullptr;
    std::uint64_t epoch = 0;
    Operation* op = nullptr;
  };
  std::array<Known, 64> operations{};
};

Pending& pending() {
  thread_local Pending pending;
  return pending;
}

Operation* operation(Recorder& recorder, const char* name) {
  Pending::Known& known = pending().operations[(reinterpret_cast<std::uintptr_t>(name) >> 3) % 64];
  if (known.address == name && known.epoch == Recorder::epoch() && known.op->name == name) return known.op;
  known = {name, Recorder::epoch(), recorder.operation(name)};
  return known.op;
}

std::string_view text_of(const char* text) { return text == nullptr ? std::string_view() : std::string_view(text); }

// What a C caller must never see: an exception. There is one kind here, no memory; the call then is not recorded.
template <class Body>
void quietly(Body body) noexcept {
  try {
    body();
  } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): see above
  }
}

}  // namespace

extern "C" {

int opwright_open(const opwright_options* options, char* message, size_t message_size) {
  std::string problem = "no memory for the recorder";
  quietly([&] {
    Options wanted;
    if (options == nullptr || options->size < offsetof(opwright_options, stem) || options->folder == nullptr) {
      problem = "opwright_open: options.folder must name the trace folder";
      return;
    }
    opwright_options all = OPWRIGHT_OPTIONS;
    std::memcpy(&all, options, std::min(options->size, sizeof all));
    wanted.folder = all.folder;
    if (all.stem != nullptr) wanted.stem = all.stem;
    wanted.only = text_of(all.only);
    wanted.phase = text_of(all.phase);
    wanted.first = all.first;
    wanted.max_overhead = all.max_overhead;
    wanted.max_bytes = all.max_bytes;
    problem = Recorder::open(wanted);
    static const int at_exit = std::atexit(opwright_close);
    static_cast<void>(at_exit);
  });
  if (message != nullptr && message_size > 0) {
    std::strncpy(message, problem.c_str(), message_size - 1);
    message[message_size - 1] = '\0';
  }
  return problem.empty() ? 0 : -1;
}

void opwright_close(void) {
  quietly([] { Recorder::close(); });
}

const char* opwright_path(void) {
  Recorder* recorder = Recorder::current();
  return recorder == nullptr ? "" : recorder->path().c_str();
}

opwright_call* opwright_begin_slow_(const char* operation_name) {  // NOLINT: a name of C
  opwright_call* call = nullptr;
  quietly([&] {
    Pending& mine = pending();
    opwright::capture::Measure measure;
    if (++mine.calls_seen % kMeasureEvery == 0) measure = {opwright::capture::ticks(), kMeasureEvery};
    Recorder* recorder = Recorder::current();
    if (recorder == nullptr || operation_name == nullptr) return;
    Operation* op = operation(*recorder, operation_name);
    if (!recorder->wants(*op)) return;
    if (mine.depth == mine.calls.size()) mine.calls.emplace_back();
    opwright_call& next = mine.calls[mine.depth++];
    next.reset(recorder, op);
    next.measure = measure;
    next.bytes.tag(Tag::kCall);
    next.bytes.varint(op->id);
    next.count_at = next.bytes.late_count();
    call = &next;
  });
  return call;
}

void opwright_arg(opwright_call* call, const char* keyword) {
  if (call == nullptr || call->running) return;
  quietly([&] {
    call->close_argument();
    if (keyword == nullptr && call->in_keywords) {
      call->recorder->note("misuse", call->op->name + ": a positional argument behind a keyword argument");
      keyword = "";
    }
    if (keyword != nullptr && !call->in_keywords) {
      call->bytes.set_count(call->count_at, call->arguments);
      call->count_at = call->bytes.late_count();
      call->arguments = 0;
      call->in_keywords = true;
    }
    if (keyword != nullptr) call->bytes.text(keyword);
    ++call->arguments;
    call->in_argument = true;
    call->top_values = call->expected = 0;
  });
}

void opwright_run(opwright_call* call) {
  if (call == nullptr || call->running) return;
  quietly([&] {
    call->close_argument();
    call->bytes.set_count(call->count_at, std::min(call->arguments, Encoder::kMaxLateCount));
    if (!call->in_keywords) call->bytes.set_count(call->bytes.late_count(), 0);
    call->token = call->recorder->begin(*call->op, call->bytes.view(), call->uses, call->measure);
    call->running = true;
    call->bytes.clear();
    call->top_values = call->expected = 0;
  });
}

void opwright_wrote(opwright_call* call, const opwright_tensor* after) {
  if (call == nullptr || after == nullptr) return;
  for (std::uint32_t slot = 0; slot < call->uses.size(); ++slot) {
    if (call->uses[slot].id == after->id) {
      quietly([&] { call->writes.push_back({slot, after->spec, after->version}); });
    }
  }
}

void opwright_freed(opwright_call* call, uint64_t tensor) {
  if (call == nullptr) return;
  for (std::uint32_t slot = 0; slot < call->uses.size(); ++slot) {
    if (call->uses[slot].id == tensor) quietly([&] { call->frees.push_back(slot); });
  }
}

void opwright_failed(opwright_call* call, const char* type, const char* message) {
  if (call == nullptr) return;
  quietly([&] {
    call->returned = opwright::capture::ticks();
    Encoder error;
    error.structure("error", 2);
    error.field("type");
    error.string(text_of(type));
    error.field("message");
    error.string(text_of(message));
    call->error = call->recorder->intern(error.view());
  });
}

void opwright_end(opwright_call* call) {
  if (call == nullptr) return;
  quietly([&] {
    if (!call->running) opwright_run(call);
    if (call->returned == 0) call->returned = opwright::capture::ticks();
    Ending ending;
    ending.error = call->error;
    while (call->expected > 0) {
      call->bytes.null();
      call->put();
    }
    if (call->top_values == 1) {
      ending.result = call->recorder->intern(call->bytes.view());
    } else if (call->top_values > 1) {
      Encoder several;
      several.tuple(call->top_values);
      several.raw(call->bytes.view());
      ending.result = call->recorder->intern(several.view());
    }
    ending.tensors = call->results;
    ending.writes = call->writes;
    ending.frees = call->frees;
    if (call->token.epoch == Recorder::epoch())
      call->recorder->end(call->token, ending, call->returned, call->measure.weight);
  });
  // Those begun inside and never ended go with it.
  Pending& mine = pending();
  while (mine.depth > 0) {
    --mine.depth;
    if (&mine.calls[mine.depth] == call) break;
  }
}

opwright_call* opwright_value(void) {
  if (opwright_recording() == 0) return nullptr;
  Recorder* recorder = Recorder::current();
  if (recorder == nullptr) return nullptr;
  opwright_call& value = pending().value;
  value.reset(recorder, nullptr);
  return &value;
}

uint32_t opwright_keep(opwright_call* value) {
  if (value == nullptr || value->op != nullptr) return 0;
  uint32_t id = 0;
  quietly([&] {
    while (value->top_values == 0 || value->expected > 0) {
      value->bytes.null();
      value->put();
    }
    value->bytes.cut(value->first_value_end);
    id = value->recorder->intern(value->bytes.view());
  });
  return id;
}

// Each value: nothing without a call, bytes, then one value less to wait for.
#define OPWRIGHT_PUT(more, statement) \
  if (call == nullptr) return;        \
  quietly([&] {                       \
    Encoder& bytes = call->bytes;     \
    statement;                        \
    call->put(more);                  \
  })

void opwright_put_null(opwright_call* call) { OPWRIGHT_PUT(0, bytes.null()); }
void opwright_put_bool(opwright_call* call, int value) { OPWRIGHT_PUT(0, bytes.boolean(value != 0)); }
void opwright_put_int(opwright_call* call, int64_t value) { OPWRIGHT_PUT(0, bytes.integer(value)); }
void opwright_put_float(opwright_call* call, double value) { OPWRIGHT_PUT(0, bytes.real(value)); }
void opwright_put_string(opwright_call* call, const char* value) { OPWRIGHT_PUT(0, bytes.string(text_of(value))); }
void opwright_put_enum(opwright_call* call, const char* type, const char* member) {
  OPWRIGHT_PUT(0, bytes.enumerator(text_of(type), text_of(member)));
}
void opwright_put_list(opwright_call* call, uint32_t count) { OPWRIGHT_PUT(count, bytes.list(count)); }
void opwright_put_dict(opwright_call* call, uint32_t count) {
  OPWRIGHT_PUT(2 * std::uint64_t{count}, bytes.dict(count));
}
void opwright_put_struct(opwright_call* call, const char* type, uint32_t fields) {
  OPWRIGHT_PUT(fields, bytes.structure(text_of(type), fields));
}
void opwright_put_field(opwright_call* call, const char* name) {
  if (call != nullptr) quietly([&] { call->bytes.field(text_of(name)); });
}
void opwright_put_opaque(opwright_call* call, const char* type, const char* text) {
  OPWRIGHT_PUT(0, (bytes.opaque(text_of(type), text_of(text)), call->recorder->count_opaque()));
}
void opwright_put_kept(opwright_call* call, uint32_t value) { OPWRIGHT_PUT(0, bytes.reference(value)); }

void opwright_put_tensor(opwright_call* call, const opwright_tensor* tensor) {
  if (call == nullptr || tensor == nullptr) {
    opwright_put_null(call);
    return;
  }
  OPWRIGHT_PUT(0, {
    bytes.tensor(tensor->spec);
    if (call->running) {
      call->results.push_back({tensor->id, tensor->version, tensor->storage, tensor->address, tensor->view_of});
      pending().meets(tensor->id);
    } else {
      call->uses.push_back({tensor->id, tensor->version});
      if (const bool tells = tensor->storage != 0 || tensor->address != 0 || tensor->view_of != 0;
          tells && pending().meets(tensor->id)) {
        call->recorder->tensor({tensor->id, tensor->version, tensor->storage, tensor->address, tensor->view_of},
                               tensor->spec);
      }
    }
  });
}

#undef OPWRIGHT_PUT

void opwright_data(opwright_call* call, uint32_t slot, int result, const char* dtype, const int64_t* shape,
                   uint32_t rank, const void* elements, unsigned what) {
  if (call == nullptr || !call->running || call->token.seq == 0 || dtype == nullptr) return;
  quietly([&] {
    Content content{call->token.seq, slot, result != 0 ? opwright::capture::kDataResult : 0, dtype, {shape, rank},
                    elements,        1};
    for (const std::int64_t dim : content.shape) content.count *= static_cast<std::uint64_t>(dim);
    record_content(*call->recorder, content, what);
  });
}

void opwright_phase(const char* name) {
  if (Recorder* recorder = opwright_recording() != 0 ? Recorder::current() : nullptr) {
    quietly([&] { recorder->set_phase(text_of(name)); });
  }
}

void opwright_label(const char* name) {
  if (Recorder* recorder = opwright_recording() != 0 ? Recorder::current() : nullptr) {
    quietly([&] { recorder->set_label(text_of(name)); });
  }
}

void opwright_test(const char* name) {
  if (Recorder* recorder = opwright_recording() != 0 ? Recorder::current() : nullptr) {
    quietly([&] { recorder->set_test(text_of(name)); });
  }
}

void opwright_test_result(const char* name, const char* outcome, double seconds) {
  if (Recorder* recorder = opwright_recording() != 0 ? Recorder::current() : nullptr) {
    quietly([&] { recorder->test_result(text_of(name), text_of(outcome), seconds); });
  }
}

void opwright_fact(const char* name, const char* text) {
  if (Recorder* recorder = opwright_recording() != 0 ? Recorder::current() : nullptr) {
    quietly([&] {
      Encoder encoded;
      encoded.string(text_of(text));
      recorder->fact(text_of(name), encoded.view());
    });
  }
}

void opwright_note(const char* kind, const char* text) {
  if (Recorder* recorder = opwright_recording() != 0 ? Recorder::current() : nullptr) {
    quietly([&] { recorder->note(text_of(kind), text_of(text)); });
  }
}

}  // extern "C"
