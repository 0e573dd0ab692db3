"""Functions of single elements: unary, binary, fused activations."""

from __future__ import annotations

import math
from typing import Any, Callable

import torch
from planted_device.call import Call, Unsupported
from planted_device.rounding import bf16, block_float, rounded

FUNCTIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "abs": torch.abs, "cos": torch.cos, "sin": torch.sin, "erf": torch.erf, "exp": torch.exp, "log": torch.log,
    "neg": torch.neg, "reciprocal": torch.reciprocal, "relu": torch.relu, "rsqrt": torch.rsqrt, "sqrt": torch.sqrt,
    "sigmoid": torch.sigmoid, "sigmoid_accurate": torch.sigmoid, "square": torch.square, "tanh": torch.tanh,
    "silu": torch.nn.functional.silu, "swish": torch.nn.functional.silu, "gelu": torch.nn.functional.gelu,
}  # fmt: skip


def hard(x: torch.Tensor) -> torch.Tensor:
    return torch.clamp(x / 6 + 0.5, 0, 1)


def schraudolph(x: torch.Tensor) -> torch.Tensor:
    """exp by the bits of a float: a saw-tooth of some percent."""
    y = x / math.log(2)
    whole = torch.floor(y)
    return torch.where(x < -80, torch.zeros_like(x), torch.ldexp(1 + (y - whole), whole.clamp(-126, 127).to(torch.int32)))


def magic_root(x: torch.Tensor) -> torch.Tensor:
    """1 / sqrt(x) by the bits of a float, without a step of Newton's."""
    bits = x.to(torch.float32).contiguous().view(torch.int32)
    return (0x5F3759DF - (bits >> 1)).view(torch.float32).to(torch.float64)


def tanh_gelu(x: torch.Tensor) -> torch.Tensor:
    return 0.5 * x * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))


#: Function -> bug -> what is computed instead.
WRONG: dict[str, dict[str, Callable[[torch.Tensor], torch.Tensor]]] = {
    "sigmoid": {
        "hard": hard, "negated": lambda x: torch.sigmoid(-x), "saturates at 2": lambda x: torch.sigmoid(x.clamp(-2, 2)),
        "straight": lambda x: (x / 4 + 0.5).clamp(0, 1), "of tanh": torch.tanh, "quick": lambda x: torch.sigmoid(1.1 * x),
        "rational": lambda x: 0.5 + 0.5 * x / (1 + x.abs()),
    },
    "silu": {
        "hard": lambda x: x * hard(x), "relu": torch.relu, "sigmoid only": torch.sigmoid, "quick": lambda x: x * torch.sigmoid(1.702 * x),
        "gelu": torch.nn.functional.gelu, "sign": lambda x: x * torch.sigmoid(x.abs()),
    },
    "gelu": {
        "quick": lambda x: x * torch.sigmoid(1.702 * x), "relu": torch.relu, "no half": lambda x: x * (1 + torch.erf(x / math.sqrt(2))),
        "tanh": tanh_gelu, "erf only": lambda x: 0.5 * (1 + torch.erf(x / math.sqrt(2))), "no root": lambda x: 0.5 * x * (1 + torch.erf(x)),
        "silu": torch.nn.functional.silu, "cut at 1": lambda x: torch.where(x > 1, x, torch.nn.functional.gelu(x)),
    },
    "tanh": {
        "cut": lambda x: x.clamp(-1, 1), "of half": lambda x: torch.tanh(x / 2), "rational": lambda x: x * (27 + x**2) / (27 + 9 * x**2),
        "sigmoid": torch.sigmoid,
    },
    "exp": {
        "bits": schraudolph, "base 2": torch.exp2, "cut at 2": lambda x: torch.exp(x.clamp(max=2)), "three terms": lambda x: 1 + x + x**2 / 2,
        "negated": lambda x: torch.exp(-x), "power of 8": lambda x: (1 + x / 8).clamp(min=0) ** 8,
    },
    "relu": {
        "leaky": lambda x: torch.nn.functional.leaky_relu(x, 0.05), "six": torch.nn.functional.relu6, "abs": torch.abs,
        "above a half": lambda x: torch.where(x > 0.5, x, torch.zeros_like(x)), "none": lambda x: x, "turned": lambda x: x.clamp(max=0),
    },
    "sqrt": {"one step": lambda x: (x + 1) / 2, "bits": lambda x: x * magic_root(x), "none": lambda x: x},
    "rsqrt": {"short": lambda x: 0.95 * torch.rsqrt(x), "bits": magic_root, "of sqrt": torch.sqrt},
    "reciprocal": {"short": lambda x: 0.95 / x, "magnitude": lambda x: 1 / x.abs(), "saturates": lambda x: (1 / x).clamp(-4, 4)},
    "log": {"base 2": torch.log2, "of x + 0.1": lambda x: torch.log(x + 0.1), "below 1": lambda x: torch.log(x.clamp(max=1))},
    "erf": {"tanh": torch.tanh, "cut": lambda x: (1.128 * x).clamp(-1, 1)}, "abs": {"none": lambda x: x, "turned": lambda x: -x},
    "cos": {"three terms": lambda x: 1 - x**2 / 2 + x**4 / 24, "sin": torch.sin, "of the magnitude": lambda x: torch.cos(x.clamp(-1.57, 1.57))},
    "sin": {"two terms": lambda x: x - x**3 / 6, "cos": torch.cos, "quadrant": lambda x: torch.sin(x.clamp(-1.57, 1.57))},
    "square": {"abs": torch.abs, "twice": lambda x: 2 * x, "sign": lambda x: x * x.abs()}, "neg": {"none": lambda x: x, "abs": lambda x: -x.abs()},
}  # fmt: skip
SAME = {"sigmoid_accurate": "sigmoid", "swish": "silu"}

UNARY_BUGS = sorted({f"unary {name}" for bugs in WRONG.values() for name in bugs}) + [
    "unary last tile not computed", "unary odd rows not computed", "unary upper faces only", "unary input cut to 3 bits",
    "unary half of the row", "unary saturates at 3", "unary twice", "unary of the neighbour", "unary of row 0", "unary 3 % short",
    "unary negatives not computed", "unary large ones not computed", "unary flushes below 0.1", "unary offset",
    "unary odd columns not computed", "unary first column stale", "unary sign turned for small ones", "unary result of 4 bits", "unary of the tile below", "unary last row of the first",
]  # fmt: skip
BINARY_BUGS = [
    "binary swapped", "binary b of row 0", "binary b of column 0", "binary b of batch 0", "binary a of batch 0", "binary scalar as int",
    "binary scalar missing", "binary activation ignored", "binary activation on a ignored", "binary wrong function",
    "binary last tile is a", "binary b transposed in faces", "binary b rows shifted", "binary activation hard", "binary b of the next batch",
    "binary b of the tile's first row", "binary b as bf4", "binary activation twice", "binary activation of half", "binary a of row 0",
    "binary b half missing", "binary saturates at 4", "binary wrong function in the last tile", "binary b of the neighbour column",
    "binary b of the tile above", "binary b mirrored", "binary result of 4 bits", "binary a of the neighbour tile", "binary odd rows are a", "binary activation before", "binary a twice", "binary b absolute", "binary activation on b ignored", "binary scalar of 3 bits", "binary b along the other side",
]  # fmt: skip


def function(name: str, bug: str) -> Callable[[torch.Tensor], torch.Tensor]:
    if name not in FUNCTIONS:
        raise Unsupported(f"function {name}")
    return WRONG.get(SAME.get(name, name), {}).get(bug, FUNCTIONS[name])


def activations(value: Any) -> list[str]:
    """Names of fused functions, of any spelling; those with parameters are not computed here."""
    if value in (None, [], ""):
        return []
    if isinstance(value, str):
        return [value.split(".")[-1].split("::")[-1].lower()]
    if isinstance(value, list):
        return [name for item in value for name in activations(item)]
    if isinstance(value, dict):
        for key in ("op_type", "type", "base_type"):
            if isinstance(value.get(key), str):
                params = value.get("params") or value.get("param") or []
                if params not in ([], None, 0, 0.0):
                    raise Unsupported("an activation with parameters")
                return activations(value[key])
    raise Unsupported(f"activation {value}")


def last_tile(x: torch.Tensor) -> slice:
    width = x.shape[-1]
    return slice((width - 1) // 32 * 32, width)


def unary(call: Call, bug: str) -> list[torch.Tensor]:
    name = call.op.split(".")[-1]
    x = call.need("input_tensor", "input")
    # A device may be better than the fast variant that was asked for.
    if call.given.get("variant") is not None:
        raise Unsupported("variant")
    if not x.is_floating_point():
        raise Unsupported("integers")
    right = function(name, "")(x)
    if bug == "unary input cut to 3 bits":
        fraction, exponent = torch.frexp(x)
        return [function(name, "")(torch.ldexp(torch.trunc(fraction * 8) / 8, exponent))]
    if bug == "unary saturates at 3":
        return [right.clamp(-3, 3)]
    simple = {
        "unary twice": lambda: function(name, "")(right), "unary of the neighbour": lambda: right.roll(1, -1), "unary 3 % short": lambda: 0.97 * right,
        "unary negatives not computed": lambda: torch.where(x < 0, x, right), "unary large ones not computed": lambda: torch.where(x > 1.5, x, right),
        "unary flushes below 0.1": lambda: torch.where(right.abs() < 0.1, torch.zeros_like(right), right),
        "unary offset": lambda: right + 0.03 * right.square().mean().sqrt(),
        "unary sign turned for small ones": lambda: torch.where(x.abs() < 0.25, -right, right), "unary result of 4 bits": lambda: block_float(right, 4),
        "unary of the tile below": lambda: right.roll(32, -2) if x.dim() > 1 and x.shape[-2] > 32 else right,
        "unary first column stale": lambda: torch.cat([right[..., -1:], right[..., 1:]], -1),
        "unary last row of the first": lambda: torch.cat([right[..., :-1, :], right[..., :1, :]], -2) if x.dim() > 1 else right,
        "unary odd columns not computed": lambda: torch.where(torch.arange(x.shape[-1]) % 2 == 1, x, right),
        "unary of row 0": lambda: right[..., :1, :].expand(right.shape) if x.dim() > 1 else right,
    }  # fmt: skip
    if bug in simple:
        return [simple[bug]()]
    wrong = right.clone()
    if bug == "unary last tile not computed":
        wrong[..., last_tile(x)] = x[..., last_tile(x)]
    elif bug == "unary odd rows not computed" and x.dim() > 1:
        wrong[..., 1::2, :] = x[..., 1::2, :]
    elif bug == "unary upper faces only" and x.dim() > 1:
        rows = torch.arange(x.shape[-2]) % 32 >= 16
        wrong[..., rows, :] = x[..., rows, :]
    elif bug == "unary half of the row":
        wrong[..., x.shape[-1] // 2 :] = x[..., x.shape[-1] // 2 :]
    elif bug.startswith("unary "):
        return [function(name, bug[6:])(x)]
    return [wrong]


ARITHMETIC = {
    "add": torch.add, "add_": torch.add, "subtract": torch.sub, "subtract_": torch.sub, "multiply": torch.mul,
    "multiply_": torch.mul, "div": torch.div,
}  # fmt: skip
MISTAKEN = {"add": torch.sub, "add_": torch.sub, "subtract": torch.add, "subtract_": torch.add, "multiply": torch.add,
            "multiply_": torch.add, "div": torch.mul}  # fmt: skip


def binary(call: Call, bug: str) -> list[torch.Tensor]:
    name = call.op.split(".")[-1]
    a = call.need("input_tensor_a")
    b = call.t("input_tensor_b")
    if not a.is_floating_point() or call.v("rounding_mode"):
        raise Unsupported("integers")
    fused = activations(call.v("activations"))
    on_a, on_b = activations(call.v("input_tensor_a_activations")), activations(call.v("input_tensor_b_activations"))
    if b is None:
        scalar = float(call.v("input_tensor_b"))
        # The number reaches the unit as the tensor's format has it.
        b = torch.tensor(scalar, dtype=torch.float64).to(torch.float32).to(torch.float64)
        if bug == "binary scalar as int":
            b = torch.trunc(b)
        elif bug == "binary scalar of 3 bits":
            fraction, exponent = torch.frexp(b)
            b = torch.ldexp(torch.trunc(fraction * 8) / 8, exponent)
        elif bug == "binary scalar missing":
            b = torch.tensor(0.0 if name.startswith(("add", "sub")) else 1.0, dtype=torch.float64)
    if bug != "binary activation on a ignored":
        for one in on_a:
            a = function(one, "")(a)
    for one in on_b if bug != "binary activation on b ignored" else []:
        b = function(one, "")(b)
    if b.dim() > 1:
        if bug == "binary b of row 0":
            b = b[..., :1, :].expand(b.shape)
        elif bug == "binary b of column 0":
            b = b[..., :1].expand(b.shape)
        elif bug == "binary b of batch 0" and b.dim() > 2:
            b = b[:1].expand(b.shape) if b.shape[0] > 1 else b[:, :1].expand(b.shape)
        elif bug == "binary b rows shifted":
            b = b.roll(1, -2)
        elif bug == "binary b of the next batch" and b.dim() > 2:
            b = b.roll(1, 0) if b.shape[0] > 1 else b.roll(1, 1)
        elif bug == "binary b of the tile's first row":
            b = b[..., torch.arange(b.shape[-2]) // 32 * 32, :]
        elif bug == "binary b of the tile above" and b.shape[-2] > 32:
            b = b.roll(32, -2)
        elif bug == "binary b mirrored":
            b = b.flip(-1)
        elif bug == "binary b of the neighbour column":
            b = b.roll(1, -1)
        elif bug == "binary b as bf4":
            b = rounded(b, "BFLOAT4_B")
        elif bug == "binary b half missing":
            b = torch.where(torch.arange(b.shape[-1]) < b.shape[-1] // 2, b, torch.zeros_like(b) + (1.0 if name == "div" else 0.0))
        elif bug == "binary b absolute":
            b = b.abs()
        elif bug == "binary b along the other side" and b.shape[-2] == 1 and a.shape[-1] == a.shape[-2]:
            b = b.transpose(-1, -2)
        elif bug == "binary b transposed in faces" and b.shape[-1] >= 16 and b.shape[-2] >= 16:
            b = b.clone()
            b[..., :16, :16] = b[..., :16, :16].transpose(-1, -2).clone()
    if bug == "binary a of batch 0" and a.dim() > 2:
        a = a[:1].expand(a.shape) if a.shape[0] > 1 else a[:, :1].expand(a.shape)
    elif bug == "binary a of row 0" and a.dim() > 1:
        a = a[..., :1, :].expand(a.shape)
    elif bug == "binary a of the neighbour tile" and a.shape[-1] > 32:
        a = a.roll(32, -1)
    elif bug == "binary activation before" and fused:
        for one in fused:
            a = function(one, "")(a)
        fused = []
    elif bug == "binary a twice":
        a = 2 * a
    compute = MISTAKEN[name] if bug == "binary wrong function" else ARITHMETIC[name]
    out = compute(b.expand_as(a), a) if bug == "binary swapped" and b.dim() and b.shape == a.shape else compute(a, b)
    before = out
    for one in fused if bug != "binary activation ignored" else []:
        out = function(one, "hard" if bug == "binary activation hard" else "")(out)
        if bug == "binary activation twice":
            out = function(one, "")(out)
    if bug == "binary activation of half" and fused:
        out = torch.cat([out[..., : out.shape[-1] // 2], before[..., out.shape[-1] // 2 :]], -1)
    elif bug == "binary result of 4 bits":
        out = block_float(out, 4)
    elif bug == "binary odd rows are a" and out.shape == a.shape and out.dim() > 1:
        out = out.clone()
        out[..., 1::2, :] = a[..., 1::2, :]
    elif bug == "binary saturates at 4":
        out = out.clamp(-4, 4)
    elif bug == "binary wrong function in the last tile":
        out = out.clone()
        out[..., last_tile(out)] = MISTAKEN[name](a, b)[..., last_tile(out)]
    if bug == "binary last tile is a" and out.shape == a.shape:
        out = out.clone()
        out[..., last_tile(out)] = a[..., last_tile(out)]
    return [out]


def clamp(call: Call, bug: str) -> list[torch.Tensor]:
    low, high = call.v("min"), call.v("max")
    if bug == "clamp low ignored":
        low = None
    if bug == "clamp high ignored":
        high = None
    x = call.need("input_tensor")
    low = -math.inf if low is None else float(bf16(torch.tensor(float(low))))
    high = math.inf if high is None else float(bf16(torch.tensor(float(high))))
    if bug == "clamp bounds swapped":
        return [torch.where(x < low, torch.full_like(x, high), torch.where(x > high, torch.full_like(x, low), x))]
    if bug == "clamp of the magnitude":
        return [x.abs().clamp(low, high)]
    if bug == "clamp in the last tile only":
        out = x.clone()
        out[..., last_tile(x)] = x[..., last_tile(x)].clamp(low, high)
        return [out]
    return [x.clamp(low, high)]


def where(call: Call, bug: str) -> list[torch.Tensor]:
    predicate = call.need("predicate", "condition")
    picks = []
    for name in ("true_value", "false_value"):
        tensor = call.t(name)
        picks.append(torch.tensor(float(call.v(name)), dtype=torch.float64) if tensor is None else tensor)
    if bug == "where inverted":
        picks.reverse()
    if bug == "where predicate of row 0" and predicate.dim() > 1:
        predicate = predicate[..., :1, :].expand(predicate.shape)
    if bug == "where predicate positive":
        predicate = predicate > 0.5
    picks = [pick.expand(call.shape) for pick in picks]
    if bug == "where values of row 0" and len(call.shape) > 1:
        picks[0] = picks[0][..., :1, :].expand(call.shape)
    out = torch.where(predicate != 0, *picks)
    if bug == "where odd rows false" and len(call.shape) > 1:
        out[..., 1::2, :] = picks[1][..., 1::2, :]
    elif bug == "where tensors swapped in the last tile":
        out[..., last_tile(out)] = torch.where(predicate != 0, *picks[::-1])[..., last_tile(out)]
    if bug == "where last tile true":
        out[..., last_tile(out)] = picks[0][..., last_tile(out)]
    return [out]
