"""Operators that move numbers: reshapes, slices, heads, caches."""

from __future__ import annotations

import torch
from planted_device.call import Call, Unsupported
from planted_device.rounding import block_float

MOVE_BUGS = [
    "move last tile stale", "move last row stale", "move rows shifted", "move columns shifted", "move faces swapped",
    "move faces transposed", "move tiles swapped", "move a shard of the neighbour", "move row 0 twice", "move halves swapped",
    "move batch 0", "move sign lost", "move input of the next head", "move one element", "move last tile row stale",
    "move slice off by one", "move operands swapped", "move pad of another value", "move last batch stale", "move row of 32 twice",
    "move tile turned", "move columns of odd rows shifted", "move a face flipped", "move half of the columns stale", "move batches swapped",
    "move first row stale", "move values of 3 bits", "move flushed", "move saturates at 2", "move last column stale",
    "move page of the next", "move odd elements of the even", "move negatives zero", "move values of 5 bits", "move two neighbours swapped", "move last 16 columns zero",
]  # fmt: skip
CACHE_BUGS = [
    "cache position +1", "cache position -1", "cache pages ignored", "cache next head", "cache next user", "cache last head kept",
    "cache row behind cleared", "cache half the row", "cache page of user 0", "cache nothing written", "cache position of user 0",
    "cache position within the tile", "cache two rows written", "cache row of head 0", "cache added", "cache tile cleared", "cache users turned round",
    "cache last position kept", "cache columns shifted", "cache row before cleared", "cache values of 3 bits",
    "cache heads turned round", "cache other face of the tile", "cache last column kept", "cache row subtracted", "cache user 0 only", "cache halves of the row swapped",
]  # fmt: skip

SAME = {
    "reshape", "interleaved_to_sharded", "sharded_to_interleaved", "to_memory_config", "reshard", "untilize", "tilize", "to_layout",
    "squeeze", "unsqueeze", "unsqueeze_to_4D", "clone", "tilize_with_zero_padding", "typecast",
}  # fmt: skip


def spoiled(out: torch.Tensor, bug: str) -> torch.Tensor:
    """What goes wrong on the way, whatever is moved."""
    out = out.contiguous().clone()
    rows = out.shape[-2] if out.dim() > 1 else 1
    width = out.shape[-1] if out.dim() else 1
    if bug == "move last tile stale" and width > 32:
        out[..., (width - 1) // 32 * 32 :] = 0
    elif bug == "move last tile row stale" and rows > 32:
        out[..., (rows - 1) // 32 * 32 :, :] = 0
    elif bug == "move last row stale" and rows > 1:
        out[..., -1, :] = 0
    elif bug == "move rows shifted" and rows > 1:
        out = out.roll(1, -2)
    elif bug == "move columns shifted" and width > 1:
        out = out.roll(1, -1)
    elif bug == "move faces swapped" and width >= 32:
        out[..., :32] = torch.cat([out[..., 16:32], out[..., :16]], -1)
    elif bug == "move faces transposed" and width >= 16 and rows >= 16:
        out[..., :16, :16] = out[..., :16, :16].transpose(-1, -2).clone()
    elif bug == "move tiles swapped" and width >= 64:
        out[..., :64] = torch.cat([out[..., 32:64], out[..., :32]], -1)
    elif bug == "move a shard of the neighbour" and rows >= 64:
        out[..., 32:64, :] = out[..., :32, :].clone()
    elif bug == "move row 0 twice" and rows > 1:
        out[..., 1, :] = out[..., 0, :].clone()
    elif bug == "move halves swapped" and rows > 1 and rows % 2 == 0:
        out = out.roll(rows // 2, -2)
    elif bug == "move batch 0" and out.dim() > 2 and out.shape[-3] > 1:
        out = out[..., :1, :, :].expand(out.shape)
    elif bug == "move sign lost":
        out = out.abs()
    elif bug == "move one element" and out.numel():
        out.view(-1)[out.numel() // 2] = 1
    elif bug == "move last batch stale" and out.dim() > 2 and out.shape[-3] > 1:
        out[..., -1, :, :] = out[..., 0, :, :].clone()
    elif bug == "move batches swapped" and out.dim() > 2 and out.shape[-3] > 1:
        out = out.roll(1, -3)
    elif bug == "move row of 32 twice" and rows > 32:
        out[..., 32, :] = out[..., 31, :].clone()
    elif bug == "move tile turned" and rows >= 32 and width >= 32:
        out[..., :32, :32] = out[..., :32, :32].flip(-1, -2)
    elif bug == "move columns of odd rows shifted" and rows > 1 and width > 1:
        out[..., 1::2, :] = out[..., 1::2, :].roll(1, -1)
    elif bug == "move a face flipped" and rows >= 16 and width >= 16:
        out[..., :16, :16] = out[..., :16, :16].flip(-2)
    elif bug == "move half of the columns stale" and width > 1:
        out[..., width // 2 :] = out[..., : width - width // 2].clone()
    elif bug == "move first row stale" and rows > 1:
        out[..., 0, :] = out[..., -1, :].clone()
    elif bug == "move last column stale" and width > 1:
        out[..., -1] = out[..., 0].clone()
    elif bug == "move values of 3 bits" and out.is_floating_point():
        out = block_float(out, 3)
    elif bug == "move page of the next" and rows > 32:
        out = out.roll(-32, -2)
    elif bug == "move odd elements of the even" and width > 1:
        out = out[..., torch.arange(width) // 2 * 2]
    elif bug == "move negatives zero":
        out = out.clamp(min=0)
    elif bug == "move values of 5 bits" and out.is_floating_point():
        out = block_float(out, 5)
    elif bug == "move two neighbours swapped" and width > 3:
        out[..., 1:3] = out[..., 1:3].flip(-1)
    elif bug == "move last 16 columns zero" and width > 16:
        out[..., -16:] = 0
    elif bug == "move flushed" and out.is_floating_point():
        out[out.abs() < 0.05] = 0
    elif bug == "move saturates at 2" and out.is_floating_point():
        out = out.clamp(-2, 2)
    return out


def move(call: Call, bug: str) -> list[torch.Tensor]:
    name = call.op.split(".")[-1]
    x = call.t("input_tensor", "tensor", "input", "input_a")
    if name in SAME or name == "copy":
        return [spoiled(x.reshape(call.shape), bug)]
    if name == "transpose":
        return [spoiled(x.transpose(int(call.v("dim1")), int(call.v("dim2"))), bug)]
    if name == "permute":
        return [spoiled(x.permute(*call.v("dims")), bug)]
    if name == "repeat":
        return [spoiled(x.repeat(*call.v("repeat_dims")), bug)]
    if name == "concat":
        parts = call.tensors("tensors")
        if bug == "move operands swapped" and parts[0].shape == parts[-1].shape:
            parts = parts[::-1]
        return [spoiled(torch.cat(parts, int(call.v("dim", 0))), bug)]
    if name == "slice":
        return [spoiled(sliced(call, x, bug), bug)]
    if name == "untilize_with_unpadding":
        return [spoiled(x[tuple(slice(0, n) for n in call.shape)], bug)]
    if name in ("pad", "tilize_with_val_padding"):
        return [padded(call, x, bug)]
    raise Unsupported(name)


def sliced(call: Call, x: torch.Tensor, bug: str) -> torch.Tensor:
    starts = call.v("starts", call.v("slice_start"))
    ends = call.v("ends", call.v("slice_end"))
    steps = call.v("steps", call.v("slice_step")) or [1] * x.dim()
    if not isinstance(starts, list) or len(starts) != x.dim() or any(step < 1 for step in steps):
        raise Unsupported("this slice")
    starts = [s % n if s < 0 else s for s, n in zip(starts, x.shape)]
    ends = [e + n if e < 0 else min(e, n) for e, n in zip(ends, x.shape)]
    if bug == "move slice off by one":
        for d in range(x.dim() - 1, -1, -1):
            if ends[d] < x.shape[d]:
                starts[d], ends[d] = starts[d] + 1, ends[d] + 1
                break
    return x[tuple(slice(s, e, step) for s, e, step in zip(starts, ends, steps))].reshape(call.shape)


def padded(call: Call, x: torch.Tensor, bug: str) -> torch.Tensor:
    value = float(call.v("value", call.v("pad_value", 0.0)) or 0.0)
    if bug == "move pad of another value":
        value += 1
    sides = call.v("padding")
    before = [0] * x.dim()
    if sides is not None:
        pairs = [s if isinstance(s, list) else s.get("items", [0, 0]) if isinstance(s, dict) else [0, 0] for s in sides]
        pairs = [[0, 0]] * (x.dim() - len(pairs)) + pairs
        before = [pair[0] for pair in pairs]
    elif "start" in str(call.given.get("input_tensor_start")):
        raise Unsupported("padding in another form")
    out = torch.full(call.shape, value, dtype=x.dtype)
    out[tuple(slice(b, b + n) for b, n in zip(before, x.shape))] = spoiled(x, bug)
    return out


def heads(call: Call, bug: str) -> list[torch.Tensor]:
    name = call.op.split(".")[-1]
    x = call.need("input_tensor", "input")
    if name == "nlp_concat_heads":
        if bug == "move input of the next head":
            x = x.roll(1, 1)
        return [spoiled(x.permute(0, 2, 1, 3).reshape(call.shape), bug)]
    if name == "nlp_concat_heads_decode":
        if x.shape[1] < call.shape[-2] or x.shape[2] * x.shape[3] != call.shape[-1]:
            raise Unsupported("padding of heads")
        x = x[:, :, : int(call.v("num_heads"))]
        return [spoiled(x[0].reshape(call.shape), bug)]
    if call.given.get("input_kv") or call.given.get("batch_offset") or call.flag("kv_tied", False):
        raise Unsupported("these heads")
    q, kv = int(call.v("num_heads")), int(call.v("num_kv_heads", call.v("num_heads")))
    dim = x.shape[-1] // (q + 2 * kv)
    if x.shape[-1] != dim * (q + 2 * kv) or dim % 32:
        raise Unsupported("heads that share a tile")
    if bug == "move input of the next head":
        x = x.roll(dim, -1)
    parts = x.split([q * dim, kv * dim, kv * dim], -1)
    out = []
    for i, (part, count) in enumerate(zip(parts, (q, kv, kv))):
        if name == "nlp_create_qkv_heads":
            part = part.reshape(x.shape[0], x.shape[2], count, dim).permute(0, 2, 1, 3)
            if i == 1 and call.flag("transpose_k_heads", True):
                part = part.transpose(-1, -2)
        else:
            users = call.outputs[i].shape[1]
            part = part[0, 0].reshape(-1, count, dim)[:users].unsqueeze(0)
        out.append(spoiled(part.reshape(call.outputs[i].shape), bug))
    return out


def cache(call: Call, bug: str) -> list[torch.Tensor]:
    name = call.op.split(".")[-1]
    if name == "paged_fused_update_cache":
        return [_decode(call, f"cache_tensor{i}", f"input_tensor{i}", bug) for i in (1, 2)][: len(call.outputs)]
    if name == "paged_update_cache":
        return [_decode(call, "cache_tensor", "input_tensor", bug)]
    target = call.need("cache_tensor", "cache")
    source = call.need("input_tensor", "input")
    out = target.clone()
    off = {"cache position +1": 1, "cache position -1": -1}.get(bug, 0)
    rows: list[tuple[int, int, int, torch.Tensor]] = []  # block, head, position, values
    if name == "update_cache":
        at = max(0, min(int(call.v("update_idx")) + off, out.shape[2] - 1))
        offset = int(call.v("batch_offset", 0))
        if source.shape[2] < out.shape[0] + offset:
            raise Unsupported("fewer rows than users")
        for user in range(out.shape[0]):
            line = (user + offset + 1) % source.shape[2] if bug == "cache next user" else user + offset
            rows += [(user, head, at, source[0, head, line]) for head in range(out.shape[1])]
    elif name == "fill_cache":
        if source.shape[2] % 32:
            raise Unsupported("rows that do not fill a tile")
        start, user = int(call.v("update_idx", 0)), int(call.v("batch_idx"))
        user = (user + 1) % out.shape[0] if bug == "cache next user" else user
        for s in range(source.shape[2]):
            at = max(0, min(start + s + off, out.shape[2] - 1))
            rows += [(user, head, at, source[0, head, s]) for head in range(out.shape[1])]
    else:  # paged_fill_cache
        pages, users = call.need("page_table"), call.t("batch_idx_tensor")
        if source.shape[2] % 32 or call.given.get("cache_position_modulo") or source.shape[1] != out.shape[1] or call.given.get("block_size"):
            raise Unsupported("this way to fill")
        if bug == "cache pages ignored":
            pages = torch.arange(pages.numel()).reshape(pages.shape) % out.shape[0]
        for b in range(source.shape[0]):
            user = int(call.v("batch_idx", 0)) if users is None else int(users.reshape(-1)[b])
            if bug == "cache next user":
                user = (user + 1) % pages.shape[0]
            elif bug == "cache page of user 0":
                user = 0
            for s in range(source.shape[2]):
                at = max(0, min(s + off, pages.shape[1] * out.shape[2] - 1))
                block = int(pages[user, at // out.shape[2]])
                rows += [(block, head, at % out.shape[2], source[b, head, s]) for head in range(out.shape[1])]
    return [_written(out, rows, bug)]


def _decode(call: Call, cache_name: str, input_name: str, bug: str) -> torch.Tensor:
    target, source = call.need(cache_name), call.need(input_name)
    positions, pages = call.t("update_idxs_tensor"), call.t("page_table")
    if call.flag("share_cache", False) or call.given.get("cache_position_modulo") or call.given.get("block_size"):
        raise Unsupported("this way to update")
    if source.shape[2] < target.shape[1]:
        raise Unsupported("fewer heads than the cache")
    places = [int(p) for p in positions.reshape(-1)] if positions is not None else list(call.v("update_idxs") or [])
    if pages is not None and pages.dim() != 2:
        raise Unsupported("sharded pages")
    if pages is not None and bug == "cache pages ignored":
        pages = torch.arange(pages.numel()).reshape(pages.shape) % target.shape[0]
    out, rows = target.clone(), []
    off = {"cache position +1": 1, "cache position -1": -1}.get(bug, 0)
    if bug == "cache position of user 0":
        places = places[:1] * len(places)
    elif bug == "cache position within the tile":
        places = [place % 32 if place >= 0 else place for place in places]
    for user in range(source.shape[1]):
        if user >= len(places) or places[user] < 0:
            continue
        at, block = places[user] + off, user
        line = (user + 1) % source.shape[1] if bug == "cache next user" else user
        if pages is not None:
            at = max(0, min(at, pages.shape[1] * target.shape[2] - 1))
            block = int(pages[0 if bug == "cache page of user 0" else user, at // target.shape[2]])
            at %= target.shape[2]
        at = max(0, min(at, target.shape[2] - 1))
        rows += [(block, head, at, source[0, line, head]) for head in range(target.shape[1])]
    return _written(out, rows, bug)


def _written(out: torch.Tensor, rows: list[tuple[int, int, int, torch.Tensor]], bug: str) -> torch.Tensor:
    heads_of = out.shape[1]
    first = {at: values for block, head, at, values in reversed(rows) if head == 0}
    if bug == "cache users turned round":
        rows = [(*place[:3], other[3]) for place, other in zip(rows, rows[::-1])]
    elif bug == "cache last position kept":
        most = max((at for _, _, at, _ in rows), default=0)
        rows = [row for row in rows if row[2] < most] if any(row[2] < most for row in rows) else rows
    for block, head, at, values in rows:
        if bug == "cache row of head 0":
            values = first.get(at, values)
        elif bug == "cache added":
            values = out[block, head, at, : values.shape[0]] + values
        elif bug == "cache row subtracted":
            values = -values
        elif bug == "cache halves of the row swapped":
            values = values.roll(values.shape[0] // 2)
        elif bug == "cache last column kept":
            values = torch.cat([values[:-1], out[block, head, at, values.shape[0] - 1 : values.shape[0]]])
        elif bug == "cache other face of the tile":
            at = at ^ 16 if (at ^ 16) < out.shape[2] else at
        elif bug == "cache columns shifted":
            values = values.roll(1)
        elif bug == "cache values of 3 bits":
            values = block_float(values, 3)
        elif bug == "cache tile cleared":
            out[block, head, at // 32 * 32 : at] = 0
        elif bug == "cache row before cleared" and at:
            out[block, head, at - 1] = 0
        elif bug == "cache two rows written" and at + 1 < out.shape[2]:
            out[block, head, at + 1, : values.shape[0]] = values
        if bug == "cache nothing written" or (bug == "cache last head kept" and head == heads_of - 1):
            continue
        if bug == "cache user 0 only" and block != rows[0][0]:
            continue
        if bug == "cache heads turned round":
            head = heads_of - 1 - head
        if bug == "cache next head":
            head = (head + 1) % heads_of
        width = values.shape[0] // 2 if bug == "cache half the row" else values.shape[0]
        out[block, head, at, :width] = values[:width]
        if bug == "cache row behind cleared" and at + 1 < out.shape[2]:
            out[block, head, at + 1] = 0
    return out
