#include "format/master/provenance.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>

namespace opwright::format {
namespace {

using Given = std::initializer_list<std::pair<const char*, const char*>>;

// One line a sighting: "source @ machine # trace x count + extra", parts that are not there left out.
std::string sightings(Given fields) {
  Provenance provenance;
  for (const auto& [name, json] : fields) EXPECT_TRUE(provenance.take(name, json)) << name;
  std::vector<Sighting> seen;
  const Status done = provenance.read(seen);
  if (!done) return "error: " + done.error().message;
  std::string text;
  for (const Sighting& s : seen) {
    text += s.source;
    if (!s.machine.empty()) (text += " @ ") += s.machine;
    if (!s.trace_uid.empty()) (text += " # ") += s.trace_uid;
    if (s.count != kUncounted) text += " x" + std::to_string(s.count);
    if (!s.extra.empty()) (text += " + ") += s.extra;
    text += '\n';
  }
  return text;
}

TEST(Provenance, OtherFieldsAreNotOurs) {
  Provenance provenance;
  EXPECT_FALSE(provenance.take("arguments", "{}"));
  EXPECT_TRUE(provenance.take("source", "\"s\""));
}

TEST(Provenance, Executions) {
  EXPECT_EQ(sightings({{"executions", R"([{"source": "t.py::a", "machine_info": {"b": 1, "a": [2]}, "count": 3,
                                           "trace_uid": "u"}, {"source": "t.py::b", "trace_run_ids": [25, 26], "z": {"k": 1}}])"}}),
            "t.py::a @ {\"a\": [2], \"b\": 1} # u x3\nt.py::b # run:25,26 + {\"z\": {\"k\": 1}}\n");
  EXPECT_EQ(sightings({{"executions", R"([{"machine_info": null, "count": 0}])"}}).substr(0, 3), " x0");
  EXPECT_EQ(sightings({{"executions", "[]"}}), "");
}

TEST(Provenance, TestsOfAFunctionAreSightingsOfTheirOwn) {
  EXPECT_EQ(sightings({{"executions", R"([{"source": "t.py::a", "count": 5, "pytest_args": null,
                                           "test_ids": {"t.py::a[1]": 3, "t.py::a[2]": 2}}])"}}),
            "t.py::a[1] x3 + {\"pytest_args\": null, \"@of_test_ids\": true}\n"
            "t.py::a[2] x2 + {\"pytest_args\": null, \"@of_test_ids\": true}\n");
  // What the ids do not count is the function's own, and nothing counts twice whatever the numbers are.
  EXPECT_EQ(sightings({{"executions", R"([{"source": "t.py::a", "count": 5, "test_ids": {"t.py::a[1]": 3}}])"}}),
            "t.py::a[1] x3 + {\"@of_test_ids\": true}\nt.py::a x2\n");
  EXPECT_EQ(sightings({{"executions", R"([{"source": "t.py::a", "count": 1, "test_ids": {"t.py::a[1]": 3}}])"}}),
            "t.py::a[1] x3 + {\"@of_test_ids\": true}\n");
  EXPECT_EQ(sightings({{"executions", R"([{"source": "t.py::a", "test_ids": {"t.py::a[1]": null}}])"}}),
            "t.py::a[1] + {\"@of_test_ids\": true}\n");
  EXPECT_EQ(sightings({{"executions", R"([{"source": "t.py::a", "count": 2, "test_ids": {}}])"}}), "t.py::a x2\n");
}

TEST(Provenance, WhatHasAnotherShapeIsKeptAside) {
  EXPECT_EQ(sightings({{"executions", R"([{"source": ["a"], "count": 1.5, "machine_info": [1]}])"}}),
            " + {\"source\": [\"a\"], \"count\": 1.5, \"machine_info\": [1]}\n");
  EXPECT_EQ(sightings({{"executions", "[3]"}}), "error: an execution is not an object");
  EXPECT_EQ(sightings({{"executions", "{}"}}), "error: executions are not an array");
  EXPECT_EQ(sightings({{"executions", "[{]"}}).substr(0, 18), "error: executions:");
}

TEST(Provenance, SourceAndMachineOf1bAnd1c) {
  EXPECT_EQ(sightings({{"source", R"("a.py")"}}), "a.py\n");
  EXPECT_EQ(sightings({{"source", R"(["a.py", "b.py"])"}}), "a.py\nb.py\n");
  EXPECT_EQ(sightings({{"source", R"("a.py")"}, {"machine_info", R"([{"m": 1}, {"m": 2}])"}}),
            "a.py @ {\"m\": 1}\na.py @ {\"m\": 2}\n");
  EXPECT_EQ(sightings({{"source", R"(["a.py", "b.py"])"}, {"machine_info", R"({"m": 1})"}}),
            "a.py @ {\"m\": 1}\nb.py @ {\"m\": 1}\n");
  EXPECT_EQ(sightings({{"machine_info", R"({"m": 1})"}}), " @ {\"m\": 1}\n");
  EXPECT_EQ(sightings({}), "");
}

TEST(Provenance, TwoListsSideBySideAreNotPaired) {
  EXPECT_EQ(sightings({{"source", R"(["a", "b"])"}, {"machine_info", R"([{"m": 1}, {"m": 2}])"}}),
            "a\nb\n @ {\"m\": 1}\n @ {\"m\": 2}\n");
}

TEST(Provenance, ContextsOf1d) {
  EXPECT_EQ(sightings({{"contexts", R"([{"source": ["a", "b"], "machine_info": {"m": 1}}, {"source": "c"},
                                        {"machine_info": [{"m": 2}]}, {"source": "d", "machine_info": null}])"}}),
            "a @ {\"m\": 1}\nb @ {\"m\": 1}\nc\n @ {\"m\": 2}\nd\n");
}

TEST(Provenance, ClearForgets) {
  Provenance provenance;
  provenance.take("source", "\"a\"");
  provenance.take("executions", R"([{"source": "x", "machine_info": {"m": 1}}])");
  std::vector<Sighting> seen;
  ASSERT_TRUE(provenance.read(seen));
  provenance.clear();
  seen.clear();
  ASSERT_TRUE(provenance.read(seen));
  EXPECT_TRUE(seen.empty());
}

TEST(Provenance, ANegativeCountIsNoCount) {
  EXPECT_EQ(sightings({{"executions", R"([{"source": "a", "count": -5}])"}}), "a + {\"count\": -5}\n");
  EXPECT_EQ(sightings({{"executions", R"([{"source": "a", "count": -1}])"}}), "a + {\"count\": -1}\n");
}

TEST(Provenance, NothingIsForgotten) {
  EXPECT_NE(sightings({{"executions", R"([{"count": 1}])"}, {"source", R"("a.py")"}}).find("a.py"), std::string::npos);
  EXPECT_NE(sightings({{"executions", "[]"}, {"source", R"("a.py")"}}).find("a.py"), std::string::npos);
  EXPECT_NE(sightings({{"contexts", R"(["a.py"])"}}).find("a.py"), std::string::npos);
  EXPECT_NE(sightings({{"contexts", R"([{"source": "a", "count": 7}])"}}).find("7"), std::string::npos);
  EXPECT_NE(sightings({{"source", R"([{"file": "a.py"}])"}}).find("a.py"), std::string::npos);
  EXPECT_NE(sightings({{"machine_info", R"("n300")"}}).find("n300"), std::string::npos);
}

}  // namespace
}  // namespace opwright::format
