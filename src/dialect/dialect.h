// What a dialect is: a library whose operators are called, with its own names and facts. Rooms ask the dialect of an
// operation instead of knowing a library; what it is made of lies in one folder (docs/how-to/add-a-dialect.md).
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "dialect/lifter.h"
#include "dialect/operation_tables.h"
#include "model/value.h"

namespace opwright {

struct Dialect {
  std::string_view name;  // "ttnn"; "" of the neutral dialect
  // Its operations are called `ttnn.x`, or `ttnn::x` where C++ wrote them down.
  bool executed = false;        // operators of it are described (ops/) and devices run them; else it is recorded only
  bool in_masters = false;      // the existing tooling's master JSON has a place for its configurations
  bool overloads = false;       // the last part of a name may be an overload: `aten.add.Tensor` is one of `aten.add`
  bool names_values = false;    // its name may stand in front of a value too: `ttnn.bfloat16` is `bfloat16`
  bool keeps_unlisted = false;  // an import keeps also operations that its tables do not list
  const OperationTables& (*tables)() = nullptr;

  // Beyond the dots: what is one operation under two names. Null: the dotted name is the name.
  std::string (*operation)(std::string dotted) = nullptr;
  // Keyword arguments that are handles of one run (semaphores) and no parameters. Null: there are none. They are no
  // part of a configuration, and the existing tooling leaves them out too. A positional one stays, as an opaque value.
  bool (*is_handle)(std::string_view argument) = nullptr;
  // A dtype in the spellings of this library. Null: those that every trace may have (parse_dtype).
  Spelled<DType> (*dtype)(std::string_view text) = nullptr;
  // What a thing that a trace wrote down stands for: tensors, memory configs. Nothing where the dialect has no word for
  // it. Null: it has no words of its own. Asked of every dialect, because a trace does not say whose word a type is.
  std::optional<Value> (*lift)(Written how, const std::string& type, const Value& content, Lifter& lifter) = nullptr;
  // A value in the form that says the same in one way only (identity). Null: a lifted value is in it already.
  Value (*normal_form)(Value value) = nullptr;
};

// Every dialect there is: one visible list.
std::span<const Dialect* const> dialects();

// By the name in front of the operation's first `.` or `::`. Else the neutral one, which knows nothing: everything is
// kept as it was written, nothing is guessed and nothing is run.
const Dialect& dialect_of(std::string_view operation);

// Why no call of this operation can be run, whatever runs it: `the dialect aten is recorded, not run`. "" when that is
// not so, which it is of an operation without a dialect: a program of the user's own may know it.
std::string why_not_run(std::string_view operation);

// The one name of an operation: dots for `::`, and what its dialect says beyond that.
std::string operation_name(std::string_view spelled);

// Names that `name` may stand for: itself, and with each dialect in front (`add`, `ttnn.add`, …).
std::vector<std::string> possible_operations(std::string_view name);

bool is_handle_argument(const Dialect& dialect, std::string_view argument);
inline bool is_handle_argument(std::string_view operation, std::string_view argument) {
  return is_handle_argument(dialect_of(operation), argument);
}

// Parameter names of a Python operation by position; empty when its signature is not known. The tables are part of the
// identity: changing one means a new kKeyVersion.
std::span<const std::string_view> signature_of(std::string_view operation);

}  // namespace opwright
