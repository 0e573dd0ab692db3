// The data tables of a dialect: which operations it has, what an import leaves out, how their positions are called. The
// texts lie in the dialect's data/ folder and are built into the program.
#pragma once

#include <set>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace opwright {

struct KnownOperation {
  std::string_view name;     // dotted
  bool in_existing = false;  // the existing tooling's list of valid operations has it
};

class OperationTables {
 public:
  struct Texts {
    std::string_view operations;  // name, in the library, in the existing list (tabs); "": those with a signature
    std::string_view exclusions;  // names
    std::string_view signatures;  // name, tab, names of its positions
  };
  // The texts must outlive the tables.
  explicit OperationTables(const Texts& texts);

  std::span<const KnownOperation> known() const { return known_; }  // by name
  bool is_known(std::string_view operation) const { return find(operation) != nullptr; }
  bool in_existing(std::string_view operation) const;
  bool excludes(std::string_view operation) const { return excluded_.contains(operation); }
  std::span<const std::string_view> signature(std::string_view operation) const;

 private:
  const KnownOperation* find(std::string_view operation) const;

  std::vector<KnownOperation> known_;
  std::set<std::string_view> excluded_;
  std::unordered_map<std::string_view, std::vector<std::string_view>> signatures_;
};

}  // namespace opwright
