#include "format/native/run_facts.h"

#include <fmt/format.h>

#include <cstddef>
#include <ctime>
#include <vector>

#include "base/hash.h"
#include "base/secrets.h"
#include "format/native/made_text.h"
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
  if (value == nullptr) return "";
  if (!value->is_list()) return masked(text_of(value));
  std::vector<std::string> words;
  for (const NativeValue* word : value->items) words.push_back(made_text(*word));
  std::string line;
  for (const std::string& word : masked_words(words)) line += (line.empty() ? "" : " ") + word;
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
    // The recorder masks secrets; older ones and other writers did not.
    if (is_scalar(*value)) {
      facts.texts.emplace_back(fact.name, masked(made_text(*value)));
    } else if (value->is_list()) {
      facts.texts.emplace_back(fact.name, joined(value));
    } else if (value->is(Tag::kDict)) {
      const bool versions = fact.name == "versions" || fact.name == "software_versions";
      for (std::size_t i = 0; i + 1 < value->items.size(); i += 2) {
        const std::string key = made_text(*value->items[i]);
        if (!is_scalar(*value->items[i + 1])) continue;
        std::string text = masked_words({key + "=" + made_text(*value->items[i + 1])}).front().substr(key.size() + 1);
        if (key == "HF_MODEL" || key == "LLAMA_DIR") facts.models.emplace_back(key, text);
        facts.texts.emplace_back(versions ? key : fmt::format("{}.{}", fact.name, key), std::move(text));
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
