"""A wrong index planted into the reference or into the kernel makes real cases fail: the two share no arithmetic."""

import json
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest
from support import REPO, command_env

PLANTED = tomllib.loads((REPO / "tests" / "planted" / "indices.toml").read_text(encoding="utf-8"))


def outcome(program: Path, case: str, folder: Path) -> str:
    done = subprocess.run(
        [program, "--store", folder / "none.db", "--format", "json", "run", "--device", "sim:n150", "--case", case],
        cwd=folder, env=command_env(folder), capture_output=True, text=True, timeout=120, check=False,
    )
    assert done.stdout.startswith("{"), done.stderr
    return json.loads(done.stdout)["outcome"]


class Build:
    """The build beside the program, of which one source is compiled anew and linked ahead of the rest."""

    def __init__(self, program: Path, folder: Path):
        self.root = program.parent
        self.folder = folder
        commands = self.root / "compile_commands.json"
        if not commands.is_file():
            pytest.skip(f"no {commands}: the program was not built here")
        self.units = {Path(unit["file"]).relative_to(REPO).as_posix(): unit["command"] for unit in json.loads(commands.read_text())
                      if Path(unit["file"]).is_relative_to(REPO)}
        link = subprocess.run(["ninja", "-t", "commands", program.name], cwd=self.root, capture_output=True, text=True, check=True)
        self.link = shlex.split(link.stdout.splitlines()[-1])

    def planted(self, fault: dict) -> Path:
        source = (REPO / fault["file"]).read_text(encoding="utf-8")
        assert source.count(fault["old"]) == 1, f"{fault['file']}: the text to replace stands there {source.count(fault['old'])} times"
        patched = self.folder / fault["file"]
        patched.parent.mkdir(parents=True)
        patched.write_text(source.replace(fault["old"], fault["new"]), encoding="utf-8")
        objects = [self.compiled(unit) for unit in fault.get("units", [fault["file"]])]
        program = self.folder / "opwright"
        words = [str(program) if word == "opwright" else word for word in self.link[self.link.index("&&") + 1 :]]
        words = words[: words.index("&&")]
        at = words.index("-o")  # symbols of an object hide those of an archive
        subprocess.run([*words[:at], *objects, *words[at:]], cwd=self.root, check=True, timeout=300)
        return program

    def compiled(self, unit: str) -> str:
        words = shlex.split(self.units[unit])
        target = str(self.folder / (Path(unit).name + ".o"))
        words[words.index("-o") + 1] = target
        mine = self.folder / unit
        words[words.index("-c") + 1] = str(mine if mine.exists() else REPO / unit)
        words.insert(1, f"-I{self.folder / 'src'}")  # patched headers come first
        subprocess.run(words, cwd=self.root, check=True, timeout=300)
        return target


def test_every_entry_is_of_the_present_sources() -> None:
    sides = {"src/ops/": 0, "src/device/sim/": 0}
    for fault in PLANTED["fault"]:
        text = (REPO / fault["file"]).read_text(encoding="utf-8")
        assert text.count(fault["old"]) == 1, f"{fault['file']}: {fault['old']!r} stands there {text.count(fault['old'])} times"
        assert fault["fails"] and set(fault["fails"]) <= set(PLANTED["cases"])
        sides[next(side for side in sides if fault["file"].startswith(side))] += 1
    assert all(sides.values()), sides


@pytest.mark.slow
def test_without_a_fault_all_cases_pass(opwright_program: Path, tmp_path: Path) -> None:
    outcomes = {name: outcome(opwright_program, case, tmp_path) for name, case in PLANTED["cases"].items()}
    assert set(outcomes.values()) == {"passed"}, outcomes


@pytest.mark.slow
@pytest.mark.parametrize("fault", PLANTED["fault"], ids=[fault["what"].replace(" ", "-") for fault in PLANTED["fault"]])
def test_a_planted_index_fails_its_cases(fault: dict, opwright_program: Path, tmp_path: Path) -> None:
    program = Build(opwright_program, tmp_path).planted(fault)
    outcomes = {name: outcome(program, PLANTED["cases"][name], tmp_path) for name in fault["fails"]}
    assert set(outcomes.values()) == {"failed"}, outcomes
