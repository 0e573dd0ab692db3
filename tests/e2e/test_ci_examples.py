"""The CI jobs of examples/ci: every command line of them is run, in the order in which the service runs it."""

from __future__ import annotations

import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
import support
import yaml

CI = support.REPO / "examples" / "ci"
TRACE = support.REPO / "tests" / "fixtures" / "native" / "mbconv.opwt.zst"


def github_lines() -> list[str]:
    workflow = yaml.safe_load((CI / "github-actions.yml").read_text())
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all(("run" in step) != ("uses" in step) for step in steps)
    return [line for step in steps for line in step.get("run", "").splitlines()]


def gitlab_lines() -> list[str]:
    return [line for job in yaml.safe_load((CI / "gitlab-ci.yml").read_text()).values() for part in ("script", "after_script") for line in job[part]]


def kept_by(service: str) -> list[str]:
    if service == "gitlab":
        job = yaml.safe_load((CI / "gitlab-ci.yml").read_text())["operators"]
        assert job["artifacts"]["reports"]["junit"] in job["artifacts"]["paths"]
        return job["artifacts"]["paths"]
    jobs = yaml.safe_load((CI / "github-actions.yml").read_text())["jobs"]
    upload = next(step for step in jobs["operators"]["steps"] if "upload-artifact" in step.get("uses", ""))
    return upload["with"]["path"].split()


def run_lines(lines: list[str], folder: Path, path: str) -> list[int]:
    env = support.command_env(folder, PATH=path, GITHUB_STEP_SUMMARY=folder / "summary.md")
    return [support.run_shell(line, folder, env).returncode for line in lines]


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_every_line_runs_and_leaves_what_is_kept(service: str, tmp_path: Path, opwright_path: str) -> None:
    (tmp_path / "traces").mkdir()
    shutil.copy(TRACE, tmp_path / "traces")
    lines = github_lines() if service == "github" else gitlab_lines()
    assert len(lines) >= 5 and sum(line.startswith("opwright ") for line in lines) == 5, lines
    assert run_lines(lines, tmp_path, opwright_path) == [0] * len(lines)
    for kept in kept_by(service):
        assert (tmp_path / kept).exists(), kept
    suites = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert int(suites.get("tests")) > 10 and suites.get("failures") == suites.get("errors") == "0"
    assert "| operation" in (tmp_path / "coverage.md").read_text()


@pytest.mark.parametrize("service", ["github", "gitlab"])
def test_a_failure_fails_the_job_and_the_reports_are_written_all_the_same(service: str, tmp_path: Path, opwright_path: str) -> None:
    (tmp_path / "traces").mkdir()
    shutil.copy(TRACE, tmp_path / "traces")
    lines = github_lines() if service == "github" else gitlab_lines()
    planted = [line.replace("opwright run", "opwright run --device 'planted:wrong if ttnn.silu'") for line in lines]
    codes = run_lines(planted, tmp_path, opwright_path)
    run = next(place for place, line in enumerate(lines) if " run " in line)
    assert codes[run] == 1, codes
    assert all(code == 0 for place, code in enumerate(codes) if place != run), codes
