// Any bytes as a file of vectors: what the existing generator writes, or one vector a line.
#include "laws.h"
#include "vectors/read_vectors.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const opwright::fuzz::MemoryFile file(opwright::fuzz::text_of(data, size));
  const auto read = [&](std::vector<std::string>& ids) {
    return opwright::vectors::read_vectors(
        file.path(), [&](opwright::vectors::TestVector&& vector) -> opwright::Status {
          opwright::fuzz::require(!vector.id.empty() && !vector.key.empty(), "a vector has a name and a key",
                                  vector.id);
          opwright::fuzz::require(!vector.config.op.empty(), "a vector has an operation", vector.id);
          ids.push_back(vector.id + ' ' + vector.key + ' ' + vector.suite);
          return {};
        });
  };
  std::vector<std::string> first;
  std::vector<std::string> second;
  const auto status = read(first);
  opwright::fuzz::require_sound(status);
  opwright::fuzz::require(status || first.empty(), "damaged input hands nothing over");
  opwright::fuzz::require(read(second).has_value() == status.has_value() && first == second,
                          "reading again gives the same");
  return 0;
}
