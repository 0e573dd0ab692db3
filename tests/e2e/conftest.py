"""Fixtures of the end-to-end tests. Run them with `./x test`; a test marked `slow` runs with `./x test --slow` only."""

import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import planted
import pytest
import support

NO_REAL_DATA = "real data not present"
NO_TTNN = "the ttnn library is not present"
NO_BROWSER = "no chromium is here"
NO_SERVER = "no PostgreSQL server is here"


class Opwright:
    """Runs the program in a folder of its own and hands back what it printed.

    result = opwright("import", trace, "--format", "json")
    assert result.returncode == 0, result.stderr
    """

    def __init__(self, program: Path, folder: Path):
        self.program = program
        self.folder = folder

    def __call__(
        self, *arguments: object, cwd: Path | None = None, env: dict[str, object] | None = None, input: str = ""
    ) -> subprocess.CompletedProcess:
        return subprocess.run(
            [str(self.program), *map(str, arguments)],
            cwd=cwd or self.folder,
            env=support.command_env(self.folder, **(env or {})),
            input=input,
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
            timeout=support.COMMAND_TIMEOUT_S,
        )


@pytest.fixture(scope="session")
def opwright_program() -> Path:
    return support.find_opwright()


@pytest.fixture(scope="session")
def opwright_path(opwright_program: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A PATH on which `opwright` is the program under test."""
    folder = tmp_path_factory.mktemp("bin")
    (folder / "opwright").symlink_to(opwright_program)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


@pytest.fixture
def opwright(opwright_program: Path, tmp_path: Path) -> Opwright:
    return Opwright(opwright_program, tmp_path)


@pytest.fixture(scope="session")
def server() -> Iterator[str]:
    """The URL of a PostgreSQL server for tests: that of `./x test`, else one that is started and stopped here."""
    named = os.environ.get("OPWRIGHT_TEST_POSTGRESQL")
    if named:
        yield named
        return
    script = [sys.executable, str(support.REPO / "tools/test_postgresql.py")]
    started = subprocess.run([*script, "start"], capture_output=True, text=True, check=False)
    if started.returncode != 0:
        pytest.skip(f"{NO_SERVER}: {started.stderr.strip()}")
    yield started.stdout.strip()
    subprocess.run([*script, "stop", started.stdout.strip()], check=False)


@pytest.fixture
def database(server: str) -> Iterator[str]:
    """The URL of an empty database of its own."""
    name = f"e2e_{uuid.uuid4().hex[:12]}"
    support.psql(server, f"CREATE DATABASE {name}")
    yield server.replace("/postgres?", f"/{name}?")
    support.psql(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@pytest.fixture(autouse=True)
def no_contents_in_traces(request: pytest.FixtureRequest):
    """Whatever a test recorded, contents of tensors are in none of its traces unless it asked for them."""
    folder = request.getfixturevalue("tmp_path") if "tmp_path" in request.fixturenames else None
    yield
    if folder is not None:
        planted.check_traces(folder)


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real traces, which lies outside the repository: $OPWRIGHT_REAL_DATA, else ../shared/data."""
    named = os.environ.get("OPWRIGHT_REAL_DATA")
    folder = Path(named) if named else support.REPO.parent / "shared" / "data"
    if named and not folder.is_dir():
        pytest.fail(f"OPWRIGHT_REAL_DATA={named} is not a folder")
    if not folder.is_dir():
        pytest.skip(NO_REAL_DATA)
    return folder


@pytest.fixture(scope="session")
def ttnn_python() -> Path:
    """A Python with the real ttnn library: $OPWRIGHT_TTNN_PYTHON, which `./x test` sets to that of build/ttnn-env."""
    named = os.environ.get("OPWRIGHT_TTNN_PYTHON")
    if not named:
        pytest.skip(f"{NO_TTNN}: ./x setup --with-ttnn installs it (Python 3.10 or 3.12 is needed)")
    if not os.access(named, os.X_OK):
        pytest.fail(f"OPWRIGHT_TTNN_PYTHON={named} is no program; ./x setup --with-ttnn makes build/ttnn-env/bin/python")
    return Path(named)


def pytest_configure(config: pytest.Config) -> None:
    # A run in the background has these ignored, and so would every program it starts; some tests send them.
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, handler)
    config.addinivalue_line("markers", "slow: takes minutes; runs with ./x test --slow only")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("OPWRIGHT_SLOW"):
        return
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.skip(reason="slow: runs with ./x test --slow"))


def pytest_terminal_summary(terminalreporter) -> None:
    skipped = terminalreporter.stats.get("skipped", [])
    for reason in (NO_REAL_DATA, NO_TTNN, NO_BROWSER, NO_SERVER):
        count = sum(isinstance(report.longrepr, tuple) and reason in report.longrepr[2] for report in skipped)
        if count:
            terminalreporter.write_line(f"{reason}, {count} tests skipped")
