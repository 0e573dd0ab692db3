// What the library offers to Python: classes and enums that arguments are made of, golden functions, and handles that
// its operations ask for. Tables of one release (data/classes.tsv, golden_functions.tsv, semaphores.tsv).
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace opwright {

struct PythonParameter {
  std::string_view name;
  std::string_view kind;  // its type without modules: "Sequence[CoreRange]|None"
  bool required = false;
  bool by_position = true;
  bool by_name = true;

  bool may_be_none() const;
  bool takes(std::string_view type) const;  // one of its alternatives is this type
};

struct PythonClass {
  std::string_view name;  // "CoreCoord"
  std::string_view path;  // "ttnn.CoreCoord"
  bool is_enum = false;
  std::vector<std::string_view> members;                   // of an enum
  std::vector<std::vector<PythonParameter>> constructors;  // of a class

  // The member that a trace means: of that name, else the only one with its words (`L1_FULL` is `L1Full`, `DRAM_HEIGHT`
  // is `DRAMSliceHeight`); "" none.
  std::string_view member(std::string_view written) const;
};

// By its last word: `ttnn._ttnn.tensor.CoreCoord` is `CoreCoord`. Null: the release has none.
const PythonClass* find_python_class(std::string_view name);
std::span<const PythonClass> python_classes();  // by name

bool has_golden_function(std::string_view op);

struct PythonHandle {
  std::string_view parameter;
  int count = 0;  // of a list; 0: one that is no list
};
// Semaphores that a trace leaves out (`Dialect::is_handle`).
std::span<const PythonHandle> semaphores_of(std::string_view op);

}  // namespace opwright
