// Any bytes as a per-op record: the same twice, and the arguments it becomes are one JSON object with sorted names.
#include <string>

#include "base/json.h"
#include "base/json_write.h"
#include "format/per_op/convert.h"
#include "format/per_op/per_op_reader.h"
#include "laws.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using opwright::fuzz::require;
  const std::string_view text = opwright::fuzz::text_of(data, size);
  opwright::fuzz::Recorder first(size);
  opwright::fuzz::Recorder second(size);
  const auto status = opwright::format::read_per_op_file(text, "1_ttnn_add_20260101_000000_000000.json", first);
  opwright::fuzz::require_sound(status);
  require(status.has_value() ==
              opwright::format::read_per_op_file(text, "1_ttnn_add_20260101_000000_000000.json", second).has_value(),
          "reading again gives the same");
  opwright::fuzz::require_same(first, second, "reading again gives the same");

  opwright::json::Document document;
  opwright::json::Document converted_document;
  const auto record = document.parse(text);
  if (!record) return 0;
  opwright::format::ArgumentTree tree;
  opwright::format::CallArguments converted;
  if (!opwright::format::convert_record(**record, tree, converted).empty()) return 0;
  const auto arguments = converted_document.parse(converted.text);
  require(arguments.has_value() && (*arguments)->is(opwright::json::Kind::kObject), "a record becomes a JSON object",
          converted.text);
  std::string as_it_is;
  std::string sorted;
  opwright::json::append_python(as_it_is, **arguments, {});
  opwright::json::append_python(sorted, **arguments, {.sort_keys = true});
  require(sorted == as_it_is, "converted arguments are sorted, and no name comes twice", converted.text);
  std::string of_tree;
  opwright::json::append_python(of_tree, converted.tree, {});
  require(of_tree == as_it_is, "the tree says what its text says", converted.text);
  return 0;
}
