"""What a fused test is made of besides its own parameters and calls: top-level blocks, in the order in which they appear.

src/fuse/python_parts.h takes those that the test mentions, with those that they mention. A block that exists twice says in
a comment above it which tests it is for: `# chip:` (one chip) or `# mesh:`. A line that ends with `# if NAME` is for tests
that mention NAME, or have what it says: `recorded` contents, inputs that the sequence `freed`, results `in_place`.
NAME, MESH, PARAMS, … are of the test itself; FUSED stands for its name.
"""


class Tensor(NamedTuple):
    """A tensor as one chip has it."""

    shape: tuple
    dtype: ttnn.DataType
    layout: ttnn.Layout = ttnn.TILE_LAYOUT
    memory_config: ttnn.MemoryConfig = ttnn.DRAM_MEMORY_CONFIG
    fill: Callable = torch.randn  # makes random values of a shape
    spread: tuple = (None, None)  # the dimension that is split over each axis of the mesh  # if on_each_chip
    data: str = None  # its recorded contents in data/  # if recorded
    host: bool = False  # if host
    in_place: bool = False  # a result in the memory of an input  # if in_place


# Random values, by what they are for: a function of shape and generator.
def weight_values(shape, generator):
    return torch.randn(shape, generator=generator) * shape[-2 if len(shape) > 1 else -1] ** -0.5


def gains_values(shape, generator):
    return 1.0 + 0.1 * torch.randn(shape, generator=generator)


def positive_values(shape, generator):
    return torch.randn(shape, generator=generator).abs() + 0.1


def non_zero_values(shape, generator):
    values = torch.randn(shape, generator=generator)
    return values + 0.1 * torch.where(values < 0, -1.0, 1.0)


def halves_values(shape, generator):
    return (2 * torch.randn(shape, generator=generator) + 0.5).floor() / 2


def logits_values(shape, generator):
    return 2 * torch.randn(shape, generator=generator)


def queries_values(shape, generator):
    return 3 * torch.randn(shape, generator=generator)


def ranked_values(shape, generator):
    return torch.argsort(torch.rand(shape, generator=generator), dim=-1) / 8.0


def predicate_values(shape, generator):
    return (torch.rand(shape, generator=generator) < 0.5).float()


def mask_values(shape, generator):
    hidden = torch.rand(shape, generator=generator) < 0.5
    hidden[..., 0] = False
    return torch.zeros(shape).masked_fill(hidden, float("-inf"))


def rotary_angles(shape):
    frequencies = 10000.0 ** (-torch.arange(shape[-1]).div(2, rounding_mode="floor") * 2 / shape[-1])
    return (torch.arange(shape[-2])[:, None] * frequencies).expand(shape)


def cosines_values(shape, generator):
    return rotary_angles(shape).cos().contiguous()


def sines_values(shape, generator):
    return rotary_angles(shape).sin().contiguous()


def rotation_values(shape, generator):
    """(a, b) becomes (-b, a)."""
    matrix = torch.zeros(32, 32)
    for even in range(0, 32, 2):
        matrix[even, even + 1], matrix[even + 1, even] = 1.0, -1.0
    return matrix.repeat(*shape[:-2], shape[-2] // 32, 1)


def integers_values(below):
    return lambda shape, generator: torch.randint(0, below, shape, generator=generator, dtype=torch.int32)


token_ids_values = integers_values
positions_values = integers_values


def pages_values(below):
    """Each number once, where there are enough."""

    def fill(shape, generator):
        count = math.prod(shape)
        return (torch.randperm(max(below, count), generator=generator)[:count] % below).int().reshape(shape)

    return fill


def exact_values(*numbers):
    return lambda shape, generator: torch.tensor(numbers, dtype=torch.int32).reshape(shape)


def indices_values(shape, generator):
    return torch.arange(shape[-1], dtype=torch.int32).expand(shape).contiguous()


# What runs them.
SEMAPHORES = {}  # made once a device: making them is no part of what is measured


def semaphores(device, call, count):
    if call not in SEMAPHORES:
        grid = device.compute_with_storage_grid_size()
        cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(grid.x - 1, grid.y - 1))])
        SEMAPHORES[call] = [ttnn.create_global_semaphore(device, cores, 0) for _ in range(count)]
    return SEMAPHORES[call]


def with_fields(made, **fields):
    """An object with fields that its constructor does not take."""
    for name, value in fields.items():
        setattr(made, name, value)
    return made


# chip:
def to_host(spec, generator, device, use_real_weights):
    real = use_real_weights and spec.data  # if recorded
    values = recorded_values(spec, spec.shape) if real else spec.fill(spec.shape, generator=generator)  # if recorded
    values = spec.fill(spec.shape, generator=generator)  # if random_only
    return ttnn.from_torch(values, dtype=spec.dtype, layout=spec.layout)


# mesh:
def to_host(spec, generator, device, use_real_weights):
    """The whole tensor, in parts for the chips."""
    mesh = tuple(device.shape)
    split = [(dim, chips) for dim, chips in zip(spec.spread, mesh) if dim is not None]
    shape = list(spec.shape)
    for dim, chips in split:
        shape[dim] *= chips
    real = use_real_weights and spec.data  # if recorded
    values = recorded_values(spec, shape) if real else spec.fill(shape, generator=generator)  # if recorded
    values = spec.fill(shape, generator=generator)  # if random_only
    placements = [ttnn.PlacementReplicate() if dim is None else ttnn.PlacementShard(dim) for dim in spec.spread]
    mapper = ttnn.create_mesh_mapper(device, ttnn.MeshMapperConfig(placements)) if math.prod(mesh) > 1 else None
    return ttnn.from_torch(values, dtype=spec.dtype, layout=spec.layout, mesh_mapper=mapper)


def recorded_values(spec, shape):
    """The contents that the trace has, of all chips."""
    whole = spec.dtype in (ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8)
    kinds = {1: torch.uint8, 2: torch.int16, 4: torch.int32} if whole else {2: torch.bfloat16, 4: torch.float32}
    data = bytearray((DATA / f"{spec.data}.bin").read_bytes())
    values = torch.frombuffer(data, dtype=kinds[len(data) // math.prod(shape)]).reshape(shape)
    return values.int() if whole else values.float()


# chip:
def held(tensor):
    """The values as the device holds them, rounded to the dtype."""
    return ttnn.to_torch(tensor).double()


# mesh:
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
        if spec.host:  # if host
            continue  # if host
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
        got, wanted = held(result).flatten(), wanted.flatten()  # if one_chip
        got, wanted = (torch.cat([one.flatten() for one in chips]) for chips in (held(result), wanted))  # if on_each_chip
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
    inputs = make()  # if kept
    ready = [make() for _ in range(1 + WARMUP_ITERATIONS + iterations)]  # the sequence frees an input  # if freed

    def run():
        results = FUSED_ttnn(p, device, **inputs)  # if kept
        results = FUSED_ttnn(p, device, **ready.pop())  # if freed
        ttnn.synchronize_device(device)
        for result in results:  # if all_new
            ttnn.deallocate(result)  # if all_new
        for result, spec in zip(results, p.outputs.values()):  # if in_place
            if not spec.in_place:  # if in_place
                ttnn.deallocate(result)  # if in_place

    run()  # compiles the kernels
    if trace_mode:  # if kept
        trace = ttnn.begin_trace_capture(device, cq_id=0)  # if kept
        results = FUSED_ttnn(p, device, **inputs)  # if kept
        ttnn.end_trace_capture(device, trace, cq_id=0)  # if kept
        run = functools.partial(ttnn.execute_trace, device, trace, cq_id=0, blocking=bool(DEVICE_PERF))  # if kept
    run_for(device, run, WARMUP_ITERATIONS)
    signpost("start")
    seconds = run_for(device, run, iterations)
    signpost("stop")
    if trace_mode:  # if kept
        ttnn.release_trace(device, trace)  # if kept
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
        check_results(p, FUSED_ttnn(p, device, **tensors), FUSED_reference(p, **values))
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
    way = "eager" if p.mode == "prefill" else "trace"  # if kept
    way = "eager"  # if freed
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
            single_device and p.no_single_device,  # if on_each_chip
            real and not DATA.exists() and "no data/ here: `fuse make --weights real` writes it",  # if recorded
            real and "the trace has no contents of the weights",  # if random_only
            trace and not cache and "a device trace needs the program cache",
            trace and "the sequence frees an input, which a device trace cannot make again",  # if freed
            trace and MOCK and "the mock device captures no trace",
        )
        marks = [pytest.mark.skip(reason=reason) for reason in reasons if reason][:1]
        ways = "real_weights" if real else "random_weights", "program_cache" if cache else "no_program_cache"
        name = "-".join((p.id, *ways, "trace" if trace else "eager"))
        made.append(pytest.param(p, real, cache, trace, id=name, marks=marks))
    return made


# chip:
@pytest.fixture
def device():
    opened = ttnn.open_device(device_id=0, l1_small_size=L1_SMALL_SIZE)
    yield opened
    SEMAPHORES.clear()  # if semaphores
    ttnn.close_device(opened)


# mesh:
def opened(shape):
    """Chips joined in lines; on boards in a ring set FABRIC=FABRIC_1D_RING."""
    if math.prod(shape) > 1:
        ttnn.set_fabric_config(getattr(ttnn.FabricConfig, os.environ.get("FABRIC", "FABRIC_1D")))
    device = ttnn.open_mesh_device(ttnn.MeshShape(*shape), l1_small_size=L1_SMALL_SIZE)
    yield device
    SEMAPHORES.clear()  # if semaphores
    ttnn.close_mesh_device(device)
    ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


# mesh:
@pytest.fixture
def mesh_device():
    yield from opened(MESH)


# mesh:
@pytest.fixture
def device():
    yield from opened((1, 1))
