#include "format/native/keep_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <unordered_set>

#include "base/hash.h"
#include "base/secrets.h"
#include "capture/crc32c.h"
#include "format/native/byte_reader.h"
#include "format/native/made_text.h"
#include "format/native/run_facts.h"

namespace opwright::format {
namespace {

using capture::kHeaderSize;
using capture::kUnit;
using capture::RecordHeader;
using capture::Tag;

// Texts of the file that are kept with another content: offset -> text of the same length.
using Patches = std::map<std::size_t, std::string>;

// How long the kept file is: behind the last thing that was written.
std::size_t used_size(const NativeFile& file) {
  const std::string_view bytes = file.bytes();
  std::size_t end = std::min(bytes.size(), kHeaderSize);
  // Parts that a reader could not take stay too, so that it says so again.
  if (const std::size_t last = bytes.find_last_not_of('\0'); last != std::string_view::npos)
    end = std::max(end, std::min(bytes.size(), (last / kHeaderSize + 1) * kHeaderSize));
  for (const NativeFile::Chunk& chunk : file.chunks()) end = std::max(end, chunk.end);
  // The first page of a program that runs, or was killed, counts whole units.
  if (file.header().state == static_cast<std::uint32_t>(capture::State::kOpen) && bytes.size() > kHeaderSize)
    end = std::max(
        end, kHeaderSize +
                 std::min(static_cast<std::size_t>(file.header().units), (bytes.size() - kHeaderSize) / kUnit) * kUnit);
  return end;
}

// `text`, which lies in the file, shall become `wanted`. What differs is starred out, so that no length changes.
void patch(const NativeFile& file, std::string_view text, std::string_view wanted, Patches& patches) {
  if (text == wanted) return;
  const std::size_t most = std::min(text.size(), wanted.size());
  std::size_t front = 0, back = 0;
  while (front < most && text[front] == wanted[front]) ++front;
  while (back < most - front && text[text.size() - 1 - back] == wanted[wanted.size() - 1 - back]) ++back;
  std::string& starred =
      patches.try_emplace(static_cast<std::size_t>(text.data() - file.bytes().data()), text).first->second;
  std::fill(starred.begin() + static_cast<std::ptrdiff_t>(front), starred.end() - static_cast<std::ptrdiff_t>(back),
            '*');
}

// By the rules by which facts are masked when they are shown or counted (run_facts.cpp).
void mask_value(const NativeFile& file, const NativeValue& value, Patches& patches) {
  if (value.is(Tag::kString)) return patch(file, value.text, masked(value.text), patches);
  if (value.is_list()) {
    std::vector<std::string> words;
    for (const NativeValue* item : value.items) words.push_back(made_text(*item));
    const std::vector<std::string> shown = masked_words(words);
    for (std::size_t i = 0; i < value.items.size(); ++i) {
      if (value.items[i]->is(Tag::kString) && shown.size() == words.size())
        patch(file, value.items[i]->text, shown[i], patches);
      else
        mask_value(file, *value.items[i], patches);
    }
  } else if (value.is(Tag::kDict)) {
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2) {
      const NativeValue& item = *value.items[i + 1];
      const std::string key = made_text(*value.items[i]);
      if (item.is(Tag::kString))
        patch(file, item.text, masked_words({fmt::format("{}={}", key, item.text)}).front().substr(key.size() + 1),
              patches);
      else
        mask_value(file, item, patches);
    }
  }
}

void apply(const NativeFile& file, const Patches& patches, std::string& bytes) {
  for (const auto& [offset, text] : patches) bytes.replace(offset, text.size(), text);
  for (const NativeFile::Chunk& chunk : file.chunks()) {
    const auto first = patches.lower_bound(chunk.offset);
    if (first == patches.end() || first->first >= chunk.end) continue;
    file.for_each_record(chunk, [&](const RecordView& record) {
      RecordHeader header;
      std::memcpy(&header, bytes.data() + record.offset, sizeof header);
      const std::size_t payload = record.offset + sizeof header;
      const auto inside = patches.lower_bound(payload);
      if (inside == patches.end() || inside->first >= payload + header.length) return;
      header.crc = capture::crc32c(bytes.data() + payload, header.length);
      std::memcpy(bytes.data() + record.offset, &header, sizeof header);
    });
  }
}

struct Counted {
  std::int64_t calls = 0, operations = 0, content = 0;
  std::string_view first;  // the records up to its first call
};

Counted count(NativeTrace& trace) {
  Counted counted;
  std::unordered_set<ValueId> calls;
  std::unordered_set<std::string_view> operations;
  ValueId last = 0;
  for (const NativeFile::Chunk& chunk : trace.file().chunks()) {
    counted.content += static_cast<std::int64_t>(chunk.end - chunk.offset);
    trace.file().for_each_record(chunk, [&](const RecordView& record) {
      if (record.kind != capture::Record::kBegin) return;
      if (counted.calls++ == 0)
        counted.first = trace.file().bytes().substr(
            chunk.offset,
            static_cast<std::size_t>(record.payload.data() + record.payload.size() - trace.file().bytes().data()) -
                chunk.offset);
      ByteReader in(record.payload);
      for (int field = 0; field < 3; ++field) in.varint();  // number, time, parent
      const ValueId call = in.id();
      if (call == last || !calls.insert(call).second) return;
      last = call;
      if (const NativeValue* value = trace.values().call(call)) operations.insert(value->text);
      trace.values().forget();
    });
  }
  counted.operations = static_cast<std::int64_t>(operations.size());
  return counted;
}

}  // namespace

std::string_view kept_bytes(NativeTrace& trace, std::string& room) {
  const NativeFile& file = trace.file();
  const std::string_view bytes = file.bytes().substr(0, used_size(file));
  Patches patches;
  for (const Fact& fact : trace.facts()) {
    if (const NativeValue* value = trace.values().decode(fact.encoded)) mask_value(file, *value, patches);
  }
  if (patches.empty()) return bytes;
  room = bytes;
  apply(file, patches, room);
  return room;
}

Sequence sequence_of(NativeTrace& trace) {
  const RunFacts facts = facts_of_run(trace);
  const Counted counted = count(trace);
  Sequence sequence;
  sequence.calls = counted.calls;
  sequence.operations = counted.operations;
  sequence.content = counted.content;
  sequence.uid = facts.uid.empty() ? "content:" + digest_of(trace.file()) : facts.uid;
  const std::string_view from = trace.fact_text("converted_from");
  sequence.format = from.empty() ? "native" : std::string(from);
  sequence.flow = from.empty() ? DataFlow::kRecorded : DataFlow::kNone;
  // Several files of one run have its id; one that has grown begins as it did.
  if (from == "op-jsonl")
    sequence.uid += fmt::format("/{}-{:016x}", trace.header().start_unix_ns, xxh64(counted.first));
  // Two parts of one trace say different things: neither stands for the other.
  if (const std::string_view part = trace.fact_text("trimmed"); !part.empty())
    sequence.uid += fmt::format(" trimmed {}", part);
  sequence.name = masked(!facts.source.empty() ? facts.source : facts.program);
  if (sequence.name.empty()) sequence.name = std::filesystem::path(trace.path()).filename().string();
  sequence.machine = facts.machine;
  for (const auto& [name, text] : facts.texts) {
    if (name == "command") sequence.command = text;
    if (name == "started") sequence.started = text;
  }
  return sequence;
}

Status keep_calls(NativeTrace& trace, TraceSink& sink) {
  if (!sink.keeps_calls()) return {};
  Sequence sequence = sequence_of(trace);
  if (sequence.calls == 0) return {};
  std::string room;
  return sink.keep(std::move(sequence), kept_bytes(trace, room));
}

}  // namespace opwright::format
