"""Sums of products and plain sums: matmul, linear, reductions."""

from __future__ import annotations

from typing import Any

import torch
from planted_device.call import Call, Unsupported
from planted_device.elements import activations, function
from planted_device.rounding import bf16, rounded

MATMUL_BUGS = [
    "matmul last tile of K", "matmul first tile of K", "matmul last of K", "matmul half of K", "matmul bias missing",
    "matmul bias twice", "matmul bias first tile only", "matmul bias neighbour", "matmul activation before bias",
    "matmul activation ignored", "matmul activation hard", "matmul b transposed", "matmul batch 0", "matmul blocks of N swapped",
    "matmul not reset", "matmul one core stale", "matmul rows of a block shifted", "matmul LoFi", "matmul bf16 partial sums",
    "matmul weights as bf4", "matmul K block twice", "matmul row of a shard zero", "matmul activation of half the columns",
    "matmul tiles of K in another order", "matmul a transposed in faces", "matmul bias per block", "matmul bias of the first tile",
    "matmul activation twice", "matmul activation of a partial sum", "matmul last tile of M stale", "matmul last tile of N stale",
    "matmul b of the next batch", "matmul a of batch 0", "matmul 5 % short", "matmul a as bf4", "matmul K padded with ones",
    "matmul lower faces of the upper", "matmul a of row 0", "matmul b of column 0", "matmul bias of row sums", "matmul a absolute",
    "matmul other transpose of a", "matmul bias halved", "matmul operands of 5 bits",
    "matmul every fourth tile of K", "matmul b of the next tile of K", "matmul sums left from the tile above", "matmul halves of N swapped", "matmul partial sums cut to 8 bits",
    "matmul accumulator saturates", "matmul bias of the next tile", "matmul K block of the batch before", "matmul odd rows of the even", "matmul activation of negatives only",
]  # fmt: skip
REDUCE_BUGS = [
    "reduce last tile", "reduce first tile", "reduce last value", "reduce of padded count", "reduce other dimension",
    "reduce of absolutes", "reduce zero in the padding", "reduce row of the neighbour", "reduce bf16 partial sums",
    "reduce scaler missing", "reduce from 0", "reduce left faces", "reduce every second tile", "reduce middle tile twice", "reduce row 0",
    "reduce scaler twice", "reduce first value twice", "reduce right faces", "reduce sums left from the row before", "reduce second half missing", "reduce negatives lost", "reduce last result stale", "reduce of squares", "reduce largest magnitude", "reduce sum for mean", "reduce 2 % short",
    "reduce half",
]  # fmt: skip

def cut(x: torch.Tensor, bits: int) -> torch.Tensor:
    fraction, exponent = torch.frexp(x)
    return torch.ldexp(torch.trunc(fraction * 2**bits) / 2**bits, exponent)


def fused_of(config: Any) -> list[str]:
    if not isinstance(config, dict):
        return []
    return activations(config.get("fused_activation") or config.get("activation"))


def fidelity(call: Call, *names: str) -> str:
    for name in names:
        config = call.v(name)
        if isinstance(config, dict):
            return str(config.get("math_fidelity", ""))
    return ""


def product(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    if a.numel() // a.shape[-1] * a.shape[-1] * b.shape[-1] > 6e9:
        raise Unsupported("too large for this device")
    return (a.to(torch.float32) @ b.to(torch.float32)).to(torch.float64) if a.shape[-1] > 4096 else a @ b


def matmul(call: Call, bug: str) -> list[torch.Tensor]:
    a, b, bias = call.need("input_tensor_a"), call.need("input_tensor_b"), call.t("bias")
    fused = fused_of(call.v("program_config")) + activations(call.v("activation"))
    if call.flag("transpose_a", False):
        a = a.transpose(-1, -2)
    turn = call.flag("transpose_b", False)
    if bug == "matmul b transposed" and b.shape[-1] == b.shape[-2]:
        turn = not turn
    if turn:
        b = b.transpose(-1, -2)
    k = a.shape[-1]
    if bug == "matmul last tile of K" and k > 32:
        a = torch.cat([a[..., : (k - 1) // 32 * 32], torch.zeros_like(a[..., (k - 1) // 32 * 32 :])], -1)
    elif bug == "matmul first tile of K" and k > 32:
        a = torch.cat([torch.zeros_like(a[..., :32]), a[..., 32:]], -1)
    elif bug == "matmul last of K":
        a = torch.cat([a[..., :-1], torch.zeros_like(a[..., -1:])], -1)
    elif bug == "matmul half of K":
        a = torch.cat([a[..., : k // 2], torch.zeros_like(a[..., k // 2 :])], -1)
    elif bug == "matmul LoFi" and "HiFi" in fidelity(call, "compute_kernel_config"):
        a, b = cut(a, 5), cut(b, 7)
    elif bug == "matmul weights as bf4":
        b = rounded(b, "BFLOAT4_B")
    elif bug == "matmul a as bf4":
        a = rounded(a, "BFLOAT4_B")
    elif bug == "matmul operands of 5 bits" and "HiFi" in fidelity(call, "compute_kernel_config"):
        a, b = cut(a, 5), cut(b, 5)
    elif bug == "matmul tiles of K in another order" and k >= 64:
        a = torch.cat([a[..., 32:64], a[..., :32], a[..., 64:]], -1)
    elif bug == "matmul a transposed in faces" and k >= 16 and a.shape[-2] >= 16:
        a = a.clone()
        a[..., :16, :16] = a[..., :16, :16].transpose(-1, -2).clone()
    elif bug == "matmul a of batch 0" and a.dim() > 2:
        a = a[:1].expand(a.shape) if a.shape[0] > 1 else a[:, :1].expand(a.shape)
    elif bug == "matmul b of the next batch" and b.dim() > 2:
        b = b.roll(1, 0) if b.shape[0] > 1 else b.roll(1, 1)
    elif bug == "matmul a of row 0":
        a = a[..., :1, :].expand(a.shape)
    elif bug == "matmul b of column 0":
        b = b[..., :1].expand(b.shape)
    elif bug == "matmul every fourth tile of K" and k >= 128:
        a = a * (torch.arange(k) // 32 % 4 != 3)
    elif bug == "matmul b of the next tile of K" and k >= 64:
        b = torch.cat([b[..., 32:64, :], b[..., 32:, :]], -2)
    elif bug == "matmul K block of the batch before" and b.dim() > 2 and k > 32:
        other = b.roll(1, 0) if b.shape[0] > 1 else b.roll(1, 1)
        b = torch.cat([other[..., :32, :], b[..., 32:, :]], -2)
    elif bug == "matmul a absolute":
        a = a.abs()
    elif bug == "matmul other transpose of a" and k == a.shape[-2]:
        a = a.transpose(-1, -2)
    elif bug == "matmul batch 0" and b.dim() > 2:
        b = b[:1].expand(b.shape) if b.shape[0] > 1 else b[:, :1].expand(b.shape)
    out = product(a, b)
    if bug == "matmul 5 % short":
        out = 0.95 * out
    elif bug == "matmul K padded with ones" and k % 32:
        out = out + (32 - k % 32)
    elif bug == "matmul activation of a partial sum" and fused and k > 64:
        part = product(a[..., :-32], b[..., :-32, :])
        out = function(fused[0], "")(part) + out - part
    if bug == "matmul partial sums cut to 8 bits" and k >= 128:
        out, step = torch.zeros_like(out), max(32, k // 64)
        for start in range(0, k, step):
            out = cut(out + a[..., start : start + step] @ b[..., start : start + step, :], 8)
    elif bug == "matmul accumulator saturates":
        most = 2 * out.square().mean().sqrt()
        out = out.clamp(-most, most)
    if bug == "matmul K block twice" and k > 64:
        out = out + product(a[..., :32], b[..., :32, :])
    if bug == "matmul bf16 partial sums" and k >= 128:
        out, step = torch.zeros_like(out), max(32, k // 16)
        for start in range(0, k, step):
            out = bf16(out + a[..., start : start + step] @ b[..., start : start + step, :])
    if bug == "matmul activation before bias" and bias is not None and fused:
        for one in fused:
            out = function(one, "")(out)
        fused = []
    if bias is not None and bug != "matmul bias missing":
        if bias.dim() > 1 and bias.shape[-2] not in (1, out.shape[-2]):
            bias = bias[..., :1, :]
        if bug == "matmul bias twice":
            bias = 2 * bias
        if bug == "matmul bias halved":
            bias = torch.cat([bias[..., : bias.shape[-1] // 2], torch.zeros_like(bias[..., bias.shape[-1] // 2 :])], -1)
        elif bug == "matmul bias per block" and k > 64:
            bias = bias * (k // 64 + 1)
        elif bug == "matmul bias of the first tile" and bias.shape[-1] > 32:
            bias = bias[..., torch.arange(bias.shape[-1]) % 32]
        elif bug == "matmul bias of row sums":
            bias = bias.mean(-1, keepdim=True).expand(bias.shape)
        elif bug == "matmul bias of the next tile" and bias.shape[-1] > 32:
            bias = bias.roll(32, -1)
        if bug == "matmul bias neighbour":
            bias = bias.roll(1, -1)
        if bug == "matmul bias first tile only" and out.shape[-2] > 32:
            out[..., :32, :] += (bias + torch.zeros_like(out))[..., :32, :]
        else:
            out = out + bias
    for one in fused if bug != "matmul activation ignored" else []:
        right = function(one, "")(out)
        if bug == "matmul activation of half the columns":
            right = torch.cat([right[..., : right.shape[-1] // 2], out[..., right.shape[-1] // 2 :]], -1)
        if bug == "matmul activation of negatives only":
            right = torch.where(out < 0, right, out)
        if bug == "matmul activation twice":
            right = function(one, "")(right)
        out = function(one, "hard")(out) if bug == "matmul activation hard" else right
    out = out.reshape(call.shape)
    n, m = out.shape[-1], out.shape[-2] if out.dim() > 1 else 1
    if bug == "matmul blocks of N swapped" and n >= 64:
        out = torch.cat([out[..., 32:64], out[..., :32], out[..., 64:]], -1)
    elif bug == "matmul halves of N swapped" and n >= 64:
        out = out.roll(n // 2, -1)
    elif bug == "matmul sums left from the tile above" and m > 32:
        out = torch.cat([out[..., :32, :], out[..., 32:, :] + 0.25 * out[..., : m - 32, :]], -2)
    elif bug == "matmul odd rows of the even" and m > 1:
        out = out[..., torch.arange(m) // 2 * 2, :]
    elif bug == "matmul not reset" and n >= 64:
        out = out.clone()
        out[..., 32:64] += out[..., :32]
    elif bug == "matmul one core stale" and n >= 64:
        out = out.clone()
        out[..., n // 64 * 32 : n // 64 * 32 + 32] = 0
    elif bug == "matmul rows of a block shifted" and m >= 32:
        out = out.clone()
        out[..., :32, :] = out[..., :32, :].roll(1, -2)
    elif bug == "matmul last tile of N stale" and n > 32:
        out = torch.cat([out[..., : (n - 1) // 32 * 32], out[..., : n - (n - 1) // 32 * 32]], -1)
    elif bug == "matmul last tile of M stale" and m > 32:
        out = torch.cat([out[..., : (m - 1) // 32 * 32, :], out[..., : m - (m - 1) // 32 * 32, :]], -2)
    elif bug == "matmul lower faces of the upper" and m >= 32:
        out = torch.cat([out[..., :16, :], out[..., :16, :], out[..., 32:, :]], -2)
    elif bug == "matmul row of a shard zero" and m > 1:
        out = out.clone()
        out[..., m // 2, :] = 0
    return [out]


def dims_of(call: Call, rank: int) -> list[int]:
    dim = call.v("dim", call.v("dims"))
    dims = list(range(rank)) if dim is None else dim if isinstance(dim, list) else [dim]
    return [int(d) % rank for d in dims]


def reduce(call: Call, bug: str) -> list[torch.Tensor]:
    name = call.op.split(".")[-1]
    x = call.need("input_tensor", "input")
    if len(call.outputs) > 1 or not x.is_floating_point():
        raise Unsupported("two results")
    scale = float(call.v("scalar", 1.0))
    if bug == "reduce scaler missing":
        scale = 1.0
    dims = dims_of(call, x.dim())
    if bug == "reduce other dimension" and len(dims) == 1:
        other = (dims[0] - 1) % x.dim()
        if x.shape[other] == x.shape[dims[0]]:
            dims = [other]
    along = dims[-1]
    size = x.shape[along]
    count = 1
    for d in dims:
        count *= x.shape[d]
    if bug == "reduce last tile" and size > 32:
        x = x.narrow(along, 0, (size - 1) // 32 * 32)
    elif bug == "reduce first tile" and size > 32:
        x = x.narrow(along, 32, size - 32)
    elif bug == "reduce last value" and size > 1:
        x = x.narrow(along, 0, size - 1)
    elif bug == "reduce half" and size > 1:
        x = x.narrow(along, 0, size // 2)
    elif bug == "reduce first value twice":
        x = torch.cat([x, x.narrow(along, 0, 1)], along)
    elif bug == "reduce second half missing" and size > 1:
        x = x.narrow(along, 0, (size + 1) // 2)
    elif bug == "reduce negatives lost":
        x = x.clamp(min=0)
    elif bug in ("reduce left faces", "reduce right faces", "reduce every second tile"):
        at = torch.arange(size)
        at = at[at % 32 < 16] if "left" in bug else at[at % 32 >= 16] if "right" in bug else at[at // 32 % 2 == 0]
        x = x.index_select(along, at)
    elif bug == "reduce middle tile twice" and size > 64:
        x = torch.cat([x, x.narrow(along, size // 64 * 32, 32)], along)
    elif bug == "reduce of squares":
        x = x.square()
    elif bug == "reduce from 0" and name in ("max", "min"):
        x = torch.cat([x, torch.zeros_like(x.narrow(along, 0, 1))], along)
    elif bug == "reduce row 0" and x.dim() > 1 and along == x.dim() - 1:
        x = x[..., :1, :].expand(x.shape)
    elif bug == "reduce of absolutes":
        x = x.abs()
    elif bug == "reduce zero in the padding" and size % 32:
        x = torch.cat([x, torch.zeros_like(x.narrow(along, 0, 1))], along)
    elif bug == "reduce row of the neighbour" and x.dim() > 1:
        x = x.roll(1, -1 if along != x.dim() - 1 else -2)
    if bug == "reduce of padded count" and size % 32:
        count = count // size * ((size + 31) // 32 * 32)
    if name in ("max", "min"):
        out = x.amax(dims) if name == "max" else x.amin(dims)
    elif bug == "reduce bf16 partial sums" and size > 64:
        out = torch.zeros_like(x.sum(dims))
        for start in range(0, x.shape[along], 16):
            out = bf16(out + x.narrow(along, start, min(16, x.shape[along] - start)).sum(dims))
    else:
        out = x.sum(dims)
    if bug == "reduce scaler twice":
        scale *= scale
    elif bug == "reduce 2 % short":
        scale *= 0.975
    if name == "mean" and bug != "reduce sum for mean":
        out = out / count
    out = (out * scale).reshape(call.shape)
    if bug == "reduce sums left from the row before" and out.numel() > 1:
        out = out + 0.25 * out.reshape(-1).roll(1).reshape(out.shape)
    if bug == "reduce last result stale" and out.numel() > 1:
        out = out.clone()
        out.view(-1)[-1] = out.view(-1)[0]
    elif bug == "reduce largest magnitude" and name in ("max", "min"):
        out = -out
    return [out]
