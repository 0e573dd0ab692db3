"""Functions of one, two and three tensors."""

from __future__ import annotations

import math

from cases import SHAPES, Cases, Word, call, tensor, torch, volume

INF, NAN = math.inf, math.nan
CORNERS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 6.0, 1e-30, -1e-30, 1e-40, 1e20, -1e20, 65504.0, INF, NAN]


def gelu(x):
    return 0.5 * x * torch.special.erfc(-x / math.sqrt(2))  # torch's own loses its digits where 1 + erf does


def silu(x):
    return x / (1 + torch.exp(-x))


# name -> formula, values that are tried beside random ones
UNARY = {
    "abs": (lambda x: torch.abs(x), CORNERS + [-INF]),
    "cos": (lambda x: torch.cos(x), CORNERS[:14]),
    "erf": (lambda x: torch.erf(x), CORNERS + [-INF]),
    "exp": (lambda x: torch.exp(x), CORNERS + [-INF]),
    "gelu": (gelu, CORNERS),
    "log": (lambda x: torch.log(x), CORNERS),
    "neg": (lambda x: -x, CORNERS + [-INF]),
    "reciprocal": (lambda x: 1 / x, CORNERS + [-INF]),
    "relu": (lambda x: torch.clamp(x, min=0), CORNERS + [-INF]),
    "rsqrt": (lambda x: x**-0.5, [v for v in CORNERS if v >= 0 and not math.copysign(1, v) < 0]),
    "sigmoid_accurate": (lambda x: torch.special.expit(x), CORNERS + [-INF]),
    "sigmoid": (lambda x: torch.special.expit(x), CORNERS + [-INF]),
    "silu": (silu, [v for v in CORNERS if v != -1e20]),
    "sin": (lambda x: torch.sin(x), CORNERS[:14]),
    "sqrt": (lambda x: torch.sqrt(x), CORNERS),
    "square": (lambda x: x * x, CORNERS + [-INF]),
    "tanh": (lambda x: torch.tanh(x), CORNERS + [-INF]),
}
FAST = {"erf", "exp", "gelu", "log", "rsqrt", "sigmoid_accurate", "sqrt", "tanh"}


def unary() -> Cases:
    cases = Cases("unary")
    for name, (formula, corners) in UNARY.items():
        op = "ttnn." + name
        for shape in SHAPES:
            for dtype in ("FLOAT32", "BFLOAT16"):
                cases.add(op, "shape", call(op, tensor(shape, dtype)), formula)
        cases.add(op, "dtype", call(op, tensor([2, 64], "BFLOAT8_B")), formula)
        cases.add(op, "layout", call(op, tensor([3, 40], layout="ROW_MAJOR")), formula)
        cases.add(op, "memory_config", call(op, tensor([3, 40]), memory_config=Word("memory(L1 INTERLEAVED)")), formula)
        cases.add(op, "output_tensor", call(op, tensor([3, 40]), output_tensor=tensor([3, 40])), lambda x, out, f=formula: f(x))
        if name in FAST:
            cases.add(op, "fast_and_approximate_mode", call(op, tensor([3, 40]), fast_and_approximate_mode=True), formula)
        values = corners + [0.0] * (-len(corners) % 4)
        cases.add(op, "special values", call(op, tensor([4, len(values) // 4])), formula, given={0: values})
    for name in ("abs", "relu", "neg", "square"):
        op, formula = "ttnn." + name, UNARY[name][0]
        cases.add(op, "integers", call(op, tensor([3, 40], "INT32")), formula, times=2)
    for low, high in ((-0.5, 0.75), (0.0, 0.0), (-1.0, None), (None, 0.25), (1.0, -1.0)):
        op = "ttnn.clamp"
        named = {key: value for key, value in (("min", low), ("max", high)) if value is not None}
        for shape in SHAPES[::2]:
            cases.add(op, "+".join(named), call(op, tensor(shape), **named), lambda x, low=low, high=high: torch.clamp(x, low, high))
        if low is None or high is None or low <= high:
            values = CORNERS + [-INF]
            cases.add(op, "special values", call(op, tensor([4, 5]), **named), lambda x, low=low, high=high: torch.clamp(x, low, high), given={0: values})
    cases.add("ttnn.clamp", "integers", call("ttnn.clamp", tensor([3, 40], "INT32"), min=-3, max=4), lambda x: torch.clamp(x, -3, 4))
    return cases


# Functions that can be fused, with parameters, as PyTorch has them.
FUSED = {
    "ABS": (torch and torch.abs, []), "ACOS": (torch and torch.acos, []), "ASIN": (torch and torch.asin, []), "ATAN": (torch and torch.atan, []),
    "CEIL": (torch and torch.ceil, []), "COS": (torch and torch.cos, []), "COSH": (torch and torch.cosh, []),
    "ELU": (lambda x: torch.nn.functional.elu(x, 1.0), []), "ERF": (torch and torch.erf, []), "ERFC": (torch and torch.erfc, []),
    "EXP": (torch and torch.exp, []), "EXP2": (torch and torch.exp2, []), "EXPM1": (torch and torch.expm1, []), "FLOOR": (torch and torch.floor, []),
    "FRAC": (torch and torch.frac, []), "GELU": (gelu, []), "GEZ": (lambda x: (x >= 0).double(), []), "GTZ": (lambda x: (x > 0).double(), []),
    "EQZ": (lambda x: (x == 0).double(), []), "NEZ": (lambda x: (x != 0).double(), []), "LEZ": (lambda x: (x <= 0).double(), []), "LTZ": (lambda x: (x < 0).double(), []),
    "HARDSIGMOID": (lambda x: torch.nn.functional.hardsigmoid(x), []), "HARDSWISH": (lambda x: torch.nn.functional.hardswish(x), []),
    "HARDTANH": (lambda x: torch.nn.functional.hardtanh(x), []), "IDENTITY": (lambda x: x, []),
    "ISFINITE": (lambda x: torch.isfinite(x).double(), []), "ISINF": (lambda x: torch.isinf(x).double(), []), "ISNAN": (lambda x: torch.isnan(x).double(), []),
    "LEAKY_RELU": (lambda x: torch.nn.functional.leaky_relu(x, 0.125), [0.125]), "LOG1P": (torch and torch.log1p, []),
    "LOGICAL_NOT_UNARY": (lambda x: (x == 0).double(), []), "MISH": (lambda x: torch.nn.functional.mish(x), []), "NEG": (lambda x: -x, []),
    "POWER": (lambda x: x**2.0, [2.0]), "RECIP": (lambda x: 1 / x, []), "RELU": (torch and torch.relu, []), "RELU6": (lambda x: torch.nn.functional.relu6(x), []),
    "RELU_MAX": (lambda x: torch.clamp(x, 0, 0.5), [0.5]), "RELU_MIN": (lambda x: torch.clamp(x, min=0.25), [0.25]),
    "ROUND": (torch and torch.round, []), "RSQRT": (torch and torch.rsqrt, []), "SELU": (torch and torch.selu, []), "SIGMOID": (torch and torch.sigmoid, []), "SIGN": (torch and torch.sign, []),
    "SILU": (lambda x: torch.nn.functional.silu(x), []), "SIN": (torch and torch.sin, []), "SINH": (torch and torch.sinh, []),
    "SOFTPLUS": (lambda x: torch.nn.functional.softplus(x, 2.0, 20.0), [2.0, 20.0]), "SOFTSIGN": (lambda x: torch.nn.functional.softsign(x), []), "SQRT": (torch and torch.sqrt, []),
    "SQUARE": (torch and torch.square, []), "TAN": (torch and torch.tan, []), "TANH": (torch and torch.tanh, []), "TRUNC": (torch and torch.trunc, []),
    "LOG": (torch and torch.log, []), "LOG2": (torch and torch.log2, []), "LOG10": (torch and torch.log10, []),
    "ADD_UNARY_SFPU": (lambda x: x + 1.5, [1.5]), "SUB_UNARY_SFPU": (lambda x: x - 1.5, [1.5]), "MUL_UNARY_SFPU": (lambda x: x * 1.5, [1.5]), "DIV_UNARY_SFPU": (lambda x: x / 1.5, [1.5]),
    "RSUB": (lambda x: 1.5 - x, [1.5]), "RDIV": (lambda x: 1.5 / x, [1.5]),
}
BINARY = {
    "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "div": lambda a, b: a / b,
    "eq": lambda a, b: torch.eq(a, b), "ne": lambda a, b: torch.ne(a, b), "gt": lambda a, b: torch.gt(a, b), "ge": lambda a, b: torch.ge(a, b),
    "lt": lambda a, b: torch.lt(a, b), "le": lambda a, b: torch.le(a, b), "maximum": lambda a, b: torch.maximum(a, b), "minimum": lambda a, b: torch.minimum(a, b),
    "pow": lambda a, b: torch.pow(a, b),
}
PAIRS = [([32, 32], [32, 32]), ([1], [1]), ([3, 5], [3, 5]), ([2, 3, 17], [2, 3, 17]), ([1, 1, 33, 5], [1, 1, 1, 5]), ([1, 1, 33, 5], [1, 1, 33, 1]),
         ([1, 1, 33, 5], [1, 1, 1, 1]), ([2, 1, 4, 5], [1, 3, 4, 5]), ([2, 3, 4, 5], [1, 1, 1, 5]), ([1, 3, 1, 5], [2, 1, 4, 1]), ([4, 5], [2, 3, 4, 5]), ([1, 1, 1, 7], [2, 2, 3, 7])]
IN_PLACE = {"add_": BINARY["add"], "subtract_": BINARY["subtract"], "multiply_": BINARY["multiply"]}


def fused(name: str) -> Word:
    params = FUSED[name][1]
    return Word(f"UnaryOpType.{name}" if not params else f"UnaryWithParam(op_type=UnaryOpType.{name},params=[{','.join(map(str, params))}])")


def binary() -> Cases:
    cases = Cases("binary")
    for name, formula in BINARY.items():
        op = "ttnn." + name
        for a, b in PAIRS:
            cases.add(op, "broadcast", call(op, tensor(a), tensor(b)), formula, times=2)
            cases.add(op, "broadcast", call(op, tensor(a, "BFLOAT16"), tensor(b, "BFLOAT16")), formula)
        for number in (2, 0.5, -1.25, 0.0, 3.0):
            if name == "div" and number == 0.0:
                continue
            cases.add(op, "a number", call(op, tensor([3, 40]), number), lambda a, number=number, f=formula: f(a, torch.tensor(float(number)).double()))
        cases.add(op, "dtype", call(op, tensor([3, 40]), tensor([3, 40]), dtype=Word("DataType.BFLOAT16")), formula)
        cases.add(op, "memory_config", call(op, tensor([3, 40]), tensor([3, 40]), memory_config=Word("memory(L1 INTERLEAVED)")), formula)
        cases.add(op, "output_tensor", call(op, tensor([3, 40]), tensor([3, 40]), output_tensor=tensor([3, 40])), lambda a, b, out, f=formula: f(a, b))
        if name != "pow":
            left = [v for v in [0.0, -0.0, 1.0, -1.0, INF, -INF, 1e30, -1e30, 1e-30, 2.5]]
            grid_a = [a for a in left for _ in left]
            grid_b = [b for _ in left for b in left]
            cases.add(op, "special values", call(op, tensor([10, 10]), tensor([10, 10])), formula, given={0: grid_a, 1: grid_b})
        if name in ("add", "subtract", "multiply", "eq", "ne", "gt", "ge", "lt", "le", "maximum", "minimum"):
            cases.add(op, "integers", call(op, tensor([3, 40], "INT32"), tensor([3, 40], "INT32")), formula, times=2)
        if name == "add":
            for function, (f, _) in FUSED.items():
                for argument in ("input_tensor_a_activations", "activations"):
                    def both(a, b, f=f, before=argument.startswith("input"), g=formula):
                        return g(f(a), b) if before else f(g(a, b))
                    cases.add(op, argument, call(op, tensor([3, 40]), tensor([3, 40]), **{argument: [fused(function)]}), both)
                cases.add(op, "input_tensor_b_activations", call(op, tensor([3, 40]), tensor([3, 40]), input_tensor_b_activations=[fused(function)]),
                          lambda a, b, f=f, g=formula: g(a, f(b)))
        elif name in ("multiply", "subtract", "div", "maximum"):
            for function in ("SILU", "RELU", "GELU", "SIGMOID", "EXP", "SQUARE"):
                f = FUSED[function][0]
                cases.add(op, "input_tensor_a_activations", call(op, tensor([3, 40]), tensor([3, 40]), input_tensor_a_activations=[fused(function)]), lambda a, b, f=f, g=formula: g(f(a), b))
                cases.add(op, "activations", call(op, tensor([3, 40]), tensor([3, 40]), activations=[fused(function), fused("NEG")]), lambda a, b, f=f, g=formula: -f(g(a, b)))
    for name, formula in IN_PLACE.items():
        op = "ttnn." + name
        for a, b in PAIRS[:7]:
            cases.add(op, "broadcast", call(op, tensor(a), tensor(b)), formula, times=2)
        cases.add(op, "a number", call(op, tensor([3, 40]), 1.5), lambda a, f=formula: f(a, 1.5))
    op = "ttnn.where"
    pick = lambda p, a, b: torch.where(p != 0, a, b)  # noqa: E731
    for a, b in PAIRS:
        given = [float((i * 7) % 3 - 1) if i % 3 else 0.0 for i in range(volume(a))]
        cases.add(op, "broadcast", call(op, tensor(a), tensor(a), tensor(a)), pick, given={0: given})
        cases.add(op, "broadcast", call(op, tensor(a), tensor(b), tensor(a)), pick, given={0: given})
    for yes, no in ((1.5, -2.0), (0.0, 1.0)):
        cases.add(op, "numbers", call(op, tensor([3, 40]), yes, no), lambda p, yes=yes, no=no: torch.where(p != 0, torch.tensor(yes).double(), torch.tensor(no).double()))
        cases.add(op, "numbers", call(op, tensor([3, 40]), tensor([3, 40]), no), lambda p, a, no=no: torch.where(p != 0, a, torch.tensor(no).double()), given={0: [float(i % 2) for i in range(120)]})
        cases.add(op, "numbers", call(op, tensor([3, 40]), yes, tensor([3, 40])), lambda p, b, yes=yes: torch.where(p != 0, torch.tensor(yes).double(), b), given={0: [float(i % 2) for i in range(120)]})
    return cases


def constants() -> Cases:
    cases = Cases("constants")
    device = Word("MeshDevice(shape=[1,1])")
    for shape in SHAPES:
        cases.add("ttnn.zeros_like", "shape", call("ttnn.zeros_like", tensor(shape)), lambda x: torch.zeros_like(x))
        cases.add("ttnn.ones_like", "shape", call("ttnn.ones_like", tensor(shape)), lambda x: torch.ones_like(x))
        cases.add("ttnn.zeros", "shape", call("ttnn.zeros", shape, layout=Word("Layout.TILE"), device=device), lambda s=tuple(shape): torch.zeros(s))
        cases.add("ttnn.ones", "shape", call("ttnn.ones", shape, layout=Word("Layout.TILE"), device=device), lambda s=tuple(shape): torch.ones(s))
        for value in (0.25, -3.0):
            cases.add("ttnn.full_like", "fill_value", call("ttnn.full_like", tensor(shape), value), lambda x, v=value: torch.full_like(x, v))
            cases.add("ttnn.full", "fill_value", call("ttnn.full", shape, value, Word("DataType.FLOAT32"), Word("Layout.TILE"), device), lambda s=tuple(shape), v=value: torch.full(s, v))
    return cases


def every() -> list:
    return [*unary(), *binary(), *constants()]
