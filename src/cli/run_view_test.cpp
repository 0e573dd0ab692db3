#include "cli/run_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "base/words.h"
#include "model/case_name.h"

namespace opwright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

// As much of a terminal as the view uses: lines that wrap at the width, cursor up, clearing. Anything else fails.
class Screen {
 public:
  explicit Screen(std::size_t columns) : columns_(columns) {}

  void show(std::string_view bytes) {
    for (std::size_t i = 0; i < bytes.size();) {
      if (bytes[i] == '\x1b') {
        i = command(bytes, i);
      } else if (bytes[i] == '\n') {
        move_to(row_ + 1);
        ++i;
      } else if (bytes[i] == '\r') {
        column_ = 0;
        ++i;
      } else {
        std::size_t next = i + 1;
        while (next < bytes.size() && (static_cast<unsigned char>(bytes[next]) & 0xC0) == 0x80) ++next;
        put(std::string(bytes.substr(i, next - i)));
        i = next;
      }
    }
  }

  std::vector<std::string> lines() const {
    std::vector<std::string> out;
    for (const auto& row : rows_) {
      std::string line;
      for (const std::string& cell : row) line += cell;
      out.push_back(line.substr(0, line.find_last_not_of(' ') + 1));
    }
    while (!out.empty() && out.back().empty()) out.pop_back();
    return out;
  }
  bool cursor_shown() const { return shown_; }
  std::size_t row() const { return row_; }
  std::size_t column() const { return column_; }
  int clears = 0;  // of everything below

 private:
  std::size_t command(std::string_view bytes, std::size_t at) {
    const std::size_t end = bytes.find_first_of("AKJmhl", at);
    const std::string word(bytes.substr(at + 2, end - at - 2));
    switch (bytes[end]) {
      case 'A': {
        const std::size_t up = std::stoul(word);
        EXPECT_LE(up, row_) << "above the screen";
        row_ -= std::min(up, row_);
        break;
      }
      case 'K':
        rows_[row_].resize(std::min(column_, rows_[row_].size()));
        break;
      case 'J':
        ++clears;
        rows_.resize(row_ + 1);
        rows_[row_].resize(std::min(column_, rows_[row_].size()));
        break;
      case 'h':
      case 'l':
        EXPECT_EQ(word, "?25");
        shown_ = bytes[end] == 'h';
        break;
      case 'm':
        break;
      default:
        ADD_FAILURE() << "unknown command " << word;
    }
    return end + 1;
  }
  void move_to(std::size_t row) {
    row_ = row;
    column_ = 0;
    if (rows_.size() <= row_) rows_.resize(row_ + 1);
  }
  void put(std::string cell) {
    if (column_ >= columns_) move_to(row_ + 1);
    auto& row = rows_[row_];
    if (row.size() <= column_) row.resize(column_ + 1, " ");
    row[column_++] = std::move(cell);
  }

  std::size_t columns_;
  std::vector<std::vector<std::string>> rows_{1};
  std::size_t row_ = 0;
  std::size_t column_ = 0;
  bool shown_ = true;
};

// A view with a clock that the test moves and a stream that counts writes.
class ViewTest : public testing::Test {
 protected:
  class CountingBuffer : public std::stringbuf {
   public:
    int writes = 0;
    std::streamsize xsputn(const char* text, std::streamsize count) override {
      ++writes;
      return std::stringbuf::xsputn(text, count);
    }
  };

  ViewOptions options(ViewOptions::Mode mode, bool colour = false) {
    return {.mode = mode,
            .colour = colour,
            .size = [this] { return TerminalSize{columns, rows}; },
            .now = [this] { return now; }};
  }
  // What came since the last call.
  std::string taken() {
    std::string text = buffer.str();
    buffer.str("");
    return text;
  }
  static CaseRecord record(Outcome outcome, std::string op = "ttnn.add") {
    CaseRecord out;
    out.op = std::move(op);
    out.outcome = outcome;
    out.wall_seconds = 0.0123;
    out.repeat = "opwright run --case 'ttnn.add(…)'";
    if (outcome == Outcome::kPassed) out.pcc = 0.999986;
    if (is_failure(outcome)) out.reason = "output 0: pcc 0.5";
    return out;
  }

  double now = 1000;
  int columns = 80;
  int rows = 24;
  CountingBuffer buffer;
  std::ostream stream{&buffer};
};

TEST_F(ViewTest, RedIsForFailuresAndWhatNobodyCanAnswerIsGrey) {
  RunView view(stream, options(ViewOptions::Mode::kLines, true));
  view.start({.total = 3});
  for (const auto& [outcome, colour] : {std::pair{Outcome::kFailed, "\x1b[31m"},
                                        {Outcome::kUnsupported, "\x1b[90m"},
                                        {Outcome::kLost, "\x1b[90m"},
                                        {Outcome::kUnproven, "\x1b[33m"},
                                        {Outcome::kPassed, "\x1b[32m"}}) {
    view.case_ended(0, record(outcome));
    EXPECT_THAT(taken(), StartsWith(colour)) << name_of(outcome);
  }
}

TEST_F(ViewTest, WithoutATerminalACaseIsALine) {
  const std::string name = case_name(record(Outcome::kPassed));
  RunView view(stream, options(ViewOptions::Mode::kLines));
  view.start({.total = 609});
  view.case_started(0, "ttnn.add", "ttnn.add(…)", 0.01);
  view.case_ended(0, record(Outcome::kPassed));
  EXPECT_EQ(taken(), "passed  ttnn.add  " + name + "  0.012 s  pcc 0.99998  [1/609]\n");
  CaseRecord failed = record(Outcome::kFailed);
  failed.pcc = 0.5;
  failed.blame = Blame::kOperator;
  failed.evidence = "failed 3 of 3 times, alone in a clean process";
  view.case_ended(0, failed);
  EXPECT_EQ(taken(), "failed  ttnn.add  " + name +
                         "  0.012 s  pcc 0.50000  [2/609]\n"
                         "  output 0: pcc 0.5\n"
                         "  blame: op: failed 3 of 3 times, alone in a clean process\n"
                         "  repeat: opwright run --case 'ttnn.add(…)'\n");
  view.note("worker 1 was replaced");
  EXPECT_EQ(taken(), "worker 1 was replaced\n");
  EXPECT_GT(view.next_tick(), 1e6);
  now += 12;
  view.finish("interrupted");
  EXPECT_EQ(taken(), "2 of 609 cases in 12 s (0.2/s): 1 passed, 1 failed; interrupted\n");
}

TEST_F(ViewTest, QuietPrintsFailuresAndTheLastLine) {
  RunView view(stream, options(ViewOptions::Mode::kQuiet));
  view.start({.total = 3, .done_before = 1});
  view.case_ended(0, record(Outcome::kPassed));
  view.note("worker 1 was replaced");
  EXPECT_EQ(taken(), "");
  view.case_ended(0, record(Outcome::kCrashed));
  EXPECT_THAT(taken(), StartsWith("crashed  ttnn.add"));
  now += 1;
  view.finish();
  EXPECT_EQ(taken(), "2 cases in 1.0 s (2.0/s): 1 passed, 1 crashed; 1 done before\n");
}

TEST_F(ViewTest, ADisagreementOfTwoDevicesIsShownEvenWhenQuiet) {
  RunView view(stream, options(ViewOptions::Mode::kQuiet));
  view.start({.total = 1});
  CaseRecord record = ViewTest::record(Outcome::kPassed);
  record.against = "refused";
  record.disagreement = "passed here, refused there";
  view.case_ended(0, record);
  EXPECT_THAT(taken(), HasSubstr("  against refused: passed here, refused there\n  repeat: opwright run"));
}

TEST_F(ViewTest, AnAccuracyIsNeverRoundedUp) {
  RunView view(stream, options(ViewOptions::Mode::kLines));
  view.start({.total = 2});
  CaseRecord almost = record(Outcome::kPassed);
  almost.pcc = 0.9999999;
  view.case_ended(0, almost);
  EXPECT_THAT(taken(), HasSubstr("pcc 0.99999 "));
  almost.pcc = 1.0;
  view.case_ended(0, almost);
  EXPECT_THAT(taken(), HasSubstr("pcc 1.00000 "));
}

TEST_F(ViewTest, TheLiveViewShowsProgressOutcomesAndRunningCases) {
  Screen screen(80);
  screen.show("$ opwright run\n");
  RunView view(stream, options(ViewOptions::Mode::kLive));
  view.start({.total = 4, .seconds = 4, .slots = 2});
  view.case_started(0, "ttnn.linear", "ttnn.linear(a=1)", 1);
  view.case_started(1, "ttnn.add", "ttnn.add(b=2)", 1);
  now += 2;
  view.case_ended(1, record(Outcome::kPassed));
  view.slot_note(0, "again, alone");
  now += 0.1;
  view.tick();
  screen.show(taken());
  auto lines = screen.lines();
  ASSERT_EQ(lines.size(), 4U);
  EXPECT_EQ(lines[0], "$ opwright run");
  EXPECT_THAT(lines[1], StartsWith("██"));
  // 3 s of estimate are left, cases take twice as long, one has run for 2.1 s, two workers: (6 - 2) / 2.
  EXPECT_THAT(lines[1], HasSubstr("1/4  25 %  0.5/s  2.1 s  about 2.0 s left"));
  EXPECT_EQ(lines[2], "passed 1");
  EXPECT_EQ(lines[3], "   2.1 s  ttnn.linear  again, alone  (a=1)");
  EXPECT_TRUE(screen.cursor_shown());
  EXPECT_EQ(screen.column(), 0U);
  EXPECT_EQ(screen.row(), 4U) << "below the block";

  now += 1;
  view.case_ended(0, record(Outcome::kFailed, "ttnn.linear"));
  now += 0.2;
  view.tick();
  screen.show(taken());
  lines = screen.lines();
  ASSERT_EQ(lines.size(), 6U) << testing::PrintToString(lines);
  EXPECT_EQ(lines[1],
            "failed  ttnn.linear  " + case_name(record(Outcome::kFailed, "ttnn.linear")) + "  0.012 s  [2/4]");
  EXPECT_EQ(lines[3], "  repeat: opwright run --case 'ttnn.add(…)'");
  EXPECT_THAT(lines[4], HasSubstr("2/4"));
  EXPECT_EQ(lines[5], "passed 1  failed 1");

  view.finish("interrupted");
  screen.show(taken());
  lines = screen.lines();
  ASSERT_EQ(lines.size(), 5U) << testing::PrintToString(lines);
  EXPECT_EQ(lines[4], "2 of 4 cases in 3.3 s (0.6/s): 1 passed, 1 failed; interrupted");
}

TEST_F(ViewTest, AFrameIsOneWriteAndThereAreAtMostTenASecond) {
  RunView view(stream, options(ViewOptions::Mode::kLive));
  view.start({.total = 1000, .slots = 1});
  EXPECT_EQ(buffer.writes, 1);
  for (int i = 0; i < 500; ++i) {
    now += 0.002;
    view.case_started(0, "ttnn.add", "", 0);
    view.case_ended(0, record(Outcome::kPassed));
  }
  EXPECT_GE(buffer.writes, 9);
  EXPECT_LE(buffer.writes, 11);
  EXPECT_GT(view.next_tick(), -0.01);
  EXPECT_LE(view.next_tick(), 0.1);
}

TEST_F(ViewTest, AFrameWithoutNewsIsDrawnOverTheOldOneAndBlanksNothing) {
  Screen screen(80);
  RunView view(stream, options(ViewOptions::Mode::kLive));
  view.start({.total = 9, .slots = 2});
  view.case_started(0, "ttnn.add", "", 0);
  view.case_started(1, "ttnn.linear", "", 0);
  now += 0.2;
  view.tick();
  screen.show(taken());
  now += 0.2;
  view.tick();
  const std::string frame = taken();
  const std::size_t first_text = frame.find("0/9");
  ASSERT_NE(first_text, std::string::npos);
  EXPECT_THAT(frame.substr(0, first_text), Not(HasSubstr("\x1b[J")));
  screen.show(frame);
  EXPECT_EQ(screen.lines().size(), 3U);
}

TEST_F(ViewTest, LinesFitAnyWidthAndANarrowerWindowLeavesNoRemains) {
  for (const int width : {12, 20, 41, 80, 200}) {
    columns = width;
    Screen screen(static_cast<std::size_t>(width));
    RunView view(stream, options(ViewOptions::Mode::kLive));
    view.start({.total = 123456, .seconds = 9, .slots = 1});
    view.case_started(0, "ttnn.transformer.scaled_dot_product_attention", std::string(300, 'x'), 1);
    for (int i = 0; i < 5; ++i) {
      now += 0.5;
      view.tick();
    }
    screen.show(taken());
    const auto lines = screen.lines();
    ASSERT_EQ(lines.size(), 2U) << width;
    for (const std::string& line : lines) EXPECT_LT(width_of(line), static_cast<std::size_t>(width));
    view.finish();
    screen.show(taken());
    buffer.str("");
  }
  // The window becomes narrower: the terminal wraps what stands there, the next frame clears all of it.
  columns = 80;
  RunView view(stream, options(ViewOptions::Mode::kLive));
  view.start({.total = 10, .slots = 1});
  view.case_started(0, "ttnn.add", std::string(300, 'x'), 1);
  now += 0.2;
  view.tick();
  Screen narrow(30);
  narrow.show("$ opwright run\n");
  const std::string wide = taken();
  narrow.show(wide.substr(wide.rfind("A\r") + 2));  // the last frame alone, without its way back over the one before
  columns = 30;
  now += 0.2;
  view.tick();
  narrow.show(taken());
  const auto lines = narrow.lines();
  EXPECT_EQ(lines.size(), 3U) << testing::PrintToString(lines);
  EXPECT_EQ(lines[0], "$ opwright run");
}

TEST_F(ViewTest, ManyWorkersShowTheOldestCases) {
  rows = 12;
  Screen screen(80);
  RunView view(stream, options(ViewOptions::Mode::kLive));
  view.start({.total = 100, .slots = 10});
  for (int slot = 9; slot >= 0; --slot) {
    view.case_started(slot, "op" + std::to_string(slot), "", 0);
    now += 1;
  }
  view.tick();
  screen.show(taken());
  const auto lines = screen.lines();
  ASSERT_EQ(lines.size(), 6U);
  EXPECT_THAT(lines[1], HasSubstr("op9"));
  EXPECT_EQ(lines[5], "  and 6 more running");
}

TEST_F(ViewTest, ManyFailuresDoNotFloodTheTerminal) {
  Screen screen(80);
  RunView view(stream, options(ViewOptions::Mode::kLive));
  view.start({.total = 100});
  for (int i = 0; i < 50; ++i) view.case_ended(0, record(Outcome::kRefused));
  view.finish();
  const std::string text = taken();
  std::size_t shown = 0;
  for (std::size_t at = text.find("repeat: "); at != std::string::npos; at = text.find("repeat: ", at + 1)) ++shown;
  EXPECT_EQ(shown, 5U);
  EXPECT_THAT(text, HasSubstr("further refused cases are counted"));
  EXPECT_THAT(text, HasSubstr("50 refused"));
}

TEST_F(ViewTest, ColourIsOnlyWhereItIsAllowed) {
  for (const bool colour : {false, true}) {
    RunView view(stream, options(ViewOptions::Mode::kQuiet, colour));
    view.start({.total = 1});
    view.case_ended(0, record(Outcome::kFailed));
    view.finish();
    EXPECT_EQ(taken().find('\x1b') != std::string::npos, colour);
  }
}

TEST_F(ViewTest, TextsOfATraceCannotMoveTheCursor) {
  RunView view(stream, options(ViewOptions::Mode::kLines));
  view.start({.total = 2});
  CaseRecord nasty = record(Outcome::kFailed, "ttnn.\x1b[2Jadd\n\xe2\x80\xae");
  nasty.reason = "first\n\x1b]0;title\x07second";
  view.case_ended(0, nasty);
  const std::string text = taken();
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("ttnn.\\u001b[2Jadd\\n\\u202e"));
  EXPECT_THAT(text, HasSubstr("  first\n    \\u001b]0;title\\u0007second\n"));
}

TEST_F(ViewTest, AViewThatIsDestroyedSaysHowFarItCame) {
  {
    RunView view(stream, options(ViewOptions::Mode::kLive));
    view.start({.total = 5});
    view.note("the device was reset");
  }
  EXPECT_THAT(taken(), HasSubstr("the device was reset\n0 of 5 cases in 0.0 s\n"));
}

TEST(DurationText, ReadsAsPeopleSayIt) {
  EXPECT_EQ(duration_text(0.04), "0.0 s");
  EXPECT_EQ(duration_text(9.9), "9.9 s");
  EXPECT_EQ(duration_text(9.97), "10 s");
  EXPECT_EQ(duration_text(59.6), "1m00s");
  EXPECT_EQ(duration_text(75), "1m15s");
  EXPECT_EQ(duration_text(7500), "2h05m");
}

}  // namespace
}  // namespace opwright::cli
