#!/usr/bin/env python3
"""Checks what may be in the repository at all: no machine paths, no package registries, no giant files.

usage: check_tree.py               the files of this checkout that git tracks or would add
       check_tree.py --self-test
"""

import re
import subprocess
import sys
from pathlib import Path

MAX_SOURCE_LINES = 600
MAX_BYTES = 1024 * 1024
SOURCE_SUFFIXES = {".h", ".cpp", ".py", ".ts", ".cmake"}

# A path counts where it starts: after a blank, a quote, "=", "(", "-I" and the like, not inside a longer path or a URL.
MACHINE_PATH = re.compile(r"(?:(?<![\w.})\]$~*-])|(?<=-[IL]))/(?:work|farm|root|home)/[\w.$<{]")
REGISTRY_HOST = re.compile(
    r"\b(?:pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|yarnpkg\.com|crates\.io|proxy\.golang\.org|rubygems\.org"
    r"|conan\.io|anaconda\.org|maven\.org|deb\.debian\.org|security\.debian\.org|archive\.ubuntu\.com)\b"
)


def text_problems(name: str, text: str) -> list[str]:
    problems = []
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if found := MACHINE_PATH.search(line):
            problems.append(f"{name}:{number}: a path of one machine ({found[0]}…); use a relative path or a variable")
        if found := REGISTRY_HOST.search(line):
            problems.append(f"{name}:{number}: a package registry ({found[0]}); packages come by name from the system")
    if Path(name).suffix in SOURCE_SUFFIXES and len(lines) > MAX_SOURCE_LINES:
        problems.append(f"{name}:{len(lines)}: longer than {MAX_SOURCE_LINES} lines; split it by what a reader looks for")
    return problems


def file_problems(root: Path, name: str) -> list[str]:
    path = root / name
    if path.is_symlink():
        return [f"{name}:1: a link; archives and some checkouts make a text file of it. Let the build copy {path.readlink()}"]
    if not path.is_file():  # deleted, not yet committed
        return []
    size = path.stat().st_size
    if size > MAX_BYTES:
        return [f"{name}:1: {size:,} bytes, at most {MAX_BYTES:,}; real traces stay outside, make a small fixture"]
    content = path.read_bytes()
    return [] if b"\0" in content else text_problems(name, content.decode("utf-8", errors="replace"))


def listed_files(root: Path) -> list[str]:
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    return sorted(filter(None, subprocess.run(command, check=True, capture_output=True, text=True).stdout.split("\0")))


def self_test() -> None:
    for folder in ("work", "farm", "root", "home"):
        path = f"/{folder}/someone"
        for line in (path, f'"{path}/x"', f"-I{path}", f"PATH={path}", f"[link]({path})"):
            assert text_problems("a.md", line), line
        for line in (f"src{path}", f"https://example.com{path}", f"${{sourceDir}}{path}", f"~{path}", f"/{folder}"):
            assert not text_problems("a.md", line), line
    assert text_problems("a.md", "see https://pypi" + ".org/project/x")
    assert not text_problems("a.md", "the ttnn wheel from PyPI")
    assert text_problems("a.cpp", "\n" * (MAX_SOURCE_LINES + 1))
    assert not text_problems("a.cpp", "\n" * MAX_SOURCE_LINES)
    assert not text_problems("a.json", "\n" * (MAX_SOURCE_LINES + 1))
    print("check_tree: self-test passed")


def main(arguments: list[str]) -> int:
    if arguments == ["--self-test"]:
        self_test()
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    root = Path(__file__).resolve().parent.parent
    problems = [problem for name in listed_files(root) for problem in file_problems(root, name)]
    for problem in problems:
        print(problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
