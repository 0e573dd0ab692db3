"""usage: load_damaged.py FOLDER MASTER…

Loads masters in which values were replaced by others at random, with both loaders. What is wrong costs its configuration;
a master that is none at all is a ValueError that says so. Prints how many operations were asked for."""

from __future__ import annotations

import copy
import json
import random
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from opwright.compat import master_config_loader, master_config_loader_v2

JUNK = [
    None, True, 0, -1, 2**70, 1.5, "", "x", "[", "{", "None", [], {}, [1], {"a": 1}, [[]], {"Tensor": {}},
    {"type": "ttnn.Tensor"}, "unsupported type", {"value": 1}, {"UnparsedElement": 3},
]  # fmt: skip


def places(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def damaged(master: Any, chance: random.Random) -> Any:
    master = copy.deepcopy(master)
    path = chance.choice([path for path in places(master) if len(path) >= 2])
    inner = master
    for key in path[:-1]:
        inner = inner[key]
    inner[path[-1]] = chance.choice(JUNK)
    return master


def main() -> None:
    warnings.simplefilter("ignore")
    chance, asked = random.Random(5), 0
    masters = [json.loads(Path(name).read_text()) for name in sys.argv[2:]]
    for i in range(200):
        file = Path(sys.argv[1]) / f"{i}.json"
        file.write_text(json.dumps(damaged(chance.choice(masters), chance)))
        for module in (master_config_loader, master_config_loader_v2):
            try:
                loader: Any = module.MasterConfigLoader(str(file))
                for operation in list(loader._load()):
                    loader.get_suite_parameters(operation)
                    loader.get_suite_parameters(operation, all_cases=True)
                    asked += 1
            except ValueError as error:
                if "no master JSON" not in str(error):
                    raise
    print("asked", asked)


main()
