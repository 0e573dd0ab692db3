"""Nothing that a device program started outlives it, or us: however either of them ends. And a run whose process is gone
does not say that it is running."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
import support
from test_hostile_devices import device
from test_run import results, suite_file

#: Control groups where the machine lets us make some, and the way without.
WAYS = pytest.mark.parametrize("way", ["on", "off"])
LEFT = ("daemon", "daemon_without_environment", "child")


def start(folder: Path, store: Path, kind: str, *more: object, way: str = "on") -> subprocess.Popen:
    suite = suite_file(folder, [(1, 32), (1, 64)])
    return subprocess.Popen(
        [support.find_opwright(), "--store", store, "run", "--device", device(f"call_{kind}", folder), "--suites", suite,
         "--jobs", "1", *map(str, more)],
        cwd=folder, env=support.command_env(folder, OPWRIGHT_CGROUP=way), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        encoding="utf-8",
    )  # fmt: skip


def wait_for(found, what: str, seconds: float = 60):
    deadline = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
    return answer


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return ""


def is_alive(pid: int) -> bool:
    return state_of(pid) not in ("", "Z", "X")


def left_behind(folder: Path) -> list[int]:
    """What the device forked, once it has."""
    wait_for(lambda: all((folder / name).exists() and (folder / name).read_text() for name in LEFT), "the device forked nothing")
    return [int((folder / name).read_text()) for name in LEFT]


def check_gone(pids: list[int]) -> None:
    try:
        wait_for(lambda: not any(map(is_alive, pids)), f"some of {pids} live", 20)
    finally:
        for pid in filter(is_alive, pids):
            os.kill(pid, signal.SIGKILL)


def worker_of(process: subprocess.Popen) -> int:
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    return int(wait_for(lambda: children.read_text().split(), "there is no worker")[0])


@WAYS
@pytest.mark.parametrize("kind", ["forks", "forks_and_crashes", "forks_and_hangs"])
def test_daemons_go_with_the_run(tmp_path: Path, way: str, kind: str) -> None:
    """After a good end, a crash and a time-out."""
    process = start(tmp_path, tmp_path / "s.db", kind, "--timeout", 3, "--no-attribute", way=way)
    pids = left_behind(tmp_path)
    out, err = process.communicate(timeout=120)
    alive = [pid for pid in pids if is_alive(pid)]
    check_gone(pids)
    assert not alive, "they lived when the run had ended"
    assert process.returncode == (0 if kind == "forks" else 1), out + err


@WAYS
@pytest.mark.parametrize("victim", ["parent", "worker", "both"])
def test_daemons_go_when_we_are_killed(tmp_path: Path, way: str, victim: str) -> None:
    store = tmp_path / "s.db"
    process = start(tmp_path, store, "forks_and_hangs", "--timeout", 600, "--no-attribute", way=way)
    pids = left_behind(tmp_path)
    wait_for((tmp_path / "hangs").exists, "it does not hang")
    worker = worker_of(process)
    if victim in ("worker", "both"):
        os.kill(worker, signal.SIGKILL)
    if victim in ("parent", "both"):
        process.kill()
        process.wait()
    check_gone(pids)
    process.kill()
    process.communicate()
    wait_for(lambda: not is_alive(worker), "the worker lives")


@WAYS
def test_daemons_go_with_ctrl_c(tmp_path: Path, way: str) -> None:
    process = start(tmp_path, tmp_path / "s.db", "forks_and_hangs", "--timeout", 600, "--no-attribute", way=way)
    pids = left_behind(tmp_path)
    process.send_signal(signal.SIGINT)  # finish what runs …
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)  # … no: stop
    process.communicate(timeout=60)
    assert process.returncode == 130
    check_gone(pids)


def test_one_case_takes_its_daemons_along(tmp_path: Path) -> None:
    tensor = "tensor([1,1,32,32] BFLOAT16 TILE DEVICE memory(DRAM INTERLEAVED))"
    process = subprocess.Popen(
        [support.find_opwright(), "run", "--case", f"ttnn.relu(input_tensor={tensor})",
         "--device", device("call_forks_and_hangs", tmp_path)],
        cwd=tmp_path, env=support.command_env(tmp_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    pids = left_behind(tmp_path)
    process.kill()
    process.wait()
    check_gone(pids)


@WAYS
def test_a_device_that_forks_without_end_is_ended(opwright, tmp_path: Path, way: str) -> None:
    store = tmp_path / "s.db"
    process = start(tmp_path, store, "forks_for_ever", "--timeout", 2, "--no-attribute", way=way)
    process.communicate(timeout=120)
    pids = [int(path.read_text() or 0) for path in tmp_path.glob("generation*")]
    assert len(pids) > 10
    check_gone([pid for pid in pids if str(tmp_path) in command_of(pid)])
    assert [record["outcome"] for record in results(opwright, store)] == ["timed_out"] * 2


def command_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def test_others_are_left_alone(tmp_path: Path) -> None:
    """A process beside the device, with the same name, of the same user, is none of ours."""
    bystander = subprocess.Popen(["sleep", "600"], start_new_session=True)
    try:
        process = start(tmp_path, tmp_path / "s.db", "forks", "--no-attribute", way="off")
        process.communicate(timeout=120)
        assert bystander.poll() is None
    finally:
        bystander.kill()
        bystander.wait()


# ------------------------------------------------------------------------------------------- which runs are running


def runs(opwright, store: Path) -> list[dict]:
    return json.loads(opwright("--store", store, "--format", "json", "results", "--runs").stdout)


def test_a_run_is_running_while_its_process_lives(opwright, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    process = start(tmp_path, store, "hangs", "--timeout", 600)
    try:
        wait_for(lambda: store.exists() and runs(opwright, store), "the run never began")
        assert [run["status"] for run in runs(opwright, store)] == ["running"]
        again = opwright("--store", store, "run", "--resume")
        assert again.returncode == 3 and "is still running" in again.stderr, again.stderr
    finally:
        process.kill()
        process.communicate()
    assert [run["status"] for run in runs(opwright, store)] == ["interrupted"]
    shown = opwright("--store", store, "results")
    assert "was interrupted; opwright run --resume" in shown.stdout, shown.stdout


# ------------------------------------------------------------------------------------------- what a broken run says


def limited(folder: Path, store: Path, blocks: int, *arguments: object) -> subprocess.CompletedProcess:
    """As on a disk with room for so many kilobytes a file."""
    words = " ".join(f"'{word}'" for word in ("--store", store, *arguments))
    script = f"trap '' XFSZ; ulimit -f {blocks}; exec '{support.find_opwright()}' {words}"
    return support.run_shell(script, folder, support.command_env(folder))


def test_a_full_disk_says_what_is_kept(opwright, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    suite = suite_file(tmp_path, [(1, 32 * (n + 1)) for n in range(300)])
    run = ("run", "--device", "null", "--suites", suite, "--jobs", 1, "--quiet")
    opwright("--store", store, "import", support.FIXTURES / "demo")
    room = store.stat().st_size // 1024 + 200
    done = limited(tmp_path, store, room, *run)
    assert done.returncode == 3, done
    assert "s.db" in done.stderr and ("full" in done.stderr or "failed" in done.stderr), done.stderr
    assert "no run '" not in done.stderr and "nothing was changed" not in done.stderr, done.stderr
    kept = len(results(opwright, store))
    assert 0 < kept < 300
    assert f"the run was broken off: {kept} of 300 cases are in the store" in done.stderr, done.stderr
    assert runs(opwright, store)[-1]["status"] == "interrupted"
    assert opwright("--store", store, "run", "--resume", "--quiet").returncode == 0
    assert len(results(opwright, store)) == 300 and runs(opwright, store)[-1]["status"] == "complete"


def test_a_disk_that_is_full_from_the_start_says_so(opwright, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    opwright("--store", store, "import", support.FIXTURES / "demo")
    before = store.read_bytes()
    suite = suite_file(tmp_path, [(1, 32)])
    done = limited(tmp_path, store, 1, "run", "--device", "null", "--suites", suite, "--jobs", 1)
    assert done.returncode == 3 and "no run '" not in done.stderr, done.stderr
    assert "s.db" in done.stderr and ("full" in done.stderr or "failed" in done.stderr), done.stderr
    assert store.read_bytes() == before
