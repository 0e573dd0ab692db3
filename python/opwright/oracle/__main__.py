"""`python -m opwright.oracle calls|mutate|run`: see the package."""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, Any

from opwright.oracle import calls, mutate


class _Worker:
    def __init__(self, l1_small: int) -> None:
        read, write = os.pipe()
        self._process = subprocess.Popen(
            [sys.executable, "-m", "opwright.oracle.worker", str(write), str(l1_small)],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=(write,),
            text=True,
        )
        os.close(write)
        self._answers = os.fdopen(read)

    def make(self, call: dict[str, Any]) -> dict[str, Any] | None:
        """The record of a call, or None when the library died of it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps(call) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            return None
        line = self._answers.readline()
        return json.loads(line) if line else None

    def end(self) -> int:
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        return self._process.wait()


def _calls(path: str) -> Iterator[dict[str, Any]]:
    with open(path) as lines:
        for number, line in enumerate(lines, 1):
            record = json.loads(line)
            if "call" not in record:
                raise SystemExit(f'{path}:{number}: no "call" in it')
            yield record


def _run(path: str, out: IO[str], board: str, l1_small: int) -> None:
    worker = _Worker(l1_small)
    counts = {"ok": 0, "error": 0, "crash": 0, "not made": 0}
    example = ""
    grid = None
    for record in _calls(path):
        call = record["call"]
        answer = worker.make(call)
        if answer is None:
            status = worker.end()
            answer = {"outcome": "crash", "error": {"type": f"signal {-status}" if status < 0 else f"exit {status}"}}
            worker = _Worker(l1_small)
        counts[answer["outcome"]] += 1
        if answer["outcome"] == "not made":
            example = example or f"{call['op']}: {answer['error']['message'][:200]}"
            continue
        grid = answer.get("grid", grid)
        text = json.dumps(call, sort_keys=True)
        kept: dict[str, Any] = {name: record[name] for name in ("template", "mutation", "kind") if name in record}
        made: dict[str, Any] = {
            "id": hashlib.sha256(text.encode()).hexdigest()[:16],
            "op": call["op"],
            "board": board,
            "l1_small": l1_small,
            "call": call,
            **kept,
            **answer,
        }
        if grid is not None:
            made["grid"] = grid
        out.write(json.dumps(made) + "\n")
        out.flush()
    worker.end()
    print(f"{counts['ok']} accepted, {counts['error']} refused, {counts['crash']} crashes", file=sys.stderr)
    if counts["not made"]:
        print(f"{counts['not made']} calls have arguments that could not be rebuilt, e.g. {example}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m opwright.oracle", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    run = verbs.add_parser("run", help="make each call of a file on the real library and record what it answers")
    run.add_argument("calls")
    run.add_argument("-o", "--output", help="default: standard output")
    run.add_argument("--board", default="n150", help="the board's name in the records; the device is what ttnn opens")
    run.add_argument("--l1-small", type=int, default=24576)
    vary = verbs.add_parser("mutate", help="new calls from those of a file: one argument changed in each")
    vary.add_argument("calls")
    vary.add_argument("--count", type=int, default=1000)
    vary.add_argument("--seed", type=int, default=1)
    vary.add_argument("--op", action="append", help="only calls of this operation")
    make = verbs.add_parser("calls", help="calls from what `opwright export --to jsonl` wrote")
    make.add_argument("export")
    args = parser.parse_args()
    if args.verb == "calls":
        with open(args.export) as lines:
            for record in calls.calls([json.loads(line) for line in lines]):
                print(json.dumps(record))
        return
    if args.verb == "mutate":
        accepted = [record for record in _calls(args.calls) if record.get("outcome", "ok") == "ok"]
        if args.op:
            accepted = [record for record in accepted if record["call"]["op"] in args.op]
        for record in mutate.mutations(accepted, args.count, args.seed):
            print(json.dumps(record))
        return
    with open(args.output, "w") if args.output else contextlib.nullcontext(sys.stdout) as out:
        _run(args.calls, out, args.board, args.l1_small)


if __name__ == "__main__":
    main()
