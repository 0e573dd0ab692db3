"""Runs the rows of a generated folder with numbers, without a device: tensors stay on the host, and the operation is a
stand-in that computes with the row's own reference, right or a little wrong.

usage: judge_generated.py FOLDER SCALE     prints one line a row: "TEST ID: OUTCOME"
"""

import importlib
import sys
from pathlib import Path

FOLDER, SCALE = Path(sys.argv[1]), float(sys.argv[2])
sys.path.insert(0, str(FOLDER))

import op_testing  # noqa: E402
import torch  # noqa: E402
import ttnn  # noqa: E402


class Host:
    """What the makers ask of a device."""

    shape = (1, 1)

    def get_num_devices(self):
        return 1


class OnHost(op_testing.OnDevice):
    def tensor(self, shape, dtype, layout, memory_config, fill=None, placements=None, distribution=None, tile=None, freed=False):
        return self._host(shape, dtype, layout, fill, tile)

    host_tensor = tensor


def stand_in(operation, case):
    made = OnHost(Host())
    case.call(made)
    expected = op_testing.expected_of(operation, case, made.values, op_testing.GOLDEN)
    return [ttnn.from_torch((one.float() * SCALE).to(torch.bfloat16)) for one in expected], made


def check(operation, case, device, reference=None):
    results, made = stand_in(operation, case)
    why = op_testing.why_no_numbers(made, results, reference) or op_testing.compare(operation, case, made, results, reference)
    return why


op_testing.is_mock = lambda: False
op_testing.check = check
for file in sorted(FOLDER.glob("test_*.py")):
    module = importlib.import_module(file.stem)
    for name in sorted(vars(module)):
        if not name.startswith("test_"):
            continue
        test = getattr(module, name)
        for row in test.pytestmark[0].args[1]:
            try:
                test.__globals__["check"] = lambda *args, **kwargs: print(f"{name} {row.id}: {check(*args, **kwargs) or 'passed'}")
                test(Host(), row.values[0])
            except AssertionError as error:
                print(f"{name} {row.id}: FAILED {error}")
