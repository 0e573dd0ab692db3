"""A device without numbers whose calls take a known time: `timed_device.py [--noise SHARE] [--factor X] [--hello KIND] [--sleep]`.

A call of a tensor with N rows takes N ms times X: that is what it says, or with `--sleep` what it really sleeps and
measures. `--noise 0.5` makes rounds differ by tens of percent; `--hello` is what
it says of timing: eager (default), all (trace, program cache and the chip's time too), refused, old (nothing at all).
Every request for times is appended to the file $TIMED_LOG.
"""

import argparse
import json
import math
import os
import random
import sys
import time

parser = argparse.ArgumentParser()
parser.add_argument("--noise", type=float, default=0)
parser.add_argument("--factor", type=float, default=float(os.environ.get("TIMED_FACTOR", 1)))
parser.add_argument("--refuse", type=int, default=-1, help="calls of so many rows")
parser.add_argument("--sleep", action="store_true")
parser.add_argument("--hello", default="eager")
parser.add_argument("--seed", type=int, default=1)
args = parser.parse_args()

PERF = {
    "eager": {"eager": True},
    "all": {"eager": True, "trace": True, "program_cache": True, "device_time": True},
    "refused": {"refused": "it has no clock, as told"},
}


def say(record: dict) -> None:
    sys.stdout.write(json.dumps(record) + "\n")
    sys.stdout.flush()


def rows(request: dict) -> int:
    tensor = next(iter(request["call"]["kwargs"].values()))["tensor"]
    return tensor["shape"][-2]


hello = {"name": "timed", "numerics": "none", "board": "n150", "versions": {}}
if args.hello in PERF:
    hello["perf"] = PERF[args.hello]
say({"protocol": 1, "hello": hello})
for number, line in enumerate(sys.stdin):
    request = json.loads(line)
    answer = {"id": request["id"], "outcome": "ok", "outputs": []}
    # Rounds differ, iterations of one round are alike.
    level = math.exp(args.noise * random.Random(args.seed * 1000 + number).gauss(0, 1))
    seconds = rows(request) * 1e-3 * args.factor * level
    if rows(request) == args.refuse:
        answer = {"id": request["id"], "outcome": "refused", "error": {"type": "Refused", "message": "as told"}}
    elif request["do"] == "time":
        how = request["time"]
        with open(os.environ["TIMED_LOG"], "a", encoding="utf-8") as log:
            log.write(json.dumps({"rows": rows(request), **how}) + "\n")
        times = []
        for iteration in range(how["warm_up"] + how["iterations"]):
            start = time.perf_counter()
            time.sleep(seconds if args.sleep else 0)
            if iteration >= how["warm_up"]:
                times.append(time.perf_counter() - start if args.sleep else seconds)
        if how["device_time"]:
            answer["device_seconds"] = [seconds / 2] * how["iterations"]
        else:
            answer["seconds"] = times
            answer["host_seconds"] = [time / 10 for time in times]
    else:
        answer["seconds"] = [seconds] * request.get("repeat", 1)
    say(answer)
