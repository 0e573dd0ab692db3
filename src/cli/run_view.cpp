#include "cli/run_view.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "base/visible_text.h"
#include "base/words.h"
#include "model/case_name.h"

namespace opwright::cli {
namespace {

constexpr double kFrameSeconds = 0.1;
constexpr double kRateSeconds = 10;            // the rate is that of so many seconds
constexpr std::int64_t kShownOfAnOutcome = 5;  // failures that the live view prints, of each outcome
constexpr double kNever = 1e9;

constexpr std::string_view kGreen = "\x1b[32m";
constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kGrey = "\x1b[90m";
constexpr std::string_view kDim = "\x1b[2m";
constexpr std::string_view kPlain = "\x1b[0m";

std::string_view colour_of(Outcome outcome) {
  if (outcome == Outcome::kPassed || outcome == Outcome::kAccepted || outcome == Outcome::kXfailed) return kGreen;
  switch (standing_of(outcome)) {
    case Standing::kFailed:
      return kRed;
    case Standing::kNoAnswer:  // nobody's failure: nothing was asked, or nobody here can answer
      return kGrey;
    default:
      return kYellow;
  }
}

// Traces and programs choose the texts of cases: none may move a cursor, so all of them go through visible().

// "  first\n    second\n"
std::string indented(std::string_view text) {
  std::string out = "  ";
  for (const char c : visible_lines(text)) {
    out += c;
    if (c == '\n') out += "    ";
  }
  return out + '\n';
}

// Five digits, never rounded up: 1.00000 is exactly one.
std::string pcc_text(double pcc) {
  return std::isfinite(pcc) ? fmt::format("pcc {:.5f}", std::floor(pcc * 1e5) / 1e5) : fmt::format("pcc {}", pcc);
}

// Eighths of a column, so that it moves in a long run too.
std::string bar(double share, int columns) {
  constexpr std::array<std::string_view, 8> kEighths{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  const auto eighths = static_cast<int>(std::clamp(share, 0.0, 1.0) * columns * 8);
  std::string out;
  for (int i = 0; i < eighths / 8; ++i) out += "█";
  out += kEighths[static_cast<std::size_t>(eighths % 8)];
  for (int i = (eighths + 7) / 8; i < columns; ++i) out += "░";
  return out;
}

}  // namespace

std::string duration_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
}

ViewOptions view_options(const CommandEnv& env, bool quiet) {
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  const char* kind = std::getenv("TERM");
  const bool movable = env.err_is_terminal && kind != nullptr && std::string_view(kind) != "dumb" && *kind != '\0';
  ViewOptions options;
  options.mode = quiet ? ViewOptions::Mode::kQuiet : movable ? ViewOptions::Mode::kLive : ViewOptions::Mode::kLines;
  options.colour = env.colour == Colour::kAlways || (env.colour == Colour::kAuto && movable && !is_set("NO_COLOR"));
  options.size = [width = env.width] {
    winsize size{};
    if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0 || size.ws_row == 0)
      return TerminalSize{width, TerminalSize{}.rows};
    return TerminalSize{size.ws_col, size.ws_row};
  };
  options.now = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  return options;
}

RunView::RunView(std::ostream& stream, ViewOptions options) : stream_(stream), options_(std::move(options)) {}

RunView::~RunView() {
  if (running_) finish();
}

void RunView::start(const jobs::RunSize& size) {
  size_ = size;
  slots_.assign(static_cast<std::size_t>(std::max(1, size.slots)), {});
  done_ = size.done_before;
  started_ = options_.now();
  recent_ = {{started_, done_}};
  running_ = true;
  tick();
}

void RunView::case_started(int slot, std::string_view op, std::string_view line, double estimated_seconds) {
  if (static_cast<std::size_t>(slot) >= slots_.size()) slots_.resize(static_cast<std::size_t>(slot) + 1);
  slots_[static_cast<std::size_t>(slot)] = {true, visible(op),    visible(line.substr(0, 400)),
                                            "",   options_.now(), estimated_seconds};
  tick();
}

void RunView::slot_note(int slot, std::string_view text) {
  slots_[static_cast<std::size_t>(slot)].note = visible(text);
  tick();
}

void RunView::case_ended(int slot, const CaseRecord& record) {
  ++done_;
  const std::int64_t same = ++outcomes_[record.outcome];
  if (static_cast<std::size_t>(slot) < slots_.size()) {
    Slot& one = slots_[static_cast<std::size_t>(slot)];
    if (one.busy) {
      estimated_done_ += one.estimated;
      busy_done_ += options_.now() - one.since;
    }
    one = {};
  }
  const bool failure = is_failure(record.outcome) || !record.disagreement.empty();
  switch (options_.mode) {
    case ViewOptions::Mode::kLines:
      keep(case_text(record));
      break;
    case ViewOptions::Mode::kQuiet:
      if (failure) keep(case_text(record));
      break;
    case ViewOptions::Mode::kLive:
      if (failure && same <= kShownOfAnOutcome) keep(case_text(record));
      if (failure && same == kShownOfAnOutcome)
        keep(fmt::format("further {} cases are counted below; 'opwright results' lists them\n",
                         name_of(record.outcome)));
      break;
  }
  tick();
}

void RunView::note(std::string_view text) {
  if (options_.mode != ViewOptions::Mode::kQuiet) keep(visible_lines(text) + '\n');
}

void RunView::keep(std::string text) {
  if (options_.mode == ViewOptions::Mode::kLive && running_) {
    pending_ += text;
    return;
  }
  stream_.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream_.flush();
}

void RunView::tick() {
  if (running_ && next_tick() <= 0) draw();
}

double RunView::next_tick() const {
  if (options_.mode != ViewOptions::Mode::kLive || !running_) return kNever;
  return last_frame_ < 0 ? 0 : last_frame_ + kFrameSeconds - options_.now();
}

void RunView::continued() {
  drawn_.clear();
  last_frame_ = -1;
}

void RunView::finish(std::string_view how) {
  if (!running_) return;
  running_ = false;
  const double seconds = options_.now() - started_;
  const std::int64_t here = done_ - size_.done_before;
  std::string text = pending_;
  pending_.clear();
  if (!drawn_.empty()) text = erased() + text;
  text += done_ == size_.total ? plural(here, "case")
                               : fmt::format("{} of {}", grouped(done_), plural(size_.total, "case"));
  text += fmt::format(" in {}", duration_text(seconds));
  if (here > 0 && seconds >= 0.01) text += fmt::format(" ({:.1f}/s)", static_cast<double>(here) / seconds);
  std::string_view before = ": ";
  for (const auto& [outcome, count] : outcomes_) {
    text += fmt::format("{}{} {}", before, grouped(count), coloured(name_of(outcome), colour_of(outcome)));
    before = ", ";
  }
  if (size_.done_before > 0) text += fmt::format("; {} done before", grouped(size_.done_before));
  if (!how.empty()) text += fmt::format("; {}", how);
  text += '\n';
  drawn_.clear();
  stream_.write(text.data(), static_cast<std::streamsize>(text.size()));
  stream_.flush();
}

// Lines may have been wrapped by a window that became narrower.
std::string RunView::erased() const {
  const auto columns = static_cast<std::size_t>(std::max(1, options_.size().columns));
  std::size_t rows = 0;
  for (const std::size_t width : drawn_) rows += std::max<std::size_t>(1, (width + columns - 1) / columns);
  return rows == 0 ? "" : fmt::format("\x1b[{}A\r\x1b[J", rows);
}

void RunView::draw() {
  const double now = options_.now();
  last_frame_ = now;
  recent_.emplace_back(now, done_);
  while (recent_.size() > 2 && recent_[1].first < now - kRateSeconds) recent_.pop_front();
  const TerminalSize size = options_.size();
  const auto columns = static_cast<std::size_t>(std::max(10, size.columns - 1));  // the last column would wrap
  const std::vector<Line> lines = block(size);

  // Over the frame before, line by line. Only what is kept, or a window of another width, needs the block cleared
  // first.
  std::string frame = "\x1b[?25l";
  const bool narrower = std::ranges::any_of(drawn_, [&](std::size_t width) { return width > columns; });
  if (!pending_.empty() || narrower)
    frame += erased() + std::exchange(pending_, "");
  else if (!drawn_.empty())
    frame += fmt::format("\x1b[{}A\r", drawn_.size());
  drawn_.clear();
  for (const Line& line : lines) {
    std::size_t used = 0;
    for (const Piece& piece : line) {
      const std::string text = used >= columns ? "" : cut_text(piece.text, columns - used);
      used += width_of(text);
      frame += coloured(text, piece.colour);
    }
    frame += "\x1b[K\n";
    drawn_.push_back(used);
  }
  frame += "\x1b[J\x1b[?25h";
  stream_.write(frame.data(), static_cast<std::streamsize>(frame.size()));
  stream_.flush();
}

std::vector<RunView::Line> RunView::block(TerminalSize size) const {
  std::vector<Line> lines{progress_line(size.columns - 1)};
  if (!outcomes_.empty()) lines.push_back(outcome_line());
  add_running(size, lines);
  return lines;
}

RunView::Line RunView::progress_line(int columns) const {
  const double share = size_.total == 0 ? 1.0 : static_cast<double>(done_) / static_cast<double>(size_.total);
  std::string facts = fmt::format(" {}/{}  {:.0f} %", grouped(done_), grouped(size_.total), std::floor(100 * share));
  if (const double rate = recent_rate(); rate > 0) facts += fmt::format("  {:.1f}/s", rate);
  facts += fmt::format("  {}", duration_text(options_.now() - started_));
  if (const double left = seconds_left(); left >= 0) facts += fmt::format("  about {} left", duration_text(left));
  const int room = std::min(40, columns - static_cast<int>(width_of(facts)));
  if (room < 6) return {{facts.substr(1), ""}};
  return {{bar(share, room), kGreen}, {facts, ""}};
}

RunView::Line RunView::outcome_line() const {
  Line line;
  for (const auto& [outcome, count] : outcomes_)
    line.push_back(
        {fmt::format("{}{} {}", line.empty() ? "" : "  ", name_of(outcome), grouped(count)), colour_of(outcome)});
  return line;
}

void RunView::add_running(TerminalSize size, std::vector<Line>& lines) const {
  std::vector<const Slot*> busy;
  for (const Slot& slot : slots_)
    if (slot.busy) busy.push_back(&slot);
  const auto most = static_cast<std::size_t>(std::clamp(size.rows / 2 - 2, 1, 16));
  const std::size_t hidden = busy.size() > most ? busy.size() - most : 0;
  if (hidden > 0) {  // the oldest are what one looks for
    std::ranges::stable_sort(busy, {}, &Slot::since);
    busy.resize(most);
  }
  std::size_t width = 0;
  for (const Slot* slot : busy) width = std::max(width, width_of(slot->op));
  for (const Slot* slot : busy) {
    std::string_view line = slot->line;
    if (line.starts_with(slot->op)) line.remove_prefix(slot->op.size());
    lines.push_back(
        {{fmt::format("  {:>6}  {:<{}}  ", duration_text(options_.now() - slot->since), slot->op, width), ""},
         {slot->note.empty() ? "" : slot->note + "  ", kYellow},
         {std::string(line), kDim}});
  }
  if (hidden > 0) lines.push_back({{fmt::format("  and {} more running", hidden), kDim}});
}

std::string RunView::coloured(std::string_view text, std::string_view colour) const {
  if (!options_.colour || colour.empty() || text.empty()) return std::string(text);
  return fmt::format("{}{}{}", colour, text, kPlain);
}

std::string RunView::case_text(const CaseRecord& record) const {
  std::string text = fmt::format("{}  {}  {}  {:.3f} s", coloured(name_of(record.outcome), colour_of(record.outcome)),
                                 visible(record.op), case_name(record), record.wall_seconds);
  if (record.pcc) text += "  " + pcc_text(*record.pcc);
  text += fmt::format("  [{}/{}]\n", done_, size_.total);
  if (record.outcome != Outcome::kPassed && !record.reason.empty()) text += indented(record.reason);
  if (!record.disagreement.empty())
    text += indented(fmt::format("against {}: {}", record.against, record.disagreement));
  if (record.blame != Blame::kNobody || !record.evidence.empty()) {
    const std::string_view who = record.blame == Blame::kNobody ? "nobody" : name_of(record.blame);
    text += indented(record.evidence.empty() ? fmt::format("blame: {}", who)
                                             : fmt::format("blame: {}: {}", who, record.evidence));
  }
  if ((is_failure(record.outcome) || !record.disagreement.empty()) && !record.repeat.empty())
    text += indented("repeat: " + record.repeat);
  return text;
}

double RunView::recent_rate() const {
  const auto& [then, done] = recent_.front();
  const double seconds = options_.now() - then;
  return seconds < 0.5 ? 0 : static_cast<double>(done_ - done) / seconds;
}

// What is left by estimate, at the speed that was seen: counts alone would be far off, because the largest come first.
double RunView::seconds_left() const {
  if (done_ == size_.total) return 0;
  const double now = options_.now();
  if (now - started_ < 1 || done_ == size_.done_before) return -1;
  if (size_.seconds <= 0 || estimated_done_ <= 0 || busy_done_ <= 0) {
    const auto here = static_cast<double>(done_ - size_.done_before);
    return static_cast<double>(size_.total - done_) * (now - started_) / here;
  }
  const double slowness = busy_done_ / estimated_done_;
  double left = (size_.seconds - estimated_done_) * slowness;
  double longest = 0;  // of a running case
  for (const Slot& slot : slots_) {
    if (!slot.busy) continue;
    const double whole = slot.estimated * slowness;
    const double gone = std::min(whole, now - slot.since);
    left -= gone;
    longest = std::max(longest, whole - gone);
  }
  left = std::max(longest, left / static_cast<double>(slots_.size()));
  return left < 0.05 ? -1 : left;  // the running ones take longer than anybody thought
}

}  // namespace opwright::cli
