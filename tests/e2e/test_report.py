"""`opwright report --html`: the page in a real browser. The runs are made up by make_runs (tests/web)."""

import json
import re
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import pytest
import support
from report_site import MIXED, READY, SHOWN, Site, chromium, site, visit, web  # noqa: F401

PAGE_SOURCES = support.REPO / "src" / "report" / "page"


def shown(page: web.Page) -> int:
    return int(re.match(r"[\d,]+", page.value(SHOWN))[0].replace(",", ""))


def rows(page: web.Page, column: int) -> list[str]:
    return page.texts(f"#results tbody td:nth-child({column})")


def number(text: str) -> int:
    return int(text.replace(",", ""))


# ------------------------------------------------------------------------------------------------------- what it says


@pytest.mark.parametrize(
    ("kind", "count"), [("mixed", MIXED), ("failed", 30), ("against", 40), ("hostile", 36), ("empty", 0)]
)
def test_figures_are_those_of_results(kind: str, count: int, site: Site, visit) -> None:
    page = visit(kind, count)
    result = site.call("results", f"{kind}-{count}", "--format", "json")
    assert result.stdout, result.stderr
    totals = json.loads(result.stdout)
    seen = page.value("figuresOf(selectRows())")
    same = {"total": totals["total"], "good": totals["passed"], "failures": totals["failed"]}
    same |= {"noVerdict": totals["no_verdict"]}
    same |= {"calls": totals["calls"]["total"], "goodCalls": totals["calls"]["passed"]}
    same |= {"fields": totals["executed"]["fields"], "fieldsEqual": totals["executed"]["fields_equal"]}
    same |= {"faults": totals["faults"]["tried"], "noticed": totals["faults"]["noticed"]}
    compared = totals["differential"]["cases"] - totals["differential"]["not_compared"]
    same |= {"compared": compared, "pccCount": totals["pcc"]["count"]}
    assert {name: seen[name] for name in same} == same
    assert seen["compared"] - seen["agreed"] == totals["differential"]["disagreed"]
    assert seen["wall"] == pytest.approx(totals["seconds"], rel=1e-5)
    for name, key in (("pccMin", "min"), ("pccMax", "max"), ("pccAvg", "avg")):
        assert seen[name] == (totals["pcc"][key] and pytest.approx(totals["pcc"][key], abs=1e-9)), name
    outcomes = page.value("report.outcomes.map((o, i) => [o.name, figuresOf(selectRows()).counts[i]])")
    assert {name: many for name, many in outcomes if many} == {
        name: many for name, many in totals["outcomes"].items() if many
    }


def test_tables_and_causes_are_those_of_results(site: Site, visit) -> None:
    page = visit()
    totals = json.loads(site.call("results", f"mixed-{MIXED}", "--format", "json").stdout)
    for by in ("op", "dtype", "layout", "memory", "model", "suite"):
        groups = page.value(
            f"[...groupRows(selectRows(), '{by}')].map(([name, rows]) => [name, figuresOf(rows)])"
            ".map(([name, sum]) => [name, sum.total, sum.good, sum.failures, sum.calls, sum.wall])"
        )
        wanted = sorted([g["name"], g["cases"], g["passed"], g["failed"], g["calls"], g["seconds"]] for g in totals[f"by_{by}"])
        groups.sort()
        assert [group[:-1] for group in groups] == [group[:-1] for group in wanted], by
        assert [group[-1] for group in groups] == pytest.approx([group[-1] for group in wanted], rel=1e-5), by
    page_causes = [number(text.split(" ")[0]) for text in page.texts(".cluster .times")]
    assert page_causes == [cause["count"] for cause in totals["failures"]]
    page.click("#cause-tabs-others")
    others = sum(number(text.split(" ")[0]) for text in page.texts(".cluster .times"))
    assert others == sum(cause["count"] for cause in totals["unproven"])
    assert page.text("#figures #figure-total strong") == str(MIXED)


def test_totals_on_the_page(visit) -> None:
    page = visit()
    legend = [number(text) for text in page.texts("#legend strong")]
    assert sum(legend) == MIXED == number(page.text("#figure-total strong"))
    passed = number(page.text("#figure-passed .note").split(" of ")[0])
    assert number(page.text("#legend [data-outcome=passed] strong")) == passed
    widths = page.value("[...document.querySelectorAll('#bar .part')].map(p => p.getBoundingClientRect().width)")
    assert len(widths) == len(legend) and widths[0] == max(widths)


def test_two_devices(visit) -> None:
    page = visit("against", 40)
    assert page.text("h1") == "model_traced on sim:n300 against ttnn:mock:n300"
    assert page.text("#figure-agreed strong") == "75 %"
    page.choose("#filter-agreement", "=disagree")
    assert shown(page) == 10
    page.click("#results tbody tr")
    page.wait_for("document.getElementById('panel').open")
    assert "outcome: passed against refused" in page.text("#panel")


def test_head_tells_the_run(visit) -> None:
    page = visit()
    head = page.text("header.top")
    words = ("sim:n300", "exact-model", "lab-7", "6716e0b9f2a1", "18446744073709551615", "complete", "0.1.0")
    for word in (*words, f"mixed-{MIXED}"):
        assert word in head
    assert "opwright run --suite model_traced" in page.text("#facts-more")
    assert page.texts("#notices p") == []


def test_a_device_without_numerics_judged_nothing(visit) -> None:
    page = visit("accepted", 60)
    assert "Nothing was judged" in page.text("#notices")
    assert page.text("#figure-passed .label") == "Accepted"
    assert "No case has a PCC" in page.text("#plot-pcc")
    assert "passed" not in page.text("main")
    page.click("#results tbody a")
    page.wait_for("document.getElementById('panel').open")
    assert "the device has no numerics" in page.text("#panel")


def test_no_results(visit) -> None:
    page = visit("empty", 0)
    assert "This run has no results" in page.text("#notices")
    assert shown(page) == 0
    assert page.text("#figure-passed strong") == "–"


def test_all_failed(visit) -> None:
    page = visit("failed", 30)
    assert page.text("#figure-passed strong") == "0 %"
    assert page.text("#figure-failed strong") == "30"
    assert page.texts(".cluster .times") == ["30 cases"]
    assert "3 planned cases without a result" in page.text("#notices")


# ------------------------------------------------------------------------------------------------------------- filters


@pytest.mark.parametrize("name", ["op", "dtype", "outcome", "model", "memory", "layout", "blame"])
def test_a_filter_shows_what_its_list_counts(name: str, visit) -> None:
    page = visit()
    last = f"[...document.querySelectorAll('#filter-{name} option')].at(-1)"
    value, label = page.value(f"[{last}.value, {last}.textContent]")
    count = number(re.search(r"\(([\d,]+)\)$", label)[1])
    assert 0 < count < MIXED
    page.choose(f"#filter-{name}", value)
    assert shown(page) == count == number(page.text("#figure-total strong"))
    page.click("#chips .chip")
    assert shown(page) == MIXED


def test_filters_combine_and_text_finds(visit) -> None:
    page = visit()
    page.choose("#filter-outcome", "=failure")
    failures = shown(page)
    assert failures == number(page.text("#figure-failed strong")) < MIXED
    page.choose("#filter-dtype", "=BFLOAT16")
    both = shown(page)
    assert 0 < both < failures
    assert set(rows(page, 4)) == {"BFLOAT16"}
    page.click("#filter-text")
    page.type("MULTIPLE shard")
    page.wait_for(f"!{SHOWN}.startsWith('{both} ')")
    assert 0 < shown(page) < both
    assert all("shard width" in text for text in page.texts("#results .why"))
    page.type(" nowhere-to-be-found")
    page.wait_for(f"{SHOWN}.startsWith('0 ')")
    assert "No result matches" in page.text("#results")
    page.click("#chips .clear")
    assert shown(page) == MIXED


def test_a_click_on_the_matrix(visit) -> None:
    page = visit()
    good, total = page.text("#matrix .cell").split("/")
    page.click("#matrix .cell")
    assert shown(page) == number(total)
    assert number(page.text("#figure-passed .note").split(" of ")[0]) == number(good)
    assert len(page.texts("#matrix tbody tr")) > 1, "the other operators stay, to go on from"
    page.click("#matrix .cell.chosen")
    assert shown(page) == MIXED


def test_red_in_the_matrix_is_for_failures(visit) -> None:
    shown = "getComputedStyle(c).backgroundColor"
    cells = visit().value(f"[...document.querySelectorAll('#matrix .cell')].map((c) => [c.className, c.title, {shown}])")
    red = {("fails" in shades.split(), "failed" in words) for shades, words, _ in cells}
    assert red == {(True, True), (False, False)}
    assert len({colour for *_, colour in cells}) > 3, "shaded by share"


def test_a_click_on_a_plot_and_on_an_outcome(visit) -> None:
    page = visit()
    words = page.value("document.querySelector('#plot-pcc .column').getAttribute('aria-label')")
    page.click("#plot-pcc .column rect.hit")
    assert shown(page) == number(re.search(r"([\d,]+) cases?$", words)[1])
    page.click("#plot-pcc .column[aria-pressed=true] rect.hit")
    assert shown(page) == MIXED
    count = number(page.text("#legend [data-outcome=failed] strong"))
    page.click("#legend [data-outcome=failed]")
    assert shown(page) == count


def test_a_cause_shows_its_cases(visit) -> None:
    page = visit()
    count = number(page.text(".cluster .times").split(" ")[0])
    clipboard = "{value: {writeText: async (text) => { window.copied = text; }}}"
    page.value(f"Object.defineProperty(navigator, 'clipboard', {clipboard}) && 0")
    assert page.value("document.querySelectorAll('.cluster[open]').length") == 0, "causes are folded"
    page.click(".cluster summary")
    page.click(".cluster .copy")
    page.wait_for("window.copied")
    assert page.value("window.copied") == page.text(".cluster .command code")
    assert page.value("window.copied").startswith("opwright run --case 'ttnn.")
    page.click(".cluster .actions button")
    assert shown(page) == count


def test_a_link_keeps_the_view(site: Site, visit) -> None:
    page = visit()
    page.choose("#filter-outcome", "=failure")
    page.click("#results [data-sort=wall]")
    page.click("#group-tabs-memory")
    page.click("#results tbody tr")
    page.wait_for("document.getElementById('panel').open")
    again = visit(hash=page.value("location.hash"))
    again.wait_for("document.getElementById('panel').open")
    for selector in ("#shown", "#results tbody", "#groups", "#panel"):
        assert again.text(selector) == page.text(selector), selector
    page.value("history.back()")
    page.wait_for("!document.getElementById('panel').open")
    page.value("history.go(-3)")
    page.wait_for(f"{SHOWN} === '{MIXED} results'")


def test_a_link_to_what_is_not_there(visit) -> None:
    page = visit(hash="#op=ttnn.gone&case=99999&page=77&sort=nonsense&pcc=x..y&by=what")
    assert shown(page) == 0
    assert not page.value("document.getElementById('panel').open")


# ----------------------------------------------------------------------------------------------------- tables, one case


def test_sorting(visit) -> None:
    page = visit()
    page.click("#results [data-sort=pcc]")
    ascending = [float(text) for text in rows(page, 6)]
    assert ascending == sorted(ascending) and len(ascending) == 50
    page.press("Enter")  # the focus stays on the header that was clicked
    descending = [float(text) for text in rows(page, 6)]
    assert descending == sorted(descending, reverse=True) and descending != ascending
    assert page.value("document.querySelector('#results [aria-sort=descending]').textContent").startswith("PCC")
    page.click("#groups [data-sort=total]")
    cases = [number(text) for text in page.texts("#groups tbody td:nth-child(2)")]
    assert cases == sorted(cases, reverse=True) and sum(cases) == MIXED


def test_paging(visit) -> None:
    page = visit()
    first = rows(page, 1)
    page.click("#pager [aria-label='Next page']")
    assert rows(page, 1) == [str(int(index) + 50) for index in first]
    page.click("#pager [aria-label='Last page']")
    assert rows(page, 1)[-1] == str(MIXED - 1)


def test_the_panel_of_a_case(visit) -> None:
    page = visit(hash="#outcome=unproven")
    page.click("#results tbody tr")
    page.wait_for("document.getElementById('panel').open")
    panel = page.text("#panel")
    line = page.text("#panel-line")
    assert "2 of 14 fields were executed otherwise" in panel
    for word in ("unproven", "HEIGHT_SHARDED -> INTERLEAVED", "12 of 14 fields equal", "canary passed"):
        assert word in panel, word
    assert "opwright run --case '" + line.replace("'", "'\\''") + "' --device sim:n300" in panel
    assert "half an ULP" in panel, "the judge's own record"
    page.press("ArrowRight")
    page.wait_for(f"document.getElementById('panel-line').textContent !== {json.dumps(line)}")
    page.press("Escape")
    page.wait_for("!document.getElementById('panel').open && !location.hash.includes('case=')")


def test_with_the_keyboard_alone(visit) -> None:
    page = visit()
    for _ in range(40):
        page.press("Tab")
        if page.value("document.activeElement.dataset.outcome || ''") == "failed":
            break
    page.press(" ")
    assert page.value("filters.outcome") == "failed"
    assert page.value("document.activeElement.dataset.outcome") == "failed", "the focus is where it was"
    page.value("document.getElementById('group-tabs-op').focus()")
    page.press("ArrowRight")
    assert page.value("document.activeElement.id") == "group-tabs-dtype"
    assert page.value("view.by") == "dtype"


# ------------------------------------------------------------------------------------------------- hostile, odd, large


@pytest.mark.parametrize("width", [1280, 390])
def test_data_stays_text(width: int, visit) -> None:
    page = visit("hostile", 36, width=width)
    for index in range(12):
        page.value(f"setView({{case: '{index}'}})")
        page.wait_for(f"document.getElementById('panel').open && openRow === {index}")
        page.wait_for(f"document.getElementById('panel-line')?.textContent === visible(text('line', {index}))")
    page.value("setView({case: ''})")
    assert page.value("window.owned") is None
    assert page.value("document.images.length") == 0
    assert page.value("document.querySelectorAll('main script, main b:not(.cell b), #panel b').length") == 0
    assert "<img src=x onerror=\"window.owned=1\">" in page.text("#results")
    assert "</script><script>window.owned=1</script>" in page.text("#failures")
    assert "{{title}} {{data}}" in page.text("#results")
    assert page.value("document.documentElement.scrollWidth") <= width, "a name of 300 characters widens nothing"


def test_marks_of_direction_and_controls_are_seen(visit) -> None:
    page = visit("hostile", 36)
    page.value("setView({case: '6'})")
    page.wait_for("document.getElementById('panel').open && openRow === 6")
    hidden = r"/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069]/"
    shown = "document.body.innerText + [...document.querySelectorAll('[title], [aria-label]')].map(e => e.title + e.ariaLabel).join('')"
    assert page.value(f"{hidden}.test({shown})") is False
    assert "\\u202e back" in page.text("#panel h2"), page.text("#panel h2")
    assert page.value("HIDDEN.test(report.strings.join(''))"), "the data is as it was: copying gives it back"


def test_names_without_end_neither_freeze_the_page_nor_are_lost(visit) -> None:
    page = visit("endless", 60)  # 60 names of 100,000 letters, each in a dozen places
    drawn = page.value("document.body.textContent.length - [...document.scripts].reduce((n, s) => n + s.textContent.length, 0)")
    assert drawn < 1_500_000, "what is drawn does not grow with the names"
    assert "… (100," in page.text("#groups")
    page.value("setFilters({op: text('op', 3)})")
    assert page.value(SHOWN).startswith("1 of 60")
    assert page.value("location.hash.length") < 1000
    page.value("readHash(), render()")
    assert page.value(SHOWN).startswith("1 of 60"), "the address leads back to the name"
    page.value("setView({case: '3'})")
    page.wait_for("document.getElementById('panel').open && openRow === 3")
    assert page.value("document.querySelectorAll('#panel li').length") <= 210
    page.click("#panel-name .rest")
    assert page.value("document.getElementById('panel-name').textContent === text('op', 3)"), "all of it can be seen"
    assert page.value("document.documentElement.scrollWidth") <= 1280


def test_numbers_that_are_none(visit) -> None:
    page = visit("hostile", 36)
    assert {"NaN", "∞", "-1.0000", "1"} <= set(rows(page, 6))
    assert "12 not a number" in page.text("#plot-pcc .note")


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", [1280, 390])
def test_it_is_drawn_in_light_and_dark_wide_and_narrow(width: int, dark: bool, visit, tmp_path: Path) -> None:
    page = visit(width=width, height=500, dark=dark)
    background = page.value("getComputedStyle(document.body).backgroundColor")
    assert (max(map(int, re.findall(r"\d+", background))) < 60) is dark
    assert len(set(colours(page.screenshot(tmp_path / "page.png")))) > 20
    assert page.value("document.documentElement.scrollWidth") <= width
    page.click("#theme")
    assert page.value("getComputedStyle(document.body).backgroundColor") != background


def test_names_for_readers_of_all_kinds(visit) -> None:
    page = visit()
    name = "(e.textContent.trim() || e.getAttribute('aria-label') || e.labels?.length)"
    controls = "[...document.querySelectorAll('button, a, select, input, [role=button]')]"
    assert page.value(f"{controls}.filter(e => !{name}).length") == 0
    assert page.value("document.querySelectorAll('th:not([scope])').length") == 0
    ids = page.value("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(ids) == len(set(ids))
    assert page.value("[...document.querySelectorAll('table')].every(t => t.querySelector('thead th'))")


def test_seven_thousand_results(site: Site, visit) -> None:
    page = visit("mixed", 7000)
    assert site.page("mixed", 7000).stat().st_size <= 3_000_000
    assert shown(page) == 7000
    page.choose("#filter-op", "=ttnn.add")
    assert 0 < shown(page) < 7000


@pytest.mark.slow
def test_a_hundred_thousand_results(visit) -> None:
    page = visit("mixed", 100_000, hash="#case=99999")
    page.wait_for("document.getElementById('panel').open")
    assert shown(page) == 100_000


# ------------------------------------------------------------------------------------------------- without a browser


def test_what_the_command_says(site: Site, tmp_path: Path) -> None:
    uid = f"mixed-{MIXED}"
    site.page("mixed", MIXED)
    result = site.call("report", "--html", tmp_path / "new" / "folder", uid, "--format", "json")
    assert result.returncode == 0, result.stderr
    page = tmp_path / "new" / "folder" / "index.html"
    size = page.stat().st_size
    assert json.loads(result.stdout) == {"run": uid, "results": MIXED, "bytes": size, "written": str(page)}
    assert [entry.name for entry in page.parent.iterdir()] == ["index.html"]


def test_what_the_command_refuses(site: Site, tmp_path: Path) -> None:
    site.page("mixed", MIXED)
    missing = site.call("report")
    assert missing.returncode == 2 and "--html DIR" in missing.stderr
    unknown = site.call("report", "--html", tmp_path, "no-such-run")
    assert unknown.returncode != 0 and "no-such-run" in unknown.stderr
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("")
    blocked = site.call("report", "--html", tmp_path / "file", f"mixed-{MIXED}")
    assert blocked.returncode == 3 and "cannot make this folder" in blocked.stderr


def test_sources_never_read_data_as_code() -> None:
    for source in PAGE_SOURCES.iterdir():
        text = source.read_text(encoding="utf-8")
        dangerous = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function"
        assert not re.search(dangerous, text), source.name
        addresses = set(re.findall(r"https?://[^\s\"']+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}, source.name  # the name of SVG, not a place
        assert len(text.splitlines()) <= 400, source.name


def test_colours_have_contrast() -> None:
    style = (PAGE_SOURCES / "style.css").read_text(encoding="utf-8")
    themes = re.findall(r":root[^{]*\{([^}]*)\}", style)
    assert len(themes) == 2
    for theme in themes:
        colour = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", theme))
        for ink in ("ink", "muted", "accent"):
            for ground in ("card", "bg", "soft", "chosen"):
                assert contrast(colour[ink], colour[ground]) >= 4.5, (ink, ground, theme)
        for ground in ("s0", "s1", "s2", "s3", "s4", "warn", "bad"):
            assert contrast(colour["ink"], colour[ground]) >= 4.5, (ground, theme)
    for name, ground, sign in re.findall(r"\.o-(\w+) \{ --c: (#[0-9a-f]+); --on: (#[0-9a-f]+); \}", style):
        assert contrast(ground, sign) >= 3, name


def contrast(one: str, other: str) -> float:
    """The ratio of the Web Content Accessibility Guidelines."""

    def luminance(colour: str) -> float:
        digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
        parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
        red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def colours(png: bytes) -> Iterator[bytes]:
    """The pixels of a PNG with 8 bits a channel, as Chromium writes it."""
    data, at, width, channels = b"", 8, 0, 3
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at : at + 8])
        if kind == b"IHDR":
            width = struct.unpack(">I", png[at + 8 : at + 12])[0]
            channels = {2: 3, 6: 4}[png[at + 17]]
        elif kind == b"IDAT":
            data += png[at + 8 : at + 8 + length]
        at += length + 12
    raw, stride = zlib.decompress(data), width * channels
    before = bytearray(stride)
    for start in range(0, len(raw), stride + 1):
        line = bytearray(raw[start + 1 : start + 1 + stride])
        unfilter(raw[start], line, before, channels)
        yield from (bytes(line[i : i + 3]) for i in range(0, stride, 16 * channels))  # every 16th is enough
        before = line


def unfilter(kind: int, line: bytearray, before: bytearray, channels: int) -> None:
    for i in range(len(line)) if kind else ():
        left = line[i - channels] if i >= channels else 0
        corner = before[i - channels] if i >= channels else 0
        above = before[i]
        if kind == 4:
            near = left + above - corner
            guess = min((left, above, corner), key=lambda each: abs(near - each))
        else:
            guess = (0, left, above, (left + above) // 2)[kind]
        line[i] = (line[i] + guess) & 255
