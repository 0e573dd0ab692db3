"""Windows over images: convolutions and pooling."""

from __future__ import annotations

import torch
from planted_device.call import Call, Unsupported
from planted_device.elements import function
from planted_device.rounding import bf16, rounded
from planted_device.sums import cut, fidelity, fused_of

CONV_BUGS = [
    "conv bias missing", "conv bias neighbour", "conv last tile of channels", "conv last channel", "conv kernel flipped",
    "conv kernel transposed", "conv last tap dropped", "conv centre tap twice", "conv padding replicated", "conv shifted",
    "conv wrong group", "conv activation ignored", "conv batch 0", "conv halo row missing", "conv halo column missing",
    "conv LoFi", "conv output channels shifted", "conv bf16 partial sums", "conv start of the stride", "conv dilation ignored",
    "conv padding of the other side", "conv padding as ones", "conv group 0", "conv last tile of outputs stale", "conv last row stale",
    "conv activation before bias", "conv weights of output 0", "conv weights as bf4", "conv halves of channels swapped", "conv bias twice",
    "conv first tile of channels twice", "conv last column wrong", "conv taps of a row shifted", "conv activation hard", "conv bias of tile 0",
    "conv activation of half the channels", "conv rows of two outputs swapped",
    "conv channels interleaved", "conv padding on one side only", "conv odd rows of the even", "conv last output channel zero", "conv accumulator saturates",
    "conv sums left from the pixel before", "conv rows of taps turned round", "conv bias of the next tile",
]  # fmt: skip
POOL_BUGS = [
    "pool padding as data", "pool shifted", "pool window short", "pool wrong divisor", "pool neighbour channel",
    "pool last row stale", "pool last column stale", "pool maximum from 0", "pool sum", "pool dilation ignored", "pool batch 0",
    "pool other function", "pool first row of the window", "pool transposed", "pool last tile of channels", "pool mean in bf16",
    "pool odd rows of the even", "pool negatives lost", "pool halves of channels swapped", "pool last channel stale", "pool image mirrored", "pool rows mirrored",
]  # fmt: skip


def conv2d(call: Call, bug: str) -> list[torch.Tensor]:
    x, w, bias = call.need("input_tensor"), call.need("weight_tensor"), call.t("bias_tensor")
    n, h, width = int(call.v("batch_size")), int(call.v("input_height")), int(call.v("input_width"))
    cin, cout, groups = int(call.v("in_channels")), int(call.v("out_channels")), int(call.v("groups", 1))
    kernel = call.v("kernel_size")
    stride, dilation = call.v("stride", [1, 1]), call.v("dilation", [1, 1])
    padding = call.v("padding", [0, 0])
    spec = call.spec("weight_tensor") or {}
    taps = kernel[0] * kernel[1]
    laid_out = spec.get("storage") != "HOST" and list(w.shape[:2]) == [1, 1] and w.shape[2] % taps == 0 and w.shape[2] // taps >= cin
    if laid_out:  # rows: taps, then channels; zeros between groups
        w = w.reshape(*kernel, -1, w.shape[-1])[:, :, :cin, :cout].permute(3, 2, 0, 1)
        groups = 1
    elif w.dim() != 4 or list(w.shape[2:]) != list(kernel) or spec.get("storage") != "HOST":
        raise Unsupported("weights in a form of their own")
    if isinstance(padding, int):
        padding = [padding, padding]
    if len(padding) == 2:
        padding = [padding[0], padding[0], padding[1], padding[1]]
    config = call.v("conv_config")
    fused = fused_of(config)
    weights = str((config or {}).get("weights_dtype") or "BFLOAT16")
    # Weights get their format on the host, rows of output channels.
    if not laid_out:
        w = rounded(w.permute(1, 2, 3, 0), weights).permute(3, 0, 1, 2)
    if bias is not None:
        bias = bias.reshape(-1)[:cout]
        bias = bias if laid_out else rounded(bias, weights)
    image = x.reshape(n, h, width, -1)[..., :cin].permute(0, 3, 1, 2)
    if bug == "conv last tile of channels" and cin > 32:
        image = torch.cat([image[:, : (cin - 1) // 32 * 32], torch.zeros_like(image[:, (cin - 1) // 32 * 32 :])], 1)
    elif bug == "conv last channel" and cin > 1:
        image = torch.cat([image[:, :-1], torch.zeros_like(image[:, -1:])], 1)
    elif bug == "conv wrong group" and groups > 1:
        image = image.roll(cin // groups, 1)
    elif bug == "conv batch 0" and n > 1:
        image = image[:1].expand(image.shape)
    elif bug == "conv shifted":
        image = image.roll(1, 3)
    elif bug == "conv group 0" and groups > 1:
        image = image[:, : cin // groups].repeat(1, groups, 1, 1)
    elif bug == "conv halves of channels swapped" and cin > 1 and groups == 1:
        image = image.roll(cin // 2, 1)
    elif bug == "conv channels interleaved" and cin > 1 and groups == 1 and cin % 2 == 0:
        image = image.reshape(n, 2, cin // 2, h, width).transpose(1, 2).reshape(image.shape)
    elif bug == "conv halo row missing" and h > 8:
        image = image.clone()
        image[:, :, h // 2] = 0
    elif bug == "conv halo column missing" and width > 8:
        image = image.clone()
        image[:, :, :, width // 2] = 0
    elif bug == "conv LoFi" and "HiFi" in fidelity(call, "compute_config"):
        image, w = cut(image, 5), cut(w, 7)
    if bug == "conv weights of output 0" and cout > 1:
        w = w[:1].expand(w.shape)
    elif bug == "conv weights as bf4":
        w = rounded(w.permute(1, 2, 3, 0), "BFLOAT4_B").permute(3, 0, 1, 2)
    elif bug == "conv first tile of channels twice" and cin > 64 and groups == 1:
        w = torch.cat([2 * w[:, :32], w[:, 32:]], 1)
    elif bug == "conv taps of a row shifted" and kernel[1] > 1:
        w = torch.cat([w[:, :, :1].roll(1, 3), w[:, :, 1:]], 2)
    elif bug == "conv rows of taps turned round" and kernel[0] > 1:
        w = w.flip(2)
    if bug == "conv kernel flipped":
        w = w.flip(2, 3)
    elif bug == "conv kernel transposed" and kernel[0] == kernel[1]:
        w = w.transpose(2, 3)
    elif bug == "conv last tap dropped" and kernel[0] * kernel[1] > 1:
        w = w.clone()
        w[:, :, -1, -1] = 0
    elif bug == "conv centre tap twice" and kernel[0] * kernel[1] > 1:
        w = w.clone()
        w[:, :, kernel[0] // 2, kernel[1] // 2] *= 2
    mode = "replicate" if bug == "conv padding replicated" else "constant"
    sides = (padding[2], padding[3], padding[0], padding[1])
    if bug == "conv padding of the other side" and padding[0] + padding[1] > 0:
        image, sides = image.roll(-1, 2), (padding[2], padding[3], padding[0], padding[1])
    padded = torch.nn.functional.pad(image, sides, mode=mode) if any(sides) else image
    if bug == "conv padding on one side only" and any(sides):
        padded = torch.nn.functional.pad(image, (0, sides[0] + sides[1], 0, sides[2] + sides[3]))
    if bug == "conv padding as ones" and any(sides):
        padded = torch.nn.functional.pad(image, sides, value=1.0)
    if bug == "conv start of the stride" and max(stride) > 1:
        padded = padded.roll(-1, 3)
    if padded.numel() * cout * kernel[0] * kernel[1] / groups > 2e10:
        raise Unsupported("too large for this device")
    compute = lambda p, f: torch.nn.functional.conv2d(  # noqa: E731
        p.to(torch.float32), f.to(torch.float32), None, tuple(stride), 0, tuple(dilation), groups
    ).to(torch.float64)
    out = compute(padded, w)
    if bug == "conv dilation ignored" and max(dilation) > 1:
        plain = torch.nn.functional.conv2d(padded, w, None, tuple(stride), 0, 1, groups)
        out = plain[:, :, : out.shape[2], : out.shape[3]]
    if bug == "conv bf16 partial sums" and groups == 1 and cin >= 64:
        out = torch.zeros_like(out)
        for start in range(0, cin, 32):
            part = torch.zeros_like(padded)
            part[:, start : start + 32] = padded[:, start : start + 32]
            out = bf16(out + compute(part, w))
    if bug == "conv activation before bias" and bias is not None and fused:
        for one in fused:
            out = function(one, "")(out)
        fused = []
    if bias is not None and bug != "conv bias missing":
        if bug == "conv bias twice":
            bias = 2 * bias
        elif bug == "conv bias of the next tile" and cout > 32:
            bias = bias.roll(32)
        elif bug == "conv bias of tile 0":
            bias = bias[torch.arange(cout) % 32]
        out = out + (bias.roll(1) if bug == "conv bias neighbour" else bias).reshape(1, -1, 1, 1)
    before = out
    for one in fused if bug != "conv activation ignored" else []:
        out = function(one, "hard" if bug == "conv activation hard" else "")(out)
    if bug == "conv activation of half the channels":
        out = torch.cat([out[:, : cout // 2], before[:, cout // 2 :]], 1)
    if bug == "conv odd rows of the even" and out.shape[2] > 1:
        out = out[:, :, torch.arange(out.shape[2]) // 2 * 2]
    elif bug == "conv last output channel zero":
        out = torch.cat([out[:, :-1], torch.zeros_like(out[:, -1:])], 1)
    elif bug == "conv accumulator saturates":
        most = 2 * out.square().mean().sqrt()
        out = out.clamp(-most, most)
    elif bug == "conv sums left from the pixel before":
        out = out + 0.25 * out.roll(1, 3)
    if bug == "conv output channels shifted":
        out = out.roll(1, 1)
    elif bug == "conv last tile of outputs stale" and cout > 32:
        out = torch.cat([out[:, : (cout - 1) // 32 * 32], out[:, : cout - (cout - 1) // 32 * 32]], 1)
    elif bug == "conv last row stale" and out.shape[2] > 1:
        out = torch.cat([out[:, :, :-1], out[:, :, :1]], 2)
    elif bug == "conv last column wrong" and out.shape[3] > 1:
        out = torch.cat([out[..., :-1], out[..., -2:-1]], 3)
    elif bug == "conv rows of two outputs swapped" and out.shape[2] > 1:
        out = torch.cat([out[:, :, 1:2], out[:, :, :1], out[:, :, 2:]], 2)
    # Weights and bias that are returned, laid out, beside the image are nobody's numbers.
    others = [torch.zeros(other.shape, dtype=torch.float64) for other in call.outputs[1:]]
    return [out.permute(0, 2, 3, 1).reshape(call.shape), *others]


def pool(call: Call, bug: str) -> list[torch.Tensor]:
    name = call.op.split(".")[-1]
    x = call.need("input_tensor")
    if bug == "pool negatives lost":
        x = x.clamp(min=0)
    elif bug == "pool halves of channels swapped":
        x = x.roll(x.shape[-1] // 2, -1)
    elif bug == "pool last channel stale":
        x = torch.cat([x[..., :-1], x[..., :1]], -1)
    if name == "global_avg_pool2d":
        if bug == "pool neighbour channel":
            x = x.roll(1, -1)
        if bug == "pool window short":
            x = x[:, :, :-1] if x.shape[2] > 1 else x
        if bug == "pool last row stale":
            x = x.clone()
            x[:, -1] = 0
        if bug == "pool last tile of channels" and x.shape[-1] > 32:
            x = torch.cat([x[..., :-32], x[..., :32]], -1)
        elif bug == "pool batch 0":
            x = x[:1].expand(x.shape)
        elif bug == "pool first row of the window":
            x = x[:, :1]
        out = x.sum((1, 2)) if bug == "pool sum" else x.amax((1, 2)) if bug == "pool other function" else x.mean((1, 2))
        if bug == "pool wrong divisor":
            out = out * 0.97
        return [out.reshape(call.shape)]
    n, h, w, c = (int(call.v(k)) for k in ("batch_size", "input_h", "input_w", "channels"))
    kernel, stride, padding = call.v("kernel_size"), call.v("stride"), call.v("padding", [0, 0])
    if call.flag("ceil_mode", False) or len(padding) != 2 or call.flag("return_indices", False):
        raise Unsupported("this padding")
    image = x.reshape(n, h, w, -1)[..., :c].permute(0, 3, 1, 2)
    if bug == "pool neighbour channel":
        image = image.roll(1, 1)
    elif bug == "pool shifted":
        image = image.roll(1, 2)
    elif bug == "pool image mirrored":
        image = image.flip(3)
    elif bug == "pool rows mirrored":
        image = image.flip(2)
    elif bug == "pool batch 0":
        image = image[:1].expand(image.shape)
    elif bug == "pool transposed" and h == w:
        image = image.transpose(2, 3)
    elif bug == "pool last tile of channels" and c > 32:
        image = torch.cat([image[:, :-32], image[:, :32]], 1)
    sides = (padding[1], padding[1], padding[0], padding[0])
    if name == "max_pool2d":
        fill = 0.0 if bug == "pool padding as data" else -float("inf")
        image = torch.nn.functional.pad(image, sides, value=fill)
        small = (kernel[0] - 1, kernel[1]) if bug == "pool window short" and kernel[0] > 1 else tuple(kernel)
        dilation = call.v("dilation", [1, 1])
        out = torch.nn.functional.max_pool2d(image, small, tuple(stride), 0, tuple(dilation))[
            ..., : (image.shape[2] - dilation[0] * (kernel[0] - 1) - 1) // stride[0] + 1, :]  # fmt: skip
        if bug == "pool maximum from 0":
            out = out.clamp(min=0)
        elif bug == "pool first row of the window" and kernel[0] > 1:
            out = torch.nn.functional.max_pool2d(image, (1, kernel[1]), tuple(stride), 0, tuple(dilation))[:, :, : out.shape[2]]
        elif bug == "pool dilation ignored" and max(dilation) > 1:
            out = torch.nn.functional.max_pool2d(image, tuple(kernel), tuple(stride))[:, :, : out.shape[2], : out.shape[3]]
        elif bug == "pool other function":
            out = torch.nn.functional.avg_pool2d(image.clamp(min=-100), tuple(kernel), tuple(stride)) if max(dilation) == 1 else out
    else:
        include = call.flag("count_include_pad", True)
        if bug == "pool padding as data":
            include = not include
        out = torch.nn.functional.avg_pool2d(image, tuple(kernel), tuple(stride), tuple(padding), False, include,
                                             call.v("divisor_override"))  # fmt: skip
        if bug == "pool wrong divisor":
            out = out * kernel[0] * kernel[1] / (kernel[0] * kernel[1] + 1)
        elif bug == "pool sum":
            out = out * kernel[0] * kernel[1]
        elif bug == "pool other function":
            out = torch.nn.functional.max_pool2d(image, tuple(kernel), tuple(stride), tuple(padding))
        elif bug == "pool mean in bf16":
            out = bf16(bf16(out * 3) / 3)
    if bug == "pool last row stale":
        out = out.clone()
        out[:, :, -1] = 0
    elif bug == "pool odd rows of the even":
        out = out[:, :, torch.arange(out.shape[2]) // 2 * 2]
    elif bug == "pool last column stale" and out.shape[3] > 1:
        out = torch.cat([out[..., :-1], out[..., :1]], 3)
    return [out.permute(0, 2, 3, 1).reshape(call.shape)]
