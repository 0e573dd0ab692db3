"""Attention: prefill, decode, paged, in chunks."""

from __future__ import annotations

import math

import torch
from planted_device.call import Call, Unsupported
from planted_device.elements import schraudolph
from planted_device.rounding import block_float, rounded

ATTENTION_BUGS = [
    "attention causal +1", "attention causal -1", "attention causal ignored", "attention scale missing", "attention scale of half",
    "attention mask missing", "attention mask of row 0", "attention kv head modulo", "attention kv head next", "attention pages ignored",
    "attention pages of user 0", "attention position +1", "attention position -1", "attention last key tile", "attention first key tile",
    "attention no rescale", "attention v shifted", "attention v of the next head", "attention sink missing", "attention sink after softmax",
    "attention window ignored", "attention window +1", "attention cache of user 0", "attention padding keys", "attention exp by bits",
    "attention sum of the last chunk", "attention keys of a stale page", "attention q of the next head",
    "attention mask of the next column", "attention mask of head 0", "attention causal by tiles", "attention scale twice",
    "attention scale of the heads", "attention position 0", "attention position of the next user", "attention keys shifted",
    "attention window -1", "attention sink of head 0", "attention sink unscaled", "attention sum not rescaled",
    "attention values of row 0", "attention half of the head", "attention start ignored", "attention start +1", "attention not divided",
    "attention keys as bf4", "attention last page of the next user", "attention heads turned round", "attention mask halved",
    "attention every second key tile", "attention diagonal hidden", "attention weights of 3 bits",
    "attention keys and values swapped", "attention sink twice", "attention window twice", "attention first chunk twice", "attention output halves swapped",
    "attention mask of the last tile ignored", "attention pages in pairs", "attention offset within the page lost", "attention values of the odd keys", "attention sum left from the head before",
    "attention last head of the first", "attention small weights lost", "attention rows of a tile mirrored", "attention 3 % short",
]  # fmt: skip


def paged(cache: torch.Tensor, pages: torch.Tensor) -> torch.Tensor:
    """[users, heads, positions, dim] of blocks."""
    users, columns = pages.shape
    blocks = cache[pages.reshape(-1).clamp(0, cache.shape[0] - 1)]
    return blocks.reshape(users, columns, *cache.shape[1:]).permute(0, 2, 1, 3, 4).flatten(2, 3)


def attention(call: Call, bug: str) -> list[torch.Tensor]:
    q, k, v = call.need("input_tensor_q"), call.need("input_tensor_k"), call.need("input_tensor_v")
    decode = "decode" in call.op
    pages, mask, sink = call.t("page_table_tensor"), call.t("attn_mask"), call.t("attention_sink")
    for name in ("cu_window_seqlens", "paged_cache_geometry", "share_cache", "chunk_start_idx_tensor", "cache_position_modulo"):
        if call.given.get(name):
            raise Unsupported(name)
    scale = call.v("scale")
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    if bug == "attention scale missing":
        scale = 1.0
    elif bug == "attention scale of half":
        scale *= math.sqrt(2)
    elif bug == "attention scale twice":
        scale *= scale
    elif bug == "attention scale of the heads":
        scale = 1 / math.sqrt(q.shape[2] if decode else q.shape[1])
    if pages is not None:
        if pages.dim() != 2:
            raise Unsupported("sharded pages")
        if bug == "attention pages ignored":
            pages = torch.arange(pages.numel()).reshape(pages.shape) % k.shape[0]
        elif bug == "attention pages of user 0":
            pages = pages[:1].expand(pages.shape)
        elif bug == "attention keys of a stale page" and pages.shape[1] > 1:
            pages = torch.cat([pages[:, 1:2], pages[:, 1:]], 1)
        elif bug == "attention last page of the next user":
            pages = torch.cat([pages[:, :-1], pages[:, -1:].roll(1, 0)], 1)
        elif bug == "attention pages in pairs":
            pages = pages[:, torch.arange(pages.shape[1]) // 2 * 2]
        k, v = paged(k, pages), paged(v, pages)
        if bug == "attention offset within the page lost" and k.shape[2] > 32:
            at = torch.arange(k.shape[2])
            k = k[:, :, torch.where(at % 32 >= 16, at - 16, at)]
    # [users, heads, queries, dim]; a decoding query is alone.
    queries = q[0].unsqueeze(2) if decode else q
    users, heads, length, _ = queries.shape
    if k.shape[0] != users or users * heads * length * k.shape[2] > 3e8:
        raise Unsupported("as many users as caches, and not too many keys")
    if bug == "attention cache of user 0":
        k, v = k[:1].expand(k.shape), v[:1].expand(v.shape)
    kv = k.shape[1]
    index = torch.arange(heads) // (heads // kv)
    if bug == "attention kv head modulo":
        index = torch.arange(heads) % kv
    elif bug == "attention kv head next":
        index = (index + 1) % kv
    elif bug == "attention heads turned round":
        index = kv - 1 - index
    if bug == "attention keys as bf4":
        k = rounded(k, "BFLOAT4_B")
    elif bug == "attention half of the head":
        k = torch.cat([k[..., : k.shape[-1] // 2], torch.zeros_like(k[..., k.shape[-1] // 2 :])], -1)
    elif bug == "attention keys shifted":
        k = k.roll(1, 2)
    if bug == "attention keys and values swapped":
        k, v = v, k
    if bug == "attention q of the next head":
        queries = queries.roll(1, 1)
    keys, values = k[:, index], v[:, index]
    if bug == "attention v of the next head":
        values = v[:, (index + 1) % kv]
    elif bug == "attention values of the odd keys":
        values = values[:, :, torch.arange(values.shape[2]) // 2 * 2]
    elif bug == "attention v shifted":
        values = values.roll(1, 2)
    elif bug == "attention values of row 0":
        values = torch.cat([values[:, :, :1].expand(values[:, :, :32].shape), values[:, :, 32:]], 2)
    scores = (queries @ keys.transpose(-1, -2)) * scale
    total = keys.shape[2]
    place = torch.arange(total)
    causal = call.flag("is_causal", True)
    if bug == "attention causal ignored" and not decode:
        causal = False
    window = int(call.v("sliding_window_size", 0) or 0)
    if bug == "attention window ignored":
        window = 0
    elif bug == "attention window +1" and window:
        window += 1
    elif bug == "attention window twice":
        window *= 2
    elif bug == "attention window -1" and window > 1:
        window -= 1
    off = {"attention causal +1": 1, "attention causal -1": -1, "attention position +1": 1, "attention position -1": -1}.get(bug, 0)
    if decode:
        positions = call.t("cur_pos_tensor")
        if positions is None:
            listed = call.v("cur_pos")
            positions = None if not listed else torch.tensor(listed)
        if causal and positions is None:
            raise Unsupported("no positions")
        if causal:
            positions = positions.reshape(-1)[:users]
            if bug == "attention position 0":
                positions = positions[:1].expand(positions.shape)
            elif bug == "attention position of the next user":
                positions = positions.roll(1)
            at = positions.reshape(users, 1, 1, 1) + off
            if bug == "attention padding keys":
                at = at // 32 * 32 + 31
            elif bug == "attention last key tile":
                at = torch.where(at >= 32, at // 32 * 32 - 1, at)
            hidden = place > at
            if window:
                hidden = hidden | (place <= at - window)
            scores = scores.masked_fill(hidden, -math.inf)
        if mask is not None:
            mask = mask.permute(0, 2, 1, 3) if mask.shape[1] == 1 else mask.transpose(1, 2)
    else:
        start = int(call.v("chunk_start_idx", 0) or 0)
        if bug == "attention start ignored":
            start = 0
        elif bug == "attention start +1" and start:
            start += 1
        at = (torch.arange(length) + start + off).reshape(-1, 1)
        if bug == "attention causal by tiles":
            at = at // 32 * 32 + 31
        if causal:
            hidden = place > at
            if window:
                hidden = hidden | (place <= at - window)
            if bug == "attention diagonal hidden":
                hidden = (hidden | (place == at)) & (place > 0)
            scores = scores.masked_fill(hidden & (place > 0) if off < 0 else hidden, -math.inf)
        elif window:
            raise Unsupported("a window on both sides")
        if bug == "attention last key tile" and total > 32:
            hidden = (place >= (total - 1) // 32 * 32) & (place > 0)
            scores = scores.masked_fill(hidden, -math.inf)
    if bug == "attention first key tile" and total > 32:
        scores[..., :32] = torch.where(torch.isinf(scores[..., 32:33]), scores[..., :32], torch.full_like(scores[..., :32], -math.inf))
    if mask is not None and bug != "attention mask missing":
        if bug == "attention mask of row 0":
            mask = mask[..., :1, :].expand(mask.shape)
        elif bug == "attention mask of the next column":
            mask = mask.roll(1, -1)
        elif bug == "attention mask of head 0":
            mask = mask[:, :1].expand(mask.shape)
        elif bug == "attention mask halved":
            mask = torch.where(torch.arange(mask.shape[-1]) < mask.shape[-1] // 2, mask, torch.zeros_like(mask))
        elif bug == "attention mask of the last tile ignored" and mask.shape[-1] > 32:
            mask = torch.cat([mask[..., :-32], torch.zeros_like(mask[..., -32:])], -1)
        scores = scores + mask[..., :total]
    if bug == "attention every second key tile" and total > 64:
        seen = ~torch.isinf(scores[..., 32:64]).all(-1, keepdim=True)
        scores = torch.where((place // 32 % 2 == 0) & seen, torch.full_like(scores, -math.inf), scores)
    top = scores.amax(-1, keepdim=True)
    if sink is not None:
        s = sink.reshape(-1, sink.shape[-1])[:heads, :1].reshape(1, heads, 1, 1)
        if bug == "attention sink of head 0":
            s = s[:, :1].expand(s.shape)
        s = s if bug == "attention sink unscaled" else s * scale
        top = torch.maximum(top, s)
    e = (schraudolph if bug == "attention exp by bits" and not call.asks_for_approximations() else torch.exp)(scores - top)
    e = torch.nan_to_num(e)
    if bug == "attention weights of 3 bits":
        e = block_float(e, 3)
    half = max(32, total // 2 // 32 * 32)
    if bug == "attention no rescale" and total > 64:
        first = scores[..., :half].amax(-1, keepdim=True)
        e = torch.cat([torch.nan_to_num(torch.exp(scores[..., :half] - first)), e[..., half:]], -1)
    if bug == "attention small weights lost":
        e = torch.where(e < 2.0**-6, torch.zeros_like(e), e)
    elif bug == "attention first chunk twice" and total > 64:
        e = torch.cat([2 * e[..., :half], e[..., half:]], -1)
    norm = e.sum(-1, keepdim=True)
    if bug == "attention sum left from the head before":
        norm = norm + 0.25 * norm.roll(1, 1)
    if bug == "attention sum of the last chunk" and total > 64:
        last = e[..., half:].sum(-1, keepdim=True)
        norm = torch.where(last > 0, last, norm)
    if sink is not None and bug not in ("attention sink missing", "attention sink after softmax"):
        norm = norm + torch.exp(s - top) * (2 if bug == "attention sink twice" else 1)
    if bug == "attention sum not rescaled" and total > 64:
        first = scores[..., :half].amax(-1, keepdim=True)
        alone = torch.nan_to_num(torch.exp(scores[..., :half] - first)).sum(-1, keepdim=True)
        norm = norm - e[..., :half].sum(-1, keepdim=True) + alone
    if bug == "attention not divided":
        norm = torch.ones_like(norm)
    out = (e @ values) / norm
    if bug == "attention output halves swapped":
        out = out.roll(out.shape[-1] // 2, -1)
    elif bug == "attention last head of the first":
        out = torch.cat([out[:, :-1], out[:, :1]], 1)
    elif bug == "attention rows of a tile mirrored" and length >= 32:
        out = torch.cat([out[:, :, :32].flip(2), out[:, :, 32:]], 2)
    elif bug == "attention 3 % short":
        out = 0.97 * out
    if sink is not None and bug == "attention sink after softmax":
        out = out + s
    return [(out.squeeze(2).unsqueeze(0) if decode else out).reshape(call.shape)]
