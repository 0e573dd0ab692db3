"""`opwright perf --to html`: the page in a real browser, of made-up and of real reports."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import support

sys.path.insert(0, str(support.REPO / "tests" / "web"))
import browser as web  # noqa: E402

READY = "document.getElementById('main')?.getAttribute('aria-busy') === 'false'"
SIZES = [(390, 844), (1024, 768), (1440, 900)]
REAL = Path(os.environ.get("OPWRIGHT_REAL_DATA", support.REPO.parent / "shared" / "data")) / "capture" / "perf_csv"
HEADER = (
    "OP CODE,OP TYPE,GLOBAL CALL COUNT,DEVICE ID,DEVICE ARCH,ATTRIBUTES,MATH FIDELITY,CORE COUNT,"
    "AVAILABLE WORKER CORE COUNT,HOST START TS,OP TO OP LATENCY [ns],DEVICE KERNEL DURATION [ns],INPUT_0_W_PAD[LOGICAL],"
    "INPUT_0_Z_PAD[LOGICAL],INPUT_0_Y_PAD[LOGICAL],INPUT_0_X_PAD[LOGICAL],INPUT_0_LAYOUT,INPUT_0_DATATYPE,INPUT_0_MEMORY"
)
OPS = [("LayerNormDeviceOperation", 9000), ("MatmulDeviceOperation", 48000), ("BinaryNgDeviceOperation", 3000)]


def report(slower: int = 0, hostile: str = "", iterations: int = 6) -> str:
    lines = [HEADER]
    call = 0
    for iteration in range(iterations):
        for op, kernel in OPS + ([("UnaryDeviceOperation", 700)] if hostile else []):
            call += 1
            time = kernel + (iteration * 37) % 90 + (slower if op.startswith("Matmul") else 0)
            lines.append(
                f"{op},tt_dnn_device,{call * 1024},0,wormhole_b0,{{'dim': '3'}},HiFi2,8,64,{call * 100000},400,{time},"
                f"1[1],1[1],32[32],64[64],TILE,BFLOAT16,DEV_0_DRAM_INTERLEAVED{hostile}"
            )
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def chromium() -> Iterator[web.Browser]:
    if web.find_chromium() is None:
        pytest.skip(f"{web.NO_CHROMIUM}: ./x setup installs it (Debian package chromium)")
    with web.Browser() as browser:
        yield browser


@pytest.fixture
def visit(opwright_program: Path, chromium: web.Browser, tmp_path: Path) -> Iterator:
    """Makes a page and opens it. It stays silent and asks for nothing but its own file."""
    pages: list[tuple[web.Page, Path]] = []

    def open_page(*arguments: object, **options: object) -> web.Page:
        path = tmp_path / f"page{len(pages)}.html"
        command = [opwright_program, "perf", *arguments, "--to", "html", "-o", path]
        result = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120)
        assert result.returncode == 0, result.stderr
        page = chromium.open(path, **options)
        pages.append((page, path))
        page.wait_for(READY)
        return page

    yield open_page
    for page, path in pages:
        chromium.take_events(0.05)
        page.close()
        assert page.complaints == []
        assert {request.split("#")[0] for request in page.requests} == {path.resolve().as_uri()}


def write(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_text(text)
    return folder / name


def fits(page: web.Page) -> bool:
    return page.value("document.documentElement.scrollWidth <= innerWidth")


def test_shows_every_position_and_sorts_them(visit, tmp_path: Path) -> None:
    page = visit(write(tmp_path, "a.csv", report()))
    assert page.texts("#positions tbody td:nth-child(2)") == ["LayerNorm", "Matmul", "BinaryNg"]
    assert page.value("document.querySelectorAll('#line rect.op').length") == 3
    assert page.value("document.querySelectorAll('#tree g').length") == 3
    assert page.value("document.querySelectorAll('#positions .spark polyline').length") == 3
    page.click("[data-sort=kernel]")
    assert page.texts("#positions tbody td:nth-child(2)") == ["Matmul", "LayerNorm", "BinaryNg"]
    page.click("[data-sort=kernel]")
    assert page.texts("#positions tbody td:nth-child(2)") == ["BinaryNg", "LayerNorm", "Matmul"]
    assert page.value("document.getElementById('diff-section').hidden") is True


def test_the_treemap_is_to_scale(visit, tmp_path: Path) -> None:
    page = visit(write(tmp_path, "a.csv", report()))
    areas = page.value(
        "[...document.querySelectorAll('#tree rect')].map(r => [r.textContent.split(':')[0],"
        " r.getAttribute('width') * r.getAttribute('height')])"
    )
    total = sum(area for _, area in areas)
    kernel = json.loads(page.value("document.getElementById('perf').textContent"))
    for name, area in areas:
        share = next(g["kernel"] for g in kernel["by_op"] if g["op"] == name) / kernel["kernel_ns"]
        assert area / total == pytest.approx(share, rel=1e-6), name


def test_says_what_changed(visit, tmp_path: Path) -> None:
    before, after = write(tmp_path, "a.csv", report()), write(tmp_path, "b.csv", report(slower=5000))
    page = visit(after, "--against", before)
    assert page.value("document.getElementById('diff-section').hidden") is False
    assert page.texts("#diff tbody td:nth-child(4)") == ["Matmul"]
    assert page.texts("#diff .slower") == ["slower"]
    assert page.texts("#diff-totals .slower") == ["slower"]


def test_a_name_is_text_and_nothing_else(visit, tmp_path: Path) -> None:
    page = visit(write(tmp_path, "a.csv", report(hostile="<img src=x onerror=alert(1)></script>{{script}}")))
    assert page.value("document.images.length") == 0
    assert any("<img src=x" in text for text in page.texts("#positions tbody td:nth-child(10)"))


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize(("width", "height"), SIZES)
def test_fits_every_width_in_light_and_dark(width: int, height: int, dark: bool, visit, tmp_path: Path) -> None:
    before, after = write(tmp_path, "a.csv", report()), write(tmp_path, "b.csv", report(slower=5000))
    page = visit(after, "--against", before, width=width, height=height, dark=dark)
    assert fits(page)
    assert page.value("document.documentElement.dataset.theme") == ("dark" if dark else "light")
    page.click("#theme")
    assert page.value("document.documentElement.dataset.theme") == ("light" if dark else "dark")


def test_real_reports(visit) -> None:
    files = sorted(REAL.glob("*.csv*")) if REAL.is_dir() else []
    if not files:
        pytest.skip(f"0 real reports in {REAL}")
    shown = 0
    for file in files:
        window = [] if "B0_vs_F4" not in file.name else ["--window", "LONG_GELU_B0"]
        page = visit(file, *window)
        data = json.loads(page.value("document.getElementById('perf').textContent"))
        assert len(page.texts("#positions tbody tr")) == min(len(data["positions"]), 200), file.name
        shown += 1
    assert shown == len(files)
