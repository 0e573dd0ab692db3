// The second ground on which a fused test is proven: the real library on its mock board. The emitted file is collected
// and run as it is, every call must be accepted, and what was recorded meanwhile must be what the module called, field
// by field.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "fuse/drift.h"
#include "fuse/report.h"

namespace opwright::jobs {

struct MockProofRequest {
  std::string file;    // test_N.py
  std::string board;   // "n150"
  std::string python;  // that has ttnn, torch and pytest; "" the first one on PATH
};

struct MockProof {
  std::int64_t passed = 0, failed = 0, skipped = 0;  // tests
  std::int64_t calls = 0;                            // recorded meanwhile
  int exit_status = 0;                               // of pytest
  std::string output;                                // of pytest
  fuse::DriftReport drift;

  bool holds() const;
  std::string why_not() const;  // one line; "" it holds
};

// An error: it could not be run at all (no library, no board of that name).
Result<MockProof> prove_on_mock(const fuse::FusedTest& test, const MockProofRequest& request);
// The same as a stage of `fuse make`.
Status mock_stage(const fuse::FusedTest& test, const MockProofRequest& request, fuse::Section& section);

}  // namespace opwright::jobs
