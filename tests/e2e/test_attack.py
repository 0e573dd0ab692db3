"""The attacks of `./x attack`, a few seconds of each subject: that the suite works, and that nothing is found at once."""

import subprocess
import sys

import pytest
import support
from conftest import NO_TTNN

ATTACK = support.REPO / "tests" / "attack" / "attack.py"


def attack(program, *arguments: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, str(ATTACK), "--program", str(program), *map(str, arguments)],
        capture_output=True, encoding="utf-8", errors="backslashreplace", timeout=support.COMMAND_TIMEOUT_S,
    )  # fmt: skip


@pytest.mark.parametrize("subject", ["inputs", "stores", "devices", "names", "processes"])
def test_nothing_is_found_at_once(subject: str, opwright_program) -> None:
    done = attack(opwright_program, "--only", subject, "--seconds", 2)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 failed" in done.stdout


def test_classes_need_the_library(opwright_program) -> None:
    done = attack(opwright_program, "--only", "classes", "--seconds", 1)
    assert done.returncode == 1 and NO_TTNN in done.stdout  # nothing was attacked: that is no success


def test_a_broken_law_is_found(tmp_path) -> None:
    """A program that breaks one: it prints an escape, or dies by a signal."""
    for script, word in (("printf '\\033[2J'", "U+001B"), ("kill -SEGV $$", "SIGSEGV")):
        program = tmp_path / "opwright"
        program.write_text(f'#!/bin/sh\n[ "$2" = good.db ] || case "$*" in *good.db*) exit 0;; esac\n{script}\n')
        program.chmod(0o755)
        done = attack(program, "--only", "names", "--seconds", 1)
        assert done.returncode == 1 and word in done.stdout, done.stdout
        assert "repeat: ./x attack --only names --number 0 --seed 1" in done.stdout
