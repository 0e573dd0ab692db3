#!/usr/bin/env python3
"""Sums the JUnit reports of several test stages and prints one closing line: N passed, N failed, N skipped.

usage: closing_line.py NAME EXIT_STATUS REPORT.xml [NAME EXIT_STATUS REPORT.xml ...]

Exits 1 when a test failed, when a stage broke without naming a failed test, or when no test ran at all.
"""

import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

PYTEST_FOUND_NO_TESTS = 5


@dataclass
class Counts:
    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)  # one sentence each

    def line(self) -> str:
        return f"{self.passed} passed, {len(self.failed)} failed, {self.skipped} skipped"

    def is_success(self) -> bool:
        return not self.failed and self.passed > 0


def is_wanted_skip(case: ET.Element) -> bool:
    """ctest writes <skipped> also for a test whose program is missing; that one is a failure."""
    return case.get("status") != "notrun" or case.find("skipped").get("message", "").startswith("SKIP_")


def count_report(stage: str, report: Path, counts: Counts) -> None:
    for case in ET.parse(report).getroot().iter("testcase"):
        name = f"{stage}: {case.get('name')}"
        if case.find("failure") is not None or case.find("error") is not None:
            counts.failed.append(name)
        elif case.get("status") == "disabled":  # ctest writes no <skipped> there
            counts.skipped += 1
        elif case.find("skipped") is None:
            counts.passed += 1
        elif is_wanted_skip(case):
            counts.skipped += 1
        else:
            counts.failed.append(f"{name}: not run: {case.find('skipped').get('message')}")


def count_stage(stage: str, status: int, report: Path, counts: Counts) -> None:
    failed_before = len(counts.failed)
    try:
        count_report(stage, report, counts)
    except (OSError, ET.ParseError) as error:
        counts.failed.append(f"{stage}: no readable report ({error}), exit status {status}")
        return
    found_no_tests = stage == "pytest" and status == PYTEST_FOUND_NO_TESTS
    if status != 0 and not found_no_tests and len(counts.failed) == failed_before:
        counts.failed.append(f"{stage}: exit status {status}, though no test failed")


def main(arguments: list[str]) -> int:
    if not arguments or len(arguments) % 3:
        print(__doc__, file=sys.stderr)
        return 2
    counts = Counts()
    for name, status, report in zip(arguments[0::3], arguments[1::3], arguments[2::3]):
        count_stage(name, int(status), Path(report), counts)
    if counts.failed:
        print("failed:")
        for sentence in counts.failed:
            print(f"  {sentence}")
    elif counts.passed == 0:
        print("no test ran: that counts as a failure")
    print(counts.line())
    return 0 if counts.is_success() else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
