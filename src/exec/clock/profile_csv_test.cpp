#include "exec/clock/profile_csv.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/test_folder.h"
#include "exec/case_line.h"

namespace opwright {
namespace {

constexpr char kMatmul[] =
    "ttnn.matmul(tensor([1,1,64,256] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)), tensor([1,1,256,96] BFLOAT8_B "
    "TILE "
    "DEVICE memory(DRAM INTERLEAVED)), transpose_b=false)";
constexpr char kRelu[] = "ttnn.relu(tensor([1,1,50,70] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)))";
constexpr char kView[] = "ttnn.unsqueeze(tensor([1,1,64,96] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED)), 0)";

std::string content(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> out(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (c == ',' && !quoted)
      out.emplace_back();
    else
      out.back() += c;
  }
  return out;
}

ProfileCsv::Counts write(const std::string& path, const std::vector<std::string>& lines) {
  const Board board = *find_board("n150");
  auto csv = ProfileCsv::create(path);
  EXPECT_TRUE(csv.has_value());
  for (const std::string& line : lines) {
    const auto plan = plan_call(*parse_case(line), board);
    EXPECT_TRUE(plan.has_value()) << line;
    EXPECT_TRUE(csv->add(*plan, board).has_value());
  }
  EXPECT_FALSE(std::filesystem::exists(path)) << "before it is whole";
  EXPECT_TRUE(csv->commit().has_value());
  return csv->counts();
}

class ProfileCsvTest : public testing::Test {
 protected:
  TestFolder folder_;
  std::string path(const char* name) const { return folder_.file(name); }
};

TEST_F(ProfileCsvTest, ARowAKernelAndAllRowsAsWideAsTheHeader) {
  const auto counts = write(path("a.csv"), {kRelu, kMatmul, kView, kRelu});
  EXPECT_EQ(counts.rows, 3);
  EXPECT_EQ(counts.no_kernel, 1);
  std::istringstream in(content(path("a.csv")));
  std::vector<std::vector<std::string>> rows;
  for (std::string line; std::getline(in, line);) rows.push_back(cells(line));
  ASSERT_EQ(rows.size(), 6U);  // header, start, three, stop
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  const auto at = [&](std::size_t row, std::string_view column) {
    const auto found = std::ranges::find(rows[0], column);
    EXPECT_NE(found, rows[0].end()) << column;
    return rows[row].at(static_cast<std::size_t>(found - rows[0].begin()));
  };
  EXPECT_EQ(at(1, "OP CODE"), "start");
  EXPECT_EQ(at(1, "OP TYPE"), "signpost");
  EXPECT_EQ(at(5, "OP CODE"), "stop");
  EXPECT_EQ(at(2, "OP CODE"), "UnaryDeviceOperation");
  EXPECT_EQ(at(2, "INPUT_0_Y_PAD[LOGICAL]"), "64[50]");
  EXPECT_EQ(at(2, "INPUT_0_MEMORY"), "DEV_0_DRAM_INTERLEAVED");
  EXPECT_EQ(at(2, "INPUT_1_MEMORY"), "");
  EXPECT_EQ(at(2, "PROGRAM CACHE HIT"), "False");
  EXPECT_EQ(at(3, "INPUT_1_DATATYPE"), "BFLOAT8_B");
  EXPECT_EQ(at(3, "ATTRIBUTES"), "{'transpose_b': 'false'}");
  EXPECT_EQ(at(3, "MATH FIDELITY"), "HiFi2");
  EXPECT_EQ(at(4, "PROGRAM CACHE HIT"), "True");
  EXPECT_EQ(at(4, "PROGRAM HASH"), at(2, "PROGRAM HASH"));
  EXPECT_NE(at(3, "PROGRAM HASH"), at(2, "PROGRAM HASH"));
  EXPECT_EQ(at(2, "GLOBAL CALL COUNT"), "1024");
  EXPECT_EQ(at(4, "GLOBAL CALL COUNT"), "3072");
  EXPECT_EQ(at(2, "OP TO OP LATENCY [ns]"), "0");
  EXPECT_EQ(at(4, "DEVICE KERNEL DURATION [ns]"), at(2, "DEVICE KERNEL DURATION [ns]"));
  EXPECT_GT(std::stoll(at(3, "OP TO OP LATENCY [ns]")), 0);
  EXPECT_EQ(std::stoll(at(3, "HOST START TS")), std::stoll(at(2, "HOST START TS")) +
                                                    std::stoll(at(2, "DEVICE KERNEL DURATION [ns]")) +
                                                    std::stoll(at(3, "OP TO OP LATENCY [ns]")));
}

TEST_F(ProfileCsvTest, TheSameBytesEachTime) {
  write(path("a.csv"), {kRelu, kMatmul});
  write(path("b.csv"), {kRelu, kMatmul});
  EXPECT_EQ(content(path("a.csv")), content(path("b.csv")));
  EXPECT_EQ(content(path("a.csv")).find('\t'), std::string::npos);
}

TEST_F(ProfileCsvTest, WhatIsNotCommittedIsNotThere) {
  const Board board = *find_board("n150");
  std::ofstream(path("a.csv")) << "before";
  {
    auto csv = ProfileCsv::create(path("a.csv"));
    ASSERT_TRUE(csv.has_value());
    ASSERT_TRUE(csv->add(*plan_call(*parse_case(kRelu), board), board).has_value());
  }
  EXPECT_EQ(content(path("a.csv")), "before");
}

}  // namespace
}  // namespace opwright
