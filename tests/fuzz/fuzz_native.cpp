// Any bytes as a native trace: the same twice, and what is read of it survives being written again. Half of the inputs
// get right checksums first, so that the fuzzer gets behind them.
#include <cstddef>
#include <cstring>
#include <string>

#include "base/input.h"
#include "capture/crc32c.h"
#include "capture/layout.h"
#include "format/native/call_stream.h"
#include "format/native/call_text.h"
#include "format/native/native_reader.h"
#include "format/native/trim.h"
#include "laws.h"

namespace {

using namespace opwright;  // NOLINT(google-build-using-namespace): one small program

// Headers and records with the checksums that their bytes ask for.
std::string mended(std::string bytes) {
  using namespace capture;  // NOLINT(google-build-using-namespace)
  if (bytes.size() < kHeaderSize) bytes.resize(kHeaderSize);
  std::memcpy(bytes.data(), kMagic, sizeof kMagic);
  const auto put = [&bytes](std::size_t at, std::uint32_t value) {
    std::memcpy(bytes.data() + at, &value, sizeof value);
  };
  put(offsetof(Header, version), kTraceVersion);
  put(offsetof(Header, header_size), kHeaderSize);
  put(offsetof(Header, unit), kUnit);
  put(offsetof(Header, header_crc), crc32c(bytes.data(), offsetof(Header, header_crc)));
  for (std::size_t at = kHeaderSize; at + sizeof(ChunkHeader) <= bytes.size(); at += kUnit) {
    std::memcpy(bytes.data() + at, &kChunkMagic, sizeof kChunkMagic);
    if (bytes[at + offsetof(ChunkHeader, units)] == 0) put(at + offsetof(ChunkHeader, units), 1);
    put(at + offsetof(ChunkHeader, crc), crc32c(bytes.data() + at, offsetof(ChunkHeader, crc)));
    for (std::size_t record = at + sizeof(ChunkHeader); record + sizeof(RecordHeader) < bytes.size();) {
      std::uint32_t length = 0;
      std::memcpy(&length, bytes.data() + record, sizeof length);
      const std::size_t payload = record + sizeof(RecordHeader);
      if (length == 0 || length > bytes.size() - payload) break;
      put(record + offsetof(RecordHeader, crc), crc32c(bytes.data() + payload, length));
      record = payload + (length + 3) / 4 * 4;
    }
  }
  return bytes;
}

void check(const std::string& bytes) {
  fuzz::Recorder first(std::size_t{1} << 40), second(std::size_t{1} << 40);
  const auto read = [&bytes](fuzz::Recorder& into) {
    const fuzz::MemoryFile file(bytes);
    auto input = Input::open(file.path());
    fuzz::require(input.has_value(), "a file in memory can be opened");
    return format::read_native(std::move(*input), "t.opwt", {}, into);
  };
  const Status status = read(first);
  fuzz::require_sound(status);
  fuzz::require(status.has_value() == read(second).has_value(), "reading again gives the same");
  fuzz::require_same(first, second, "reading again gives the same");

  auto trace = format::NativeTrace::from_bytes(bytes, "t.opwt");
  if (!trace) return;
  std::size_t whole = 0, calls = 0;
  format::CallsInOrder stream(*trace);
  while (const format::NativeCall* call = stream.next()) {
    fuzz::require(!format::call_text(*trace, *call).empty(), "a call can be shown");
    whole += trace->values().is_whole(call->call) ? 1 : 0;
    ++calls;
  }
  fuzz::require(calls == stream.begun(), "each call that began comes once");
  format::MemoryOutput memory;
  const auto trimmed = format::trim(*trace, {}, memory);
  fuzz::require(trimmed.has_value(), "what can be read can be written");
  auto again = format::NativeTrace::from_bytes(std::move(memory).take(), "t.opwt");
  fuzz::require(again.has_value(), "what was written can be read");
  format::CallStream copied(*again);
  std::size_t kept = 0;
  while (copied.next() != nullptr) ++kept;
  fuzz::require(kept == whole, "no call is lost in a copy");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(opwright::fuzz::text_of(data, size));
  if (size > 0 && data[size - 1] % 2 == 0) {
    check(mended(bytes));
  } else {
    check(bytes);
  }
  return 0;
}
