// Any bytes as a native trace: the same twice, and what is read of it survives being written again. Half of the inputs
// get right checksums first, so that the fuzzer gets behind them.
#include <string>

#include "base/input.h"
#include "format/native/call_stream.h"
#include "format/native/call_text.h"
#include "format/native/native_calls.h"
#include "format/native/native_reader.h"
#include "format/native/trim.h"
#include "laws.h"
#include "native_bytes.h"

namespace {

using namespace opwright;  // NOLINT(google-build-using-namespace): one small program

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
  format::NativeCalls typed(*trace);
  while (const format::NativeCall* call = stream.next()) {
    fuzz::require(!format::call_text(*trace, *call).empty(), "a call can be shown");
    whole += trace->values().is_whole(call->call) ? 1 : 0;
    format::LiftNotes notes;
    if (const auto made = typed.call(*call, notes))
      fuzz::require(made->sequence == call->seq && made->tensors.size() == call->tensors.size(),
                    "a typed call is the recorded one");
    else
      fuzz::require(!made.error().message.empty(), "an error says what is wrong");
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
    check(opwright::fuzz::with_checksums(bytes));
  } else {
    check(bytes);
  }
  return 0;
}
