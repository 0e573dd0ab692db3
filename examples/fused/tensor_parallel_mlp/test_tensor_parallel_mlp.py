"""tensor_parallel_mlp: linear*2,multiply,linear,reduce_scatter.

Out of examples/ttnn/test_tensor_parallel.py::test_tensor_parallel[scatter].
`tensor_parallel_mlp_ttnn` makes the recorded calls, `tensor_parallel_mlp_reference` computes the same in float64.
Needs pytest, torch and ttnn; README.md says how to run it. Written by `opwright fuse make`.
"""

import csv
import functools
import itertools
import math
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace as Params
from typing import Callable, NamedTuple

import pytest
import torch
import ttnn
from loguru import logger
from torch.nn import functional

try:
    from tracy import signpost
except ImportError:  # no profiler here

    def signpost(_name):
        pass


MESH = (2, 4)
SEEDS = (1, 2, 3)
WARMUP_ITERATIONS, MEASURED_ITERATIONS, DEVICE_ITERATIONS = 10, 100, 10
DEVICE_PERF_MARGIN = 0.1
L1_SMALL_SIZE = 32768
DEVICE_PERF_VARIABLE = "TENSOR_PARALLEL_MLP_DEVICE_PERF"  # set while the profiler runs a test
DEVICE_PERF = os.environ.get(DEVICE_PERF_VARIABLE)
MOCK = bool(os.environ.get("TT_METAL_MOCK_CLUSTER_DESC_PATH"))  # checks every call, computes no number


class Tensor(NamedTuple):
    """A tensor as one chip has it."""

    shape: tuple
    dtype: ttnn.DataType
    layout: ttnn.Layout = ttnn.TILE_LAYOUT
    memory_config: ttnn.MemoryConfig = ttnn.DRAM_MEMORY_CONFIG
    fill: Callable = torch.randn  # makes random values of a shape
    spread: tuple = (None, None)  # the dimension that is split over each axis of the mesh


# Random values, by what they are for: a function of shape and generator.
def weight_values(shape, generator):
    return torch.randn(shape, generator=generator) * shape[-2 if len(shape) > 1 else -1] ** -0.5


HIFI2 = ttnn.WormholeComputeKernelConfig(
    math_fidelity=ttnn.MathFidelity.HiFi2,
    math_approx_mode=False,
    fp32_dest_acc_en=True,
    packer_l1_acc=True,
    dst_full_sync_en=False,
    throttle_level=ttnn.ThrottleLevel.NO_THROTTLE,
)

# Inputs that are the same in all entries.
COMMON = dict(
    x=Tensor((1, 1, 64, 512), ttnn.bfloat16, spread=(2, None)),
    linear_1_weight=Tensor((1, 1, 512, 512), ttnn.bfloat8_b, fill=weight_values, spread=(None, 3)),
    linear_2_weight=Tensor((1, 1, 512, 512), ttnn.bfloat8_b, fill=weight_values, spread=(None, 3)),
    linear_3_weight=Tensor((1, 1, 512, 512), ttnn.bfloat16, fill=weight_values, spread=(None, 2)),
)

# One entry for each way in which the model calls it.
PARAMS = [
    # 2 matches, the first from call 9 on: layer0 in test_tensor_parallel[scatter]
    Params(
        id="rows_64", mode="", seq_len=64,
        pcc=0.99995, atol=0.054, rtol=0.016,  # measured: PCC 0.9999760 over 3 seeds
        targets=dict(modelled_kernel_us=34.485, modelled_op_to_op_us=1.929, roofline_us=4.039),
        inputs=dict(**COMMON),
        outputs=dict(out=Tensor((1, 1, 64, 128), ttnn.bfloat16)),
        memory_config=ttnn.DRAM_MEMORY_CONFIG,
        no_single_device="ttnn.reduce_scatter exchanges parts between chips",
    ),
    # 2 matches, the first from call 40 on: layer0 in test_tensor_parallel[replicate]
    Params(
        id="rows_64_b", mode="", seq_len=64,
        pcc=0.99995, atol=0.054, rtol=0.016,  # measured: PCC 0.9999760 over 3 seeds
        targets=dict(modelled_kernel_us=33.519, modelled_op_to_op_us=1.929, roofline_us=3.982),
        inputs=dict(**COMMON),
        outputs=dict(out=Tensor((1, 1, 64, 128), ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG)),
        memory_config=ttnn.L1_MEMORY_CONFIG,
        no_single_device="ttnn.reduce_scatter exchanges parts between chips",
    ),
]


# The exact result of each operation; arguments that do not change it are left out.
def activated(x, names):
    """x after fused functions: `"silu"`, `[ttnn.UnaryOpType.SILU]`."""
    for name in [names] if isinstance(names, str) else names or ():
        name = str(getattr(name, "op_type", name)).split(".")[-1].lower()
        x = getattr(functional if name in ("silu", "gelu") else torch, name)(x)
    return x


def ref_linear(a, b, bias=None, transpose_a=False, transpose_b=False, activation=None):
    product = (a.transpose(-2, -1) if transpose_a else a) @ (b.transpose(-2, -1) if transpose_b else b)
    return activated(product if bias is None else product + bias, activation)


def binary(function):
    def ref(a, b, activations=None, input_tensor_a_activations=None, input_tensor_b_activations=None):
        a, b = activated(a, input_tensor_a_activations), activated(b, input_tensor_b_activations)
        return activated(function(a, b), activations)

    return ref


ref_multiply = binary(lambda a, b: a * b)


class Chips(list):
    """One tensor a chip, row by row of the mesh."""


def on_each_chip(function, *args, **kwargs):
    """The function on each chip."""

    def at(value, chip):
        if isinstance(value, Chips):
            return value[chip]
        return [at(item, chip) for item in value] if type(value) is list else value

    tensors = args[0] if type(args[0]) is list else args  # a list of tensors comes first
    results = [
        function(*at(list(args), chip), **{name: at(value, chip) for name, value in kwargs.items()})
        for chip in range(len(tensors[0]))
    ]
    return tuple(map(Chips, zip(*results))) if isinstance(results[0], tuple) else Chips(results)


def chip_lines(cluster_axis):
    """The chips that talk with one another: rows or columns of the mesh, or all."""
    rows = [list(range(row * MESH[1], (row + 1) * MESH[1])) for row in range(MESH[0])]
    return [sum(rows, [])] if cluster_axis is None else rows if cluster_axis == 1 else list(zip(*rows))


def ref_reduce_scatter(x, dim, cluster_axis=None):
    out = Chips(x)
    for line in chip_lines(cluster_axis):
        for chip, part in zip(line, sum(x[other] for other in line).chunk(len(line), dim)):
            out[chip] = part
    return out


def tensor_parallel_mlp_reference(p, x, linear_1_weight, linear_2_weight, linear_3_weight):
    linear = on_each_chip(ref_linear, x, linear_1_weight, activation="silu")
    linear_2 = on_each_chip(ref_linear, x, linear_2_weight)
    multiply = on_each_chip(ref_multiply, linear, linear_2)
    linear_3 = on_each_chip(ref_linear, multiply, linear_3_weight)
    out = ref_reduce_scatter(linear_3, dim=3, cluster_axis=1)
    return [out]


def tensor_parallel_mlp_ttnn(p, device, x, linear_1_weight, linear_2_weight, linear_3_weight):
    linear = ttnn.linear(
        x, linear_1_weight, activation="silu", compute_kernel_config=HIFI2, memory_config=p.memory_config
    )
    linear_2 = ttnn.linear(x, linear_2_weight, compute_kernel_config=HIFI2, memory_config=p.memory_config)
    multiply = ttnn.multiply(linear, linear_2)
    ttnn.deallocate(linear)
    ttnn.deallocate(linear_2)
    linear_3 = ttnn.linear(
        multiply, linear_3_weight, compute_kernel_config=HIFI2, dtype=ttnn.bfloat16, memory_config=p.memory_config
    )
    out = ttnn.reduce_scatter(
        linear_3, dim=3, cluster_axis=1, memory_config=p.memory_config, topology=ttnn.Topology.Linear
    )
    linear_3.deallocate()
    return [out]


# What runs them.
def to_host(spec, generator, device, use_real_weights):
    """The whole tensor, in parts for the chips."""
    mesh = tuple(device.shape)
    split = [(dim, chips) for dim, chips in zip(spec.spread, mesh) if dim is not None]
    shape = list(spec.shape)
    for dim, chips in split:
        shape[dim] *= chips
    values = spec.fill(shape, generator=generator)
    placements = [ttnn.PlacementReplicate() if dim is None else ttnn.PlacementShard(dim) for dim in spec.spread]
    mapper = ttnn.create_mesh_mapper(device, ttnn.MeshMapperConfig(placements)) if math.prod(mesh) > 1 else None
    return ttnn.from_torch(values, dtype=spec.dtype, layout=spec.layout, mesh_mapper=mapper)


def held(tensor):
    """The values of each chip as it holds them, rounded to the dtype."""
    return Chips(ttnn.to_torch(one).double() for one in ttnn.get_device_tensors(tensor))


def make_inputs(p, device, seed, use_real_weights):
    """The inputs on the device, and their values for the reference."""
    generator = torch.Generator().manual_seed(seed)
    tensors, values = {}, {}
    for name, spec in p.inputs.items():
        tensors[name] = to_host(spec, generator, device, use_real_weights)
        values[name] = held(tensors[name])
        tensors[name] = ttnn.to_device(tensors[name], device, memory_config=spec.memory_config)
    return tensors, values


def pcc(actual, exact):
    a, e = (x - x.mean() for x in (actual, exact))
    scale = float(a.norm() * e.norm())
    return float(a @ e) / scale if scale else float(torch.allclose(actual, exact))


def check_results(p, results, exact):
    """Shape, dtype, layout and memory of each result; its numbers where the device computes any."""
    for (name, spec), result, wanted in zip(p.outputs.items(), results, exact):
        found = (tuple(result.shape), result.dtype, result.layout, result.memory_config())
        assert found == spec[:4], f"{name} is {found}, expected {spec[:4]}"
        if MOCK:
            continue
        got, wanted = (torch.cat([one.flatten() for one in chips]) for chips in (held(result), wanted))
        reached, error = pcc(got, wanted), (got - wanted).abs()
        logger.info(f"{name}: PCC {reached:.6f}, expected {p.pcc}; worst error {float(error.max()):.4g}")
        assert got.isfinite().all(), f"{name}: not all elements are finite"
        assert reached >= p.pcc, f"{name}: PCC {reached:.6f}, expected {p.pcc}"
        assert (error <= p.atol + p.rtol * wanted.abs()).all(), f"{name}: worst error {float(error.max()):.4g}"


def run_for(device, run, count):
    """Seconds."""
    started = time.perf_counter()
    for _ in range(count):
        run()
    ttnn.synchronize_device(device)
    return time.perf_counter() - started


def measure(p, device, make, trace_mode):
    """10 + 10 iterations between signposts under the profiler, else 10 + 100 by the clock."""
    iterations = DEVICE_ITERATIONS if DEVICE_PERF else MEASURED_ITERATIONS
    inputs = make()

    def run():
        results = tensor_parallel_mlp_ttnn(p, device, **inputs)
        ttnn.synchronize_device(device)
        for result in results:
            ttnn.deallocate(result)

    run()  # compiles the kernels
    if trace_mode:
        trace = ttnn.begin_trace_capture(device, cq_id=0)
        results = tensor_parallel_mlp_ttnn(p, device, **inputs)
        ttnn.end_trace_capture(device, trace, cq_id=0)
        run = functools.partial(ttnn.execute_trace, device, trace, cq_id=0, blocking=bool(DEVICE_PERF))
    run_for(device, run, WARMUP_ITERATIONS)
    signpost("start")
    seconds = run_for(device, run, iterations)
    signpost("stop")
    if trace_mode:
        ttnn.release_trace(device, trace)
    logger.info(f"End to end: {seconds / iterations * 1e6:.3f} us an iteration")


def run_test(p, device, use_real_weights, program_cache_enabled, trace_mode):
    logger.info("=== TEST RUN CONFIGURATION ===")
    logger.info(f"Mode: {p.mode}")
    logger.info(f"Sequence length: {p.seq_len}")
    logger.info(f"Real weights: {use_real_weights}")
    logger.info(f"Trace mode: {trace_mode}")
    logger.info(f"Program cache enabled: {program_cache_enabled}")
    if not program_cache_enabled:
        device.disable_and_clear_program_cache()
    for seed in SEEDS[:1] if MOCK else SEEDS:
        tensors, values = make_inputs(p, device, seed, use_real_weights)
        check_results(p, tensor_parallel_mlp_ttnn(p, device, **tensors), tensor_parallel_mlp_reference(p, **values))
    if not MOCK:
        measure(p, device, lambda: make_inputs(p, device, SEEDS[0], use_real_weights)[0], trace_mode)


def device_totals(report):
    """Kernel and op-to-op time of an iteration in us: of a call its slowest chip, of an exchange the mean."""
    calls, inside = {}, False
    with open(report, newline="") as file:
        for row in csv.DictReader(file):
            if row["OP TYPE"] == "signpost":
                inside = row["OP CODE"] == "start"
            elif inside and row["OP TYPE"] == "tt_dnn_device":
                key = int(float(row["GLOBAL CALL COUNT"])) >> 10, row.get("METAL TRACE REPLAY SESSION ID")
                calls.setdefault(key, []).append(row)
    assert calls, f"{report}: no device operation between the signposts"

    def total(column):
        times = [[float(row[column]) for row in rows] for rows in calls.values()]
        exchange = re.compile("Gather|Scatter|AllReduce|AllToAll|Broadcast")
        talks = [exchange.search(rows[0]["OP CODE"]) for rows in calls.values()]
        ns = sum(sum(t) / len(t) if is_exchange else max(t) for t, is_exchange in zip(times, talks))
        return ns / 1000 / DEVICE_ITERATIONS

    return total("DEVICE KERNEL DURATION [ns]"), total("OP TO OP LATENCY [ns]")


def check_device_perf(p, test):
    """Runs one case of the test under the profiler: prefill eagerly, decode from a trace where it can be."""
    way = "eager" if p.mode == "prefill" else "trace"
    case = f"{__file__}::{test}[{p.id}-random_weights-program_cache-{way}]"
    folder = Path("generated", "profiler", f"{test}_{p.id}")
    profiler = ["-m", "tracy", "-p", "-r", "-o", str(folder), "--check-exit-code", "-m", f"pytest '{case}'"]
    subprocess.run([sys.executable, *profiler], check=True, env={**os.environ, DEVICE_PERF_VARIABLE: "1"})
    kernel, op_to_op = device_totals(max(folder.rglob("ops_perf_results_*.csv")))
    logger.info(f"Device perf totals: kernel={kernel:.3f} us, op_to_op={op_to_op:.3f} us")
    for found, name in ((kernel, "kernel_us"), (op_to_op, "op_to_op_us")):
        target = p.targets.get(name)
        assert target is None or found <= target * (1 + DEVICE_PERF_MARGIN), f"{name} {found:.3f}, expected {target}"


def cases(single_device=False):
    """Every way to run a parameter set, with the reason where one cannot be. Prefill runs eagerly."""
    made = []
    for p, real, cache, trace in itertools.product(PARAMS, (True, False), (True, False), (True, False)):
        if trace and p.mode == "prefill":
            continue
        reasons = (
            single_device and p.no_single_device,
            real and "the trace has no contents of the weights",
            trace and not cache and "a device trace needs the program cache",
            trace and MOCK and "the mock device captures no trace",
        )
        marks = [pytest.mark.skip(reason=reason) for reason in reasons if reason][:1]
        ways = "real_weights" if real else "random_weights", "program_cache" if cache else "no_program_cache"
        name = "-".join((p.id, *ways, "trace" if trace else "eager"))
        made.append(pytest.param(p, real, cache, trace, id=name, marks=marks))
    return made


def opened(shape):
    """Chips joined in lines; on boards in a ring set FABRIC=FABRIC_1D_RING."""
    if math.prod(shape) > 1:
        ttnn.set_fabric_config(getattr(ttnn.FabricConfig, os.environ.get("FABRIC", "FABRIC_1D")))
    device = ttnn.open_mesh_device(ttnn.MeshShape(*shape), l1_small_size=L1_SMALL_SIZE)
    yield device
    ttnn.close_mesh_device(device)
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


@pytest.fixture
def mesh_device():
    yield from opened(MESH)


@pytest.fixture
def device():
    yield from opened((1, 1))


needs_mesh = pytest.mark.skipif(f"ttnn.get_num_devices() < {math.prod(MESH)}", reason="a mesh of 2x4 chips")
not_measured = pytest.mark.skipif(MOCK or bool(DEVICE_PERF), reason="runs the profiler on hardware")
each_set = pytest.mark.parametrize("p", PARAMS, ids=lambda p: p.id)
alone = pytest.mark.parametrize(
    "p",
    [
        pytest.param(p, id=p.id, marks=[pytest.mark.skip(reason=p.no_single_device)] if p.no_single_device else [])
        for p in PARAMS
    ],
)


@needs_mesh
@pytest.mark.parametrize("p, use_real_weights, program_cache_enabled, trace_mode", cases())
def test_tensor_parallel_mlp(mesh_device, p, use_real_weights, program_cache_enabled, trace_mode):
    run_test(p, mesh_device, use_real_weights, program_cache_enabled, trace_mode)


@needs_mesh
@not_measured
@each_set
def test_tensor_parallel_mlp_device_perf(p):
    check_device_perf(p, "test_tensor_parallel_mlp")


@pytest.mark.parametrize("p, use_real_weights, program_cache_enabled, trace_mode", cases(single_device=True))
def test_tensor_parallel_mlp_single_device(device, p, use_real_weights, program_cache_enabled, trace_mode):
    run_test(p, device, use_real_weights, program_cache_enabled, trace_mode)


@not_measured
@alone
def test_tensor_parallel_mlp_single_device_device_perf(p):
    check_device_perf(p, "test_tensor_parallel_mlp_single_device")
