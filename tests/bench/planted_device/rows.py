"""Operators that look along a row: norms, softmax, rotary embeddings."""

from __future__ import annotations

import math

import torch
from planted_device.call import Call, Unsupported
from planted_device.elements import magic_root, schraudolph
from planted_device.rounding import bf16, block_float, rounded

NORM_BUGS = [
    "norm statistics of row 0", "norm statistics of the next row", "norm half the row", "norm last tile", "norm first tile",
    "norm last value", "norm no mean", "norm variance around zero", "norm epsilon x100", "norm epsilon missing",
    "norm epsilon outside", "norm gamma missing", "norm gamma of column 0", "norm gamma neighbour tile", "norm beta missing",
    "norm residual missing", "norm residual twice", "norm n - 1", "norm root short", "norm padded count", "norm group 1",
    "norm wrong group", "norm bf16 statistics", "norm variance not divided by all", "norm batch 0",
    "norm mean of row 0", "norm variance of row 0", "norm variance of half the row", "norm variance of the first tile", "norm epsilon of 1e-5",
    "norm epsilon / 100", "norm epsilon of 1e-3", "norm gamma neighbour", "norm gamma of the first tile", "norm gamma twice", "norm gamma + 1",
    "norm beta neighbour", "norm beta before gamma", "norm rows in pairs", "norm as the other norm", "norm no root",
    "norm statistics without residual", "norm lower faces of the upper", "norm gamma as bf4", "norm sum in bf16", "norm mean of the last tile missing",
    "norm square of the sum", "norm every second tile", "norm padding as ones", "norm mean twice",
    "norm middle tile missing", "norm first tile twice", "norm beta twice", "norm beta of the first tile", "norm epsilon squared", "norm last tile plain",
    "norm residual of row 0", "norm residual halved", "norm root by bits", "norm mean of half the row", "norm sum over 16 columns of each tile",
    "norm statistics 3 % large", "norm accumulator saturates", "norm sums left from the row before",
]  # fmt: skip
SOFTMAX_BUGS = [
    "softmax last tile", "softmax first tile", "softmax sum of row 0", "softmax sum of the next row", "softmax scale missing",
    "softmax mask missing", "softmax mask of row 0", "softmax x1.1", "softmax exp by bits", "softmax padding as data",
    "softmax half the row", "softmax base 2", "softmax bf16 sum", "softmax other dimension", "softmax mask of batch 0",
    "softmax last value", "softmax scale twice", "softmax no maximum", "softmax mask before scale", "softmax mask multiplied",
    "softmax rows in pairs", "softmax left faces", "softmax every second tile", "softmax sum + 1", "softmax sum of maximum row",
    "softmax last tile not divided", "softmax weights of 3 bits", "softmax mask of the next column", "softmax mask halved", "softmax squared",
    "softmax scale of half", "softmax middle tile twice", "softmax lower faces of the upper", "softmax causal +1",
    "softmax scale on the mask", "softmax mask of the next row", "softmax halves with maxima of their own", "softmax small weights lost", "softmax sum left from the row before",
    "softmax middle tile missing", "softmax 3 % short", "softmax mask of the last tile ignored", "softmax large logits cut at 4",
]  # fmt: skip
ROTARY_BUGS = [
    "rotary position +1", "rotary position -1", "rotary sine sign", "rotary swapped", "rotary row 0", "rotary second half plain",
    "rotary other pairs", "rotary next head", "rotary no rotation part", "rotary position of head 0", "rotary cosine of the next pair",
    "rotary halves swapped", "rotary position within the tile", "rotary position of the tile", "rotary cosine missing",
    "rotary last head plain", "rotary slower", "rotary backwards", "rotary sine of the next position", "rotary cosine of the next position",
    "rotary x of row 0", "rotary angles as bf4", "rotary last row plain", "rotary first pair plain", "rotary position of the odd rows", "rotary sine twice",
    "rotary cosine and sine of half the pairs swapped", "rotary later heads one on",
]  # fmt: skip


def norm(call: Call, bug: str) -> list[torch.Tensor]:
    x = call.need("input_tensor")
    residual, alone = call.t("residual_input_tensor"), x
    if residual is not None and bug != "norm residual missing":
        part = residual[..., :1, :].expand(residual.shape) if bug == "norm residual of row 0" and residual.dim() > 1 else residual
        x = x + part * {"norm residual twice": 2, "norm residual halved": 0.5}.get(bug, 1)
    gamma, beta = call.t("weight"), call.t("bias")
    epsilon = float(call.v("epsilon", 1e-12))
    groups = call.v("num_groups")
    width = x.shape[-1]
    shape = list(x.shape)
    gamma = None if gamma is None else gamma.reshape(-1)[:width]
    beta = None if beta is None else beta.reshape(-1)[:width]
    centred = ("rms" not in call.op) != (bug == "norm as the other norm")
    # Every line of `v` shares statistics.
    if groups is None:
        v = x.reshape(-1, width)
    else:
        if bug == "norm group 1":
            groups = 1
        v = x.reshape(shape[0], -1, groups, width // groups).permute(0, 2, 1, 3).reshape(shape[0] * groups, -1)
    seen = v
    if bug == "norm statistics without residual" and groups is None:
        seen = alone.reshape(-1, width)
    size = v.shape[-1]
    if bug == "norm half the row":
        seen = v[:, : size // 2]
    elif bug == "norm every second tile" and size > 64:
        seen = v[:, torch.arange(size) // 32 % 2 == 0]
    elif bug == "norm padding as ones" and width % 32:
        seen = torch.cat([v, torch.ones_like(v[:, : 32 - width % 32])], -1)
    elif bug == "norm last tile" and size > 32:
        seen = v[:, : (size - 1) // 32 * 32]
    elif bug == "norm first tile" and size > 32:
        seen = v[:, 32:]
    elif bug == "norm last value":
        seen = v[:, :-1]
    elif bug == "norm middle tile missing" and size > 64:
        seen = torch.cat([v[:, : size // 64 * 32], v[:, size // 64 * 32 + 32 :]], -1)
    elif bug == "norm first tile twice" and size > 32:
        seen = torch.cat([v, v[:, :32]], -1)
    elif bug == "norm sum over 16 columns of each tile" and size > 32:
        seen = v[:, torch.arange(size) % 32 < 16]
    count = seen.shape[-1]
    if bug == "norm padded count" and width % 32:
        count = (count + 31) // 32 * 32
    if bug == "norm variance not divided by all":
        count = count + 32
    mean = seen.sum(-1, keepdim=True) / count if centred else torch.zeros_like(v[:, :1])
    square = (seen - mean).square().sum(-1, keepdim=True)
    if bug == "norm variance around zero":
        square = seen.square().sum(-1, keepdim=True)
    elif bug == "norm square of the sum":
        square = (seen - mean).abs().mean(-1, keepdim=True).square() * count
    elif bug == "norm sum in bf16" and size > 64:
        square = torch.zeros_like(mean)
        for start in range(0, seen.shape[-1], 16):
            square = bf16(square + bf16((seen - mean)[:, start : start + 16].square().sum(-1, keepdim=True)))
    elif bug == "norm variance of half the row":
        square = 2 * (seen - mean)[:, : size // 2].square().sum(-1, keepdim=True)
    elif bug == "norm variance of the first tile" and size > 32:
        square = (seen - mean)[:, :32].square().mean(-1, keepdim=True) * count
    if bug == "norm statistics 3 % large":
        square = 1.06 * square
    elif bug == "norm accumulator saturates":
        square = torch.minimum(square, square.median())
    elif bug == "norm sums left from the row before":
        square = square + 0.25 * square.roll(1, 0)
    variance = square / (count - 1 if bug == "norm n - 1" and count > 1 else count)
    if bug == "norm no mean":
        mean = torch.zeros_like(mean)
    elif bug == "norm mean twice":
        mean = 2 * mean
    elif bug == "norm mean of half the row" and centred:
        mean = seen[:, : max(1, size // 2)].mean(-1, keepdim=True)
    elif bug == "norm mean of the last tile missing" and size > 32 and centred:
        mean = seen[:, : (size - 1) // 32 * 32].sum(-1, keepdim=True) / count
    if bug == "norm bf16 statistics":
        mean, variance = bf16(mean), bf16(bf16(variance))
    if bug == "norm statistics of row 0":
        mean, variance = mean[:1].expand_as(mean), variance[:1].expand_as(variance)
    elif bug == "norm mean of row 0":
        mean = mean[:1].expand_as(mean)
    elif bug == "norm variance of row 0":
        variance = variance[:1].expand_as(variance)
    elif bug == "norm rows in pairs":
        index = torch.arange(v.shape[0]) // 2 * 2
        mean, variance = mean[index], variance[index]
    elif bug == "norm lower faces of the upper" and groups is None:
        index = torch.arange(v.shape[0])
        index = torch.where(index % 32 >= 16, index - 16, index)
        mean, variance = mean[index], variance[index]
    elif bug == "norm statistics of the next row":
        mean, variance = mean.roll(1, 0), variance.roll(1, 0)
    elif bug == "norm wrong group" and groups is not None and groups > 1:
        mean, variance = mean.roll(1, 0), variance.roll(1, 0)
    elif bug == "norm batch 0" and len(shape) > 2 and groups is None:
        rows = v.shape[0] // max(1, shape[0] * (shape[1] if len(shape) > 3 else 1))
        index = torch.arange(v.shape[0]) % max(1, rows)
        mean, variance = mean[index], variance[index]
    if bug == "norm epsilon x100":
        epsilon *= 100
    elif bug == "norm epsilon missing":
        epsilon = 0.0
    elif bug == "norm epsilon of 1e-5":
        epsilon = 1e-5
    elif bug == "norm epsilon of 1e-3":
        epsilon = 1e-3
    elif bug == "norm epsilon / 100":
        epsilon /= 100
    elif bug == "norm epsilon squared":
        epsilon *= epsilon
    root = torch.sqrt(variance) + epsilon if bug == "norm epsilon outside" else torch.sqrt(variance + epsilon)
    if bug == "norm no root":
        root = variance + epsilon
    if bug == "norm root by bits":
        root = 1 / magic_root(root * root)
    out = (v - mean) / root * (0.95 if bug == "norm root short" else 1)
    if groups is not None:
        out = out.reshape(shape[0], groups, -1, width // groups).permute(0, 2, 1, 3)
    out = out.reshape(-1, width)
    if bug == "norm beta before gamma" and gamma is not None and beta is not None:
        return [((out + beta) * gamma).reshape(shape)]
    if gamma is not None and bug != "norm gamma missing":
        if bug == "norm gamma of column 0":
            gamma = gamma[:1].expand_as(gamma)
        elif bug == "norm gamma neighbour tile" and width > 32:
            gamma = gamma.roll(32)
        elif bug == "norm gamma neighbour":
            gamma = gamma.roll(1)
        elif bug == "norm gamma of the first tile" and width > 32:
            gamma = gamma[torch.arange(width) % 32]
        elif bug == "norm gamma twice":
            gamma = gamma * gamma
        elif bug == "norm gamma + 1":
            gamma = gamma + 1
        elif bug == "norm gamma as bf4":
            gamma = rounded(gamma, "BFLOAT4_B")
        out = out * gamma
    if beta is not None and bug != "norm beta missing":
        if bug == "norm beta of the first tile" and width > 32:
            beta = beta[torch.arange(width) % 32]
        out = out + (beta.roll(1) if bug == "norm beta neighbour" else beta) * (2 if bug == "norm beta twice" else 1)
    if bug == "norm last tile plain" and width > 32:
        out = torch.cat([out[:, : (width - 1) // 32 * 32], x.reshape(-1, width)[:, (width - 1) // 32 * 32 :]], -1)
    return [out.reshape(shape)]


def softmax(call: Call, bug: str) -> list[torch.Tensor]:
    x, mask = call.need("input_tensor"), call.t("mask")
    dim = int(call.v("dim", -1)) % max(1, x.dim())
    scale = float(call.v("scale", 1.0))
    if bug == "softmax scale missing":
        scale = 1.0
    elif bug == "softmax scale twice":
        scale *= scale
    elif bug == "softmax scale of half":
        scale *= math.sqrt(2)
    scores = x * scale
    if mask is not None and bug != "softmax mask missing":
        spec = call.spec("mask") or {}
        if spec.get("layout") == "ROW_MAJOR" or (call.flag("is_causal_mask", False) and mask.shape[-2] == 1):
            raise Unsupported("a mask of rows of tiles")
        if bug == "softmax mask of row 0":
            mask = mask[..., :1, :].expand(mask.shape)
        elif bug == "softmax mask of batch 0":
            mask = mask[:1].expand(mask.shape)
        elif bug == "softmax mask of the next column":
            mask = mask.roll(1, -1)
        elif bug == "softmax mask halved":
            mask = torch.where(torch.arange(mask.shape[-1]) < mask.shape[-1] // 2, mask, torch.zeros_like(mask))
        elif bug == "softmax causal +1":
            mask = mask.roll(1, -1) if mask.shape[-2] > 1 else mask
        elif bug == "softmax mask of the next row":
            mask = mask.roll(1, -2)
        elif bug == "softmax mask of the last tile ignored" and mask.shape[-1] > 32:
            mask = torch.cat([mask[..., :-32], torch.zeros_like(mask[..., -32:])], -1)
        if bug in ("softmax mask before scale", "softmax scale on the mask"):
            scores = (x + mask) * scale
        elif bug == "softmax mask multiplied":
            scores = scores * (mask == 0)
        else:
            scores = scores + mask
    if bug == "softmax other dimension" and x.dim() > 1:
        dim = (dim - 1) % x.dim()
    top = scores.amax(dim, keepdim=True)
    power = schraudolph if bug == "softmax exp by bits" and not call.asks_for_approximations() else torch.exp2 if bug == "softmax base 2" else torch.exp
    e = power(scores - top)
    if bug == "softmax no maximum":  # overflows as float32 does
        e = torch.exp(scores).to(torch.float32).to(torch.float64)
    elif bug == "softmax weights of 3 bits":
        e = block_float(e, 3)
    elif bug == "softmax squared":
        e = e * e
    elif bug == "softmax small weights lost":
        e = torch.where(e < 2.0**-7, torch.zeros_like(e), e)
    elif bug == "softmax large logits cut at 4":
        e = torch.exp(scores.clamp(max=4) - top.clamp(max=4))
    elif bug == "softmax halves with maxima of their own" and x.shape[dim] > 32:
        half = x.shape[dim] // 2
        e = torch.cat([torch.exp(part - part.amax(dim, keepdim=True)) for part in (scores.narrow(dim, 0, half), scores.narrow(dim, half, x.shape[dim] - half))], dim)
    size = x.shape[dim]
    total = e.sum(dim, keepdim=True)
    if bug == "softmax last tile" and size > 32:
        total = e.narrow(dim, 0, (size - 1) // 32 * 32).sum(dim, keepdim=True)
    elif bug == "softmax first tile" and size > 32:
        total = e.narrow(dim, 32, size - 32).sum(dim, keepdim=True)
    elif bug == "softmax last value" and size > 1:
        total = e.narrow(dim, 0, size - 1).sum(dim, keepdim=True)
    elif bug == "softmax half the row" and size > 1:
        total = 2 * e.narrow(dim, 0, size // 2).sum(dim, keepdim=True)
    elif bug == "softmax sum of row 0" and x.dim() > 1:
        total = total[..., :1, :].expand(total.shape)
    elif bug == "softmax sum of the next row" and x.dim() > 1:
        total = total.roll(1, -2)
    elif bug == "softmax rows in pairs" and x.dim() > 1:
        total = total[..., torch.arange(total.shape[-2]) // 2 * 2, :]
    elif bug == "softmax lower faces of the upper" and x.dim() > 1:
        index = torch.arange(total.shape[-2])
        total = total[..., torch.where(index % 32 >= 16, index - 16, index), :]
    elif bug == "softmax left faces":
        total = e.index_select(dim, torch.arange(size)[torch.arange(size) % 32 < 16]).sum(dim, keepdim=True)
    elif bug == "softmax every second tile" and size > 32:
        total = e.index_select(dim, torch.arange(size)[torch.arange(size) // 32 % 2 == 0]).sum(dim, keepdim=True)
    elif bug == "softmax middle tile twice" and size > 64:
        total = total + e.narrow(dim, size // 64 * 32, 32).sum(dim, keepdim=True)
    elif bug == "softmax sum left from the row before" and x.dim() > 1:
        total = total + 0.25 * total.roll(1, -2)
    elif bug == "softmax middle tile missing" and size > 64:
        total = total - e.narrow(dim, size // 64 * 32, 32).sum(dim, keepdim=True)
    elif bug == "softmax sum + 1":
        total = total + torch.exp(-top)
    elif bug == "softmax sum of maximum row" and x.dim() > 1:
        total = total.amax(-2, keepdim=True).expand(total.shape)
    elif bug == "softmax last tile not divided" and size > 32:
        total = total.expand(e.shape).clone()
        total.narrow(dim, (size - 1) // 32 * 32, size - (size - 1) // 32 * 32).fill_(1)
    elif bug == "softmax padding as data" and size % 32:
        total = total + (32 - size % 32) * torch.exp(-top)
    elif bug == "softmax bf16 sum":
        total = torch.zeros_like(total)
        for start in range(0, size, 32):
            total = bf16(total + bf16(e.narrow(dim, start, min(32, size - start)).sum(dim, keepdim=True)))
    if bug == "softmax no maximum":
        total = total.to(torch.float32).to(torch.float64)
    return [e / total * {"softmax x1.1": 1.1, "softmax 3 % short": 0.97}.get(bug, 1)]


def rotary(call: Call, bug: str) -> list[torch.Tensor]:
    x, cos, sin = call.need("input_tensor"), call.need("cos_cache"), call.need("sin_cache")
    llama = "llama" in call.op
    if list(x.shape) != list(call.shape):
        raise Unsupported("padding in the result")
    off = {"rotary position +1": -1, "rotary position -1": 1}.get(bug, 0)
    cos, sin = cos.roll(off, -2), sin.roll(off, -2)
    if bug == "rotary sine sign":
        sin = -sin
    elif bug == "rotary swapped":
        cos, sin = sin, cos
    elif bug == "rotary cosine of the next pair":
        cos = cos.roll(-2, -1)
    elif bug == "rotary cosine missing":
        cos = torch.ones_like(cos)
    elif bug == "rotary sine of the next position":
        sin = sin.roll(-1, -2)
    elif bug == "rotary cosine of the next position":
        cos = cos.roll(-1, -2)
    elif bug == "rotary slower":
        cos, sin = cos.roll(2, -1), sin.roll(2, -1)
    elif bug == "rotary backwards":
        cos, sin = cos.flip(-2), sin.flip(-2)
    elif bug == "rotary angles as bf4":
        cos, sin = rounded(cos, "BFLOAT4_B"), rounded(sin, "BFLOAT4_B")
    elif bug in ("rotary position within the tile", "rotary position of the tile"):
        at = torch.arange(cos.shape[-2])
        at = at // 32 * 32 if bug == "rotary position of the tile" else at % 32
        cos, sin = cos[..., at, :], sin[..., at, :]
    if llama and call.flag("is_decode_mode", False):
        # [1, users, heads, dim]; the first row of each user's angles.
        cos, sin = cos[:, :, :1], sin[:, :, :1]
        if bug == "rotary position of head 0":
            cos, sin = cos[:, :1].expand(cos.shape), sin[:, :1].expand(sin.shape)
    else:
        token = call.v("token_index")
        if token is not None:
            cos, sin = cos[..., token : token + 1, :], sin[..., token : token + 1, :]
        else:
            if cos.shape[-2] < x.shape[-2]:
                raise Unsupported("fewer angles than rows")
            cos, sin = cos[..., : x.shape[-2], :], sin[..., : x.shape[-2], :]
        if bug == "rotary row 0":
            cos, sin = cos[..., :1, :].expand(cos.shape), sin[..., :1, :].expand(sin.shape)
    if bug == "rotary next head" and x.dim() > 2:
        x = x.roll(1, 1)
    elif bug == "rotary x of row 0":
        x = x[..., :1, :].expand(x.shape)
    width = x.shape[-1]
    if llama != (bug == "rotary other pairs"):
        turned = torch.stack([-x[..., 1::2], x[..., 0::2]], -1).flatten(-2)
    else:
        turned = torch.cat([-x[..., width // 2 :], x[..., : width // 2]], -1)
    if bug == "rotary no rotation part":
        turned = torch.zeros_like(turned)
    out = x * cos + turned * sin
    if bug == "rotary last row plain" and out.shape[-2] > 1:
        out = torch.cat([out[..., :-1, :], x[..., -1:, :]], -2)
    elif bug == "rotary first pair plain":
        out = torch.cat([x[..., :2], out[..., 2:]], -1)
    elif bug == "rotary sine twice":
        out = out + turned * sin
    elif bug == "rotary cosine and sine of half the pairs swapped":
        out = torch.cat([out[..., : width // 2], (x * sin + turned * cos)[..., width // 2 :]], -1)
    elif bug == "rotary later heads one on" and x.dim() > 2 and x.shape[1] > 1 and cos.shape[-2] > 1:
        moved = x * cos.roll(-1, -2) + turned * sin.roll(-1, -2)
        out = torch.cat([out[:, :1], moved[:, 1:]], 1)
    elif bug == "rotary position of the odd rows" and cos.shape[-2] > 1:
        at = torch.arange(cos.shape[-2]) // 2 * 2
        out = x * cos[..., at, :] + turned * sin[..., at, :]
    if bug == "rotary halves swapped":
        out = out.roll(width // 2, -1)
    elif bug == "rotary last head plain" and x.dim() > 2:
        out = torch.cat([out[:, :-1], x[:, -1:]], 1)
    if bug == "rotary second half plain":
        out = torch.cat([out[..., : width // 2], x[..., width // 2 :]], -1)
    return [out]
