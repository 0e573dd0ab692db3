// Sequences for tests of stores.
#pragma once

#include <memory>
#include <random>
#include <string>

#include "store/rows.h"

namespace opwright::store {

// A trace of which only its bytes matter here.
struct TestTrace {
  std::string uid, bytes;
  DataFlow flow = DataFlow::kRecorded;
  std::string name = "test_mlp.py";
  std::string started = "2026-01-02T03:04:05.000000Z";
};

inline std::string noise(std::size_t size, unsigned seed) {
  std::mt19937 random(seed);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

inline Sequence sequence_of(const TestTrace& trace) {
  Sequence sequence;
  sequence.uid = trace.uid;
  sequence.digest = sha256(trace.bytes);
  sequence.name = trace.name;
  sequence.command = "pytest";
  sequence.machine = "{}";
  sequence.started = trace.started;
  sequence.format = "native";
  sequence.flow = trace.flow;
  sequence.calls = 3;
  sequence.operations = 2;
  sequence.content = static_cast<std::int64_t>(trace.bytes.size());
  sequence.size = sequence.content;
  return sequence;
}

inline Batch batch_of(const TestTrace& trace) {
  Batch batch;
  const auto sequence = std::make_shared<const Sequence>(sequence_of(trace));
  std::int64_t place = 0;
  for (std::size_t at = 0; at < trace.bytes.size(); at += kPieceBytes, ++place)
    batch.pieces.push_back(
        {sequence, place, trace.bytes.substr(at, kPieceBytes), at + kPieceBytes >= trace.bytes.size()});
  return batch;
}

}  // namespace opwright::store
