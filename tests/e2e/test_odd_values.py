"""Whatever a program passes to an operation: its code does not run while it is read, and a value costs only itself."""

import json
import os
import sys
from pathlib import Path

import planted
import pytest
import python_package
from test_python_recorder import Runner, each_python, runner  # noqa: F401

WITH_TORCH = python_package.pythons_with("torch")
each_torch = pytest.mark.parametrize("python", WITH_TORCH.values(), ids=WITH_TORCH.keys())

# Every class notes what was asked of it. TOUCHED is printed at the end, and must be empty.
ODD = """
import collections, dataclasses, enum, functools, pathlib, sys
TOUCHED = []
def touch(what):
    TOUCHED.append(what)
    raise RuntimeError(what)
class Meta(type):
    def __instancecheck__(cls, other): touch("__instancecheck__")
    def __subclasscheck__(cls, other): touch("__subclasscheck__")
    def __getattribute__(cls, name): touch("Meta." + name)
    @property
    def __module__(cls): touch("Meta.__module__")
class Odd(metaclass=Meta):
    __slots__ = ()
    def __getattribute__(self, name): touch("Odd." + name)
    def __getattr__(self, name): touch("Odd." + name)
    def __repr__(self): touch("repr")
    def __str__(self): touch("str")
    def __hash__(self): touch("hash")
    def __eq__(self, other): touch("eq")
    def __iter__(self): touch("iter")
    def __len__(self): touch("len")
    def __index__(self): touch("index")
    def __float__(self): touch("float")
    def __bool__(self): touch("bool")
    def __fspath__(self): touch("fspath")
    def __array__(self, *args): touch("array")
    def __del__(self): pass
class Liar:
    __class__ = property(lambda self: touch("__class__"))
    shape = property(lambda self: touch("shape"))
    def __dir__(self): touch("dir")
class ClaimsToBeTheLibrarys:
    __module__ = "ttnn"
    field = property(lambda self: touch("field"))
    def __repr__(self): touch("repr")
class List(list):
    def __iter__(self): touch("list.iter")
    def __len__(self): touch("list.len")
    def __getitem__(self, index): touch("list.getitem")
class Tuple(tuple):
    def __iter__(self): touch("tuple.iter")
    def __len__(self): touch("tuple.len")
    def __getitem__(self, index): touch("tuple.getitem")
class Dict(dict):
    def __iter__(self): touch("dict.iter")
    def items(self): touch("dict.items")
    def keys(self): touch("dict.keys")
    def __len__(self): touch("dict.len")
class Str(str):
    def __str__(self): touch("str.str")
    def __repr__(self): touch("str.repr")
    def encode(self, *args): touch("str.encode")
    def __eq__(self, other): touch("str.eq")
    __hash__ = str.__hash__
class Int(int):
    def __int__(self): touch("int.int")
    def __index__(self): touch("int.index")
    def __str__(self): touch("int.str")
    def __repr__(self): touch("int.repr")
class Float(float):
    def __float__(self): touch("float.float")
class OddEnum(enum.Enum):
    A = 1
    def __hash__(self): return hash("x")
    def __eq__(self, other): touch("enum.eq") if TOUCHED is not None and ARMED else None
    @property
    def name(self): touch("enum.name")
    def __repr__(self): touch("enum.repr")
ARMED = True
class Number(enum.IntEnum):
    ONE = 1
class Bits(enum.Flag):
    A = 1
    B = 2
@dataclasses.dataclass
class Data:
    field: object
    def __repr__(self): touch("dataclass.repr")
class Path(type(pathlib.Path())):
    def __str__(self): touch("path.str")
    def __fspath__(self): touch("path.fspath")
def generator():
    touch("generator")
    yield 1
ring = []; ring.append(ring); ring.append(ring)
deep = []
for _ in range(1000): deep = [deep]
odd = object.__new__(Odd)
VALUES = [odd, Liar(), ClaimsToBeTheLibrarys(), List([1, odd]), Tuple((1, odd)), Dict({"key": odd}), Str("text"), Int(7),
    Int(10**40), Float(0.5), OddEnum.A, Number.ONE, Bits.A | Bits.B, Data(odd), Path("/a/b"), pathlib.Path("/weights/a.bin"),
    pathlib.PurePosixPath("b"), functools.partial(touch, odd), touch, (lambda: touch("lambda")), Odd, Odd.mro if False else len,
    generator(), ring, deep, slice(odd, Int(1)), slice(None, 32), range(3), {1, 2}, frozenset((odd,)) if False else frozenset(),
    1j, ..., b"ab", bytearray(b"xyz"), "lone \\udcff", pathlib.Path("\\udcff"), collections.OrderedDict(a=1), 10**400, sys, iter([1])]
"""


def dumped(runner: Runner, program: str) -> list[dict]:  # noqa: F811
    """The calls of the only trace, as `dump --format jsonl` shows them."""
    import subprocess

    import support

    done = subprocess.run(
        [support.find_opwright(), "--format", "jsonl", "dump", runner.folder / "trace"], capture_output=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.decode(errors="surrogateescape").splitlines()]
    values = {line["config"]["id"]: line["config"]["value"] for line in lines if "config" in line}

    def resolved(value):
        if isinstance(value, dict):
            return resolved(values[value["$c"]]) if set(value) == {"$c"} else {k: resolved(v) for k, v in value.items()}
        return [resolved(item) for item in value] if isinstance(value, list) else value

    return [resolved(line["call"]) for line in lines if "call" in line]


def traced(runner: Runner, python: Path, program: str, **extra):  # noqa: F811
    (runner.folder / "program.py").write_text(program)
    return runner.traced(python, "program.py", **extra)


@each_python
def test_nothing_of_the_program_runs_while_it_is_read(runner: Runner, python: Path) -> None:  # noqa: F811
    done = traced(
        runner,
        python,
        ODD + "import ttnn\nfor value in VALUES:\n    ttnn.keep(value, key=value, result=value)\n"
        "ARMED = False\nprint(len(VALUES), TOUCHED)\nimport os; os._exit(0)\n",
    )
    assert done.returncode == 0, done.stderr
    count, _, touched = done.stdout.partition(" ")
    assert (touched, done.stderr) == ("[]\n", "")
    calls = dumped(runner, "program.py")
    assert len(calls) == int(count), "a value that cannot be read costs itself, never its call"
    shown = json.dumps(calls)
    for text in ("/weights/a.bin", "PosixPath", "Number", "ONE", "OddEnum", "partial", "function", "lone"):
        assert text in shown, text
    values = [call["args"][0] for call in calls]
    assert values[7] == 7 and values[8] == 10**40 and values[9] == 0.5, values[7:10]
    assert "Odd" in json.dumps(values[0]) and "0x" not in json.dumps(values[0])


CUTS = {
    "a list of a million": "list(range(1000000))",
    "numbers in lists": "[[0.5] * 100] * 100",
    "a list in itself": "(lambda l: (l.append(l), l.append(l), l)[2])([])",
    "deep": "__import__('functools').reduce(lambda a, b: [a], range(1000), 1)",
    "long bytes": "bytes(1000000)",
    "a buffer": "bytearray(10)",
    "a long text": "'x' * 1000000",
    "a large dict": "{n: n for n in range(100000)}",
    "many texts": "['x' * 60000 + str(n) for n in range(200)]",
    "a very large int": "10 ** 10000",
    "many of the library": "[ttnn.Config(a=[ttnn.Config(b=str(n)) for n in range(200)]) for _ in range(200)]",
}


@pytest.mark.parametrize("what", CUTS)
def test_what_is_cut_is_counted_and_told(runner: Runner, what: str) -> None:  # noqa: F811
    done = traced(
        runner, Path(sys.executable),
        f"import opwright, ttnn\nvalue = {CUTS[what]}\nttnn.keep(1, value, after=2)\nfrom opwright import _capture\n"
        "print(_capture.counters()['cut'] > 0, _capture.counters()['bytes'])\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    cut, size = done.stdout.split()
    assert cut == "True" and int(size) < 3 << 20
    (call,) = dumped(runner, "program.py")
    assert call["args"][0] == 1 and call["kw"]["after"] == 2
    import subprocess

    import support

    shown = subprocess.run([support.find_opwright(), "dump", runner.folder / "trace"], capture_output=True, text=True)
    assert "cut: ttnn.keep: " in shown.stdout, shown.stdout


INTERRUPTS = {
    "ordinary": "class Alarm(Exception): pass\ndef ring(*args): raise Alarm('ring')",
    "system": "class Alarm(BaseException): pass\ndef ring(*args): raise Alarm('ring')",
    "keyboard": "Alarm = KeyboardInterrupt\nring = signal.default_int_handler",
}


@each_python
@pytest.mark.parametrize("kind", INTERRUPTS)
@pytest.mark.parametrize("where", ["argument", "result"])
def test_interrupts_reach_the_program(runner: Runner, python: Path, kind: str, where: str) -> None:  # noqa: F811
    """A handler that runs while a value is read: here in a slow property of the library, written in Python."""
    call = "ttnn.keep(ttnn.Slow())" if where == "argument" else "(ttnn.keep(), ttnn.give())"
    done = traced(
        runner, python,
        f"import signal, time, ttnn\n{INTERRUPTS[kind]}\n"
        "slow = ttnn.Slow()\nttnn.give = ttnn.decorators.FastOperation('ttnn.give', lambda: slow)\n"
        "signal.signal(signal.SIGALRM, ring)\nsignal.setitimer(signal.ITIMER_REAL, 0.3)\nbegan = time.monotonic()\n"
        f"try:\n    {call}\n    print('swallowed')\nexcept Alarm:\n    print('came', time.monotonic() - began < 10)\n"
        "print(ttnn.add(1, 2))\n",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "came True\n3\n", "")
    names = [call["op"] for call in dumped(runner, "program.py")]
    assert names[-1] == "ttnn.add" and ("ttnn.keep" in names) == (where == "result"), names


HANDLERS = {
    "function": "ring",
    "partial": "functools.partial(ring)",
    "method": "Bell().ring",
    "object": "Bell()",
}


@each_python
@pytest.mark.parametrize("handler", HANDLERS)
def test_handlers_are_told_from_the_programs_own_faults(runner: Runner, python: Path, handler: str) -> None:  # noqa: F811
    """A row of results reads fixtures, which are the program's code: what that raises is an empty cell, a time-out not."""
    done = traced(
        runner, python,
        f"import functools, signal, time\n{INTERRUPTS['ordinary']}\n"
        "class Bell:\n    def ring(self, *args): raise Alarm('ring')\n    __call__ = ring\n"
        "class Mesh:\n    shape = property(lambda self: 1 / 0)\n    def get_num_devices(self): time.sleep(20)\n"
        "from opwright.results_csv import arguments_of_test\n"
        f"signal.signal(signal.SIGALRM, {HANDLERS[handler]})\nsignal.setitimer(signal.ITIMER_REAL, 0.3)\n"
        "try:\n    print(arguments_of_test('test', {'mesh_device': Mesh()}))\nexcept Alarm:\n    print('came')\n"
        "Mesh.get_num_devices = lambda self: 1 // 0\n"
        "row = arguments_of_test('test', {'mesh_device': Mesh()})\nprint(row['mesh_shape'], row['mesh_num_devices'])\n",
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "came\nNone None\n", "")


TENSORS = f"""
import numpy, torch, ttnn, pathlib
TOUCHED = []
class Plain(torch.Tensor): pass
class Asks(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        TOUCHED.append(str(function))
        return super().__torch_function__(function, types, args, kwargs or {{}})
class Hides(torch.Tensor):
    shape = property(lambda self: TOUCHED.append("shape"))
    dtype = property(lambda self: TOUCHED.append("dtype"))
    def __getattribute__(self, name):
        TOUCHED.append(name)
        return super().__getattribute__(name)
    def __repr__(self): TOUCHED.append("repr")
class Dispatches(torch.Tensor):
    @classmethod
    def __torch_dispatch__(cls, function, types, args=(), kwargs=None):
        TOUCHED.append(str(function))
        return function(*args, **(kwargs or {{}}))
class Array(numpy.ndarray):
    shape = property(lambda self: TOUCHED.append("array.shape"))
    def __repr__(self): TOUCHED.append("array.repr")
    def __str__(self): TOUCHED.append("array.str")
tensor = torch.full((2, 3), {planted.VALUE})
array = numpy.full((2, 3), {planted.VALUE}, dtype=numpy.float32)
values = [tensor, tensor.as_subclass(Plain), tensor.as_subclass(Asks), tensor.as_subclass(Hides), torch.nn.Parameter(tensor),
    tensor.double(), tensor.bfloat16(), array, array.view(Array), array.astype("float64"), array.astype(">f4"), numpy.matrix(array),
    tensor.as_subclass(Dispatches), [tensor, array], {{"weights": tensor}}, ttnn.Config(held=tensor), numpy.full((2, 2, 2, 2, 2, 2, 2, 2, 2), {planted.VALUE}),
    (torch.float32, torch.Size([4, 5]), torch.device("cpu"), numpy.dtype("float32")), numpy.int64(5), numpy.float32(0.5), numpy.bool_(True)]
TOUCHED.clear()
for value in values: ttnn.keep(value, key=value, result=value)
print(TOUCHED)
"""


@each_torch
def test_of_tensors_of_others_shape_and_type_are_read(runner: Runner, python: Path) -> None:  # noqa: F811
    done = traced(runner, python, TENSORS)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
    calls = dumped(runner, "program.py")
    values = [call["args"][0] for call in calls]
    assert len(calls) == 21
    for value in values[:12]:
        text = json.dumps(value)
        assert "[2, 3]" in text and "float" in text.replace("f4", "float"), text
    assert "Asks" in json.dumps(values[2]) and "bfloat16" in json.dumps(values[6])
    assert values[18:] == [5, 0.5, True]
    assert "torch.float32" in json.dumps(values[17]) and "[4, 5]" in json.dumps(values[17])
    assert planted.check_traces(runner.folder) == 1


CONTENTS = {
    "a printed tensor in an error": "ttnn.complain(RuntimeError(f'bad {tensor} of shape {list(tensor.shape)}'))",
    "a printed array in an error": "ttnn.complain(ValueError(f'bad {array!r}'))",
    "a parameter in an error": "ttnn.complain(ValueError(str(torch.nn.Parameter(tensor))))",
    "one element in an error": "ttnn.complain(ValueError(str(tensor[0, 0])))",
    "a tensor as the error's argument": "ttnn.complain(ValueError(tensor))",
    "a list": "ttnn.keep(tensor.repeat(20, 20).flatten().tolist())",
    "nested lists": "ttnn.keep(tensor.repeat(20, 20).tolist())",
    "raw bytes": "ttnn.keep(tensor.repeat(20, 20).numpy().tobytes())",
    "a result of numbers": "ttnn.decorators.FastOperation('ttnn.give', tensor.tolist)()",
    "a number as result": "ttnn.decorators.FastOperation('ttnn.give', tensor[0, 0].item)()",
    "a text as result": "ttnn.decorators.FastOperation('ttnn.give', tensor.__str__)()",
    "held by an object of the library": "ttnn.keep(ttnn.Config(weights=tensor, more=[tensor]))",
    "a function's default": "ttnn.keep(lambda x=tensor: x)",
    "in a partial": "ttnn.keep(__import__('functools').partial(print, tensor))",
    "a memory view": "ttnn.keep(memoryview(array), array.data)",
    "a generator": "ttnn.keep((x for x in tensor))",
}


@each_torch
@pytest.mark.parametrize("what", CONTENTS)
def test_no_content_of_a_tensor_gets_into_a_trace(runner: Runner, python: Path, what: str) -> None:  # noqa: F811
    done = traced(
        runner, python,
        "import numpy, torch, ttnn\n"
        f"tensor = torch.full((4, 4), {planted.VALUE}); array = tensor.numpy()\n"
        f"try: {CONTENTS[what]}\nexcept (RuntimeError, ValueError) as error: print(type(error).__name__)\n",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert planted.check_traces(runner.folder) == 1
    (call,) = dumped(runner, "program.py")
    if "of shape" in CONTENTS[what]:
        assert "of shape [4, 4]" in json.dumps(call["err"]), "shapes in messages stay"


def test_the_search_finds_what_was_planted(tmp_path: Path) -> None:
    import struct

    value = planted.VALUE
    forms = {
        "text": f"tensor([[{value:.4f}, ".encode(),
        "float32": struct.pack("<ff", value, value),
        "float64": struct.pack("<d", value),
        "bfloat16": struct.pack("<f", value)[2:] * 4,
        "float16": struct.pack("<4e", value, value, value, value),
    }
    for name, content in forms.items():
        (tmp_path / "a.opwt").write_bytes(b"x" + content + b"y")
        assert name in planted.forms_in(b"x" + content + b"y")
        with pytest.raises(AssertionError, match=name):
            planted.check_traces(tmp_path)
    os.remove(tmp_path / "a.opwt")
