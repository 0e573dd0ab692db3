#include "format/native/keep_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>
#include <unordered_set>

#include "base/bytes.h"
#include "base/hash.h"
#include "base/secrets.h"
#include "capture/crc32c.h"
#include "format/native/masked_facts.h"
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

void mask(const NativeFile& file, const NativeValue& fact, Patches& patches) {
  for (const MaskedPart& part : masked_parts(fact)) {
    if (part.value->is(Tag::kString))
      patch(file, part.value->text, part.text, patches);
    else if (part.value->is_list() || part.value->is(Tag::kDict))
      mask(file, *part.value, patches);
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

bool runs_tests(const std::string& program) {
  const std::filesystem::path path(program);
  const std::string name = path.filename().string();
  return name == "pytest" || name == "py.test" ||
         (name == "__main__.py" && path.parent_path().filename().string() == "pytest");
}

// The one test, the file of all, or the first file and how many more.
std::string name_of_tests(const NativeTrace& trace) {
  std::set<std::string_view> tests;
  std::vector<std::string_view> files;
  for (const TestOutcome& test : trace.tests()) {
    tests.insert(test.id);
    const std::string_view file = test.id.substr(0, test.id.find("::"));
    if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
  }
  if (tests.size() == 1) return std::string(*tests.begin());
  if (files.size() < 2) return files.empty() ? "" : std::string(files[0]);
  return fmt::format("{} and {} more", files[0], files.size() - 1);
}

// For people. Older recorders named the program that ran the tests, which says nothing about them.
std::string name_of(const NativeTrace& trace, const RunFacts& facts) {
  if (!facts.source.empty()) return facts.source;
  if (runs_tests(facts.program)) {
    if (std::string tests = name_of_tests(trace); !tests.empty()) return tests;
  }
  return !facts.program.empty() ? facts.program : std::filesystem::path(trace.path()).filename().string();
}

}  // namespace

std::string_view kept_bytes(NativeTrace& trace, std::string& room) {
  const NativeFile& file = trace.file();
  const std::string_view bytes = file.bytes().substr(0, used_size(file));
  Patches patches;
  for (const Fact& fact : trace.facts()) {
    if (const NativeValue* value = trace.values().decode(fact.encoded)) mask(file, *value, patches);
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
  sequence.flow = trace.flow().edges;
  // Several files of one run have its id; one that has grown begins as it did.
  if (from == "op-jsonl")
    sequence.uid += fmt::format("/{}-{:016x}", trace.header().start_unix_ns, xxh64(counted.first));
  // Two parts of one trace say different things: neither stands for the other.
  if (const std::string_view part = trace.fact_text("trimmed"); !part.empty())
    sequence.uid += fmt::format(" trimmed {}", part);
  sequence.name = masked(name_of(trace, facts));
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
  TraceBytes kept{.bytes = kept_bytes(trace, room)};
  if (room.empty()) kept.passed = trace.file().passed();
  return sink.keep(std::move(sequence), kept);
}

}  // namespace opwright::format
