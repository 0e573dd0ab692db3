"""A recorded call of an operation as a test: its arguments made again, called, and judged.

A case's `call` is a function of a maker. One maker makes the arguments for the device, another the same in torch, for the
reference. So a row is written once.
"""

import itertools
import math
import os
import re

import op_data
import op_references
import pytest
import torch
import ttnn

SEED = 1
GOLDEN = "the library's golden function"
TORCH = "op_references.py"

#: Why the numbers of the test that just ran were not compared; conftest.py takes it from here.
not_compared = []


class Case:
    """One recorded configuration.

    id       shapes, dtypes, memory, and the first digits of the configuration's key
    call     maker -> (arguments by position, arguments by name)
    mesh     the chips that it was traced on
    returns  what the call gave when it was traced, or what it must give; None: nobody knows
    pcc, rtol, atol, exact   how near the numbers must be
    raises   what it raised in the trace: an expected failure
    """

    def __init__(self, id, call, mesh=(1, 1), returns=None, pcc=0.99, rtol=None, atol=None, exact=False, raises=None):
        self.id, self.call, self.mesh, self.returns, self.raises = id, call, mesh, returns, raises
        self.pcc, self.rtol, self.atol, self.exact = pcc, rtol, atol, exact


class Spec:
    """What a tensor is; `memory_config` None: nobody knows where it lies."""

    def __init__(self, shape, dtype, layout, memory_config=None):
        self.shape, self.dtype, self.layout, self.memory_config = list(shape), dtype, layout, memory_config

    def differs(self, tensor):
        found = {"shape": list(tensor.shape), "dtype": tensor.dtype, "layout": tensor.layout}
        if self.memory_config is not None:
            found["memory_config"] = tensor.memory_config()
        return [f"{name} is {value}, not {getattr(self, name)}" for name, value in found.items() if value != getattr(self, name)]


class Skip:
    """A configuration that no test could be made of, and why."""

    def __init__(self, id, why):
        self.id, self.why = id, why


def cases(rows):
    """Rows for `pytest.mark.parametrize("case", …)`."""
    marked = []
    for row in rows:
        marks = ()
        if isinstance(row, Skip):
            marks = pytest.mark.skip(reason=f"not generated: {row.why}")
        elif row.raises is not None:
            marks = pytest.mark.xfail(reason=f"in the trace it raised {row.raises}")
        marked.append(pytest.param(row, id=row.id, marks=marks))
    return marked


def is_mock():
    return bool(os.environ.get("TT_METAL_MOCK_CLUSTER_DESC_PATH"))


def with_fields(made, **fields):
    """An object with fields that its constructor does not take."""
    for name, value in fields.items():
        if getattr(made, name) != value:
            setattr(made, name, value)
    return made


class OnDevice:
    """Makes arguments for the device. On the mock tensors have no values: none would survive."""

    def __init__(self, device):
        self.device = device
        self.tensors = []  # what was made, to be freed
        self.values = []  # the same in torch, as the dtype holds them
        self.is_spread = False  # over several chips that do not all hold the same

    def call(self, *args, **kwargs):
        return args, kwargs

    def tensor(self, shape, dtype, layout, memory_config, fill=None, placements=None, distribution=None, tile=None, freed=False):
        if is_mock() and tile is None:
            made = ttnn.allocate_tensor_on_device(ttnn.Shape(shape), dtype, layout, self.device, memory_config)
        else:
            made = self._host(shape, dtype, layout, fill, tile).to(self.device, memory_config)
        return self._keep(made, placements, distribution, freed)

    def host_tensor(self, shape, dtype, layout, memory_config=None, fill=None, placements=None, distribution=None, tile=None, freed=False):
        """One that came from a device remembers where it lay there."""
        return self._keep(self._host(shape, dtype, layout, fill, tile, memory_config), placements, distribution, freed)

    def _host(self, shape, dtype, layout, fill, tile, memory_config=None):
        """On a mesh every chip gets the same."""
        fill = op_data.nothing if is_mock() else fill or op_data.default(dtype)
        values = fill(shape, dtype, torch.Generator().manual_seed(SEED + len(self.values)))
        more = {} if tile is None else {"tile": ttnn.Tile(tile)}
        if memory_config is not None:
            more["memory_config"] = memory_config
        if self.device.get_num_devices() > 1:
            more["mesh_mapper"] = ttnn.ReplicateTensorToMesh(self.device)
        made = ttnn.from_torch(values, dtype=dtype, layout=layout, **more)
        self.values.append(op_data.as_held(values, dtype))
        return made

    def _keep(self, made, placements, distribution, freed):
        """Without placements: one chip, as a tensor from the host has it."""
        mesh = list(self.device.shape)
        coordinates = [ttnn.MeshCoordinate(at) for at in itertools.product(*map(range, mesh))]
        shape = ttnn.MeshShape(distribution or (mesh if placements else [math.prod(mesh)]))
        made.update_tensor_topology(ttnn.TensorTopology(shape, placements or [ttnn.PlacementReplicate()], coordinates))
        if math.prod(mesh) > 1:
            self.is_spread |= any(isinstance(one, ttnn.PlacementShard) for one in placements or ())
        if freed:
            ttnn.deallocate(made)
        self.tensors.append(made)
        return made

    def semaphore(self):
        """One that every core sees. Traces leave semaphores out: they are handles of one run."""
        grid = self.device.compute_with_storage_grid_size()
        cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(grid.x - 1, grid.y - 1))])
        return ttnn.create_global_semaphore(self.device, cores, 0)

    def semaphores(self, count):
        return [self.semaphore() for _ in range(count)]

    def mesh_mapper(self, config):
        return ttnn.create_mesh_mapper(self.device, config)


class InTorch:
    """Makes the same arguments in torch. Handles are None."""

    def __init__(self, values):
        self._values = iter(values)
        self.device = None

    def call(self, *args, **kwargs):
        return args, kwargs

    def tensor(self, *_, **__):
        return next(self._values)

    host_tensor = tensor

    def semaphore(self):
        return None

    def semaphores(self, count):
        return [None] * count

    def mesh_mapper(self, config):
        return None


def tensors_in(value, kind):
    if isinstance(value, kind):
        return [value]
    if isinstance(value, (list, tuple)):
        return [tensor for item in value for tensor in tensors_in(item, kind)]
    return []


def check(operation, case, device, reference=None):
    """Calls the operation as the trace did; compares what comes with what must come. An operation that could not be
    compared in numbers says why."""
    made = OnDevice(device)
    results = []
    try:
        args, kwargs = case.call(made)
        results = tensors_in(operation(*args, **kwargs), ttnn.Tensor)
        ttnn.synchronize_device(device)
        check_specs(case, results)
        why_not = why_no_numbers(made, results, reference)
        if why_not is None:
            why_not = compare(operation, case, made, results, reference)
        if why_not is not None:
            not_compared[:] = [why_not]
    finally:
        for tensor in [*results, *made.tensors]:
            if tensor.storage_type() == ttnn.StorageType.DEVICE and tensor.is_allocated():
                ttnn.deallocate(tensor)


def check_specs(case, results):
    if case.returns is None:
        return
    expected = case.returns()
    assert len(results) == len(expected), f"{len(results)} tensors came, {len(expected)} were expected"
    for number, (spec, tensor) in enumerate(zip(expected, results)):
        assert not spec.differs(tensor), f"tensor {number} of the result: {'; '.join(spec.differs(tensor))}"


def why_no_numbers(made, results, reference):
    if is_mock():
        return "the mock device computes none"
    if reference is None:
        return "there is no reference for it"
    if made.is_spread:
        return "its tensors are spread over several chips"
    if not results:
        return "it returns no tensor"
    return None


def compare(operation, case, made, results, reference):
    """None, or why there was nothing to compare with. Fails where numbers are not near enough."""
    try:
        expected = expected_of(operation, case, made.values, reference)
    except Exception as error:  # of the reference: nothing is known of the operation
        return f"its reference failed ({type(error).__name__}: {re.sub(chr(10), ' ', str(error))[:80]})"
    if len(expected) < len(results):
        return f"its reference gives {len(expected)} tensors, the operation {len(results)}"
    for number, (actual, wanted) in enumerate(zip(results, expected)):
        actual = ttnn.to_torch(ttnn.get_device_tensors(actual)[0] if made.device.get_num_devices() > 1 else actual)
        if actual.numel() != wanted.numel():
            return f"its reference has shape {list(wanted.shape)}, the operation {list(actual.shape)}"
        compare_numbers(number, case, actual.double().flatten(), wanted.double().flatten())
    return None


def expected_of(operation, case, values, reference):
    """Of the golden function; where that cannot be run, of op_references.py."""
    functions = [ttnn.get_golden_function(operation)] if reference == GOLDEN else []
    functions += [function for function in (op_references.find(operation),) if function is not None]
    for function in functions:
        try:
            return tensors_in(call_reference(function, *case.call(InTorch(values))), torch.Tensor)
        except Exception:
            if function is functions[-1]:
                raise
    return []


def call_reference(function, args, kwargs):
    """Golden functions may call their tensors otherwise than the operation does: then tensors go by position."""
    for name in ("uint16", "uint32"):  # golden functions ask whether a tensor is one of these; an older torch has none
        if not hasattr(torch, name):
            setattr(torch, name, name)
    try:
        return function(*args, **kwargs)
    except TypeError:
        tensors = [name for name, value in kwargs.items() if isinstance(value, torch.Tensor)]
        rest = {name: value for name, value in kwargs.items() if name not in tensors}
        return function(*args, *(kwargs[name] for name in tensors), **rest)


def compare_numbers(number, case, actual, wanted):
    assert torch.equal(actual.isnan(), wanted.isnan()), f"result {number}: not the same elements are nan"
    actual, wanted = actual.nan_to_num(), wanted.nan_to_num()
    error = (actual - wanted).abs()
    if case.exact:
        assert error.max() == 0, f"result {number}: {int((error > 0).sum())} elements are not exact, worst {error.max():.3g}"
        return
    if case.rtol is not None:
        beyond = error > (case.atol or 0.0) + case.rtol * wanted.abs()
        worst = int(error.argmax())
        assert not beyond.any(), (
            f"result {number}: {int(beyond.sum())} of {beyond.numel()} elements differ by more than {case.rtol:.3g} x |value| + "
            f"{case.atol or 0.0:.3g}; worst at {worst}: {actual[worst]:.6g}, expected {wanted[worst]:.6g}"
        )
    found = pcc(actual, wanted)
    assert found >= case.pcc, f"result {number}: PCC {found:.6f}, at least {case.pcc} was expected"
    # PCC does not see a factor or a shift: an error as large as it allows, and no larger, whatever its kind.
    finite = wanted.isfinite() & actual.isfinite()
    share = float(error[finite].norm() / wanted[finite].norm().clamp(min=1e-30))
    most = max(math.sqrt(2 * (1 - case.pcc)), 2**-7)
    assert share <= most, f"result {number}: the error is {share:.3g} of the result, at most {most:.3g} was expected"


def pcc(actual, wanted):
    """1 where both are the same constant; nothing can be said of a constant otherwise, and that is not near."""
    actual, wanted = (x.clamp(-1e30, 1e30) for x in (actual, wanted))
    a, w = actual - actual.mean(), wanted - wanted.mean()
    scale = float(a.norm() * w.norm())
    if scale == 0.0:
        return 1.0 if torch.allclose(actual, wanted, rtol=1e-2, atol=1e-6) else 0.0
    return float(a @ w) / scale
