"""What `cmake --install` puts under a prefix, as ./x install and ./x deb use it: the program, completion, manual, recorder."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import support

EXAMPLE = support.REPO / "examples" / "recorder"
STUB_LIBRARY = support.FIXTURES / "python" / "small"


@pytest.fixture(scope="session")
def prefix(opwright_program: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An installation of the build under test."""
    folder = tmp_path_factory.mktemp("prefix")
    command = ["cmake", "--install", opwright_program.parent, "--prefix", folder]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def run(folder: Path, *command: object, **env: object) -> subprocess.CompletedProcess:
    return subprocess.run(
        list(map(str, command)), cwd=folder, env=support.command_env(folder, **env), stdin=subprocess.DEVNULL,
        capture_output=True, encoding="utf-8", timeout=support.COMMAND_TIMEOUT_S,
    )  # fmt: skip


def verbs(opwright) -> list[str]:
    """Every verb, those of two words too, from the same table that is tested: docs/verbs.md holds the words of people."""
    text = opwright("help", "--markdown").stdout
    found = re.findall(r"^\| `opwright ([a-z]+(?: [a-z]+)?)", text, re.M)
    assert len(found) > 25, text
    return found


def flags(opwright, verb: str) -> set[str]:
    return set(re.findall(r"^  (--[a-z][\w-]*)", opwright("help", *verb.split()).stdout, re.M)) | {"--help"}


# -------------------------------------------------------------------------------------------------------- installation


def test_the_installed_program_finds_its_python_package(prefix: Path, tmp_path: Path) -> None:
    program = prefix / "bin" / "opwright"
    assert run(tmp_path, program, "--version").stdout.startswith("opwright 0.")
    traced = run(
        tmp_path, program, "trace", "--", "/usr/bin/python3", "-c", "import ttnn; ttnn.add(1, 2)",
        PYTHONPATH=STUB_LIBRARY, PYTHONDONTWRITEBYTECODE=1,
    )  # fmt: skip
    assert traced.returncode == 0, traced.stdout + traced.stderr
    assert "ttnn.add" in traced.stdout + traced.stderr


def test_what_lies_where(prefix: Path) -> None:
    for name in (
        "bin/opwright", "lib/opwright/riscv-tt-elf-g++", "lib/opwright/python/opwright/__init__.py",
        "share/man/man1/opwright.1", "share/bash-completion/completions/opwright", "share/zsh/site-functions/_opwright",
        "share/fish/vendor_completions.d/opwright.fish", "include/opwright/capture.h", "lib/libopwright_recorder.a",
        "lib/cmake/opwright/opwrightConfig.cmake", "share/doc/opwright/README.md",
    ):  # fmt: skip
        assert (prefix / name).is_file(), name
    assert not list(prefix.rglob("__pycache__"))
    for script in prefix.rglob("*.cmake"):
        assert str(support.REPO) not in script.read_text(encoding="utf-8"), f"{script} works on this machine only"


def test_a_project_builds_against_it(prefix: Path, opwright, tmp_path: Path) -> None:
    build = tmp_path / "build"
    configured = run(tmp_path, "cmake", "-S", EXAMPLE, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}")
    assert configured.returncode == 0, configured.stdout + configured.stderr
    built = run(tmp_path, "cmake", "--build", build)
    assert built.returncode == 0, built.stdout + built.stderr
    program = run(tmp_path, build / "recorded_program", "trace")
    assert (program.returncode, program.stdout) == (0, "7.5\n"), program.stderr
    lines = [json.loads(line) for line in opwright("--format", "jsonl", "dump", "trace").stdout.splitlines()]
    assert [line["call"]["op"] for line in lines if "call" in line] == ["example.scale"] * 3


def test_x_install_refuses_what_it_does_not_know() -> None:
    done = subprocess.run([support.REPO / "x", "install", "--nonsense"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 1 and "unknown argument --nonsense" in done.stderr


@pytest.mark.slow
def test_the_debian_package(tmp_path: Path) -> None:
    done = subprocess.run([support.REPO / "x", "deb"], capture_output=True, text=True, timeout=3000)
    assert done.returncode == 0, done.stderr
    package = Path(done.stdout.strip().splitlines()[-1])
    fields = run(tmp_path, "dpkg-deb", "--field", package).stdout
    assert "Package: opwright" in fields and "libc6" in fields and "python3" in fields
    assert run(tmp_path, "dpkg-deb", "-x", package, tmp_path / "root").returncode == 0
    assert run(tmp_path, tmp_path / "root" / "usr" / "bin" / "opwright", "--version").stdout.startswith("opwright 0.")
    owners = set(re.findall(r"^\S+ (\S+)", run(tmp_path, "dpkg-deb", "-c", package).stdout, re.M))
    assert owners == {"root/root"}


# ---------------------------------------------------------------------------------------------------------- completion


def bash_completes(opwright, tmp_path: Path, *words: str) -> list[str]:
    script = tmp_path / "completion.bash"
    script.write_text(opwright("completion", "bash").stdout)
    program = (
        "source ./completion.bash; COMP_WORDS=(opwright \"$@\"); COMP_CWORD=$#; _opwright;"
        " ((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\""
    )
    done = run(tmp_path, "bash", "-eu", "-c", program, "bash", *words)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_bash_completes_verbs_and_flags(opwright, tmp_path: Path) -> None:
    assert bash_completes(opwright, tmp_path, "rep") == ["report", "replay"]
    assert set(bash_completes(opwright, tmp_path, "")) >= {verb for verb in verbs(opwright) if " " not in verb}
    assert bash_completes(opwright, tmp_path, "ops", "--format", "js") == ["json", "jsonl"]
    assert bash_completes(opwright, tmp_path, "--store", "run", "impo") == ["import"], "the store is called run"
    assert "check" in bash_completes(opwright, tmp_path, "perf", "")
    assert "--dry-run" in bash_completes(opwright, tmp_path, "import", "--")
    assert bash_completes(opwright, tmp_path, "import", "file") == [], "bash completes files itself"
    assert bash_completes(opwright, tmp_path, "trace", "--", "pytest", "--") == [], "the words of another program"


def test_bash_knows_every_flag_of_every_verb(opwright, tmp_path: Path) -> None:
    for verb in ("run", "import", "perf", "perf diff", "trace"):
        assert set(bash_completes(opwright, tmp_path, *verb.split(), "--")) == flags(opwright, verb), verb


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not here: ./x setup --all installs it")
def test_zsh_completes(opwright, tmp_path: Path) -> None:
    (tmp_path / "_opwright").write_text(opwright("completion", "zsh").stdout)
    program = (
        "_describe() { local name=$@[-1]; print -l -- ${(P)name} }; _files() { print FILES }; compadd() { print -l -- $@ };"
        " words=(opwright \"$@\"); CURRENT=$#words; source ./_opwright"
    )

    def completes(*words: str) -> str:
        done = run(tmp_path, "zsh", "-f", "-c", program, "zsh", *words)
        assert (done.returncode, done.stderr) == (0, ""), (words, done.stderr)
        return done.stdout

    assert "report:" in completes("") and "FILES" not in completes("")
    assert "--dry-run:" in completes("import", "--") and "FILES" in completes("import", "x")
    assert "check:" in completes("perf", "") and "jsonl" in completes("ops", "--format", "")
    for verb in verbs(opwright):
        shown = set(re.findall(r"^(--[\w-]+):", completes(*verb.split(), "--"), re.M))
        assert shown == flags(opwright, verb), verb


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not here: ./x setup --all installs it")
def test_fish_completes(opwright, tmp_path: Path) -> None:
    (tmp_path / "opwright.fish").write_text(opwright("completion", "fish").stdout)

    def completes(line: str) -> set[str]:
        program = f"source ./opwright.fish; complete -C '{line}'"
        done = run(tmp_path, "fish", "--no-config", "-c", program, XDG_DATA_HOME=tmp_path, XDG_CONFIG_HOME=tmp_path)
        assert done.returncode == 0, done.stderr
        return {shown.split("\t")[0] for shown in done.stdout.splitlines()}

    assert {"report", "replay"} <= completes("opwright re")
    assert flags(opwright, "import") <= completes("opwright import --")
    assert "check" in completes("opwright perf ")
    assert {"json", "jsonl"} <= completes("opwright ops --format ")


def test_an_unknown_shell_is_refused(opwright) -> None:
    done = opwright("completion", "bsh")
    assert done.returncode == 2 and "bash" in done.stderr and done.stdout == ""


# --------------------------------------------------------------------------------------------------- manual, docs/verbs


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not here: ./x setup --all installs it")
def test_man_reads_the_manual_page(opwright, tmp_path: Path) -> None:
    (tmp_path / "opwright.1").write_text(opwright("help", "--man").stdout)
    page = run(tmp_path, "man", "--warnings", "-l", "opwright.1", MANWIDTH=200, MAN_KEEP_FORMATTING=0)
    assert (page.returncode, page.stderr) == (0, "")
    text = re.sub(r".\x08", "", page.stdout)
    for verb in verbs(opwright):
        assert f"opwright {verb}" in text, verb
    for section in ("NAME", "SYNOPSIS", "VERBS", "EXIT STATUS", "ENVIRONMENT"):
        assert re.search(rf"^{section}$", text, re.M), section
    assert "--dry-run" in text, "a hyphen that can be copied"


def test_the_list_of_verbs_is_that_of_the_program(opwright) -> None:
    written = (support.REPO / "docs" / "verbs.md").read_text(encoding="utf-8")
    table = opwright("help", "--markdown").stdout
    assert table in written, "put the output of `opwright help --markdown` into docs/verbs.md"
    assert os.linesep == "\n" and written.count("\n| `opwright ") == table.count("\n| `opwright ")


def test_pictures_of_the_readme_are_small() -> None:
    text = (support.REPO / "README.md").read_text(encoding="utf-8")
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert len(pictures) == 2
    for name in pictures:
        picture = support.REPO / name
        assert picture.read_bytes().startswith(b"\x89PNG") and picture.stat().st_size < 200_000, name
