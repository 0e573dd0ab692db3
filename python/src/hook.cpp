#include "hook.h"

#include <exception>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "capture/content.h"
#include "capture/recorder.h"
#include "classes.h"
#include "dialect/ttnn/written_arguments.h"
#include "interrupts.h"
#include "values.h"

namespace opwright::python {

using capture::CallToken;
using capture::Encoder;
using capture::Ending;
using capture::Operation;
using capture::Recorder;
using capture::ResultTensor;
using capture::TensorUse;

namespace {

// What belongs to an operation of the library, found by its object or by its name.
struct Known {
  Operation* op = nullptr;
  SpecGuess guess;
  std::vector<WrittenArgument> written;  // caches, copies, names that end with "_"
  bool returns_content = false;          // what it returns are elements of a tensor
  bool direct = false;                   // no registered operation
};

struct State {
  std::unordered_map<PyObject*, std::unique_ptr<Known>> by_object;  // operations live as long as the library
  PyObject* python_fully_qualified_name = PyUnicode_InternFromString("python_fully_qualified_name");
};

State& state() {
  static State state;
  return state;
}

// Of this thread: are we inside our own code (then nothing is recorded), and which operation runs.
struct Here {
  bool inside = false;
  int depth = 0;             // recorded calls that run
  int running = 0;           // calls of the library that run, recorded or not
  PyObject* fast = nullptr;  // the fast operation that runs and has not handed on to its slow twin
  const Operation* fast_op = nullptr;
};
thread_local Here here;

struct Quiet {
  Quiet() : before(here.inside) { here.inside = true; }
  ~Quiet() { here.inside = before; }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;
  bool before;
};

struct Running {
  Running() { ++here.running; }
  ~Running() { --here.running; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;
};

// What we do must never become an exception of the model: without memory there is less in the trace.
template <class Body>
bool quietly(Body body) {
  try {
    body();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Does this call write there? Some are asked to by a flag (written_arguments.h).
bool is_asked(Plans& plans, const WrittenArgument& argument, PyObject* kwargs) {
  if (argument.flag.empty()) return true;
  PyObject* value = kwargs == nullptr ? nullptr : PyDict_GetItemString(kwargs, argument.flag.data());
  if (value == nullptr) return argument.without_flag;
  if (argument.field.empty()) return value == Py_True;
  const Plan& plan = plans.of(Py_TYPE(value));
  if (plan.kind != Kind::kStruct) return false;
  for (const Field& field : plan.fields) {
    if (field.name != argument.field || !field.reader) continue;
    const Ref read(PyObject_CallFunctionObjArgs(field.reader.get(), value, nullptr));
    if (!read) drop_error();
    return read.get() == Py_True;
  }
  return false;
}

Known& known_for(Recorder& recorder, PyObject* key, std::string_view name) {
  std::unique_ptr<Known>& known = state().by_object[key];
  if (known == nullptr) {
    known = std::make_unique<Known>();
    Py_INCREF(key);  // its address stays its own
  }
  if (known->op == nullptr) {
    known->op = recorder.operation(name);
    known->written = written_arguments(name);
    known->returns_content = name == "ttnn.Tensor.to_list" || name == "ttnn.Tensor.item";
  }
  return *known;
}

// One call from its arguments to its end.
class RecordedCall {
 public:
  RecordedCall(Hook& hook, Recorder& recorder, Known& known, std::uint64_t entered)
      : hook_(hook),
        recorder_(recorder),
        known_(known),
        entered_(entered),
        values_(recorder, hook.plans, hook.tensors, hook.told, known.op->name) {}

  void begin(PyObject* args, PyObject* kwargs);
  void succeed(PyObject* result);
  void fail();
  // The call is not made after all.
  void abandon() { recorder_.end(token_, {}, capture::ticks(), 1); }
  const CallToken& token() const { return token_; }

 private:
  bool writes_into(Py_ssize_t position, std::string_view keyword, PyObject* kwargs) const;
  void note_writes(std::size_t from, std::size_t to) {
    for (std::size_t slot = from; slot < to; ++slot) written_.push_back(static_cast<std::uint32_t>(slot));
  }
  void record_contents(const std::vector<ValueWriter::Met>& met, std::uint64_t flags);
  void look_after(Ending& ending);

  Hook& hook_;
  Recorder& recorder_;
  Known& known_;
  std::uint64_t entered_;
  ValueWriter values_;
  CallToken token_;
  std::vector<ValueWriter::Met> arguments_;
  std::vector<std::uint32_t> written_;  // slots of arguments that the call writes into
  std::vector<capture::Write> writes_;
  std::vector<std::uint32_t> frees_;
};

// The argument at this position, or, where that is below zero, of this keyword.
bool RecordedCall::writes_into(Py_ssize_t position, std::string_view keyword, PyObject* kwargs) const {
  for (const WrittenArgument& argument : known_.written) {
    if ((position >= 0 ? argument.position == position : argument.name == keyword) &&
        is_asked(hook_.plans, argument, kwargs))
      return true;
  }
  return position < 0 && names_an_output(known_.op->name, keyword);
}

void RecordedCall::begin(PyObject* args, PyObject* kwargs) {
  Encoder encoded;
  encoded.tag(capture::Tag::kCall);
  encoded.varint(known_.op->id);
  const Py_ssize_t positional = PyTuple_Size(args);
  encoded.varint(static_cast<std::uint64_t>(positional));
  for (Py_ssize_t i = 0; i < positional; ++i) {
    const std::size_t before = values_.met.size();
    values_.put(PyTuple_GetItem(args, i), encoded, &known_.guess);
    if (values_.met.size() > before && writes_into(i, {}, kwargs)) note_writes(before, values_.met.size());
  }
  const Py_ssize_t keywords = kwargs == nullptr ? 0 : PyDict_Size(kwargs);
  encoded.varint(static_cast<std::uint64_t>(keywords));
  if (keywords > 0) {
    PyObject *key = nullptr, *value = nullptr;
    Py_ssize_t position = 0;
    while (PyDict_Next(kwargs, &position, &key, &value) != 0) {
      encoded.text(text_of(key));
      const std::size_t before = values_.met.size();
      values_.put(value, encoded, &known_.guess);
      if (values_.met.size() > before && writes_into(-1, utf8(key), kwargs)) note_writes(before, values_.met.size());
    }
  }
  arguments_ = std::move(values_.met);
  values_.met.clear();
  if (has_held()) return;  // the program interrupted us: the call will not be made
  std::vector<TensorUse> uses;
  uses.reserve(arguments_.size());
  for (const ValueWriter::Met& met : arguments_) {
    const std::uint64_t version = hook_.tensors.version(met.tensor.storage);
    uses.push_back({met.tensor.id, version});
    if (met.is_new) {
      recorder_.tensor({met.tensor.id, version, met.tensor.storage, met.tensor.address, 0}, met.tensor.spec);
    }
  }
  token_ = recorder_.begin(*known_.op, encoded.view(), uses, {entered_, 1});
  if (token_.seq != 0 && hook_.options.content != 0) record_contents(arguments_, 0);
}

void RecordedCall::record_contents(const std::vector<ValueWriter::Met>& met, std::uint64_t flags) {
  for (std::uint32_t slot = 0; slot < met.size(); ++slot) {
    // describe.content(tensor) -> (dtype, shape, address, elements, keep-alive) or None
    const Ref answer(PyObject_CallMethod(hook_.plans.source(), "content", "O", met[slot].object));
    if (!answer || answer.get() == Py_None) {
      drop_error();
      continue;
    }
    const char* dtype = nullptr;
    PyObject *shape = nullptr, *alive = nullptr;
    unsigned long long address = 0, elements = 0;
    if (PyArg_ParseTuple(answer.get(), "sOKKO", &dtype, &shape, &address, &elements, &alive) == 0) {
      drop_error();
      continue;
    }
    std::vector<std::int64_t> dims;
    for (Py_ssize_t i = 0; i < PyList_Size(shape); ++i) dims.push_back(PyLong_AsLongLong(PyList_GetItem(shape, i)));
    capture::Content content{token_.seq, slot, flags,
                             dtype,      dims, reinterpret_cast<const void*>(static_cast<std::uintptr_t>(address)),
                             elements};
    capture::record_content(recorder_, content, hook_.options.content);
  }
}

// What became of the arguments: freed, written into.
void RecordedCall::look_after(Ending& ending) {
  for (std::uint32_t slot = 0; slot < arguments_.size(); ++slot) {
    const ValueWriter::Met& met = arguments_[slot];
    if (!met.tensor.on_device || met.tensor.storage == 0) continue;
    if (!met.plan->tensor.is_allocated) continue;
    const Ref allocated(PyObject_CallFunctionObjArgs(met.plan->tensor.is_allocated.get(), met.object, nullptr));
    if (!allocated) drop_error();
    if (allocated.get() == Py_False) {
      frees_.push_back(slot);
      Tensor gone = met.tensor;
      gone.storage = 0;
      hook_.tensors.remember(gone);
    }
  }
  for (const std::uint32_t slot : written_) {
    const ValueWriter::Met& met = arguments_[slot];
    Tensor after = met.tensor;
    after.spec = values_.tensor_spec(met.object, *met.plan);
    const std::uint64_t version = hook_.tensors.written(after.storage);
    if (after.id != 0) hook_.tensors.remember(after);
    writes_.push_back({slot, after.spec, version});
  }
  ending.frees = frees_;
  ending.writes = writes_;
}

void RecordedCall::succeed(PyObject* result) {
  const std::uint64_t returned = capture::ticks();
  Ending ending;
  std::vector<ResultTensor> tensors;
  const bool thinned = recorder_.level() >= capture::Level::kNoAfter;
  ending.thinned = thinned;
  ending.direct = known_.direct;
  if (!thinned) {
    look_after(ending);
    if (result != Py_None) {
      Encoder encoded;
      values_.put_result(result, encoded, &known_.guess, known_.returns_content);
      ending.result = recorder_.intern(encoded.view());
      for (const ValueWriter::Met& met : values_.met) {
        ResultTensor tensor{met.tensor.id, hook_.tensors.version(met.tensor.storage), met.tensor.storage,
                            met.tensor.address, 0};
        for (const ValueWriter::Met& argument : arguments_) {
          if (tensor.storage != 0 && argument.tensor.storage == tensor.storage && argument.tensor.id != tensor.id) {
            tensor.view_of = argument.tensor.id;
            break;
          }
        }
        tensors.push_back(tensor);
      }
      ending.tensors = tensors;
      if (hook_.options.content != 0 && token_.seq != 0) record_contents(values_.met, capture::kDataResult);
    }
  }
  recorder_.end(token_, ending, returned, 1);
}

void RecordedCall::fail() {
  const std::uint64_t returned = capture::ticks();
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  const std::string message = message_of(value);
  Encoder error;
  error.structure("error", 2);
  error.field("type");
  error.string(value != nullptr ? class_name(Py_TYPE(value)) : "");
  error.field("message");
  error.string(message);
  Ending ending;
  ending.direct = known_.direct;
  ending.error = recorder_.intern(error.view());
  look_after(ending);
  recorder_.end(token_, ending, returned, 1);
  drop_error();
  PyErr_Restore(type, value, traceback);
}

// Graph capture around an outermost call: describe.device_begin() / device_end() -> text of the graph or None.
void device_begin(Hook& hook) {
  const Ref done(PyObject_CallMethod(hook.plans.source(), "device_begin", nullptr));
  if (!done) drop_error();
}

void device_end(Hook& hook, Recorder& recorder, const CallToken& token) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  const Ref graph(PyObject_CallMethod(hook.plans.source(), "device_end", nullptr));
  if (!graph) drop_error();
  if (const std::string_view text = utf8(graph.get()); !text.empty() && token.seq != 0) {
    Encoder record;
    record.record(capture::Record::kDevice);
    record.varint(token.seq);
    record.string(text);
    recorder.append(record.view());
  }
  PyErr_Restore(type, value, traceback);
}

template <class Original>
PyObject* record(Hook& hook, Recorder& recorder, Known& known, std::uint64_t entered, PyObject* args, PyObject* kwargs,
                 Original original) {
  std::optional<RecordedCall> call;
  const bool device = hook.options.device_ops && here.depth == 0;
  const bool has_begun = quietly([&] {
    const Quiet quiet;
    call.emplace(hook, recorder, known, entered);
    call->begin(args, kwargs);
    if (device && !has_held()) device_begin(hook);
  });
  if (!has_begun) recorder.lose(*known.op);
  if (has_held()) {
    if (has_begun) call->abandon();
    raise_held();
    return nullptr;
  }
  ++here.depth;
  PyObject* result = original();
  --here.depth;
  // The trace may have been closed, or another opened, while the call ran.
  if (!has_begun || call->token().epoch != Recorder::epoch() || Recorder::current() != &recorder) return result;
  quietly([&] {
    const Quiet quiet;
    if (device) device_end(hook, recorder, call->token());
    if (result != nullptr) {
      call->succeed(result);
    } else {
      call->fail();
    }
  });
  if (!has_held()) return result;
  Py_XDECREF(result);
  raise_held();
  return nullptr;
}

Recorder* recorder_for(Hook& hook) {
  if (!Recorder::is_on() || here.inside) return nullptr;
  Recorder* recorder = Recorder::current();
  if (recorder == nullptr) return nullptr;
  if (hook.epoch != Recorder::epoch()) {
    hook.epoch = Recorder::epoch();
    hook.plans.forget_values();
    hook.tensors.forget();
    hook.told.clear();
    for (auto& [key, known] : state().by_object) {
      known->op = nullptr;
      known->guess = {};
    }
  }
  return recorder;
}

// The arguments of a method.
Ref with_first(PyObject* first, PyObject* args) {
  const Py_ssize_t size = PyTuple_Size(args);
  Ref all(PyTuple_New(size + 1));
  if (!all) return all;
  Py_INCREF(first);
  PyTuple_SetItem(all.get(), 0, first);
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* item = PyTuple_GetItem(args, i);
    Py_INCREF(item);
    PyTuple_SetItem(all.get(), i + 1, item);
  }
  return all;
}

template <class Original>
PyObject* call_named(Hook& hook, PyObject* name, PyObject* args, PyObject* kwargs, bool direct, Original run) {
  const std::uint64_t entered = capture::ticks();
  Recorder* recorder = recorder_for(hook);
  if (recorder == nullptr) return run();
  const Running running;
  Known& known = known_for(*recorder, name, utf8(name));
  known.direct = direct;
  if (!recorder->wants(*known.op)) return run();
  return record(hook, *recorder, known, entered, args, kwargs, run);
}

}  // namespace

Hook& hook() {
  static Hook hook;
  return hook;
}

PyObject* Hook::call_operation(PyObject* operation, PyObject* original, PyObject* args, PyObject* kwargs,
                               bool is_slow) {
  const Ref all = with_first(operation, args);
  if (!all) return nullptr;
  const auto run = [&] { return PyObject_Call(original, all.get(), kwargs); };

  const std::uint64_t entered = capture::ticks();
  Recorder* recorder = recorder_for(*this);
  if (recorder == nullptr) return run();
  const Running running;
  Known* known = nullptr;
  if (const auto found = state().by_object.find(operation);
      found != state().by_object.end() && found->second->op != nullptr) {
    known = found->second.get();
  } else {
    const Ref name(PyObject_GetAttr(operation, state().python_fully_qualified_name));
    if (!name) drop_error();
    if (has_held()) {
      raise_held();
      return nullptr;
    }
    if (utf8(name.get()).empty()) return run();
    known = &known_for(*recorder, operation, utf8(name.get()));
  }
  // In slow mode a fast operation hands on to its slow twin: one call, not two.
  if (is_slow && here.fast != nullptr && here.fast_op == known->op) {
    here.fast = nullptr;
    return run();
  }
  if (!recorder->wants(*known->op)) return run();
  const Here before = here;
  PyObject* result = record(*this, *recorder, *known, entered, args, kwargs, [&] {
    here.fast = is_slow ? nullptr : operation;
    here.fast_op = known->op;
    return run();
  });
  here.fast = before.fast;
  here.fast_op = before.fast_op;
  return result;
}

PyObject* Hook::call_function(PyObject* name, PyObject* original, PyObject* args, PyObject* kwargs) {
  return call_named(*this, name, args, kwargs, false, [&] { return PyObject_Call(original, args, kwargs); });
}

PyObject* Hook::call_direct(PyObject* name, PyObject* original, PyObject* args, PyObject* kwargs, PyObject* self) {
  const Ref all = self == nullptr ? Ref::borrowed(args) : with_first(self, args);
  if (!all) return nullptr;
  const auto run = [&] { return PyObject_Call(original, all.get(), kwargs); };
  return here.running > 0 ? run() : call_named(*this, name, args, kwargs, true, run);
}

void Hook::clear() {
  for (auto& [key, known] : state().by_object) Py_DECREF(key);
  state().by_object.clear();
  plans.clear();
  tensors.forget();
}

}  // namespace opwright::python
