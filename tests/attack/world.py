"""Where attacks take place: a scratch folder, programs started with limits, and the laws that nothing may break.

Nothing outside the scratch folder is written. Inside it lies `outside/`, which stands for the rest of the machine: files
that no attack names on a command line. They are the canaries: when one changes, an attack got out.
"""

from __future__ import annotations

import hashlib
import os
import re
import resource
import shutil
import signal
import subprocess
import tempfile
import time
import unicodedata
from dataclasses import dataclass
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
FIXTURES = REPO / "tests" / "fixtures"
MARK = "OPWRIGHT_ATTACK_MARK"  # in the environment of everything that is started: what is left behind is found by it

_TURNS = {0x061C, 0x200E, 0x200F, *range(0x202A, 0x202F), *range(0x2066, 0x206A), 0x2028, 0x2029}
_CRASH = re.compile(rb"internal error|terminate called|AddressSanitizer|runtime error:|bad_alloc|Traceback \(most recent")


class Finding(Exception):
    """A broken law: what was seen, in words."""


@dataclass
class Ran:
    """How a command ended."""

    words: list[str]
    status: int  # negative: the signal that ended it
    out: bytes
    err: bytes
    seconds: float
    peak_bytes: int
    timed_out: bool = False


class World:
    """One scratch folder for a whole session of attacks, with a fresh room for each."""

    def __init__(self, program: Path, seconds: float = 60, memory: int = 2 << 30):
        self.program = program
        self.limit_s = seconds
        self.limit_bytes = memory
        self.scratch = Path(tempfile.mkdtemp(prefix="opwright-attack-"))
        self.home = self.scratch / "home"
        self.outside = self.scratch / "outside"
        self.home.mkdir()
        self.outside.mkdir()
        for name in ("private.txt", ".bashrc", "model.bin"):
            (self.outside / name).write_bytes(os.urandom(256))
        (self.outside / "folder").mkdir()
        (self.outside / "folder" / "kept.db").write_bytes(os.urandom(64))
        self.canaries = self._canaries()
        self.room = self.scratch / "room"
        self.mark = self.scratch.name

    def close(self) -> None:
        shutil.rmtree(self.scratch, ignore_errors=True)

    def enter(self) -> Path:
        """An empty room for the next attack."""
        if self.room.exists():
            for folder, _, _ in os.walk(self.room):
                os.chmod(folder, 0o700)
            shutil.rmtree(self.room)
        self.room.mkdir()
        return self.room

    def environment(self, **more: object) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("OPWRIGHT_")}
        kept.update(LC_ALL="C.UTF-8", TZ="UTC", NO_COLOR="1", TERM="dumb", HOME=str(self.home), TMPDIR=str(self.scratch))
        kept[MARK] = self.mark
        kept.update({name: str(value) for name, value in more.items()})
        return kept

    def start(
        self, *words: object, out: object = subprocess.PIPE, err: object = subprocess.PIPE, **more: object
    ) -> subprocess.Popen:
        """Starts the program (or another one, given by its whole path) without waiting for it."""
        command = [str(word) for word in words]
        if not command[0].startswith("/"):
            command.insert(0, str(self.program))
        return subprocess.Popen(
            command,
            cwd=self.room,
            env=self.environment(**more),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            start_new_session=True,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)),
        )

    def run(self, *words: object, seconds: float | None = None, **more: object) -> Ran:
        """Runs a command to its end, or to its time limit, and measures its memory."""
        limit = seconds or self.limit_s
        begun = time.monotonic()
        # Through files: a pipe that nobody reads would stop the program, one that somebody reads needs threads.
        with tempfile.TemporaryFile(dir=self.scratch) as out, tempfile.TemporaryFile(dir=self.scratch) as err:
            process = self.start(*words, out=out, err=err, **more)
            status, usage, timed_out = self._wait(process, begun + limit)
            out.seek(0)
            err.seek(0)
            return Ran(
                process.args,
                status,
                out.read(64 << 20),
                err.read(4 << 20),
                time.monotonic() - begun,
                usage.ru_maxrss * 1024,
                timed_out,
            )

    @staticmethod
    def _wait(process: subprocess.Popen, deadline: float):
        pause = 0.001
        while True:
            pid, status, usage = os.wait4(process.pid, os.WNOHANG)
            if pid:
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, usage, False
            if time.monotonic() > deadline:
                os.killpg(process.pid, signal.SIGKILL)
                _, status, usage = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode, usage, True
            time.sleep(pause)
            pause = min(pause * 2, 0.05)

    # ------------------------------------------------------------------------------------------------------------ laws

    def lawful(self, ran: Ran, statuses: tuple[int, ...] = (0, 1, 2, 3), memory: int | None = None) -> Ran:
        """What holds for every command, whatever it was given."""
        shown = " ".join(ran.words[1:])[:300]
        if ran.timed_out:
            raise Finding(f"no end after {ran.seconds:.0f} s: {shown}")
        if ran.status < 0:
            raise Finding(f"ended by {signal.Signals(-ran.status).name}: {shown}")
        if ran.status not in statuses:
            raise Finding(f"exit status {ran.status}: {shown}: {ran.err[:300]!r}")
        if found := _CRASH.search(ran.err) or _CRASH.search(ran.out):
            raise Finding(f"says {found[0].decode()!r}: {shown}: {ran.err[:600]!r}")
        says = ran.out if "doctor" in ran.words else ran.err  # what doctor finds is what it prints
        if ran.status >= 2 and not (says.strip() or ran.err.strip()):
            raise Finding(f"fails without a word: {shown}")
        if ran.peak_bytes > (memory or self.limit_bytes):
            raise Finding(f"{ran.peak_bytes >> 20} MiB at its peak: {shown}")
        for stream in (ran.out, ran.err):
            self.harmless(stream, shown)
        return ran

    @staticmethod
    def harmless(stream: bytes, shown: str) -> None:
        """Nothing that a terminal acts upon, and nothing that turns the direction of writing."""
        for line in stream.split(b"\n"):
            for letter in line.decode("utf-8", "surrogateescape"):
                code = ord(letter)
                is_control = unicodedata.category(letter) == "Cc" and letter not in "\t\r"
                if is_control or code in _TURNS or 0xDC80 <= code <= 0xDCFF:
                    raise Finding(f"U+{code:04X} gets out: {shown}: {line[:200]!r}")

    def untouched(self) -> None:
        """The canaries are as they were."""
        if (now := self._canaries()) != self.canaries:
            changed = sorted(set(now.items()) ^ set(self.canaries.items()))
            self.canaries = now
            raise Finding(f"something outside was touched: {[name for name, _ in changed]}")

    def nobody_left(self, wait_s: float = 3) -> None:
        """Every process that an attack started has ended, those that its programs started too."""
        deadline = time.monotonic() + wait_s
        while left := self._left_behind():
            if time.monotonic() > deadline:
                for pid in left:
                    os.kill(pid, signal.SIGKILL)
                raise Finding(f"{len(left)} processes left behind: {list(left.values())[:3]}")
            time.sleep(0.02)

    def _left_behind(self) -> dict[int, str]:
        found = {}
        wanted = f"{MARK}={self.mark}".encode()
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            try:
                if wanted in (entry / "environ").read_bytes().split(b"\0") and "Z" not in _state(entry):
                    found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            except OSError:
                continue
        return found

    def _canaries(self) -> dict[str, str]:
        seen = {}
        for path in sorted(self.outside.rglob("*")):
            content = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            seen[str(path.relative_to(self.outside))] = f"{path.lstat().st_mode:o} {content}"
        return seen


def _state(process: Path) -> str:
    return (process / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
