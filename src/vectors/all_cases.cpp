#include "vectors/all_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>

#include "normalize/normalize.h"
#include "vectors/groups.h"
#include "vectors/validity.h"

namespace opwright::vectors {
namespace {

// A list of distinct values, in the order in which they came.
template <class T>
class Choices {
 public:
  void add(const std::string& text, const T& value) {
    if (seen_.insert(text).second) values.push_back(value);
  }
  std::vector<T> values;

 private:
  std::set<std::string> seen_;
};

// How many tensors an argument is: 1 for a tensor, n for a list of n tensors, 0 for anything else.
std::size_t tensors_in(const Value& value) {
  if (value.as_tensor() != nullptr) return 1;
  const List* list = value.as_list();
  if (list == nullptr || list->empty()) return 0;
  const bool all =
      std::all_of(list->begin(), list->end(), [](const Value& item) { return item.as_tensor() != nullptr; });
  return all ? list->size() : 0;
}

std::string one_mesh(const OpConfig& config) {
  std::string mesh = placement_mesh(config);
  return mesh == "1x1" ? "" : mesh;
}

TensorSpec without_choices(TensorSpec spec) {
  spec.dtype = {};
  spec.layout = {};
  spec.memory.reset();
  return spec;
}

}  // namespace

std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_mul_overflow(a, b, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}

std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t out = 0;
  return __builtin_add_overflow(a, b, &out) ? std::numeric_limits<std::int64_t>::max() : out;
}

struct CaseSpace::Part {
  struct TensorArgument {
    std::string name;
    std::size_t count = 0;
    bool list = false;
  };
  struct Slot {
    Choices<Spelled<DType>> dtype;
    Choices<Spelled<Layout>> layout;
    Choices<std::optional<MemoryConfig>> memory;
  };
  struct Other {
    Choices<std::optional<Value>> values;  // nothing: not passed
    std::size_t passed = 0;
  };

  std::string op;
  Convention convention = Convention::kPython;
  std::size_t calls = 0;
  std::vector<TensorArgument> tensor_arguments;
  Choices<std::vector<TensorSpec>> shapes;
  std::vector<Slot> slots;
  std::map<std::string, Other> others;

  void add(const OpConfig& config) {
    op = config.op;
    convention = config.convention;
    ++calls;
    std::vector<TensorSpec> specs;
    const bool first = tensor_arguments.empty();
    for (const Argument& argument : config.args) {
      const std::size_t count = tensors_in(argument.value);
      if (count == 0) {
        Other& other = others[argument.name];
        other.values.add(to_text(argument.value), argument.value);
        ++other.passed;
        continue;
      }
      if (first) tensor_arguments.push_back({argument.name, count, argument.value.as_list() != nullptr});
      for_each_tensor(argument.value, [&](const TensorSpec& spec) { specs.push_back(spec); });
    }
    slots.resize(specs.size());
    std::string text;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      slots[i].dtype.add(std::string(specs[i].dtype.name()), specs[i].dtype);
      slots[i].layout.add(std::string(specs[i].layout.name()), specs[i].layout);
      slots[i].memory.add(specs[i].memory ? to_text(*specs[i].memory) : "", specs[i].memory);
      specs[i] = without_choices(std::move(specs[i]));
      text += to_text(specs[i]) + ";";
    }
    shapes.add(text, specs);
  }

  // Number of choices of each parameter, the slowest first.
  std::vector<std::size_t> radices() const {
    std::vector<std::size_t> out{shapes.values.size()};
    for (const Slot& slot : slots)
      out.insert(out.end(), {slot.dtype.values.size(), slot.layout.values.size(), slot.memory.values.size()});
    for (const auto& [name, other] : others) out.push_back(other.values.values.size() + (other.passed < calls ? 1 : 0));
    return out;
  }

  OpConfig build(const std::vector<std::size_t>& at) const {
    OpConfig config;
    config.op = op;
    config.convention = convention;
    std::size_t next = 0;
    std::vector<TensorSpec> specs = shapes.values[at[next++]];
    for (std::size_t i = 0; i < slots.size(); ++i) {
      specs[i].dtype = slots[i].dtype.values[at[next++]];
      specs[i].layout = slots[i].layout.values[at[next++]];
      specs[i].memory = slots[i].memory.values[at[next++]];
    }
    std::size_t tensor = 0;
    for (const TensorArgument& argument : tensor_arguments) {
      List list;
      for (std::size_t i = 0; i < argument.count; ++i) list.push_back(Value::tensor(std::move(specs[tensor++])));
      config.args.push_back({argument.name, argument.list ? Value(std::move(list)) : std::move(list.front())});
    }
    for (const auto& [name, other] : others) {
      const std::size_t choice = at[next++];
      if (choice < other.values.values.size()) config.args.push_back({name, *other.values.values[choice]});
    }
    normalize::settle(config);
    return config;
  }
};

CaseSpace::CaseSpace() = default;
CaseSpace::~CaseSpace() = default;
CaseSpace::CaseSpace(CaseSpace&&) noexcept = default;
CaseSpace& CaseSpace::operator=(CaseSpace&&) noexcept = default;

void CaseSpace::add(const TestVector& traced) {
  std::string passed = fmt::format("{}:", name_of(traced.config.convention));
  for (const Argument& argument : traced.config.args)
    if (const std::size_t count = tensors_in(argument.value); count > 0)
      passed += fmt::format("{}*{}{},", argument.name, count, argument.value.as_list() != nullptr ? "list" : "");
  auto& part = parts_[passed];
  if (part == nullptr) part = std::make_unique<Part>();
  part->add(traced.config);
  TestVector known = traced;
  known.config = {};
  known.arguments.clear();
  known.config_hash.clear();  // its vector is another one than that of the traced suite
  traced_.try_emplace(traced.key, std::move(known));
}

std::int64_t CaseSpace::size() const {
  std::int64_t all = 0;
  for (const auto& [passed, part] : parts_) {
    std::int64_t product = 1;
    for (const std::size_t radix : part->radices())
      product = saturating_product(product, static_cast<std::int64_t>(radix));
    all = saturating_sum(all, product);
  }
  return all;
}

Status CaseSpace::for_each(const std::string& suite, const UseVector& use) const {
  for (const auto& [passed, part] : parts_) {
    const std::vector<std::size_t> radices = part->radices();
    std::vector<std::size_t> at(radices.size(), 0);
    while (true) {
      TestVector vector;
      vector.config = part->build(at);
      const auto known = traced_.find(to_hex(vector.config.key));
      if (known != traced_.end()) {
        OpConfig config = std::move(vector.config);
        vector = known->second;
        vector.config = std::move(config);
      } else {
        vector.mesh = one_mesh(vector.config);
        vector.invalid = why_invalid({vector.config});
      }
      vector.suite = suite;
      name_vector(vector);
      OPWRIGHT_TRY(use(std::move(vector)));
      std::size_t digit = radices.size();
      while (digit > 0 && ++at[digit - 1] == radices[digit - 1]) at[--digit] = 0;
      if (digit == 0) break;
    }
  }
  return {};
}

}  // namespace opwright::vectors
