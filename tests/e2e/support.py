"""What the end-to-end tests share: where things are, the environment of a command, masks for unstable words."""

import os
import re
import subprocess
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
FIXTURES = REPO / "tests" / "fixtures"
COMMAND_TIMEOUT_S = 300

_NUMBER = r"(?<![\w.])\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?"
_JSON_KEYS = r"\w*seconds|\w+_per_s|\w+_per_second|ns_per_call|\w+_(?:ms|us|ns)"
_MASKS = [
    # 707 MB/s, 1.4 records/s
    (re.compile(rf"( *){_NUMBER} ?[A-Za-z]+/s\b"), "<rate>"),
    # 0.21 s, 15 ms, 3.2 seconds
    (re.compile(rf"( *){_NUMBER} ?(?:ns|us|µs|ms|s|seconds?)(?![\w/])"), "<time>"),
]
_JSON_MASK = re.compile(rf'("(?:{_JSON_KEYS})" ?: ?)[\d.eE+-]+')


def mask(text: str, folders: dict[str, Path] | None = None) -> str:
    """Replaces the words that differ from run to run: folders, durations, rates.

    Blanks before a duration or a rate become one, since a right-aligned column moves with the digits.
    """
    for name, folder in sorted((folders or {}).items(), key=lambda item: -len(str(item[1]))):
        text = text.replace(str(folder), f"${name}")
    for pattern, word in _MASKS:
        text = pattern.sub(lambda found, word=word: (" " if found[1] else "") + word, text)
    return _JSON_MASK.sub(r"\1<number>", text)


def find_opwright() -> Path:
    """The program under test: $OPWRIGHT_BIN, else the `dev` build of this checkout."""
    program = Path(os.environ.get("OPWRIGHT_BIN") or REPO / "build" / "dev" / "opwright").resolve()
    if not os.access(program, os.X_OK):
        raise FileNotFoundError(f"{program} is not there: build it with ./x build dev, or set OPWRIGHT_BIN")
    return program


def command_env(home: Path, **extra: object) -> dict[str, str]:
    """The caller's environment without what would change our output. `home` is a folder of the test."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("OPWRIGHT_")}
    env.update(LC_ALL="C.UTF-8", TZ="UTC", NO_COLOR="1", TERM="dumb", HOME=str(home))
    env.update({name: str(value) for name, value in extra.items()})
    return env


def psql(url: str, *statements: str) -> str:
    """Statements at a server, each in a transaction of its own; the last answer, without padding."""
    said = ""
    for statement in statements:
        said = subprocess.run(
            ["psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", statement, url], check=True, capture_output=True, text=True
        ).stdout.strip()
    return said


def psql_file(url: str, file: Path) -> None:
    subprocess.run(["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", str(file), url], check=True, capture_output=True, text=True)


def run_shell(script: str, cwd: Path, env: dict[str, str], *, merge_stderr: bool = False) -> subprocess.CompletedProcess:
    """Runs `script` in bash; the first command that fails ends it and gives its exit status."""
    return subprocess.run(
        ["bash", "-eu", "-o", "pipefail", "-c", script],
        cwd=cwd,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT if merge_stderr else subprocess.PIPE,
        encoding="utf-8",
        errors="backslashreplace",
        timeout=COMMAND_TIMEOUT_S,
    )
