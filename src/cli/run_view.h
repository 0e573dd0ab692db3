// What a person sees of a run: a live view on a terminal, a line a case elsewhere, failures alone when quiet.
//
//   RunView view(env.err, view_options(env, args.is_set("--quiet")));
//   view.start({.total = 609, .seconds = 120.0, .slots = 2});
//   view.case_started(0, "ttnn.add", line, 0.01);  view.case_ended(0, record);  … view.finish();
//
// The live view is a block of lines below everything else, drawn again at most ten times a second: each frame is one
// write, goes over the frame before it line by line (no blank in between, no flicker) and leaves the cursor shown, on a
// line of its own below the block. So there is nothing to restore, whatever ends the process, and Ctrl-C spoils
// nothing.
//
// Threads: use it from one thread at a time. The caller calls `tick` when `next_tick` seconds have passed.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "jobs/run_suite.h"
#include "model/case_record.h"

namespace opwright::cli {

struct TerminalSize {
  int columns = 100;
  int rows = 24;
};

struct ViewOptions {
  enum class Mode : std::uint8_t { kLive, kLines, kQuiet } mode = Mode::kLines;
  bool colour = false;
  std::function<TerminalSize()> size;  // asked before each frame: windows change
  std::function<double()> now;         // seconds of a clock that never goes back
};
// Live where standard error is a terminal that can move its cursor; colours there, unless NO_COLOR is set, or as
// --color says.
ViewOptions view_options(const CommandEnv& env, bool quiet);

class RunView {
 public:
  RunView(std::ostream& stream, ViewOptions options);
  ~RunView();  // as finish("") when the caller did not come to it
  RunView(const RunView&) = delete;
  RunView& operator=(const RunView&) = delete;

  void start(const jobs::RunSize& size);
  void case_started(int slot, std::string_view op, std::string_view line, double estimated_seconds);
  // What is done for the slot's case now, where it is more than running: "again, alone".
  void slot_note(int slot, std::string_view text);
  void case_ended(int slot, const CaseRecord& record);
  // A line for the reader that stays: a worker was replaced, the machine was reset. Not shown when quiet.
  void note(std::string_view text);
  void tick();
  double next_tick() const;  // seconds from now; a very long time where nothing has to be drawn
  void continued();          // after SIGCONT: what stands on the terminal is no longer ours
  // The last line: how many cases, how long, how they ended. `how`: "interrupted"; "" for a run that came to its end.
  void finish(std::string_view how = "");

 private:
  struct Slot {
    bool busy = false;
    std::string op, line, note;
    double since = 0;
    double estimated = 0;
  };
  struct Piece {
    std::string text;
    std::string_view colour;  // "" none
  };
  using Line = std::vector<Piece>;

  void keep(std::string text);  // prints it, above the block where there is one
  void draw();
  std::string erased() const;  // moves to where the block begins
  std::vector<Line> block(TerminalSize size) const;
  Line progress_line(int columns) const;
  Line outcome_line() const;
  void add_running(TerminalSize size, std::vector<Line>& lines) const;
  std::string case_text(const CaseRecord& record) const;
  std::string coloured(std::string_view text, std::string_view colour) const;
  double recent_rate() const;
  double seconds_left() const;  // negative: nobody knows yet

  std::ostream& stream_;
  ViewOptions options_;
  jobs::RunSize size_;
  std::vector<Slot> slots_;
  std::int64_t done_ = 0;
  std::map<Outcome, std::int64_t> outcomes_;
  double started_ = 0;
  double estimated_done_ = 0;                           // of the ended cases: what was estimated …
  double busy_done_ = 0;                                // … and what they took
  std::deque<std::pair<double, std::int64_t>> recent_;  // time, done: some seconds of the past
  std::vector<std::size_t> drawn_;                      // columns of each line that stands on the terminal
  std::string pending_;                                 // to be printed above the block with the next frame
  double last_frame_ = -1;
  bool running_ = false;
};

// 0.4 -> "0.4 s", 75 -> "1m15s", 7500 -> "2h05m"
std::string duration_text(double seconds);

}  // namespace opwright::cli
