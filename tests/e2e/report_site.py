"""What the tests of the report's page share: a store of made-up runs (make_runs, tests/web), their pages, a browser."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import support

sys.path.insert(0, str(support.REPO / "tests" / "web"))
import browser as web  # noqa: E402

READY = "document.getElementById('main')?.getAttribute('aria-busy') === 'false'"
MIXED = 400  # results of the run that most tests look at
SHOWN = "document.getElementById('shown').textContent"


class Site:
    """A folder with a store of made-up runs and the pages of them."""

    def __init__(self, opwright: Path, folder: Path) -> None:
        self.opwright = opwright
        self.folder = folder
        self.store = folder / "runs.db"

    def call(self, *arguments: object) -> subprocess.CompletedProcess:
        command = [self.opwright, *arguments, "--store", self.store]
        return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)

    def make(self, kind: str, count: int = 0) -> str:
        uid = f"{kind}-{count}"
        maker = self.opwright.parent / "make_runs"
        if not maker.exists():
            pytest.skip("make_runs is not built: cmake with -DOPWRIGHT_TESTS=ON builds it beside opwright")
        command = [maker, self.store, uid, kind, *([count] if count else [])]
        subprocess.run([str(word) for word in command], check=True, timeout=300)
        return uid

    def page(self, kind: str, count: int = 0) -> Path:
        uid = f"{kind}-{count}"
        path = self.folder / uid / "index.html"
        if not path.exists():
            result = self.call("report", "--html", path.parent, self.make(kind, count))
            assert result.returncode == 0, result.stderr
        return path


@pytest.fixture(scope="module")
def site(opwright_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    return Site(opwright_program, tmp_path_factory.mktemp("site"))


@pytest.fixture(scope="module")
def chromium() -> Iterator[web.Browser]:
    if web.find_chromium() is None:
        pytest.skip(f"{web.NO_CHROMIUM}: ./x setup installs it (Debian package chromium)")
    with web.Browser() as browser:
        yield browser


@pytest.fixture
def visit(site: Site, chromium: web.Browser) -> Iterator:
    """Opens the page of a run. Whatever a test does, the page stays silent and asks for nothing but its own file."""
    pages: list[tuple[web.Page, Path]] = []

    def open_page(kind: str = "mixed", count: int = MIXED, hash: str = "", **options: object) -> web.Page:
        path = site.page(kind, count)
        page = chromium.open(path, hash, **options)
        pages.append((page, path))
        page.wait_for(READY)
        return page

    yield open_page
    for page, path in pages:
        chromium.take_events(0.05)
        page.close()
        assert page.complaints == []
        assert {request.split("#")[0] for request in page.requests} == {path.resolve().as_uri()}
