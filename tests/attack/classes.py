"""Odd Python classes as arguments of the real library: a recorded program does what it does unrecorded, and no content of
its tensors gets into the trace."""

from __future__ import annotations

import random
import struct

from world import Finding, World

# Each gives `odd`, an object that is no configuration. PLANTED is a float that no trace may contain.
ODD = [
    "class T(torch.Tensor): pass\nodd = base.as_subclass(T)",
    "class T(torch.Tensor):\n    @property\n    def shape(self): raise RuntimeError('no shape')\nodd = base.as_subclass(T)",
    "class T(torch.Tensor):\n    @classmethod\n    def __torch_function__(cls, f, types, args=(), kwargs=None):\n"
    "        log.append(getattr(f, '__name__', '?')); return super().__torch_function__(f, types, args, kwargs or {})\nodd = base.as_subclass(T)",
    "class T(torch.Tensor):\n    def __repr__(self): log.append('repr'); return 'x'\n    __str__ = __repr__\nodd = base.as_subclass(T)",
    "odd = torch.nn.Parameter(base)",
    "class C:\n    def __getattr__(self, name): log.append(name); raise AttributeError(name)\n    def __repr__(self): log.append('repr'); return 'x'\nodd = C()",
    "class C:\n    @property\n    def endless(self): return C()\n    @property\n    def slow(self):\n        log.append('slow')\nodd = C()",
    "class C(dict):\n    def items(self): log.append('items'); return super().items()\n    def __len__(self): log.append('len'); return 5\nodd = C(a=base)",
    "class C(list):\n    def __iter__(self): log.append('iter'); return super().__iter__()\n    def __getitem__(self, i): log.append('get'); return 1\nodd = C([1, base])",
    "class C(int):\n    def __repr__(self): log.append('repr'); return '7'\n    def __index__(self): log.append('index'); return 3\nodd = C(10**30)",
    "class C(str):\n    def __str__(self): log.append('str'); return 'y'\nodd = C('name')",
    "class C:\n    def __hash__(self): log.append('hash'); return 1\n    def __eq__(self, other): log.append('eq'); return True\nodd = C()",
    "class M(type):\n    def __instancecheck__(self, x): log.append('instance'); return True\n    def __subclasscheck__(self, x): log.append('sub'); return True\n"
    "    def __getattribute__(self, n):\n        log.append(n) if n not in ('__call__', '__mro__', '__dict__') else None\n        return super().__getattribute__(n)\n"
    "class C(metaclass=M): pass\nodd = C()\nlog.clear()",
    "odd = []\nodd.append(odd)",
    "odd = {}\nodd['self'] = odd\nodd[3] = odd",
    "odd = base\nfor _ in range(3000): odd = [odd]",
    "odd = list(range(300000))",
    "odd = 'long' * 3000000",
    "odd = (x for x in [1, 2])",
    "odd = lambda: base",
    "import pathlib\nodd = pathlib.Path('/some/path')",
    "odd = '\\udc80bad'",
    "odd = b'\\x00\\xff' * 10",
    "import numpy\nclass A(numpy.ndarray):\n    def __array_finalize__(self, o): log.append('finalize')\nodd = base.numpy().view(A)\nlog.clear()",
    "import numpy\nodd = numpy.float32(2.5)",
    "import enum\nclass E(enum.Enum):\n    A = base\nodd = E.A",
    "import dataclasses\n@dataclasses.dataclass\nclass D:\n    t: object\n    def __getattribute__(self, n): log.append(n); return object.__getattribute__(self, n)\nodd = D(base)\nlog.clear()",
    "class C:\n    __class__ = torch.Tensor\nodd = C()",
    "class C:\n    @property\n    def __class__(self): log.append('class'); return ttnn.Tensor\nodd = C()",
    "odd = float('nan')",
    "odd = base.to_sparse()",
    "odd = torch.rand(2, 2, dtype=torch.complex64)",
    "odd = base.to('meta') if hasattr(base, 'to') else base",
]
USES = [
    "ttnn.from_torch(odd)",
    "ttnn.from_torch(base, dtype=odd)",
    "ttnn.add(ttnn.from_torch(base), odd)",
    "ttnn.to_layout(odd, ttnn.TILE_LAYOUT)",
    "ttnn.concat([ttnn.from_torch(base), odd])",
    "ttnn.from_torch(base, memory_config=odd, layout=odd)",
    "ttnn.full([32, 32], odd)",
]
PROGRAM = """
import sys, torch, ttnn
PLANTED = {planted!r}
base = torch.full((32, 32), PLANTED)
log = []
{odd}
def show(name, action):
    try:
        result = action()
        print(name, type(result).__name__, getattr(result, 'shape', None) if isinstance(result, (ttnn.Tensor, torch.Tensor)) else '')
    except BaseException as error:
        print(name, type(error).__name__)
{uses}
print('log', log)
"""


class Classes:
    """A program with an odd object, run with and without recording."""

    def __init__(self, chosen) -> None:
        self.python = chosen.ttnn_python

    def missing(self) -> str | None:
        return None if self.python else "the ttnn library is not present (./x setup --with-ttnn)"

    def prepare(self, world: World) -> None:
        pass

    def attack(self, number: int, rng: random.Random, world: World) -> None:
        planted = struct.unpack("f", struct.pack("f", 1 + rng.random()))[0]
        odd = ODD[number % len(ODD)]
        uses = "\n".join(f"show({use!r}, lambda: {use})" for use in rng.sample(USES, 3))
        (world.room / "program.py").write_text(PROGRAM.format(planted=planted, odd=odd, uses=uses), encoding="utf-8", errors="surrogatepass")
        plain = world.run("mock", "--board", "n150", "--", self.python, "program.py", seconds=40)
        traced = world.run("trace", "--mock", "n150", "--keep", "-o", "traces", "--", self.python, "program.py", seconds=40)
        if traced.timed_out:
            raise Finding(f"recording does not end with {odd!r}")
        if b"log" not in plain.out:
            raise Finding(f"the program does not run unrecorded: {plain.err[-500:]!r}")
        said, recorded = _own_lines(plain.out), _own_lines(traced.out)
        if plain.status != traced.status or said != recorded:
            raise Finding(f"recording is noticed ({plain.status}, {traced.status}) with {odd!r}:\n{said}\n{recorded}")
        for path in world.room.rglob("*.opwt*"):
            data = path.read_bytes()
            for form in (struct.pack("<f", planted), repr(planted).encode(), f"{planted:.4f}".encode(), struct.pack("<d", planted)):
                if form in data:
                    raise Finding(f"a value of a tensor is in the trace ({form!r}) with {odd!r}")


def _own_lines(out: bytes) -> list[str]:
    """What the program itself printed."""
    lines = [line for line in out.decode(errors="replace").splitlines() if line.startswith(("ttnn.", "log"))]
    return lines[: next((i + 1 for i, line in enumerate(lines) if line.startswith("log")), len(lines))]
