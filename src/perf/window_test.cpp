#include "perf/window.h"

#include <gtest/gtest.h>

namespace opwright::perf {
namespace {

// Signposts one after another, a sample before each.
std::vector<Mark> marks_of(std::initializer_list<const char*> names) {
  std::vector<Mark> marks;
  for (const char* name : names)
    marks.push_back({.name = name, .row = marks.size() + 2, .before = marks.size() + 1, .host_before = 0});
  return marks;
}

std::string found(std::initializer_list<const char*> names, Troubles* troubles = nullptr) {
  Troubles own;
  const Windows windows = find_windows(marks_of(names), 100, 0, "f", troubles == nullptr ? own : *troubles);
  std::string text;
  for (const Window& window : windows.all)
    text += (text.empty() ? "" : " ") + window.name + ":" + std::to_string(window.begin) + "-" +
            std::to_string(window.end) + "/" + std::to_string(window.depth);
  for (const Mark& mark : windows.singles) text += " !" + mark.name;
  return text;
}

TEST(Windows, PairsAreFoundByNesting) {
  EXPECT_EQ(found({"start", "stop"}), "start:1-2/0");
  EXPECT_EQ(found({"A", "B", "B_END", "A_END"}), "A:1-4/0 B:2-3/1");
  EXPECT_EQ(found({"A_START", "A_STOP", "begin x", "end x"}), "A_START:1-2/0 begin x:3-4/0");
  EXPECT_EQ(found({"S", "S_end", "S", "S_end"}), "S#1:1-2/0 S#2:3-4/0");
  EXPECT_EQ(found({"end_to_end", "end_to_end_END"}), "end_to_end:1-2/0");  // an end in its name does not make it one
}

TEST(Windows, WhatBelongsToNoPairIsCountedWithItsRow) {
  Troubles troubles;
  EXPECT_EQ(found({"A", "B", "A_END", "stop"}, &troubles), "A:1-3/0 !B !stop");
  EXPECT_EQ(troubles.kinds().at(Trouble::kOpenWindow).first.row, 3u);
  EXPECT_EQ(troubles.kinds().at(Trouble::kEndWithoutStart).first.row, 5u);
}

std::string chosen(std::initializer_list<const char*> names, std::string_view wanted) {
  Troubles troubles;
  const std::vector<Mark> marks = marks_of(names);
  const auto window = choose_window(find_windows(marks, 100, 0, "f", troubles), marks, 100, 0, wanted, "f");
  if (!window) return "error: " + window.error().message;
  return window->name + ":" + std::to_string(window->begin) + "-" + std::to_string(window->end);
}

TEST(Windows, OnlyAPlainChoiceIsMade) {
  EXPECT_EQ(chosen({}, ""), "*:0-100");
  EXPECT_EQ(chosen({"A", "A_END"}, ""), "A:1-2");
  EXPECT_EQ(chosen({"A", "A_END"}, "*"), "*:0-100");
  EXPECT_NE(chosen({"A", "A_END", "B", "B_END"}, "").find("error: f: 2 windows; choose one"), std::string::npos);
  EXPECT_EQ(chosen({"A", "A_END", "B", "B_END"}, "B"), "B:3-4");
  EXPECT_NE(chosen({"S", "S_END", "S", "S_END"}, "S").find("2 windows are called 'S': say S#1 to S#2"),
            std::string::npos);
  EXPECT_EQ(chosen({"S", "S_END", "S", "S_END"}, "S#2"), "S#2:3-4");
  EXPECT_NE(chosen({"A"}, "").find("make no window"), std::string::npos);
  EXPECT_EQ(chosen({"A"}, "A.."), "A..:1-100");
  EXPECT_EQ(chosen({"A", "B"}, "A..B"), "A..B:1-2");
  EXPECT_EQ(chosen({"A", "B"}, "..A"), "..A:0-1");
  EXPECT_NE(chosen({"A", "B"}, "B..A").find("comes before"), std::string::npos);
  EXPECT_NE(chosen({"A", "B"}, "A..X").find("no signpost 'X'"), std::string::npos);
  EXPECT_NE(chosen({"A", "A", "B"}, "A..B").find("2 signposts are called 'A'"), std::string::npos);
  EXPECT_EQ(chosen({"A", "A", "B"}, "A#2..B"), "A#2..B:2-3");
  EXPECT_NE(chosen({"DECODE", "DECODE_END"}, "DECOD").find("did you mean 'DECODE'"), std::string::npos);
}

}  // namespace
}  // namespace opwright::perf
