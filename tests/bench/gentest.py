"""Generated tests, closed in a loop: configurations -> pytest files -> run on the mock with the real library, traced ->
configurations again, which must be the same.

usage: gentest.py [--only WORD] [--keep FOLDER] [--json FILE]     OPWRIGHT_BIN names the program

OPWRIGHT_TTNN_PYTHON names a Python with ttnn, torch and pytest. Sources are the traces of our examples and, where they
are there ($OPWRIGHT_REAL_DATA, else ../shared/data), the masters and native traces of real models. Exit status 1 where a
test fails or a configuration does not come back for a reason that has no name here.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("OPWRIGHT_REAL_DATA") or ROOT.parent / "shared" / "data")
NATIVE = ROOT / "tests" / "fixtures" / "native"
SOURCES = {
    "mlp": (NATIVE / "mlp.opwt.zst", "n150"),
    "encoder": (NATIVE / "encoder.opwt.zst", "n150"),
    "decoder": (NATIVE / "decoder.opwt.zst", "n150"),
    "mbconv": (NATIVE / "mbconv.opwt.zst", "n150"),
    "tensor_parallel": (NATIVE / "tensor_parallel.opwt.zst", "t3k"),
    "llama": (SHARED / "ttnn/era2/ttnn_operations_master_2026-05-10_llama_n300.json", "n300"),
    "gpt_oss": (SHARED / "ttnn/era2/sweep_trace_gpt_oss_2026-04-30.json", "galaxy"),
    "deepseek": (SHARED / "ttnn/era2/ttnn_operations_master_2026-03-11_deepseek_galaxy_B9.json", "galaxy"),
    "add_sweep": (SHARED / "ttnn/era2/ttnn_operations_master_2026-03-08_add_sweep.json", "galaxy"),
    "era1": (SHARED / "ttnn/era1/ttnn_operations_master_2025-11-20.json", "n150"),
    "llama_native": (SHARED / "native/llama-3.2-1b-n300.opwt.zst", "n300"),
    "unet_native": (SHARED / "native/functional-unet-n150.opwt.zst", "n150"),
}


class Loop:
    """One source, in a folder of its own."""

    def __init__(self, folder: Path, python: str, program: str) -> None:
        self.folder, self.python, self.program = folder, python, program

    def opwright(self, *arguments: object, statuses: tuple[int, ...] = (0,)) -> str:
        command = [self.program, *map(str, arguments)]
        env = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=self.folder, env=env, capture_output=True, text=True)
        if done.returncode not in statuses:
            sys.exit(f"{' '.join(command)}\nexit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout

    def configurations(self, store: str) -> dict[str, dict[str, Any]]:
        lines = self.opwright("--store", store, "export", "--to", "jsonl").splitlines()
        return {row["key"]: row for row in map(json.loads, lines)}

    def run(self, source: Path, board: str) -> dict[str, Any]:
        self.opwright("--store", "source.db", "import", "--include-failed", source)
        made = json.loads(self.opwright("--store", "source.db", "--format", "json", "gentest", "-o", "tests"))
        pytest = [self.python, "-m", "pytest", "-q", "--tb=line", "-p", "no:cacheprovider", "tests"]
        said = self.opwright(
            "--store", "again.db", "trace", "--include-failed", "--allow-failures", "--mock", board, "--output", "trace",
            "--", *pytest, statuses=(0, 1),
        )  # fmt: skip
        counts = counts_of(said)
        before, after = self.configurations("source.db"), self.configurations("again.db")
        named, lost = compare(before, after, skipped_keys(self.folder / "tests"))
        return {
            "configurations": len(before),
            "generated": made["generated"],
            "not generated": made["not_generated"],
            "collected": sum(counts.values()),
            "outcomes": dict(counts),
            "same": sum(key in after for key in before),
            "named": dict(named),
            "lost": lost,
            "refused": dict(Counter(refusal_of(row["error"]) for row in after.values() if row["raised"] and row["key"] not in before)),
        }


def counts_of(said: str) -> Counter[str]:
    """The last line of pytest: `2 xfailed, 23 accepted in 2.29s`."""
    counts: Counter[str] = Counter()
    for line in said.splitlines():
        if re.search(r"\d+ \w+ in [\d.]+s", line):
            counts = Counter({name: int(number) for number, name in re.findall(r"(\d+) (\w+)", line.split(" in ")[0])})
    return counts


def refusal_of(error: str) -> str:
    """The library's own words for why it takes a call no more, without numbers; other exceptions as they are."""
    if not error.startswith("RuntimeError"):
        return f"NO REFUSAL: {' '.join(error.split())[:200]}"
    words = error.partition("info: ")[2] or error.partition(": ")[2].partition("@")[2].partition(": ")[2]
    return re.sub(r"\d+", "N", " ".join(words.partition("(backtrace")[0].split()))[:140]


def skipped_keys(folder: Path) -> set[str]:
    """The first digits of the keys that no test was made of."""
    return {key for file in folder.glob("test_*.py") for key in re.findall(r'Skip\(\s*"(?:[^"]*-)?([0-9a-f]{6})[0-9a-f]{6}"', file.read_text())}


# ---------------------------------------------------------------------------------------- why one does not come back

Form = Any
Relaxation = Callable[[Form], Form]


def mapped(value: Form, change: Callable[[dict[str, Any]], Form]) -> Form:
    """`change` applied to each object, innermost first."""
    if isinstance(value, list):
        return [mapped(item, change) for item in value]
    if isinstance(value, dict):
        return change({name: mapped(item, change) for name, item in value.items()})
    return value


def without_placement(one: dict[str, Any]) -> Form:
    return {name: value for name, value in one.items() if name != "placement"}


def coordinates_alike(one: dict[str, Any]) -> Form:
    """`{MeshCoordinate([0, 0])}` as the existing tracer prints it, and as our recorder reads it."""
    fields = one.get("fields")
    if one.get("struct") in ("set", "MeshCoordinate") and isinstance(fields, dict) and len(fields) == 1:
        (value,) = fields.values()
        if one["struct"] == "set" and isinstance(value, list):
            value = sorted(value, key=json.dumps)
        return {one["struct"]: value}
    return one


# A configuration that was recorded in C++ has every parameter of the C++ function by position; the same call again has those
# that Python passes, by name. They are the same where all operands are, and nothing is passed that was not recorded.

TensorFacts = tuple[Any, ...]


def facts_of(value: Form, tensors: list[TensorFacts], leaves: Counter[str]) -> None:
    """Operands, and plain values, of arguments."""
    if isinstance(value, list):
        for item in value:
            facts_of(item, tensors, leaves)
    elif isinstance(value, dict):
        spec = value.get("tensor")
        if isinstance(spec, dict):
            memory = dict(spec.get("memory") or {})
            if "shard" in memory:
                memory.pop("nd_shard", None)  # the same, said again
            local = spec.get("device_shape", spec["shape"])
            host = spec.get("storage") == "HOST"
            tensors.append((tuple(local), spec.get("dtype"), spec.get("layout"), host, json.dumps(memory, sort_keys=True)))
        elif value.get("struct") != "MeshDevice" and "opaque" not in value:
            for name, item in value.items():
                if name == "fields" and isinstance(item, dict):
                    for member, part in item.items():
                        inner: Counter[str] = Counter()
                        facts_of(part, tensors, inner)
                        leaves.update(f"{member}={leaf}" for leaf in inner)
                elif name != "struct":
                    facts_of(item, tensors, leaves)
    elif value is not None:
        text = str(value).rpartition(".")[2].lower() if isinstance(value, str) else str(float(value))
        leaves[text] += 1


def is_same_call(before: dict[str, Any], after: dict[str, Any]) -> bool:
    (here, values), (there, passed) = ([], Counter()), ([], Counter())  # type: tuple[list[TensorFacts], Counter[str]], Any
    facts_of(before["arguments"], here, values)
    facts_of(after["arguments"], there, passed)
    if any(spec[2] is None for spec in here):  # the trace does not say layouts
        here, there = ([(*spec[:2], *spec[3:]) for spec in specs] for specs in (here, there))
    members = {leaf.partition("=")[0] for leaf in values if "=" in leaf}
    # Another release shows other members of an object.
    passed = {leaf for leaf in passed if "=" not in leaf or leaf.partition("=")[0] in members}
    return sorted(here, key=str) == sorted(there, key=str) and passed <= set(values)


def relaxations(before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]]) -> dict[str, Relaxation]:
    # Members that all objects of a class show, in the source and again; those of objects without a type.
    shown: dict[str, set[str]] = {}
    untyped: set[str] = set()

    def look(one: dict[str, Any]) -> Form:
        if "struct" in one:
            shown[one["struct"]] = shown.get(one["struct"], set(one["fields"])) & one["fields"].keys()
        elif "dict" in one:
            untyped.update(one["dict"])
        return one

    for row in itertools.chain(before.values(), after.values()):
        mapped(row["arguments"], look)

    def common_members(one: dict[str, Any]) -> Form:
        if "struct" not in one or one["struct"] in ("set", "MeshCoordinate"):
            return one
        return {**one, "fields": {name: value for name, value in one["fields"].items() if name in shown[one["struct"]]}}

    def without_type(one: dict[str, Any]) -> Form:
        if "dict" in one:
            return {"members": one["dict"]}
        if str(one.get("struct")).endswith("Config"):
            return {"members": {name: value for name, value in one["fields"].items() if name in untyped}}
        return one

    return {
        "another release shows other members of an object": common_members,
        "a set of coordinates is spelled otherwise": coordinates_alike,
        "the trace lost the type of an object": without_type,
        "the operation changes the placement of a tensor that it writes": without_placement,
    }


def compare(
    before: dict[str, dict[str, Any]], after: dict[str, dict[str, Any]], skipped: set[str]
) -> tuple[Counter[str], list[str]]:
    """Reasons of those that did not come back as they were, and those without one."""
    ways = relaxations(before, after)
    named: Counter[str] = Counter()
    left = {key: row for key, row in before.items() if key not in after}
    for key in [key for key in left if key[:6] in skipped]:
        named["not generated"] += 1
        del left[key]
    by_operation: dict[str, list[dict[str, Any]]] = {}
    for row in after.values():
        by_operation.setdefault(row["operation"], []).append(row)
    for key in [key for key, row in left.items() if row["convention"] == "cpp"]:
        if any(is_same_call(left[key], other) for other in by_operation.get(left[key]["operation"], ())):
            named["recorded in C++, where parameters have no names: the same operands and values"] += 1
            del left[key]
    tests = {(source.rpartition("-")[2][:6], row["operation"]) for row in after.values() for source in row["sources"]}
    for key in list(left):
        called = {operation for prefix, operation in tests if key.startswith(prefix)}
        if called and left[key]["operation"] not in called:
            named["a function of Python: recorded is the operation that it calls"] += 1
            del left[key]
    for count in range(1, len(ways) + 1):
        for reasons in itertools.combinations(ways, count):

            def relaxed(row: dict[str, Any], reasons: tuple[str, ...] = reasons) -> str:
                form = row["arguments"]
                for reason in reasons:
                    form = mapped(form, ways[reason])
                return json.dumps([row["operation"], form], sort_keys=True)

            there = {relaxed(row) for key, row in after.items() if key not in before}
            for key in [key for key, row in left.items() if relaxed(row) in there]:
                named[", and ".join(reasons)] += 1
                del left[key]
    return named, sorted(f"{row['operation']} {key[:12]}" for key, row in left.items())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="sources whose names contain a word")
    parser.add_argument("--keep", type=Path, help="a folder for what is generated")
    parser.add_argument("--json", type=Path)
    args = parser.parse_args()
    python = os.environ.get("OPWRIGHT_TTNN_PYTHON")
    if not python:
        sys.exit("OPWRIGHT_TTNN_PYTHON names no Python with ttnn: ./x setup --with-ttnn installs it")
    program = os.environ.get("OPWRIGHT_BIN") or str(ROOT / "build" / "release" / "opwright")
    results, missing = {}, []
    print(f"{'source':16} {'configs':>8} {'generated':>10} {'collected':>10} {'accepted':>9} {'xfailed':>8} {'failed':>7} {'same':>6} {'named':>6} {'lost':>5}")
    with tempfile.TemporaryDirectory() as temporary:
        for name, (source, board) in SOURCES.items():
            if args.only not in name:
                continue
            if not source.exists():
                missing.append(name)
                continue
            folder = (args.keep or Path(temporary)) / name
            folder.mkdir(parents=True)
            result = results[name] = Loop(folder, python, program).run(source, board)
            outcomes = result["outcomes"]
            failed = outcomes.get("failed", 0) + outcomes.get("error", 0) + outcomes.get("errors", 0)
            print(
                f"{name:16} {result['configurations']:8} {result['generated']:10} {result['collected']:10} {outcomes.get('accepted', 0):9} "
                f"{outcomes.get('xfailed', 0):8} {failed:7} {result['same']:6} {sum(result['named'].values()):6} {len(result['lost']):5}",
                flush=True,
            )
            for reason, count in result["not generated"].items():
                print(f"    {count} not generated: {reason}")
            for reason, count in Counter(result["named"]).most_common():
                print(f"    {count} come back otherwise: {reason}")
            for reason, count in Counter(result["refused"]).most_common():
                print(f"    {count} refused by the library on {board}: {reason}")
            for operation, count in Counter(line.split()[0] for line in result["lost"]).items():
                first = next(line for line in result["lost"] if line.startswith(operation + " "))
                print(f"    LOST {count} of {operation}, such as {first.split()[1]}")
    if missing:
        print(f"not there: {', '.join(missing)}")
    if args.json:
        args.json.write_text(json.dumps(results, indent=1) + "\n")
    def is_bad(result: dict[str, Any]) -> bool:
        failed = sum(result["outcomes"].get(name, 0) for name in ("failed", "error", "errors"))
        unnamed = any(reason.startswith("NO REFUSAL") for reason in result["refused"])
        return bool(result["lost"]) or unnamed or failed > sum(result["refused"].values())

    bad = any(map(is_bad, results.values()))
    sys.exit(1 if bad or not results else 0)


if __name__ == "__main__":
    main()
