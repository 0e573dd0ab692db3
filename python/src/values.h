// Python objects as encoded values of the trace. Nothing of the program runs meanwhile, whatever its classes say.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "capture/encoder.h"
#include "capture/recorder.h"
#include "plans.h"
#include "py.h"
#include "tensors.h"

namespace opwright::python {

// What has been told about cuts in this trace: each thing once.
using Told = std::set<std::string>;

// Encodes values and notes the tensors met on the way, in their order.
class ValueWriter {
 public:
  // `about` names the call in notes.
  ValueWriter(capture::Recorder& recorder, Plans& plans, Tensors& tensors, Told& told, std::string_view about)
      : recorder_(recorder), plans_(plans), tensors_(tensors), told_(told), about_(about) {}

  // One argument. Never leaves a Python exception behind (interrupts.h). `known` (may be null) are tensor descriptions
  // to try first.
  void put(PyObject* object, capture::Encoder& out, SpecGuess* guess);
  // What a call returned: its tensors and objects. Fractions, texts and bytes in it are contents, of which only the
  // class is recorded; `is_content`: so are whole numbers.
  void put_result(PyObject* object, capture::Encoder& out, SpecGuess* guess, bool is_content);
  // Description of a tensor, read field by field.
  std::uint32_t tensor_spec(PyObject* tensor, const Plan& plan);

  struct Met {
    PyObject* object;  // borrowed: alive as long as the call's arguments or its result
    const Plan* plan;
    Tensor tensor;
    bool is_new;  // nothing recorded had it before
  };
  std::vector<Met> met;

 private:
  // What is left for the argument being written (budget.h).
  struct Budget {
    std::size_t nodes = 0;
    std::size_t bytes = 0;  // of values kept apart
    std::uint64_t deadline = 0;
    const capture::Encoder* top = nullptr;  // the argument's own encoder, and where it begins there
    std::size_t start = 0;
    bool is_spent = false;
  };
  enum class Contents { kKept, kFractionsLeftOut, kNumbersLeftOut };
  // An object with fields: its numbers and texts are what it is, and count for nobody else.
  struct OwnFields {
    explicit OwnFields(ValueWriter& of) : writer(of), contents(of.contents_), numbers(of.numbers_) {
      writer.contents_ = Contents::kKept;
    }
    ~OwnFields() {
      writer.contents_ = contents;
      writer.numbers_ = numbers;
    }
    OwnFields(const OwnFields&) = delete;
    OwnFields& operator=(const OwnFields&) = delete;
    ValueWriter& writer;
    Contents contents;
    std::size_t numbers;
  };

  bool spend(const capture::Encoder& out);
  void value(PyObject* object, capture::Encoder& out, SpecGuess* guess);
  void plain(PyObject* object, Kind kind, capture::Encoder& out, SpecGuess* guess);
  void integer(PyObject* object, capture::Encoder& out);
  void number(PyObject* object, capture::Encoder& out);
  void text(PyObject* object, capture::Encoder& out);
  void sequence(PyObject* object, Kind kind, capture::Encoder& out, SpecGuess* guess);
  void dict(PyObject* object, capture::Encoder& out, SpecGuess* guess);
  // Replaces what was written since `from` when it holds more numbers than a configuration has.
  void end_of_numbers(PyObject* object, std::size_t from, std::size_t met_before, std::size_t numbers_before,
                      Py_ssize_t size, capture::Encoder& out);
  void cut(std::string_view type, std::string_view text, const std::string& why, capture::Encoder& out);
  void class_only(std::string_view type, capture::Encoder& out);
  void tell(const std::string& what);

  void tensor(PyObject* object, const Plan& plan, capture::Encoder& out, SpecGuess* guess);
  // Value id of an object that is recorded apart.
  std::uint32_t keep(PyObject* object, const Plan& plan);
  std::uint32_t keep_member(PyObject* object, const Plan& plan);
  std::uint32_t keep_opaque(PyObject* object, const Plan& plan);
  void fields(PyObject* object, const Plan& plan, capture::Encoder& out);
  void vars(PyObject* object, const Plan& plan, capture::Encoder& out);
  bool foreign(PyObject* object, const Plan& plan, capture::Encoder& out);
  std::string path(PyObject* object);
  std::string callable_name(PyObject* object, const Plan& plan);

  capture::Recorder& recorder_;
  Plans& plans_;
  Tensors& tensors_;
  Told& told_;
  std::string_view about_;
  Budget budget_;
  Contents contents_ = Contents::kKept;
  int depth_ = 0;
  std::size_t numbers_ = 0;  // written so far, in lists and dicts of the argument
  // Something was met that is neither plain data nor the library's: then nobody is asked to print what holds it.
  bool has_foreign_ = false;
};

}  // namespace opwright::python
