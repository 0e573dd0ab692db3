// Small calls for tests of stores.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.h"
#include "store/reader.h"
#include "store/writer.h"

namespace opwright::store {

inline constexpr const char* kIdentity = "keys 1, terms 1";

// The one way of a question that asks for these terms.
inline std::vector<Way> with_terms(std::vector<std::uint64_t> terms) { return {{std::move(terms), {}}}; }

inline ConfigKey key(std::string_view name) { return sha256(name); }
inline Hash128 fingerprint(std::string_view name) { return xxh128(name); }

// One configuration with one form, under the next free ids of the writer.
inline void add_call(Batch& batch, const Writer& writer, std::string_view name, const std::string& op = "ttnn.add") {
  const auto offset = static_cast<std::int64_t>(batch.configurations.size());
  const ConfigId config{writer.next_configuration().value + offset};
  const FormId form{writer.next_form().value + offset};
  batch.configurations.push_back({config, op, Convention::kPython, key(name)});
  batch.forms.push_back(
      {form, config, fingerprint(name), FormKind::kEra2, 1, 2, 3, op, "{\"name\": \"" + std::string(name) + "\"}"});
}

}  // namespace opwright::store
