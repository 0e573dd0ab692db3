#include "format/native/run_facts.h"

#include <fmt/format.h>

#include <cstddef>
#include <ctime>
#include <vector>

#include "base/hash.h"
#include "format/native/masked_facts.h"
#include "format/native/value_json.h"

namespace opwright::format {
namespace {

using capture::Tag;

bool is_scalar(const NativeValue& value) {
  switch (value.tag) {
    case Tag::kTrue:
    case Tag::kFalse:
    case Tag::kInt:
    case Tag::kBigInt:
    case Tag::kFloat:
    case Tag::kString:
    case Tag::kEnum:
      return true;
    default:
      return false;
  }
}

std::string joined(const NativeValue* value) {  // a text, or a list of words
  if (value == nullptr || !(value->is_list() || value->is(Tag::kString))) return "";
  std::string line;
  for (const MaskedPart& part : masked_parts(*value)) line += (line.empty() ? "" : " ") + part.text;
  return line;
}

std::string utc(std::int64_t unix_ns) {
  const std::time_t seconds = unix_ns / 1'000'000'000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:06}Z", text, unix_ns / 1000 % 1'000'000);
}

}  // namespace

std::string RunFacts::source_of(std::string_view test) const {
  std::string named = !source.empty() ? source : test.empty() ? program : std::string(test);
  return takes_model_from_environment(named, tags_all_transformers) ? with_model_tags(std::move(named), models) : named;
}

RunFacts facts_of_run(NativeTrace& trace) {
  RunFacts facts;
  facts.uid = trace.fact_text("uid");
  // The uid names the run, whose processes write a trace each; their calls add up. A converted trace has no process.
  if (!facts.uid.empty() && trace.header().pid != 0) {
    facts.texts.emplace_back("run", facts.uid);
    facts.uid += fmt::format("/{}-{}", trace.header().pid, trace.header().start_unix_ns);
  }
  if (const NativeValue* machine = trace.fact("machine"); machine != nullptr && machine->is(Tag::kDict))
    facts.machine = to_json(*machine);
  facts.source = trace.fact_text("source");
  facts.program = trace.fact_text("test_source");
  // Recorders that write this fact came with the rule; so did the folders we make of their traces.
  facts.tags_all_transformers =
      !facts.program.empty() && (trace.header().pid != 0 || trace.fact_text("sources") == "test_nodeid");
  if (facts.program.empty()) facts.program = trace.fact_text("script");
  if (facts.program.empty()) facts.program = joined(trace.fact("command"));
  for (const Fact& fact : trace.facts()) {
    const NativeValue* value = trace.values().decode(fact.encoded);
    if (value == nullptr) {
      trace.damage().add("damaged_value", static_cast<std::size_t>(fact.encoded.data() - trace.file().bytes().data()),
                         [&] { return fmt::format("the fact {} is not whole", fact.name); });
      continue;
    }
    if (fact.name == "machine" || fact.name == "uid" || fact.name.starts_with("@")) continue;
    if (is_scalar(*value)) {
      facts.texts.emplace_back(fact.name, masked_parts(*value).front().text);
    } else if (value->is_list()) {
      facts.texts.emplace_back(fact.name, joined(value));
    } else if (value->is(Tag::kDict)) {
      const bool versions = fact.name == "versions" || fact.name == "software_versions";
      for (const MaskedPart& part : masked_parts(*value)) {
        if (!is_scalar(*part.value)) continue;
        if (part.key == "HF_MODEL" || part.key == "LLAMA_DIR") facts.models.emplace_back(part.key, part.text);
        facts.texts.emplace_back(versions ? part.key : fmt::format("{}.{}", fact.name, part.key), part.text);
      }
    }
  }
  if (trace.header().start_unix_ns != 0) facts.texts.emplace_back("started", utc(trace.start_unix_ns()));
  return facts;
}

std::string digest_of(const NativeFile& file) {
  StreamHash digest;
  digest.add(file.bytes().substr(0, offsetof(capture::Header, state)));
  for (const NativeFile::Chunk& chunk : file.chunks()) {
    const std::size_t start = chunk.offset - sizeof(capture::ChunkHeader);
    digest.add(file.bytes().substr(start, chunk.end - start));
  }
  return to_hex(digest.digest());
}

}  // namespace opwright::format
