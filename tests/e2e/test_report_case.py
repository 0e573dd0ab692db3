"""`opwright report --html`: one case on the page, and what the page tells of earlier runs."""

import base64
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import support
from report_site import MIXED, READY, Site, chromium, site, visit, web  # noqa: F401


@pytest.fixture(scope="module")
def two_runs(opwright_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """A store with a run and the same cases a day later."""
    site = Site(opwright_program, tmp_path_factory.mktemp("two"))
    site.make("mixed", MIXED)
    site.page("later", MIXED)
    return site


@pytest.fixture
def later(two_runs: Site, chromium: web.Browser) -> Iterator[web.Page]:
    page = chromium.open(two_runs.page("later", MIXED))
    page.wait_for(READY)
    yield page
    assert page.complaints == [] and all(url.startswith("file:") for url in page.requests)
    page.close()


def test_what_changed_since_the_last_run(two_runs: Site, later: web.Page) -> None:
    diff = two_runs.call("results", "--diff", f"mixed-{MIXED}", f"later-{MIXED}", "--format", "json")
    wanted = json.loads(diff.stdout)
    names = {"new_failures": "New failures", "fixed": "Fixed", "accuracy_drops": "Less accurate"}
    for key, name in names.items():
        assert len(wanted[key]) > 2, "the made-up run is worth comparing"
        assert f"{len(wanted[key])} {name}" in later.texts("#since summary")
    assert "Something got worse" in later.text("#since")
    assert f"mixed-{MIXED}" in later.text("#since")
    assert not re.search(r"e\+[23]\d", later.text("#since")), "a count of ULPs near zero says nothing"
    later.click("#since .bad summary")
    later.click("#since .bad li button")
    later.wait_for("document.getElementById('panel').open")
    history = later.texts("#panel .past-run")
    assert len(history) == 2 and history[0] != history[1]
    assert "2026-11-15 20:09" in later.text("#panel") and "2026-11-16 20:09" in later.text("#panel")


def test_a_first_run_is_compared_with_nothing(visit) -> None:
    page = visit("empty", 0)
    assert "Something got worse" not in page.text("#since")


def test_a_value_near_zero_is_called_so(later: web.Page) -> None:
    row = later.value("report.col.ulp.findIndex(isNearZero)")
    later.value(f"setView({{case: String({row})}})")
    later.wait_for(f"document.getElementById('panel').open && openRow === {row}")
    assert "near zero" in later.text("#panel") and "e+36" not in later.text("#panel")


def test_a_case_opens_with_its_arguments_and_can_be_copied(visit) -> None:
    page = visit(hash="#case=0")
    page.wait_for("document.getElementById('panel').open")
    assert page.texts("#panel section h3")[:2] == ["Arguments", "Verdict"]
    heads = page.texts("#panel .arguments thead th")
    assert heads[:5] == ["Argument", "Shape", "Dtype", "Layout", "Memory"]
    assert "input_tensor_a" in page.text("#panel .arguments tbody th")
    clipboard = "{value: {writeText: async (text) => { window.copied = text; }}}"
    page.value(f"Object.defineProperty(navigator, 'clipboard', {clipboard}) && 0")
    copied = {}
    for at, name in enumerate(page.texts("#copies button"), 1):
        page.value("window.copied = ''")
        page.click(f"#copies button:nth-child({at})")
        page.wait_for("window.copied")
        copied[name] = page.value("window.copied")
    assert copied["Copy as case line"] == page.value("text('line', 0)")
    assert copied["Copy as command"].startswith("opwright run --case ")
    for name in ("Copy as pytest", "Copy as ttnn script"):
        compile(copied[name], name, "exec")
        assert page.value("text('op', 0)") in copied[name]
    assert "from op_testing import" in copied["Copy as pytest"] and "import torch" in copied["Copy as ttnn script"]


def test_a_point_of_the_scatter_opens_its_case(visit) -> None:
    page = visit()
    page.value("setView({y: 'pcc', x: 'rank'})")
    page.value("setView({y: 'bound', x: 'elements'})")
    assert page.value("scatter.points.length") == page.value("report.col.bound.filter(Number.isFinite).length")
    place = page.value(
        "(() => { const c = document.querySelector('canvas.points'); c.scrollIntoView({block: 'center'});"
        " const r = c.getBoundingClientRect(); const p = scatter.points[7];"
        " return {x: r.x + p.x, y: r.y + p.y}; })()"
    )
    for kind in ("mousePressed", "mouseReleased"):
        page.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **place)
    page.wait_for("document.getElementById('panel').open")
    assert page.value("scatter.points.some((p) => p.row === openRow)")
    colours = page.value("new Set(scatter.points.map((p) => p.colour)).size")
    assert colours == page.value("document.querySelectorAll('.dtypes button').length") > 3


def test_a_tail_is_seen_beside_a_tall_bar(visit) -> None:
    page = visit()
    heights = "document.querySelector('#plot-pcc svg .axis:last-of-type').textContent"
    assert "log scale" in page.text("#plot-pcc svg")
    lowest = page.value("Math.min(...[...document.querySelectorAll('#plot-pcc .column')].map((c) => "
                        "[...c.querySelectorAll('rect:not(.hit)')].reduce((n, r) => n + r.height.baseVal.value, 0)))")  # fmt: skip
    assert lowest >= 2, heights


CLIPPED = """[...document.querySelectorAll('.tile strong, .tile .note, button, .badge, h2, h3, summary, .card, .facts dd')]
  .filter((e) => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX === 'visible' && e.clientWidth > 0
    && getComputedStyle(e).display !== 'inline').map((e) => `${e.className} ${e.textContent.slice(0, 40)}`)"""


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [390, 1024, 1440])
def test_nothing_is_clipped(width: int, dark: bool, visit) -> None:
    page = visit(width=width, height=900, dark=dark)
    assert page.value("document.documentElement.scrollWidth") <= width
    assert page.value(CLIPPED) == []
    page.value("setView({case: '0'})")
    page.wait_for("document.getElementById('panel').open")
    assert page.value("document.getElementById('panel').scrollWidth") <= width
    assert page.value(CLIPPED) == []


RUN_ALL = """
import json, sys, ttnn
device = ttnn.open_device(device_id=0, l1_small_size=32768)
ttnn.open_device = lambda **options: device
ttnn.close_device = lambda closed: None
for script in json.load(open("scripts.json")):
    exec(compile(script.replace("print(result)", ""), "script", "exec"), {})
    print("ran", script.split("result = ")[1].split("(")[0])
"""


def test_scripts_run_on_the_real_library(opwright, ttnn_python: Path, tmp_path: Path) -> None:
    """Those of a model's configurations, on the library's mock device: their arguments are what it takes."""
    for command in (["import", support.FIXTURES / "native" / "mbconv.opwt.zst"], ["run", "--quiet", "--device", "null"]):
        opwright(*command)
    written = opwright("report", "--html", "page")
    assert written.returncode == 0, written.stderr
    html = (tmp_path / "page" / "index.html").read_text(encoding="utf-8")
    packed = re.findall(r'id="details-\d+">([^<]+)<', html)
    details = [case for block in packed for case in json.loads(zlib.decompress(base64.b64decode(block)))]
    scripts = {case["ttnn"].split("result = ")[1].split("(")[0]: case["ttnn"] for case in details if case["ttnn"]}
    assert len(scripts) >= 9, [case["unspelled"] for case in details]
    (tmp_path / "scripts.json").write_text(json.dumps(list(scripts.values())))
    (tmp_path / "all.py").write_text(RUN_ALL)
    done = opwright("mock", "--board", "n150", "--", ttnn_python, "all.py")
    assert sorted(re.findall(r"^ran (\S+)", done.stdout, re.M)) == sorted(scripts), done.stdout + done.stderr
