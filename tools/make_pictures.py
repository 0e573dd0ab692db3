#!/usr/bin/env python3
"""Makes the pictures of README.md from real output: a run of the bundled trace, in a terminal and as a page.

usage: make_pictures.py [OPWRIGHT]        default: build/release/opwright; writes docs/pictures/*.png

Needs Debian's chromium. The terminal is drawn by the browser too: the text is what the program printed.
"""

import html
import os
import subprocess
import sys
import tempfile
from pathlib import Path

REPO = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPO / "tests" / "web"))
import browser as web  # noqa: E402

TRACE = "tests/fixtures/native/mbconv.opwt.zst"
OPERATIONS = "--op silu --op sigmoid --op add --op multiply --op linear"
SHOWN = [f"opwright import {TRACE}", "opwright show silu --limit 1", f"opwright run --quiet {OPERATIONS}"]
FAULTY = f"opwright run --quiet {OPERATIONS} --device 'planted:wrong if input_tensor_a[-1] > 100'"
MOST_LINES = 38
MOST_COLUMNS = 130
MOST_BYTES = 200_000
READY = "document.getElementById('main')?.getAttribute('aria-busy') === 'false'"

STYLE = """
body { margin: 0; padding: 14px; background: #f4f6f8; }
pre { margin: 0; padding: 18px 20px; border-radius: 10px; background: #10161d; color: #e6ebf0; display: inline-block;
      font: 13px/1.42 "DejaVu Sans Mono", monospace; }
b { color: #7fd1b0; font-weight: 600; }
"""


def cut(line: str) -> str:
    return line if len(line) <= MOST_COLUMNS else line[: MOST_COLUMNS - 1] + "…"


def terminal(commands: list[str], folder: Path, env: dict[str, str]) -> str:
    shown = []
    for command in commands:
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=env, capture_output=True, text=True, timeout=600)
        lines = [cut(line) for line in (done.stdout + done.stderr).rstrip().splitlines()]
        shown.append(f"<b>$ {html.escape(command)}</b>\n" + "\n".join(html.escape(line) for line in lines))
    text = "\n".join(shown).splitlines()
    return "\n".join(text[:MOST_LINES])


def main(arguments: list[str]) -> int:
    program = Path(arguments[0] if arguments else REPO / "build" / "release" / "opwright").resolve()
    out = REPO / "docs" / "pictures"
    out.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name, web.Browser() as browser:
        folder = Path(name)
        (folder / "tests").symlink_to(REPO / "tests")
        (folder / "bin").mkdir()
        (folder / "bin" / "opwright").symlink_to(program)
        env = {**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}", "COLUMNS": "110", "NO_COLOR": "1"}
        text = terminal(SHOWN, folder, env)
        # A second run with a planted fault, so that the report has something to tell.
        subprocess.run(["bash", "-c", f"{FAULTY} >/dev/null 2>&1 || true; opwright report --html page"], cwd=folder, env=env, check=True)
        page = browser.open(folder / "page" / "index.html", width=1180, height=900)
        page.wait_for(READY)
        page.screenshot(out / "report.png")
        (folder / "terminal.html").write_text(f"<!doctype html><meta charset=utf-8><style>{STYLE}</style><pre>{text}</pre>")
        shot = browser.open(folder / "terminal.html", width=1100, height=400)
        shot.wait_for("document.readyState === 'complete'")
        shot.screenshot(out / "terminal.png", whole=True)
    for picture in sorted(out.glob("*.png")):
        size = picture.stat().st_size
        print(f"{picture.relative_to(REPO)}: {size:,} bytes")
        if size > MOST_BYTES:
            print(f"{picture.name} is larger than {MOST_BYTES:,} bytes", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
