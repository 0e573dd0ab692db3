// opwright._capture: the recorder for Python. Its functions are typed and described in opwright/_capture.pyi.
#include <cstring>
#include <string>
#include <vector>

#include "base/secrets.h"
#include "capture/recorder.h"
#include "classes.h"
#include "hook.h"
#include "interrupts.h"
#include "py.h"
#include "values.h"

namespace opwright::python {
namespace {

using capture::Options;
using capture::Recorder;

// A str from a dict of options; "" when it is not there.
std::string option(PyObject* options, const char* key) {
  if (options == nullptr || options == Py_None) return {};
  PyObject* value = PyDict_GetItemString(options, key);
  return value == nullptr ? std::string() : std::string(utf8(value));
}

bool number(const std::string& text, double& value) {
  if (text.empty()) return true;
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return *end == '\0' && value >= 0;
}

// Not Py_RETURN_NONE: newer headers count no reference there, which an older Python needs.
PyObject* none() {
  Py_INCREF(Py_None);
  return Py_None;
}

PyObject* start(PyObject*, PyObject* args) {
  const char* folder = nullptr;
  PyObject* options = nullptr;
  if (PyArg_ParseTuple(args, "s|O", &folder, &options) == 0) return nullptr;
  if (options != nullptr && options != Py_None && PyDict_Check(options) == 0) {
    PyErr_SetString(PyExc_TypeError, "start(): options must be a dict of str");
    return nullptr;
  }
  Options wanted;
  wanted.folder = folder;
  if (const std::string stem = option(options, "stem"); !stem.empty()) wanted.stem = stem;
  wanted.only = option(options, "only");
  wanted.phase = option(options, "phase");
  double first = 0, max_bytes = 0;
  if (!number(option(options, "first"), first) || !number(option(options, "max_overhead"), wanted.max_overhead) ||
      !number(option(options, "max_bytes"), max_bytes)) {
    PyErr_SetString(PyExc_ValueError, "start(): first, max_overhead and max_bytes must be numbers");
    return nullptr;
  }
  wanted.first = static_cast<std::uint64_t>(first);
  wanted.max_bytes = static_cast<std::uint64_t>(max_bytes);
  HookOptions hooked;
  const std::string values = option(options, "values");
  if (values == "sketch") {
    hooked.content = OPWRIGHT_SKETCH;
  } else if (values == "hash") {
    hooked.content = OPWRIGHT_SKETCH | OPWRIGHT_HASH;
  } else if (values == "full") {
    hooked.content = OPWRIGHT_SKETCH | OPWRIGHT_HASH | OPWRIGHT_CONTENT;
  } else if (!values.empty() && values != "off") {
    PyErr_Format(PyExc_ValueError, "start(): values must be off, sketch, hash or full, not '%s'", values.c_str());
    return nullptr;
  }
  hooked.device_ops = option(options, "device_ops") == "1";
  const std::string problem = Recorder::open(wanted);
  if (!problem.empty()) {
    PyErr_SetString(PyExc_OSError, problem.c_str());
    return nullptr;
  }
  hook().options = hooked;
  const std::string& path = Recorder::current()->path();
  return PyUnicode_FromStringAndSize(path.data(), static_cast<Py_ssize_t>(path.size()));
}

void set(PyObject* dict, const char* key, std::uint64_t value) {
  const Ref number(PyLong_FromUnsignedLongLong(value));
  if (number) PyDict_SetItemString(dict, key, number.get());
}

PyObject* counters(PyObject*, PyObject*) {
  Ref dict(PyDict_New());
  if (!dict) return nullptr;
  Recorder* recorder = Recorder::peek();
  if (recorder == nullptr) return dict.release();
  recorder->flush();
  const capture::Header& header = recorder->header();
  set(dict.get(), "calls", header.calls);
  set(dict.get(), "calls_filtered", header.calls_filtered);
  set(dict.get(), "calls_lost", header.calls_lost);
  set(dict.get(), "calls_thinned", header.calls_thinned);
  set(dict.get(), "errors", header.errors);
  set(dict.get(), "values", header.values);
  set(dict.get(), "opaque", header.opaque);
  set(dict.get(), "cut", header.cut);
  set(dict.get(), "first_sightings", header.first_sightings);
  set(dict.get(), "level", header.level);
  set(dict.get(), "bytes", capture::kHeaderSize + header.units * capture::kUnit);
  set(dict.get(), "recorder_ns",
      static_cast<std::uint64_t>(static_cast<double>(header.recorder_ticks) * 1e9 /
                                 static_cast<double>(header.ticks_per_second == 0 ? 1 : header.ticks_per_second)));
  return dict.release();
}

PyObject* stop(PyObject* self, PyObject*) {
  Ref last(counters(self, nullptr));
  Recorder::close();
  return last.release();
}

// Everything that holds Python objects: for the end of the interpreter.
PyObject* release(PyObject*, PyObject*) {
  hook().clear();
  return none();
}

PyObject* active(PyObject*, PyObject*) { return PyBool_FromLong(Recorder::is_on() ? 1 : 0); }

PyObject* path(PyObject*, PyObject*) {
  Recorder* recorder = Recorder::peek();
  if (recorder == nullptr) return none();
  return PyUnicode_FromStringAndSize(recorder->path().data(), static_cast<Py_ssize_t>(recorder->path().size()));
}

PyObject* trouble(PyObject*, PyObject*) {
  const std::string text = Recorder::trouble();
  return text.empty() ? none() : PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size()));
}

PyObject* flush(PyObject*, PyObject*) {
  if (Recorder* recorder = Recorder::peek()) recorder->flush();
  return none();
}

PyObject* set_context(PyObject*, PyObject* args) {
  const char *kind = nullptr, *text = nullptr;
  if (PyArg_ParseTuple(args, "sz", &kind, &text) == 0) return nullptr;
  Recorder* recorder = Recorder::is_on() ? Recorder::current() : nullptr;
  const std::string_view which = kind;
  const std::string_view value = text == nullptr ? std::string_view() : std::string_view(text);
  if (which != "test" && which != "phase" && which != "label") {
    PyErr_Format(PyExc_ValueError, "set_context(): kind must be test, phase or label, not '%s'", kind);
    return nullptr;
  }
  if (recorder == nullptr) return none();
  if (which == "test") recorder->set_test(value);
  if (which == "phase") recorder->set_phase(value);
  if (which == "label") recorder->set_label(value);
  return none();
}

PyObject* fact(PyObject*, PyObject* args) {
  const char* name = nullptr;
  PyObject* value = nullptr;
  if (PyArg_ParseTuple(args, "sO", &name, &value) == 0) return nullptr;
  if (Recorder* recorder = Recorder::is_on() ? Recorder::current() : nullptr) {
    capture::Encoder encoded;
    Told told;
    ValueWriter writer(*recorder, hook().plans, hook().tensors, told, name);
    writer.put(value, encoded, nullptr);
    recorder->fact(name, encoded.view());
  }
  if (has_held()) {
    raise_held();
    return nullptr;
  }
  return none();
}

PyObject* test_result(PyObject*, PyObject* args) {
  const char *id = nullptr, *outcome = nullptr;
  double seconds = 0;
  if (PyArg_ParseTuple(args, "ssd", &id, &outcome, &seconds) == 0) return nullptr;
  if (Recorder* recorder = Recorder::is_on() ? Recorder::current() : nullptr) {
    recorder->test_result(id, outcome, seconds);
  }
  return none();
}

PyObject* note(PyObject*, PyObject* args) {
  const char *kind = nullptr, *text = nullptr;
  if (PyArg_ParseTuple(args, "ss", &kind, &text) == 0) return nullptr;
  if (Recorder* recorder = Recorder::is_on() ? Recorder::current() : nullptr) recorder->note(kind, text);
  return none();
}

PyObject* set_describe(PyObject*, PyObject* module) {
  hook().plans.set_source(Ref::borrowed(module));
  return none();
}

PyObject* keywords(PyObject* object) { return object == Py_None ? nullptr : object; }

// call_operation(operation, original, args, kwargs, is_slow)
PyObject* call_operation(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 5 || PyTuple_Check(args[2]) == 0) {
    PyErr_SetString(PyExc_TypeError, "call_operation(operation, original, args, kwargs, is_slow)");
    return nullptr;
  }
  return hook().call_operation(args[0], args[1], args[2], keywords(args[3]), args[4] == Py_True);
}

// call_function(name, original, args, kwargs)
PyObject* call_function(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 4 || PyTuple_Check(args[2]) == 0) {
    PyErr_SetString(PyExc_TypeError, "call_function(name, original, args, kwargs)");
    return nullptr;
  }
  return hook().call_function(args[0], args[1], args[2], keywords(args[3]));
}

// call_direct(name, original, args, kwargs, self)
PyObject* call_direct(PyObject*, PyObject* const* args, Py_ssize_t count) {
  if (count != 5 || PyTuple_Check(args[2]) == 0) {
    PyErr_SetString(PyExc_TypeError, "call_direct(name, original, args, kwargs, self)");
    return nullptr;
  }
  return hook().call_direct(args[0], args[1], args[2], keywords(args[3]), args[4] == Py_None ? nullptr : args[4]);
}

template <class Function>
PyCFunction as_method(Function function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

// One text, or a list of words: the secrets in it masked.
PyObject* masked(PyObject*, PyObject* value) {
  // Words of a command line may hold bytes that are no UTF-8: they come back as they were.
  const auto text_of = [](PyObject* text) {
    Ref bytes(PyUnicode_AsEncodedString(text, "utf-8", "surrogateescape"));
    if (!bytes) {
      PyErr_Clear();
      bytes = Ref(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
    }
    if (!bytes) return std::string();
    return std::string(PyBytes_AsString(bytes.get()), static_cast<std::size_t>(PyBytes_Size(bytes.get())));
  };
  const auto as_text = [](const std::string& text) {
    return PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape");
  };
  if (PyUnicode_Check(value) != 0) return as_text(opwright::masked(text_of(value)));
  Ref items(PySequence_List(value));
  if (!items) return nullptr;
  std::vector<std::string> words;
  for (Py_ssize_t i = 0; i < PyList_Size(items.get()); ++i) {
    PyObject* word = PyList_GetItem(items.get(), i);
    if (PyUnicode_Check(word) == 0) {
      PyErr_SetString(PyExc_TypeError, "masked(): a str or a list of str is needed");
      return nullptr;
    }
    words.push_back(text_of(word));
  }
  words = masked_words(words);
  for (std::size_t i = 0; i < words.size(); ++i)
    PyList_SetItem(items.get(), static_cast<Py_ssize_t>(i), as_text(words[i]));
  return items.release();
}

PyMethodDef kMethods[] = {
    {"start", start, METH_VARARGS, "Opens this process's trace in a folder; returns its path."},
    {"stop", stop, METH_NOARGS, "Closes the trace; returns its counters."},
    {"counters", counters, METH_NOARGS, "Counters of the open trace."},
    {"release", release, METH_NOARGS, "Drops every Python object that the module holds."},
    {"active", active, METH_NOARGS, "Is a trace open?"},
    {"path", path, METH_NOARGS, "Path of the open trace, or None."},
    {"trouble", trouble, METH_NOARGS, "Why recording could not go on after the trace file was lost, or None."},
    {"flush", flush, METH_NOARGS, "Brings the counters in the file up to date."},
    {"set_context", set_context, METH_VARARGS, "set_context(kind, text): kind is test, phase or label."},
    {"fact", fact, METH_VARARGS, "fact(name, value): something about the run."},
    {"test_result", test_result, METH_VARARGS, "test_result(id, outcome, seconds)"},
    {"note", note, METH_VARARGS, "note(kind, text): something the user should be told."},
    {"masked", masked, METH_O, "A text, or a command line as words, with its secrets masked."},
    {"set_describe", set_describe, METH_O, "The module that tells how to read objects."},
    {"call_operation", as_method(call_operation), METH_FASTCALL, "Calls an operation of the library and records it."},
    {"call_function", as_method(call_function), METH_FASTCALL, "Calls a function under a name and records it."},
    {"call_direct", as_method(call_direct), METH_FASTCALL, "The same, unless an operation of the library runs."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef kModule = {PyModuleDef_HEAD_INIT,
                       "_capture",
                       "The recorder of opwright (docs/formats/native-trace.md says what it writes).",
                       -1,
                       kMethods,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace
}  // namespace opwright::python

PyMODINIT_FUNC PyInit__capture() { return PyModule_Create(&opwright::python::kModule); }
