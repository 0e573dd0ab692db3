// Reports made up row by row. For tests only.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/test_folder.h"
#include "perf/report.h"

namespace opwright::perf {

struct MadeUpOp {
  std::string op = "MatmulDeviceOperation";
  double kernel_ns = 1000;
  double gap_ns = 100;
  std::string dtype = "BFLOAT16", memory = "DEV_0_DRAM_INTERLEAVED", attributes = "{'dim': '3'}", fidelity = "HiFi2";
  std::int64_t rows = 32;
};

inline std::string made_up_csv(const std::vector<std::vector<MadeUpOp>>& iterations) {
  std::string text =
      "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,AVAILABLE WORKER "
      "CORE COUNT,HOST START TS,OP TO OP LATENCY [ns],DEVICE KERNEL DURATION [ns],INPUT_0_W_PAD[LOGICAL],"
      "INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],INPUT_0_X_PAD[LOGICAL],INPUT_0_LAYOUT,INPUT_0_DATATYPE,"
      "INPUT_0_MEMORY\n";
  int call = 1;
  for (const auto& iteration : iterations)
    for (const MadeUpOp& one : iteration) {
      text += fmt::format("{},tt_dnn_device,{},0,wormhole_b0,{},{},8,64,{},{},{},1[1],1[1],{}[{}],64[64],TILE,{},{}\n",
                          one.op, call * 1024, one.attributes, one.fidelity, call * 1000, one.gap_ns,
                          has(one.kernel_ns) ? fmt::format("{}", one.kernel_ns) : "", one.rows, one.rows, one.dtype,
                          one.memory);
      ++call;
    }
  return text;
}

inline Report made_up_report(const std::vector<std::vector<MadeUpOp>>& iterations) {
  const TestFolder folder;
  Report report;
  auto recording = read_one(folder.write("made_up.csv", made_up_csv(iterations)));
  if (!recording) {
    ADD_FAILURE() << recording.error().message;
    return report;
  }
  report.recording = std::move(*recording);
  report.recording.files = {"made_up.csv"};
  const Recording& all = report.recording;
  report.window = *choose_window(all.windows, all.marks, all.samples.size(), all.host.size(), "", "made_up.csv");
  report.reduced = *reduce(all, report.window, {.iterations = static_cast<std::int64_t>(iterations.size())});
  report.explanations.resize(report.reduced.positions.size());
  return report;
}

// `count` iterations whose times go up and down by `wobble`.
inline std::vector<std::vector<MadeUpOp>> wobbling(const std::vector<MadeUpOp>& iteration, std::size_t count,
                                                   double wobble) {
  std::vector<std::vector<MadeUpOp>> all(count, iteration);
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t j = 0; j < iteration.size(); ++j)
      all[i][j].kernel_ns += wobble * static_cast<double>(static_cast<int>((i * 7 + j * 3) % 5) - 2);
  return all;
}

}  // namespace opwright::perf
