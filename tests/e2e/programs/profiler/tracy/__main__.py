"""`python3 -m tracy -p -r -o FOLDER -n NAME --check-exit-code … [-m] PROGRAM WORDS`, as the real one takes it.

The outer process hands its own words, without -r, to a shell, which starts the inner one; that runs the program. Then the
outer one writes a report in the real format, below FOLDER/reports/NAME/DATE/. What STAND_IN says goes wrong on the way:
crash, hang (is deaf to SIGTERM too), late (a process left behind writes it), never (that process does not end), cut
(the report ends in the middle), nameless (an older profiler: no NAME), two (reports), windows, nothing.
"""

import argparse
import os
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "fixtures"))
import make_perf  # noqa: E402

FAULT = os.environ.get("STAND_IN", "")


def report() -> str:
    rows = list(make_perf.rows("v2.1", 3))
    if FAULT == "windows":
        rows = [make_perf.signpost("A", 1), *rows[:4], make_perf.signpost("A_END", 2), make_perf.signpost("B", 3), *rows[4:],
                make_perf.signpost("B_END", 4)]  # fmt: skip
    text = make_perf.text(make_perf.header("v2.1"), rows)
    return text[: len(text) * 2 // 3] if FAULT == "cut" else text


def write(folder: Path, name: str, date: str) -> None:
    name = "" if FAULT == "nameless" else name
    place = folder / "reports" / name / date
    place.mkdir(parents=True)
    (place / f"ops_perf_results{'_' + name if name else ''}_{date}.csv").write_text(report())


def run_inner(module: bool, words: list[str]) -> None:
    sys.argv[:] = words
    if module:
        sys.path.insert(0, os.getcwd())
        runpy.run_module(words[0], run_name="__main__")
        return
    source = Path(words[0]).read_bytes()
    try:
        code = compile(source, words[0], "exec")
    except (SyntaxError, ValueError):
        subprocess.run(" ".join(words), shell=True, check=True)
        return
    exec(code, {"__name__": "__main__", "__file__": words[0]})


def main() -> None:
    parser = argparse.ArgumentParser()
    for switch in ("-p", "-r", "-m", "--check-exit-code", "--sync-host-device"):
        parser.add_argument(switch, action="store_true")
    parser.add_argument("-o", type=Path)
    parser.add_argument("-n", default="")
    parser.add_argument("--op-support-count", type=int)
    parser.add_argument("words", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.r:
        run_inner(options.m, options.words)
        return
    print("stand-in:", os.environ["TT_METAL_DEVICE_PROFILER"], options.op_support_count, options.sync_host_device, flush=True)
    if FAULT == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    ours = list(sys.argv[1:])
    ours.remove("-r")
    done = subprocess.run("python3 -m tracy " + " ".join(ours), shell=True, start_new_session=True)
    if FAULT == "hang":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        subprocess.Popen(["sleep", "1000"], start_new_session=True)
        time.sleep(1000)
    if done.returncode != 0:
        sys.exit(4)
    if FAULT == "nothing":
        return
    if FAULT in ("late", "never"):
        sys.stdout.flush()
        if os.fork() == 0:
            os.setsid()
            if os.fork() == 0:
                time.sleep(1 if FAULT == "late" else 1000)
                write(options.o, options.n, "2026_01_02_03_04_05")
            os._exit(0)
        return
    write(options.o, options.n, "2026_01_02_03_04_05")
    if FAULT == "two":
        write(options.o, options.n, "2026_01_02_03_04_06")


main()
