#include "perf/csv_reader.h"

#include <gtest/gtest.h>

#include "base/test_folder.h"
#include "perf/attributes.h"
#include "perf/csv_cells.h"
#include "perf/fixture.h"

namespace opwright::perf {
namespace {

using Cells = std::vector<std::string_view>;

TEST(CellSplitter, QuotesEmptyCellsAndDoubledQuotes) {
  CellSplitter splitter;
  Cells cells;
  EXPECT_TRUE(splitter.split("a,,\"b,c\",\"say \"\"x\"\" y\",", cells));
  EXPECT_EQ(cells, (Cells{"a", "", "b,c", "say \"x\" y", ""}));
  EXPECT_TRUE(splitter.split("", cells));
  EXPECT_EQ(cells, Cells{""});
  EXPECT_FALSE(splitter.split("a,\"b", cells));
}

TEST(CellSplitter, ASemicolonInsideBracketsBelongsToTheCell) {
  CellSplitter splitter(';');
  Cells cells;
  EXPECT_TRUE(splitter.split("a;{'x': 'f(1;2)'; 'y': '3'};['p'; 'q'];b", cells));
  EXPECT_EQ(cells, (Cells{"a", "{'x': 'f(1;2)'; 'y': '3'}", "['p'; 'q']", "b"}));
}

TEST(Attributes, AreReadByNameAndThoseOfOneCallAreLeftOut) {
  const std::string cell = "{'dim': '3'; 'shape': 'Shape([1; 2])'; 'semaphore': '[77]'; 'update_idxs': '{4; 5}'}";
  EXPECT_EQ(attribute(cell, "shape"), "Shape([1; 2])");
  EXPECT_EQ(attribute(cell, "none"), "");
  EXPECT_EQ(stable_attributes(cell), "{'dim': '3'; 'shape': 'Shape([1; 2])'}");
  EXPECT_EQ(stable_attributes("dims={0;1}"), "dims={0;1}");
  EXPECT_TRUE(attributes_of("{'a': 'b").empty());
}

TEST(CsvReader, EveryGenerationGivesTheSameRows) {
  for (const auto& [name, generation, source] :
       {std::tuple{"generation_2024.csv", Generation::k2024, TimeSource::kKernel},
        std::tuple{"generation_v1.csv", Generation::kV1, TimeSource::kKernel},
        std::tuple{"generation_v2.csv", Generation::kV2, TimeSource::kKernel},
        std::tuple{"generation_v2_1.csv", Generation::kV2_1, TimeSource::kKernel},
        std::tuple{"generation_quasar.csv", Generation::kQuasar, TimeSource::kProcessorKernels}}) {
    const Recording recording = read_fixture(name);
    EXPECT_TRUE(recording.troubles.empty()) << name;
    ASSERT_EQ(recording.samples.size(), 12u) << name;
    EXPECT_EQ(recording.headers.front().generation, generation) << name;
    EXPECT_EQ(recording.time_source(), source) << name;
    EXPECT_EQ(recording.samples[1].kernel_ns, 20000) << name;
    EXPECT_EQ(recording.samples[1].op_to_op_ns, 600) << name;
    const SignatureParts& parts = recording.of(recording.samples[1]).parts;
    ASSERT_EQ(parts.inputs.size(), 2u) << name;
    EXPECT_EQ(parts.inputs[1].logical, (std::array<std::int64_t, 4>{1, 1, 1024, 4096})) << name;
    EXPECT_EQ(parts.inputs[1].memory, "DRAM_INTERLEAVED") << name;
    EXPECT_EQ(parts.outputs[0].dtype, "BFLOAT16") << name;
  }
}

struct Damage {
  const char* file;
  Trouble trouble;
  std::int64_t count;
  std::uint64_t row;
  const char* column;
  std::size_t samples;  // what remains
};

TEST(CsvReader, DamageIsNamedWithRowAndColumnAndTheRestIsRead) {
  for (const Damage& damage : std::initializer_list<Damage>{
           {"bad_cut_in_a_row.csv", Trouble::kCutRow, 1, 17, "", 14},
           {"bad_row_in_the_middle.csv", Trouble::kCutRow, 1, 8, "", 15},
           {"bad_header_twice.csv", Trouble::kRepeatedHeader, 1, 7, "", 16},
           {"bad_generations_mixed.csv", Trouble::kOtherHeader, 1, 20, "", 20},
           {"bad_column_twice.csv", Trouble::kDoubledColumn, 1, 1, "CORE COUNT", 12},
           {"bad_no_kernel_column.csv", Trouble::kMissingColumn, 1, 1, "DEVICE KERNEL DURATION [ns]", 12},
           {"bad_cells.csv", Trouble::kNoValue, 2, 3, "DEVICE KERNEL DURATION [ns]", 12},
           {"bad_cells.csv", Trouble::kUnreadable, 1, 5, "OP TO OP LATENCY [ns]", 12},
           {"bad_cells.csv", Trouble::kNegativeTime, 1, 7, "DEVICE KERNEL DURATION [ns]", 12},
           {"bad_clock_back.csv", Trouble::kClockBack, 1, 10, "DEVICE FW START CYCLE", 12},
           {"bad_window_without_end.csv", Trouble::kOpenWindow, 1, 2, "OP CODE", 8},
           {"bad_open_quote.csv", Trouble::kOpenQuote, 1, 5, "", 15},
           {"bad_unknown_type.csv", Trouble::kUnknownType, 1, 3, "OP TYPE", 15},
       }) {
    const Recording recording = read_fixture(damage.file);
    EXPECT_EQ(recording.troubles.of(damage.trouble), damage.count) << damage.file;
    EXPECT_EQ(recording.samples.size(), damage.samples) << damage.file;
    if (recording.troubles.of(damage.trouble) == 0) continue;
    const Place& first = recording.troubles.kinds().at(damage.trouble).first;
    EXPECT_EQ(first.row, damage.row) << damage.file;
    EXPECT_EQ(first.column, damage.column) << damage.file;
    EXPECT_EQ(first.file, fixture(damage.file));
  }
}

TEST(CsvReader, SemicolonsPackedFilesAndMarksOfByteOrderAreOrdinary) {
  EXPECT_EQ(read_fixture("semicolons.csv").samples.size(), 8u);
  EXPECT_TRUE(read_fixture("semicolons.csv").troubles.empty());
  EXPECT_EQ(read_fixture("window_two_devices.csv.gz").samples.size(), 32u);
  const TestFolder folder;
  const std::string path =
      folder.write("b.csv",
                   "\xef\xbb\xbfOP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,OP TO OP LATENCY [ns],DEVICE "
                   "KERNEL DURATION [ns]\r\nA,tt_dnn_device,1024,0,\"1\n\",5\r\n\r\n");
  const auto recording = read_one(path);
  ASSERT_TRUE(recording) << recording.error().message;
  ASSERT_EQ(recording->samples.size(), 1u);
  EXPECT_EQ(recording->samples[0].kernel_ns, 5);
  EXPECT_TRUE(recording->troubles.empty());
}

TEST(CsvReader, AnOpenQuoteNearTheEndIsShownAsItWas) {
  const TestFolder folder;
  const std::string head =
      "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,OP TO OP LATENCY [ns],DEVICE KERNEL DURATION [ns]\n";
  const std::string row = "Aaaaaaaaaaaaaaaaaaaaaaaaaaaa,tt_dnn_device,1024,0,1,5\n";
  const auto recording = read_one(folder.write("q.csv", head + row + "\"" + row + row));
  ASSERT_TRUE(recording) << recording.error().message;
  EXPECT_EQ(recording->samples.size(), 2u);
  EXPECT_EQ(recording->troubles.kinds().at(Trouble::kOpenQuote).first.seen.substr(0, 5), "\"Aaaa");
}

TEST(CsvReader, AFileOfAnotherKindIsAnError) {
  EXPECT_NE(read_one(fixture("not_a_report.csv")).error().message.find("not a profiler report"), std::string::npos);
  EXPECT_EQ(read_one(fixture("none.csv")).error().code, ErrorCode::kNotFound);
  const TestFolder folder;
  EXPECT_FALSE(read_one(folder.write("empty.csv", "")));
}

}  // namespace
}  // namespace opwright::perf
