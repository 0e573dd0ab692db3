"""What tensors are filled with: seeded, and of the kind that the operation expects.

The kinds are those of opwright's data recipes; the values are not the same bit for bit, because torch draws them. A fill
is a function of shape, dtype and generator.
"""

import torch
import ttnn

GAP = 0.1  # of numbers that must not come near zero
INTEGERS = (ttnn.int32, ttnn.uint32, ttnn.uint16, ttnn.uint8)


def is_integer(dtype):
    return dtype in INTEGERS


def as_held(values, dtype):
    """As the device holds them: rounded to the dtype; unsigned ones as int64, because torch may have no such type."""
    if is_integer(dtype):
        return values.to(torch.int32 if dtype == ttnn.int32 else torch.int64)
    if dtype == ttnn.bfloat16:
        return values.to(torch.bfloat16).float()
    if dtype == ttnn.float32:
        return values
    return ttnn.to_torch(ttnn.from_torch(values, dtype=dtype, layout=ttnn.TILE_LAYOUT)).float()  # block floats


def default(dtype):
    return integers(64) if is_integer(dtype) else normal


def nothing(shape, dtype, generator):
    """For the mock device, where no value survives."""
    return torch.zeros(shape, dtype=torch.int32 if is_integer(dtype) else torch.float32)


def normal(shape, dtype, generator):
    """N(0, 1)"""
    if is_integer(dtype):
        return integers(64)(shape, dtype, generator)
    return torch.randn(shape, generator=generator)


def positive(shape, dtype, generator):
    """For roots and logarithms: |x|, and not near zero."""
    values = normal(shape, dtype, generator)
    return values + 1 if is_integer(dtype) else values.abs() + GAP


def above_one(shape, dtype, generator):
    """For acosh: |x| + 1."""
    return normal(shape, dtype, generator).abs() + 1


def unbounded(shape, dtype, generator):
    """For what asks whether a number is one: infinities and NaN among them."""
    values = normal(shape, dtype, generator)
    if is_integer(dtype):
        return values
    kinds = torch.randint(0, 32, shape, generator=generator)
    for kind, odd in enumerate((float("inf"), float("-inf"), float("nan"))):
        values = torch.where(kinds == kind, torch.full_like(values, odd), values)
    return values


def non_zero(shape, dtype, generator):
    """Divisors."""
    values = normal(shape, dtype, generator)
    if is_integer(dtype):
        return values + 1
    return torch.where(values.abs() >= GAP, values, values + GAP * torch.where(values < 0, -1.0, 1.0))


def halves(shape, dtype, generator):
    """For comparisons: so coarse that equal ones meet."""
    values = normal(shape, dtype, generator)
    return values if is_integer(dtype) else (2 * values + 0.5).floor() / 2


def gains(shape, dtype, generator):
    """Weights of a norm: none near zero."""
    values = normal(shape, dtype, generator)
    return values if is_integer(dtype) else values + 0.5 * torch.where(values < 0, -1.0, 1.0)


def queries(shape, dtype, generator):
    """Of an attention: wide, so that few keys count. Simpler than opwright's, which also points some at edges."""
    return 3 * normal(shape, dtype, generator)


def logits(shape, dtype, generator):
    """Of a softmax: wide. Simpler than opwright's, which also lets one tile decide most rows."""
    return 2 * normal(shape, dtype, generator)


def ranked(shape, dtype, generator):
    """What is sorted: the first 256 of a row are whole numbers, each once, and the rest is nearly nothing."""
    if is_integer(dtype):
        return integers(64)(shape, dtype, generator)
    count = shape[-1] if shape else 1
    rows = max(1, torch.Size(shape).numel() // max(1, count))
    order = torch.argsort(torch.rand(rows, count, generator=generator), dim=-1)
    return torch.where(order < 256, (256 - order).float(), (order % 7).float() * 0.001).reshape(shape)


def reciprocals(shape, dtype, generator):
    """1, 1/2, 1/3, … of a row."""
    return (1.0 / torch.arange(1, shape[-1] + 1)).expand(shape).contiguous()


def integers(below):
    def fill(shape, dtype, generator):
        return torch.randint(0, max(1, below), shape, generator=generator, dtype=torch.int32)

    return fill


token_ids = integers  # rows of the table that is looked up
positions = integers  # places in a cache


def pages(below):
    """Numbers below `below`, each once where there are enough: blocks of a cache, users of a batch."""

    def fill(shape, dtype, generator):
        count = torch.Size(shape).numel()
        drawn = [torch.randperm(max(1, below), generator=generator) for _ in range(-(-count // max(1, below)))]
        return torch.cat(drawn)[:count].reshape(shape).to(torch.int32)

    return fill


def values(*numbers):
    """Exactly these: where one number depends on another argument, such as the ends of a slice."""

    def fill(shape, dtype, generator):
        made = torch.tensor(numbers, dtype=torch.int32 if is_integer(dtype) else torch.float32)
        return made.reshape(shape)

    return fill


def mask(shape, dtype, generator):
    """0 or minus infinity, something seen in every row. Simpler than opwright's: not causal."""
    hidden = torch.rand(shape, generator=generator) < 0.5
    hidden[..., 0] = False
    return torch.zeros(shape).masked_fill(hidden, float("-inf"))


def predicate(shape, dtype, generator):
    """0 or 1"""
    drawn = torch.randint(0, 2, shape, generator=generator, dtype=torch.int32)
    return drawn if is_integer(dtype) else drawn.float()


def _angles(shape):
    rows, width = shape[-2] if len(shape) > 1 else 1, shape[-1]
    frequencies = 10000.0 ** (-torch.arange(width, dtype=torch.float32).div(2, rounding_mode="floor") * 2 / width)
    return (torch.arange(rows, dtype=torch.float32)[:, None] * frequencies).expand(shape).contiguous()


def cosines(shape, dtype, generator):
    """Of rotary positions."""
    return _angles(shape).cos()


def sines(shape, dtype, generator):
    return _angles(shape).sin()


def rotation(shape, dtype, generator):
    """The matrix that swaps the members of a pair and turns the sign of one."""
    matrix = torch.zeros(shape[-2:])
    for even in range(0, min(shape[-2:]) - 1, 2):
        matrix[even, even + 1], matrix[even + 1, even] = 1.0, -1.0
    return matrix.expand(shape).contiguous()


def indices(shape, dtype, generator):
    """0, 1, 2, … of a row."""
    return torch.arange(shape[-1], dtype=torch.int32).expand(shape).contiguous()
