"""Families of which each operator is a row: functions of one, two and three tensors, lines of a dimension, elements in
other places, heads, images, softmax under other names, exchanges between chips."""

from __future__ import annotations

import math
from typing import Any

from cases import ANYTHING, SHAPES, Cases, Word, call, tensor, torch

INF = math.inf
FINITE = [0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 6.0, 0.25, -0.25]


# Kernels that look at the bits take -0 for less than 0, and for other than 0: nothing is promised there.
OF_BITS = ("eqz", "nez", "ltz", "heaviside", "logical_not", "logical_not_", "sign")


def but_for_negative_zero(formula: Any) -> Any:
    return lambda x: torch.where((x == 0) & (torch.atan2(x, -torch.ones_like(x)) < 0), torch.full_like(x, ANYTHING), formula(x).double())


def truth(x: Any) -> Any:
    return x.double()


# name -> formula, arguments behind the tensor, named arguments
UNARY: dict[str, Any] = {
    "acos": (lambda x: torch.acos(x),), "acosh": (lambda x: torch.acosh(x),), "asin": (lambda x: torch.asin(x),), "asinh": (lambda x: torch.asinh(x),),
    "atan": (lambda x: torch.atan(x),), "atanh": (lambda x: torch.atanh(x),), "cbrt": (lambda x: torch.sign(x) * torch.abs(x) ** (1 / 3),),
    "ceil": (lambda x: torch.ceil(x),), "floor": (lambda x: torch.floor(x),), "trunc": (lambda x: torch.trunc(x),), "round": (lambda x: torch.round(x),), "frac": (lambda x: torch.frac(x),),
    "celu": (lambda x: torch.celu(x, 1.5), [], {"alpha": 1.5}), "elu": (lambda x: torch.nn.functional.elu(x, 0.5), [], {"alpha": 0.5}),
    "cosh": (lambda x: torch.cosh(x),), "sinh": (lambda x: torch.sinh(x),), "tan": (lambda x: torch.tan(x),), "deg2rad": (lambda x: torch.deg2rad(x),), "rad2deg": (lambda x: torch.rad2deg(x),),
    "digamma": (lambda x: torch.digamma(x),), "lgamma": (lambda x: torch.lgamma(x),),
    "eqz": (lambda x: truth(x == 0),), "nez": (lambda x: truth(x != 0),), "gtz": (lambda x: truth(x > 0),), "ltz": (lambda x: truth(x < 0),), "lez": (lambda x: truth(x <= 0),),
    "erfc": (lambda x: torch.special.erfc(x),), "erfinv": (lambda x: torch.special.erfinv(x),), "exp2": (lambda x: torch.exp2(x),), "expm1": (lambda x: torch.expm1(x),),
    "hardshrink": (lambda x: torch.nn.functional.hardshrink(x, 0.25), [], {"lambd": 0.25}), "softshrink": (lambda x: torch.nn.functional.softshrink(x, 0.25), [], {"lambd": 0.25}),
    "hardsigmoid": (lambda x: torch.nn.functional.hardsigmoid(x),), "hardswish": (lambda x: torch.nn.functional.hardswish(x),),
    "hardtanh": (lambda x: torch.clamp(x, -0.5, 0.75), [], {"min_val": -0.5, "max_val": 0.75}), "heaviside": (lambda x: torch.heaviside(x, torch.tensor(0.5).double()), [0.5]),
    "i0": (lambda x: torch.special.i0(x),), "identity": (lambda x: x,),
    "isfinite": (lambda x: truth(torch.isfinite(x)),), "isinf": (lambda x: truth(torch.isinf(x)),), "isnan": (lambda x: truth(torch.isnan(x)),),
    "isneginf": (lambda x: truth(torch.isneginf(x)),), "isposinf": (lambda x: truth(torch.isposinf(x)),),
    "leaky_relu": (lambda x: torch.nn.functional.leaky_relu(x, 0.25), [0.25]), "log10": (lambda x: torch.log10(x),), "log1p": (lambda x: torch.log1p(x),), "log2": (lambda x: torch.log2(x),),
    "log_sigmoid": (lambda x: torch.nn.functional.logsigmoid(x),), "logical_not": (lambda x: truth(x == 0),), "logical_not_": (lambda x: truth(x == 0),),
    "logit": (lambda x: torch.logit(x, 0.125), [], {"eps": 0.125}), "mish": (lambda x: torch.nn.functional.mish(x),), "rdiv": (lambda x: 2.0 / x, [2.0]),
    "relu6": (lambda x: torch.nn.functional.relu6(x),), "relu_max": (lambda x: torch.clamp(x, 0, 0.75), [0.75]), "relu_min": (lambda x: torch.clamp(x, min=0.25), [0.25]),
    "rpow": (lambda x: torch.pow(torch.tensor(2.0).double(), x), [2.0]), "selu": (lambda x: torch.selu(x),), "sign": (lambda x: torch.sign(x),), "signbit": (lambda x: truth(torch.atan2(x, -torch.ones_like(x)) < 0),),
    "softplus": (lambda x: torch.nn.functional.softplus(x, 2.0, 10.0), [], {"beta": 2.0, "threshold": 10.0}),
    "softsign": (lambda x: torch.nn.functional.softsign(x),), "tanhshrink": (lambda x: torch.nn.functional.tanhshrink(x),),
    "threshold": (lambda x: torch.nn.functional.threshold(x, 0.25, 3.0), [0.25, 3.0]), "fill": (lambda x: torch.full_like(x, 2.5), [2.5]),
}
# What is left when large numbers take each other away is not the same in both: larger numbers are not tried.
LOOSE = {"erfinv": 1e-9, "digamma": 1e-10, "lgamma": 1e-11, "tan": 1e-11, "tanhshrink": 1e-11, "i0": 1e-11, "acosh": 1e-11, "asinh": 1e-11, "acos": 1e-11, "softplus": 1e-9}


def unary() -> Cases:
    cases = Cases("families of one")
    for name, row in UNARY.items():
        op, formula = "ttnn." + name, but_for_negative_zero(row[0]) if name in OF_BITS else row[0]
        args, named = (row[1] if len(row) > 1 else []), (row[2] if len(row) > 2 else {})
        more = {"tolerance": LOOSE.get(name, 1e-12)}
        for shape in SHAPES:
            for dtype in ("FLOAT32", "BFLOAT16"):
                cases.add(op, "shape", call(op, tensor(shape, dtype), *args, **named), formula, **more)
        cases.add(op, "values", call(op, tensor([3, 4]), *args, **named), formula, given={0: FINITE}, **more)
        cases.add(op, "layout", call(op, tensor([3, 40], layout="ROW_MAJOR"), *args, **named), formula, **more)
        if not name.endswith("_"):
            cases.add(op, "memory_config", call(op, tensor([3, 40]), *args, memory_config=Word("memory(L1 INTERLEAVED)"), **named), formula, **more)
    for name in ("log10", "log1p", "log2"):
        cases.add("ttnn." + name, "fast_and_approximate_mode", call("ttnn." + name, tensor([3, 40]), fast_and_approximate_mode=True), UNARY[name][0])
    cases.add("ttnn.bitwise_not", "integers", call("ttnn.bitwise_not", tensor([3, 40], "INT32")), lambda x: -x - 1, times=4)
    return cases


def bits(f: Any) -> Any:
    return lambda a, b: f(a.long(), b.long()).double()


BINARY: dict[str, Any] = {
    "logical_and": lambda a, b: (a != 0) & (b != 0), "logical_or": lambda a, b: (a != 0) | (b != 0), "logical_xor": lambda a, b: (a != 0) ^ (b != 0),
    "rsub": lambda a, b: b - a, "squared_difference": lambda a, b: (a - b) ** 2, "logaddexp": lambda a, b: torch.logaddexp(a, b), "logaddexp2": lambda a, b: torch.logaddexp2(a, b),
    "ldexp": lambda a, b: a * 2.0**b, "bias_gelu": lambda a, b: 0.5 * (a + b) * torch.special.erfc(-(a + b) / math.sqrt(2)), "atan2": lambda a, b: torch.atan2(a, b),
    "xlogy": lambda a, b: torch.special.xlogy(a, b), "fmod": lambda a, b: torch.fmod(a, b), "remainder": lambda a, b: torch.remainder(a, b),
    "div_no_nan": lambda a, b: torch.where(b == 0, torch.zeros_like(a), a / b), "floor_div": lambda a, b: torch.floor(a / b),
}
ALSO_IN_PLACE = ("logical_and", "logical_or", "rsub", "squared_difference", "logaddexp", "logaddexp2", "ldexp", "bias_gelu")
IN_PLACE: dict[str, Any] = {
    **{name + "_": BINARY[name] for name in ALSO_IN_PLACE}, "divide_": lambda a, b: a / b,
    "eq_": lambda a, b: torch.eq(a, b), "ne_": lambda a, b: torch.ne(a, b), "gt_": lambda a, b: torch.gt(a, b), "ge_": lambda a, b: torch.ge(a, b), "lt_": lambda a, b: torch.lt(a, b), "le_": lambda a, b: torch.le(a, b),
}
INTEGERS: dict[str, Any] = {
    "bitwise_and": bits(lambda a, b: a & b), "bitwise_or": bits(lambda a, b: a | b), "bitwise_xor": bits(lambda a, b: a ^ b), "gcd": bits(lambda a, b: torch.gcd(a, b)), "lcm": bits(lambda a, b: torch.lcm(a, b)),
    "bitwise_left_shift": bits(lambda a, b: torch.where(b > 31, torch.zeros_like(a), ((a << b.clamp(max=31)) + 2**31) % 2**32 - 2**31)),
    "logical_left_shift": bits(lambda a, b: torch.where(b > 31, torch.zeros_like(a), ((a << b.clamp(max=31)) + 2**31) % 2**32 - 2**31)),
    "bitwise_right_shift": bits(lambda a, b: torch.where(b > 31, torch.zeros_like(a), a >> b.clamp(max=31))),
    "logical_right_shift": bits(lambda a, b: torch.where(b > 31, torch.zeros_like(a), (a % 2**32) >> b.clamp(max=31))),
}
PAIRS = [([32, 32], [32, 32]), ([3, 5], [3, 5]), ([2, 3, 17], [2, 3, 17]), ([1, 1, 33, 5], [1, 1, 1, 5]), ([1, 1, 33, 5], [1, 1, 33, 1]), ([2, 1, 4, 5], [1, 3, 4, 5]), ([4, 5], [2, 3, 4, 5])]


def binary() -> Cases:
    cases = Cases("families of two")
    for name, formula in BINARY.items():
        op, loose = "ttnn." + name, {"tolerance": 1e-11}
        for a, b in PAIRS:
            cases.add(op, "broadcast", call(op, tensor(a), tensor(b)), formula, times=2, **loose)
            cases.add(op, "broadcast", call(op, tensor(a, "BFLOAT16"), tensor(b, "BFLOAT16")), formula, **loose)
        for number in (2, 0.5) if name != "atan2" else ():
            cases.add(op, "a number", call(op, tensor([3, 40]), number), lambda a, n=number, f=formula: f(a, torch.tensor(float(n)).double()), **loose)
    for name, formula in IN_PLACE.items():
        for a, b in PAIRS[:5]:
            cases.add("ttnn." + name, "broadcast", call("ttnn." + name, tensor(a), tensor(b)), formula, times=2, tolerance=1e-11)
    for name, formula in INTEGERS.items():
        for a, b in PAIRS[:4]:
            cases.add("ttnn." + name, "integers", call("ttnn." + name, tensor(a, "INT32"), tensor(b, "INT32")), formula, times=2)
        left = [0.0, 1.0, -1.0, 7.0, -7.0, 12.0, -18.0, 2.0**31 - 1, -(2.0**31) + 1, 100.0]
        right = [0.0, 1.0, 2.0, 3.0, 5.0, 31.0, 4.0, 6.0, 1.0, 30.0]
        if name != "lcm":
            cases.add("ttnn." + name, "signs", call("ttnn." + name, tensor([2, 5], "INT32"), tensor([2, 5], "INT32")), formula, given={0: left, 1: right})
    return cases


def three() -> Cases:
    cases = Cases("families of three")
    shapes = [([3, 40], [3, 40], [3, 40]), ([2, 1, 4, 5], [1, 3, 4, 5], [1, 1, 1, 5]), ([2, 3, 32, 33], [2, 3, 32, 33], [1, 1, 32, 1])]
    loose = {"tolerance": 1e-11}
    for a, b, c in shapes:
        for value in (None, 0.5):
            named = {} if value is None else {"value": value}
            n = 1 if value is None else value
            cases.add("ttnn.addcmul", "value", call("ttnn.addcmul", tensor(a), tensor(b), tensor(c), **named), lambda a, b, c, n=n: a + n * b * c, times=2, **loose)
            cases.add("ttnn.addcdiv", "value", call("ttnn.addcdiv", tensor(a), tensor(b), tensor(c), **named), lambda a, b, c, n=n: a + n * b / c, times=2, **loose)
        cases.add("ttnn.lerp", "tensors", call("ttnn.lerp", tensor(a), tensor(b), tensor(c)), lambda a, b, c: a + c * (b - a), times=2, **loose)
        cases.add("ttnn.mac", "tensors", call("ttnn.mac", tensor(a), tensor(b), tensor(c)), lambda a, b, c: a * b + c, times=2, **loose)
        cases.add("ttnn.lerp", "a number", call("ttnn.lerp", tensor(a), tensor(b), 0.25), lambda a, b: torch.lerp(*torch.broadcast_tensors(a, b), 0.25), times=2, **loose)
        cases.add("ttnn.addalpha", "alpha", call("ttnn.addalpha", tensor(a), tensor(b), 0.5), lambda a, b: torch.add(a, b, alpha=0.5), times=2, **loose)
        cases.add("ttnn.subalpha", "alpha", call("ttnn.subalpha", tensor(a), tensor(b), 0.5), lambda a, b: torch.sub(a, b, alpha=0.5), times=2, **loose)
    return cases


def lines() -> Cases:
    cases = Cases("lines")
    shapes = [[2, 3, 17], [1, 2, 33, 5], [32, 40]]
    for shape in shapes:
        for dim in range(-1, len(shape)):
            for keep in (True, False):
                for name, unbiased in (("std", True), ("var", True)):
                    cases.add("ttnn." + name, "dim, keepdim", call("ttnn." + name, tensor(shape, "BFLOAT16"), dim=dim, keepdim=keep), lambda x, n=name, d=dim, k=keep, u=unbiased: getattr(torch, n)(x, d, u, k))
                cases.add("ttnn.prod", "dim, keepdim", call("ttnn.prod", tensor(shape, "BFLOAT16"), dim=dim, keepdim=keep), lambda x, d=dim, k=keep: torch.prod(x, d, k))
            cases.add("ttnn.std", "correction", call("ttnn.std", tensor(shape, "BFLOAT16"), dim=dim, correction=False), lambda x, d=dim: torch.std(x, d, False))
            cases.add("ttnn.cumsum", "dim", call("ttnn.cumsum", tensor(shape), dim), lambda x, d=dim: torch.cumsum(x, d))
            cases.add("ttnn.cumsum", "integers", call("ttnn.cumsum", tensor(shape, "INT32"), dim), lambda x, d=dim: torch.cumsum(x, d))
            cases.add("ttnn.cumsum", "reverse_order", call("ttnn.cumsum", tensor(shape), dim, reverse_order=True), lambda x, d=dim: torch.cumsum(x.flip(d), d).flip(d))
            cases.add("ttnn.cumprod", "dim", call("ttnn.cumprod", tensor(shape), dim), lambda x, d=dim: torch.cumprod(x, d))
            cases.add("ttnn.cumprod", "reverse_order", call("ttnn.cumprod", tensor(shape), dim, reverse_order=True), lambda x, d=dim: torch.cumprod(x.flip(d), d).flip(d))
            for down in (False, True):
                cases.add("ttnn.sort", "dim, descending", call("ttnn.sort", tensor(shape, "BFLOAT16"), dim=dim, descending=down), lambda x, d=dim, g=down: torch.sort(x, stable=True, dim=d, descending=g), times=2)
            index = list(shape)
            index[dim] = max(1, shape[dim] // 2)
            cases.add("ttnn.gather", "dim", call("ttnn.gather", tensor(shape), dim, tensor(index, "UINT32")), lambda x, i, d=dim: torch.gather(x, d, i.long()), times=2)
            cases.add("ttnn.scatter", "dim", call("ttnn.scatter", tensor(shape, "BFLOAT16"), dim, tensor(index, "INT32"), tensor(index, "BFLOAT16")), lambda x, i, s, d=dim: last_put(x, d, i.long(), s), times=2)
            cases.add("ttnn.scatter_add", "dim", call("ttnn.scatter_add", tensor(shape, "BFLOAT16"), dim, tensor(index, "INT32"), tensor(index, "BFLOAT16")), lambda x, i, s, d=dim: torch.scatter_add(x, d, i.long(), s), times=2, tolerance=1e-11)
            cases.add("ttnn.index_fill", "dim", call("ttnn.index_fill", tensor(shape, layout="ROW_MAJOR"), dim, tensor([2], "UINT32", "ROW_MAJOR"), 2.5), lambda x, i, d=dim: torch.index_fill(x, d, i.long(), 2.5), times=2)
    for args in ((0, 64, 2), (5, 100, 3), (64, 0, -4), (17,)):
        cases.add("ttnn.arange", "start, end, step", call("ttnn.arange", *args, dtype=Word("DataType.INT32"), device=Word("MeshDevice(shape=[1,1])")), lambda a=args: torch.arange(*a))
    cases.add("ttnn.std", "several dims", call("ttnn.std", tensor([2, 3, 17], "BFLOAT16"), dim=[1, 2]), lambda x: torch.std(x, (1, 2)))
    cases.add("ttnn.var", "all dims", call("ttnn.var", tensor([2, 3, 17], "BFLOAT16")), lambda x: torch.var(x))
    cases.add("ttnn.prod", "all dims", call("ttnn.prod", tensor([2, 3, 4], "BFLOAT16")), lambda x: torch.prod(x))
    return cases


def last_put(x: Any, dim: int, index: Any, source: Any) -> Any:
    """PyTorch leaves open which of several stays; here it is the last."""
    out = x.clone()
    for k in range(index.shape[dim]):
        one = torch.narrow(index, dim, k, 1)
        out.scatter_(dim, one, torch.narrow(source, dim, k, 1))
    return out


def places() -> Cases:
    cases = Cases("places")
    shape = [2, 3, 32, 40]

    def add(op: str, about: str, args: list[Any], formula: Any, of: list[int] = shape, **named: Any) -> None:
        for dtype in ("BFLOAT16", "INT32"):
            cases.add(op, about, call(op, tensor(of, dtype), *args, **named), formula)

    for dim in (0, 1, 2, 3, -1):
        add("ttnn.chunk", "chunks, dim", [2, dim], lambda x, d=dim: torch.chunk(x, 2, d))
        add("ttnn.split", "split_size", [2, dim], lambda x, d=dim: torch.split(x, 2, d))
        add("ttnn.repeat_interleave", "dim", [3, dim], lambda x, d=dim: torch.repeat_interleave(x, 3, d))
        add("ttnn.roll", "dim", [5, dim], lambda x, d=dim: torch.roll(x, 5, d))
        cases.add("ttnn.stack", "dim", call("ttnn.stack", [tensor(shape), tensor(shape), tensor(shape)], dim), lambda *x, d=dim: torch.stack(x, d))
    add("ttnn.split", "sizes", [[8, 24], 2], lambda x: torch.split(x, [8, 24], 2))
    add("ttnn.roll", "no dim", [7], lambda x: torch.roll(x, 7))
    add("ttnn.roll", "several dims", [[1, -3], [1, 3]], lambda x: torch.roll(x, (1, -3), (1, 3)))
    for diagonal in (0, 3, -2):
        add("ttnn.tril", "diagonal", [], lambda x, d=diagonal: torch.tril(x, d), diagonal=diagonal)
        add("ttnn.triu", "diagonal", [], lambda x, d=diagonal: torch.triu(x, d), diagonal=diagonal)
    for op in ("ttnn.expand", "ttnn.experimental.broadcast_to"):
        add(op, "output_shape", [[2, 3, 32, 40]], lambda x: x.expand(2, 3, 32, 40), [1, 1, 32, 40])
        add(op, "output_shape", [[2, 3, 32, 40]], lambda x: x.expand(2, 3, 32, 40), [2, 1, 1, 40])
    for op in ("ttnn.view", "ttnn.experimental.view"):
        add(op, "shape", [[6, 32, 40]], lambda x: x.reshape(6, 32, 40))
    for op in ("ttnn.move", "ttnn.reallocate"):
        add(op, "shape", [], lambda x: x)
    shards = "memory(L1 HEIGHT_SHARDED shard [32,32] on (0,0)-(3,0) ROW_MAJOR)"
    cases.add("ttnn.experimental.convert_to_chw", "shape", call("ttnn.experimental.convert_to_chw", tensor([1, 1, 128, 3], "BFLOAT16", memory=shards)), lambda x: x.transpose(2, 3))
    for stride in ((2, 2), (1, 4), (4, 1)):
        cases.add("ttnn.fold", "strides", call("ttnn.fold", tensor([2, 8, 16, 5], "BFLOAT16", "ROW_MAJOR"), *stride), lambda x, s=stride: folded(x, *s))
    for scale in (2, [2, 3], [3, 1]):
        cases.add("ttnn.upsample", "scale_factor", call("ttnn.upsample", tensor([2, 4, 5, 32], "BFLOAT16", "ROW_MAJOR"), scale), lambda x, s=scale: larger(x, s, "nearest"))
        cases.add("ttnn.upsample", "mode", call("ttnn.upsample", tensor([2, 4, 5, 32], "BFLOAT16", "ROW_MAJOR"), scale, mode="bilinear"), lambda x, s=scale: larger(x, s, "bilinear"))
    return cases


def folded(x: Any, rows: int, columns: int) -> Any:
    n, h, w, c = x.shape
    return x.reshape(n, h // rows, rows, w // columns, columns, c).permute(0, 1, 3, 2, 4, 5).reshape(n, h // rows, w // columns, -1)


def larger(x: Any, scale: Any, mode: str) -> Any:
    factor = (scale, scale) if isinstance(scale, int) else tuple(scale)
    named = {} if mode == "nearest" else {"align_corners": False}
    return torch.nn.functional.interpolate(x.permute(0, 3, 1, 2), scale_factor=tuple(map(float, factor)), mode=mode, **named).permute(0, 2, 3, 1)


def heads() -> Cases:
    cases = Cases("heads")

    def cut(x: Any, q: int, k: int, turned: bool) -> Any:
        b, s, w = x.shape[0], x.shape[-2], x.shape[-1]
        parts = torch.split(x.reshape(b, s, q + 2 * k, w // (q + 2 * k)), [q, k, k], 2)
        out = [part.permute(0, 2, 1, 3) for part in parts]
        return [out[0], out[1].transpose(2, 3) if turned else out[1], out[2]]

    def grouped(x: Any, q: int, k: int, turned: bool) -> Any:
        b, s, w = x.shape[0], x.shape[-2], x.shape[-1]
        each, dim = q // k, w // (q + 2 * k)
        group = x.reshape(b, s, k, each + 2, dim)
        out = [group[:, :, :, :each].reshape(b, s, q, dim), group[:, :, :, each], group[:, :, :, each + 1]]
        out = [part.permute(0, 2, 1, 3) for part in out]
        return [out[0], out[1].transpose(2, 3) if turned else out[1], out[2]]

    op = "ttnn.transformer.split_query_key_value_and_split_heads"
    for turned in (True, False):
        cases.add(op, "num_heads, transpose_key", call(op, tensor([2, 64, 384], "BFLOAT16"), num_heads=2, transpose_key=turned), lambda x, t=turned: cut(x, 2, 2, t), times=2)
        blocks = "memory(L1 BLOCK_SHARDED shard [64,256] on (0,0)-(1,1) ROW_MAJOR)"
        create = "ttnn.experimental.create_qkv_heads"
        cases.add(create, "num_kv_heads", call(create, tensor([2, 1, 64, 512], "BFLOAT16", memory=blocks), num_heads=4, num_kv_heads=2, transpose_k_heads=turned, memory_config=Word("memory(L1 HEIGHT_SHARDED)")), lambda x, t=turned: grouped(x, 4, 2, t), times=2)
    op = "ttnn.experimental.split_query_key_value_and_split_heads"
    cases.add(op, "num_heads", call(op, tensor([8, 1, 32, 384], "BFLOAT16"), Word("CoreCoord(x=8,y=8)"), num_heads=4), lambda x: cut(x, 4, 4, True), times=2)
    cases.add("ttnn.experimental.nlp_create_qkv_heads_vit", "shape", call("ttnn.experimental.nlp_create_qkv_heads_vit", tensor([2, 1, 32, 2304], "BFLOAT16")), lambda x: cut(x, 12, 12, False), times=2)
    cases.add("ttnn.experimental.nlp_create_qkv_heads_falcon7b", "shape", call("ttnn.experimental.nlp_create_qkv_heads_falcon7b", tensor([1, 1, 32, 4672], "BFLOAT16")), lambda x: cut(x, 71, 1, False), times=2)
    op = "ttnn.experimental.nlp_create_qkv_heads_segformer"
    cases.add(op, "shape", call(op, tensor([1, 1, 64, 160], "BFLOAT16")), lambda x: x.reshape(1, 64, 5, 32).permute(0, 2, 1, 3), times=2)
    op = "ttnn.transformer.concatenate_heads"
    cases.add(op, "shape", call(op, tensor([2, 3, 33, 64], "BFLOAT16")), lambda x: x.permute(0, 2, 1, 3).reshape(2, 33, 192), times=2)
    mask, x = tensor([2, 1, 1, 96], "BFLOAT16"), tensor([2, 4, 33, 96], "BFLOAT16")
    for name in ("attention_softmax", "attention_softmax_"):
        op = "ttnn.transformer." + name
        cases.add(op, "head_size, attention_mask", call(op, x, head_size=64, attention_mask=mask), lambda m, x: softly(x, m, 0.125), times=2)
    wide = tensor([2, 1, 32, 96], "BFLOAT16")
    cases.add("ttnn.scale_mask_softmax", "scale, mask", call("ttnn.scale_mask_softmax", tensor([2, 4, 32, 96], "BFLOAT16"), 0.5, wide), lambda x, m: softly(x, m[:, :, :1], 0.5), times=2)  # rows of a mask are alike
    return cases


def softly(x: Any, mask: Any, scale: float) -> Any:
    if x.shape[1] == 1:
        x, mask = mask, x
    return torch.softmax(x * scale + mask, -1)


MESH = Word("placed [Replicate,Shard(3)] over [1,4] of mesh [1,4]")
ALIKE = Word("placed [Replicate,Replicate] over [1,4] of mesh [1,4]")


def on_mesh(shape: list[int], placed: str = MESH, dtype: str = "FLOAT32") -> Word:
    return Word(f"{tensor(shape, dtype)[:-1]} {placed})")


def exchanges() -> Cases:
    """Every chip holds the same, so that the result follows from what the first of them holds."""
    cases = Cases("exchanges")
    x, wide = on_mesh([2, 1, 32, 64], ALIKE), on_mesh([2, 1, 32, 128], ALIKE)
    gathered = [("ttnn.all_gather", [3]), ("ttnn.experimental.high_bw_all_gather", [3])]
    for op, args in gathered:
        cases.add(op, "dim", call(op, x, *args, cluster_axis=1), lambda x: torch.cat([x] * 4, 3))
    for name in ("all_gather_async", "all_gather_async_reversed", "strided_all_gather_async"):
        op = "ttnn.experimental." + name
        cases.add(op, "dim", call(op, x, dim=2, multi_device_global_semaphore=[], cluster_axis=1), lambda x: torch.cat([x] * 4, 2))
    for op in ("ttnn.reduce_scatter", "ttnn.experimental.reduce_scatter_minimal_direct"):
        cases.add(op, "dim", call(op, wide, 3, cluster_axis=1), lambda x: 4 * x[..., :32])
    op = "ttnn.experimental.reduce_scatter_minimal_async"
    cases.add(op, "dim", call(op, wide, dim=3, multi_device_global_semaphore=[], cluster_axis=1), lambda x: 4 * x[..., :32])
    for op, named in (("ttnn.all_reduce", {}), ("ttnn.experimental.all_reduce_async", {"math_op": Word("ReduceType.Sum")})):
        cases.add(op, "sum", call(op, x, cluster_axis=1, **named), lambda x: 4 * x)
    cases.add("ttnn.all_broadcast", "parts", call("ttnn.all_broadcast", x, cluster_axis=1), lambda x: [x] * 4)
    cases.add("ttnn.broadcast", "part", call("ttnn.broadcast", x, Word("MeshCoordinate([0,1])"), cluster_axis=1), lambda x: x)
    cases.add("ttnn.point_to_point", "part", call("ttnn.point_to_point", x, Word("MeshCoordinate([0,1])"), Word("MeshCoordinate([0,0])")), lambda x: x)
    cases.add("ttnn.mesh_partition", "dim", call("ttnn.mesh_partition", wide, 3, 1), lambda x: x[..., :32])
    return cases


def every() -> Cases:
    cases = Cases("families")
    for part in (unary(), binary(), three(), lines(), places(), heads(), exchanges()):
        cases.list.extend(part.list)
    return cases
