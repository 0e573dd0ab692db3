// The reports of tests/fixtures/perf, for tests only.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "perf/positions.h"
#include "perf/recording.h"

namespace opwright::perf {

inline std::string fixture(const std::string& name) {
  return std::string(OPWRIGHT_SOURCE_DIR) + "/tests/fixtures/perf/" + name;
}

inline Recording read_fixture(const std::string& name) {
  auto recording = read_one(fixture(name));
  if (!recording) {
    ADD_FAILURE() << recording.error().message;
    return {};
  }
  return std::move(*recording);
}

inline Window window_of(const Recording& recording, const std::string& wanted = "") {
  const auto window = choose_window(recording.windows, recording.marks, recording.samples.size(), recording.host.size(),
                                    wanted, "FILE");
  if (window) return *window;
  ADD_FAILURE() << window.error().message;
  return {};
}

inline Reduced reduced(const Recording& recording, const std::string& wanted = "", ReduceOptions options = {}) {
  auto out = reduce(recording, window_of(recording, wanted), options);
  if (out) return std::move(*out);
  ADD_FAILURE() << out.error().message;
  return {};
}

}  // namespace opwright::perf
