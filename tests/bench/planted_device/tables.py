"""Operators that look up and choose: embedding, argmax, top-k."""

from __future__ import annotations

import torch
from planted_device.call import Call, Unsupported
from planted_device.rounding import block_float

TABLE_BUGS = [
    "table index +1", "table index modulo 32", "table last tile of the next row", "table row 0", "table row shifted by one",
    "table index -1", "table pairs of rows", "table last index cut", "table tile turned", "table last result stale", "table 15 bits of the index",
    "table results in pairs", "table values of 3 bits", "table index of the next token", "table last column zero",
    "table 8 bits of the index", "table of the tile of rows", "table last token zero", "table first half of the next row", "table negatives lost",
]  # fmt: skip
SELECT_BUGS = [
    "select index +1", "select index within the tile", "select second best", "select ascending", "select indices of another row",
    "select last of k stale", "where inverted", "where predicate of row 0", "where predicate positive", "clamp low ignored",
    "clamp high ignored", "select first tile only", "select by magnitude", "select of row 0", "select last tile ignored", "select values of another row",
    "where values of row 0", "where last tile true", "clamp bounds swapped", "clamp of the magnitude", "clamp in the last tile only",
    "select last of equals", "select index twice", "select next best index", "select two indices swapped", "select of half the row",
    "select index of the last tile +32", "select the smallest", "select values turned round", "where odd rows false", "where tensors swapped in the last tile",
]  # fmt: skip


def table(call: Call, bug: str) -> list[torch.Tensor]:
    ids, weight = call.need("input_tensor"), call.need("weight")
    if call.given.get("padding_idx") is not None or call.given.get("embeddings_type") not in (None,) and "GENERIC" not in str(call.given["embeddings_type"]):
        raise Unsupported("this kind of table")
    weight = weight.reshape(-1, weight.shape[-1])
    ids = ids.to(torch.int64)
    if bug == "table index +1":
        ids = (ids + 1) % weight.shape[0]
    elif bug == "table index modulo 32":
        ids = ids % 32
    elif bug == "table index -1":
        ids = (ids - 1) % weight.shape[0]
    elif bug == "table pairs of rows":
        ids = ids // 2 * 2
    elif bug == "table last index cut":
        ids = ids.clamp(max=weight.shape[0] - 2)
    elif bug == "table 15 bits of the index":
        ids = ids % (1 << 15)
    elif bug == "table results in pairs" and ids.numel() > 1:
        flat = ids.reshape(-1)
        ids = flat[torch.arange(flat.numel()) // 2 * 2].reshape(ids.shape)
    elif bug == "table index of the next token":
        ids = ids.roll(1, -1)
    elif bug == "table 8 bits of the index":
        ids = ids % 256
    elif bug == "table of the tile of rows":
        ids = ids // 32 * 32
    elif bug == "table row 0":
        ids = ids.reshape(-1)[:1].expand(ids.numel()).reshape(ids.shape)
    out = weight[ids]
    if bug == "table last tile of the next row" and weight.shape[-1] > 32:
        out = out.clone()
        out[..., -32:] = weight[(ids + 1) % weight.shape[0]][..., -32:]
    elif bug == "table row shifted by one":
        out = out.roll(1, -1)
    elif bug == "table tile turned" and weight.shape[-1] >= 32:
        out = torch.cat([out[..., :32].flip(-1), out[..., 32:]], -1)
    elif bug == "table first half of the next row":
        half = weight.shape[-1] // 2
        out = torch.cat([weight[(ids + 1) % weight.shape[0]][..., :half], out[..., half:]], -1)
    elif bug == "table negatives lost":
        out = out.clamp(min=0)
    elif bug == "table last token zero":
        out = out.clone()
        out.view(-1, out.shape[-1])[-1] = 0
    elif bug == "table last column zero":
        out = torch.cat([out[..., :-1], torch.zeros_like(out[..., -1:])], -1)
    elif bug == "table values of 3 bits":
        out = block_float(out, 3)
    out = out.reshape(call.shape)
    if bug == "table last result stale" and out.dim() > 1 and out.shape[-2] > 1:
        out = torch.cat([out[..., :-1, :], out[..., :1, :]], -2)
    return [out]


def first_largest(x: torch.Tensor, dim: int) -> torch.Tensor:
    """The first of equals, which PyTorch does not promise."""
    best = x == x.amax(dim, keepdim=True)
    return (best.cumsum(dim) * best == 1).double().argmax(dim)


def select(call: Call, bug: str) -> list[torch.Tensor]:
    x = call.need("input_tensor")
    if not x.is_floating_point():
        raise Unsupported("integers")
    if call.op.endswith("argmax"):
        dim = call.v("dim")
        if dim is None or isinstance(dim, list):
            raise Unsupported("argmax of all")
        if bug == "select first tile only":
            x = x.narrow(dim, 0, min(32, x.shape[dim]))
        elif bug == "select last tile ignored" and x.shape[dim] > 32:
            x = x.narrow(dim, 0, (x.shape[dim] - 1) // 32 * 32)
        elif bug == "select by magnitude":
            x = x.abs()
        elif bug == "select of row 0" and x.dim() > 1 and dim % x.dim() == x.dim() - 1:
            x = x[..., :1, :].expand(x.shape)
        out = first_largest(x, dim)
        if bug == "select second best" and x.shape[dim] > 1:
            out = x.topk(2, dim).indices.select(dim, 1)
        elif bug == "select index +1":
            out = out + 1
        elif bug == "select index within the tile":
            out = out % 32
        elif bug == "select indices of another row":
            out = out.roll(1, -1)
        elif bug == "select last of equals":
            out = x.shape[dim] - 1 - first_largest(x.flip(dim), dim)
        elif bug == "select the smallest":
            out = first_largest(-x, dim)
        elif bug == "select of half the row" and x.shape[dim] > 1:
            out = first_largest(x.narrow(dim, 0, x.shape[dim] // 2), dim)
        elif bug == "select index of the last tile +32":
            out = torch.where(out >= (x.shape[dim] - 1) // 32 * 32, out - 32, out).clamp(min=0)
        return [out.reshape(call.shape)]
    k, dim = int(call.v("k")), int(call.v("dim", -1))
    largest = call.flag("largest", True)
    if call.given.get("indices_tensor"):
        raise Unsupported("given indices")
    if bug == "select first tile only" and x.shape[dim] > 32 >= k:
        x = x.narrow(dim, 0, 32)
    elif bug == "select last tile ignored" and (x.shape[dim] - 1) // 32 * 32 >= k:
        x = x.narrow(dim, 0, (x.shape[dim] - 1) // 32 * 32)
    elif bug == "select of row 0" and x.dim() > 1 and dim % x.dim() == x.dim() - 1:
        x = x[..., :1, :].expand(x.shape)
    if bug == "select by magnitude":
        x = x.abs()
    values, indices = x.topk(k, dim, not largest if bug == "select ascending" else largest)
    if bug == "select index +1":
        indices = indices + 1
    elif bug == "select index within the tile":
        indices = indices % 32
    elif bug == "select second best" and x.shape[dim] > k:
        values, indices = (t.narrow(dim, 1, k) for t in x.topk(k + 1, dim, largest))
    elif bug == "select indices of another row" and indices.dim() > 1:
        indices = indices.roll(1, -2)
    elif bug == "select values of another row" and values.dim() > 1:
        values = values.roll(1, -2)
    elif bug == "select index twice" and k > 1:
        indices = indices.clone()
        indices.narrow(dim, k - 1, 1).copy_(indices.narrow(dim, k - 2, 1))
    elif bug == "select next best index" and x.shape[dim] > k:
        more = x.topk(k + 1, dim, largest)
        indices = torch.where(more.values.narrow(dim, 1, k) != values, more.indices.narrow(dim, 1, k), indices)
    elif bug == "select two indices swapped" and k > 1:
        other = indices.flip(dim)
        indices = torch.where(values != values.flip(dim), other, indices)
    elif bug == "select of half the row" and x.shape[dim] // 2 >= k:
        values, indices = x.narrow(dim, 0, x.shape[dim] // 2).topk(k, dim, largest)
    elif bug == "select values turned round":
        values = values.flip(dim)
    elif bug == "select last of k stale" and k > 1:
        values = values.clone()
        values.narrow(dim, k - 1, 1).zero_()
    return [values.reshape(call.outputs[0].shape), indices.reshape(call.outputs[1].shape)][: len(call.outputs)]
