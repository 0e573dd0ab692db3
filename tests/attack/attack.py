"""Attacks on the program, as many as fit into the time: inputs, stores, devices, names, processes, odd Python classes.

Each attack is drawn from the seed, its subject and its number alone, so every finding prints the command that repeats it.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import classes  # noqa: E402
import devices  # noqa: E402
import inputs  # noqa: E402
import names  # noqa: E402
import processes  # noqa: E402
import stores  # noqa: E402
from world import REPO, Finding, World  # noqa: E402

SUBJECTS = {
    "inputs": inputs.Inputs,
    "stores": stores.Stores,
    "devices": devices.Devices,
    "names": names.Names,
    "processes": processes.Processes,
    "classes": classes.Classes,
}


class Tally:
    """What became of the attacks of one subject."""

    def __init__(self) -> None:
        self.done = 0
        self.seconds = 0.0
        self.findings: list[tuple[int, str]] = []
        self.skipped = ""


def attack_once(subject, name: str, number: int, seed: int, world: World) -> str | None:
    """One attack. Returns what was found."""
    world.enter()
    try:
        subject.attack(number, random.Random(f"{seed}/{name}/{number}"), world)
        world.untouched()
        world.nobody_left()
    except Finding as finding:
        return str(finding)
    except Exception:  # a fault of the attack itself is a finding too: nothing passes because we broke
        return "the attack itself broke:\n" + traceback.format_exc()
    return None


def main() -> int:
    parser = argparse.ArgumentParser(prog="./x attack", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=540, help="for all subjects together (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="another seed, other attacks (default %(default)s)")
    parser.add_argument("--only", choices=SUBJECTS, action="append", help="only this subject; may be repeated")
    parser.add_argument("--number", type=int, help="only the attack of this number")
    parser.add_argument("--program", type=Path, default=REPO / "build" / "release" / "opwright")
    parser.add_argument("--ttnn-python", type=Path, help="a Python that has the real library; without it, classes are skipped")
    chosen = parser.parse_args()

    if chosen.ttnn_python:
        chosen.ttnn_python = chosen.ttnn_python.absolute()  # not resolved: an environment's Python is a link
    world = World(chosen.program.resolve())
    tallies = {name: Tally() for name in chosen.only or SUBJECTS}
    try:
        run_all(tallies, chosen, world)
    finally:
        world.close()
    return report(tallies, chosen.seed)


def run_all(tallies: dict[str, Tally], chosen: argparse.Namespace, world: World) -> None:
    live = {}
    for name, tally in tallies.items():
        world.enter()
        subject = SUBJECTS[name](chosen)
        tally.skipped = subject.missing() or ""
        if not tally.skipped:
            subject.prepare(world)
            live[name] = subject
    end = time.monotonic() + chosen.seconds
    while live and (chosen.number is not None or time.monotonic() < end):
        # Whoever has had the least time is next, so that cheap attacks are many and dear ones still come.
        name = min(live, key=lambda one: tallies[one].seconds)
        tally = tallies[name]
        number = chosen.number if chosen.number is not None else tally.done
        begun = time.monotonic()
        found = attack_once(live[name], name, number, chosen.seed, world)
        tally.seconds += time.monotonic() - begun
        tally.done += 1
        if found:
            tally.findings.append((number, found))
            print(f"FOUND {name} {number}: {found}\n  repeat: ./x attack --only {name} --number {number} --seed {chosen.seed}")
            sys.stdout.flush()
        if chosen.number is not None:
            del live[name]


def report(tallies: dict[str, Tally], seed: int) -> int:
    print(f"\n{'subject':<10} {'attacks':>8} {'findings':>9} {'seconds':>8}   seed {seed}")
    for name, tally in tallies.items():
        note = f"   skipped: {tally.skipped}" if tally.skipped else ""
        print(f"{name:<10} {tally.done:>8} {len(tally.findings):>9} {tally.seconds:>8.0f}{note}")
    done = sum(tally.done for tally in tallies.values())
    found = sum(len(tally.findings) for tally in tallies.values())
    skipped = sum(bool(tally.skipped) for tally in tallies.values())
    print(f"{done - found} passed, {found} failed, {skipped} skipped")
    return 1 if found or not done else 0


if __name__ == "__main__":
    sys.exit(main())
