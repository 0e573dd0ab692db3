// Any line as one that a run's parent, its workers or a device program say: the first byte chooses who listens.
#include "device/external/messages.h"
#include "exec/job.h"
#include "laws.h"
#include "model/record_json.h"

namespace {

template <class T>
void require_words(const opwright::Result<T>& result) {
  opwright::fuzz::require(result.has_value() || !result.error().message.empty(), "an error says what is wrong");
}

void read_record(std::string_view line) {
  opwright::json::Document document;
  const auto root = document.parse(line);
  if (!root) return;
  const auto record = opwright::parse_record(**root);
  require_words(record);
  if (!record) return;
  const std::string text = opwright::to_json(*record);
  opwright::json::Document again;
  const auto node = again.parse(text);
  opwright::fuzz::require(node.has_value(), "a record is written as JSON", text);
  const auto same = opwright::parse_record(**node);
  opwright::fuzz::require(same.has_value(), "a record that was written can be read", text);
  opwright::fuzz::require(opwright::to_json(*same) == text, "a record that was read is the same", text);
}

void read_job(std::string_view line) {
  const auto job = opwright::parse_job(line);
  require_words(job);
  if (!job) return;
  const std::string text = opwright::to_json(*job);
  const auto same = opwright::parse_job(text);
  opwright::fuzz::require(same.has_value(), "a job that was written can be read", text);
  opwright::fuzz::require(opwright::to_json(*same) == text, "a job that was read is the same", text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view line = opwright::fuzz::text_of(data, size);
  if (line.empty()) return 0;
  const char listener = line.front();
  line.remove_prefix(1);
  switch (listener) {
    case 'j':
      read_job(line);
      break;
    case 'r':
      read_record(line);
      break;
    case 'h':
      require_words(opwright::parse_hello(line));
      break;
    default:
      require_words(opwright::parse_answer(line, 7));
  }
  return 0;
}
