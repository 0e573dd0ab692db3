// A device that misbehaves on request, to prove that a run survives it and names the right culprit. It is the simulated
// n150, and what else it does is asked for by the width of the first tensor, in tiles (Misdeed). Device name:
// "selftest". Calls of the operation $OPWRIGHT_SELFTEST_BROKEN_OP are wrong, whatever their width.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "device/device.h"
#include "exec/run_case.h"

namespace opwright {

enum class Misdeed : std::uint8_t {
  kNone = 1,  // and every width beyond the last
  kSegfault,
  kAbort,
  kHang,
  kLeak,               // keeps 64 MB and passes
  kEatMemory,          // until it gets no more
  kWrong,              // a wrong result
  kFlaky,              // a wrong result every other time, by chance
  kPoison,             // passes, and makes later cases of its process wrong that …
  kPoisoned,           // … are of this kind
  kGarbage,            // writes into the protocol
  kThrow,              // an exception in the device
  kExit,               // ends its process as if all was well
  kKilled,             // kill -9 of itself
  kNeedsMemory,        // 256 MB: passes alone
  kBadReferenceThrow,  // the reference throws,
  kBadReferenceCrash,  // … crashes,
  kBadReferenceHang,   // … hangs,
  kBadReferenceWrong,  // … is wrong,
  kBadReferenceNan,    // … gives NaN
  kBreakMachine,  // from here on every case on this machine is wrong, the canary too, while $OPWRIGHT_SELFTEST_BROKEN
                  // exists
  kCrashAfter,    // passes, and crashes before its process has begun another case
  kWriteAfter,    // passes, and writes into the protocol then
  kTired,         // a wrong result when its process has run four cases before, whichever
  kHalfPoison,    // two of these poison a process
  kOnce,          // a wrong result the first time that this machine sees it: marked beside $OPWRIGHT_SELFTEST_BROKEN
};
std::string_view name_of(Misdeed misdeed);

std::unique_ptr<Device> open_selftest_device();
// The reference's part, for RunOptions::tamper.
void selftest_tamper(const BoundCall& call, Exact& exact);

}  // namespace opwright
