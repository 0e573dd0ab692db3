"""Reductions, norms, products, convolutions, pools, attention, rotations."""

from __future__ import annotations

import itertools
import math

from cases import ANYTHING, Cases, Word, call, host, tensor, torch


def reductions() -> Cases:
    cases = Cases("reductions")
    formulas = {"sum": lambda x, d, k: x.sum(d, keepdim=k), "mean": lambda x, d, k: x.mean(d, keepdim=k),
                "max": lambda x, d, k: x.amax(d, keepdim=k), "min": lambda x, d, k: x.amin(d, keepdim=k)}
    for name, formula in formulas.items():
        op = "ttnn." + name
        for shape in ([2, 3, 4, 5], [1, 1, 33, 7], [1, 1, 64, 96], [3, 40]):
            rank = len(shape)
            for dim, keep in itertools.product([*range(-rank, rank)], (False, True)):
                cases.add(op, "dim, keepdim", call(op, tensor(shape, "BFLOAT16"), dim=dim, keepdim=keep), lambda x, d=dim, k=keep, f=formula: f(x, (d,), k))
            for dims in itertools.combinations(range(rank), 2):
                cases.add(op, "several dims", call(op, tensor(shape, "BFLOAT16"), dim=list(dims)), lambda x, d=dims, f=formula: f(x, d, False))
            cases.add(op, "all dims", call(op, tensor(shape, "BFLOAT16")), lambda x, f=formula: f(x, tuple(range(x.dim())), False))
        for scalar in (2.0, -0.5):
            cases.add(op, "scalar", call(op, tensor([3, 40], "BFLOAT16"), dim=-1, scalar=scalar), lambda x, s=scalar, f=formula: f(x, (-1,), False) * s)
        cases.add(op, "special values", call(op, tensor([4, 4])  , dim=-1), lambda x, f=formula: f(x, (-1,), False),
                  given={0: [1.0, 2.0, math.inf, 3.0, -math.inf, 1.0, 2.0, 4.0, 0.0, -0.0, 0.0, -0.0, 1e30, -1e30, 1.0, 2.0]})
    op = "ttnn.argmax"
    for shape in ([1, 1, 64, 96], [2, 3, 4, 5], [7, 33]):
        for dim, keep in itertools.product((-1, len(shape) - 1, None), (False, True)):
            cases.add(op, "dim, keepdim", call(op, tensor(shape, "BFLOAT16", "ROW_MAJOR"), dim=dim, keepdim=keep), lambda x, d=dim, k=keep: first_largest(x, d, k), times=2)
    cases.add(op, "ties", call(op, tensor([4, 8], "BFLOAT16", "ROW_MAJOR"), dim=-1), lambda x: first_largest(x, -1, False), given={0: [float(i * 3 % 4) for i in range(32)]})
    op = "ttnn.topk"
    for width, k in ((64, 32), (256, 32), (128, 64)):
        for largest in (True, False):
            cases.add(op, "k, largest", call(op, tensor([1, 1, 32, width], "BFLOAT16"), k, largest=largest), lambda x, k=k, g=largest: ranked(x, k, g), times=3)
    op = "ttnn.experimental.fast_reduce_nc"
    for shape, dims in (([1, 4, 64, 96], [1]), ([3, 2, 32, 64], [0]), ([3, 2, 32, 64], [0, 1]), ([1, 8, 5, 7], [1])):
        cases.add(op, "dims", call(op, tensor(shape, "BFLOAT16"), dims=dims), lambda x, d=dims: in_tiles(x.sum(d, keepdim=True)), times=3)
    op = "ttnn.global_avg_pool2d"
    for shape in ([1, 1, 49, 64], [1, 7, 7, 32], [2, 1, 16, 96]):
        cases.add(op, "shape", call(op, tensor(shape, "BFLOAT16")), lambda x: x.mean((1, 2), keepdim=True), times=2)
    return cases


def in_tiles(x):
    """The operator returns whole tiles; what lies beyond the tensor is nobody's."""
    down, across = -x.shape[-2] % 32, -x.shape[-1] % 32
    return torch.nn.functional.pad(x, [0, across, 0, down], value=ANYTHING)


def first_largest(x, dim, keep):
    if dim is None:
        out = int((x.flatten() == x.max()).nonzero()[0])
        return torch.full((1,) * x.dim() if keep else (), out)
    best = x == x.amax(dim, keepdim=True)
    return (best.cumsum(dim) * best == 1).double().argmax(dim, keepdim=keep)  # argmax of PyTorch takes any of equals


def ranked(x, k, largest):
    order = torch.sort(-x if largest else x, dim=-1, stable=True)[1][..., :k]
    return torch.gather(x, -1, order), order


def softmaxes() -> Cases:
    cases = Cases("softmaxes")
    for shape in ([1, 1, 64, 256], [2, 3, 4, 5], [1, 1, 33, 7], [3, 40]):
        for dim in range(-len(shape), len(shape)):
            cases.add("ttnn.softmax", "dim", call("ttnn.softmax", tensor(shape, "BFLOAT16"), dim=dim), lambda x, d=dim: torch.softmax(x, d))
        for stable in (True, False):
            cases.add("ttnn.softmax", "numeric_stable", call("ttnn.softmax", tensor(shape, "BFLOAT16"), dim=-1, numeric_stable=stable), lambda x: torch.softmax(x, -1))
        cases.add("ttnn.softmax_in_place", "shape", call("ttnn.softmax_in_place", tensor(shape, "BFLOAT16")), lambda x: torch.softmax(x, -1), times=2)
    wide = [float((i * 37) % 160 - 80) for i in range(4 * 64)]
    cases.add("ttnn.softmax", "wide logits", call("ttnn.softmax", tensor([4, 64]), dim=-1), lambda x: torch.softmax(x, -1), given={0: wide})
    op = "ttnn.scale_mask_softmax_in_place"
    for scale in (0.125, 1.0, 2.0):
        cases.add(op, "scale, mask", call(op, tensor([1, 1, 64, 256], "BFLOAT16"), scale, tensor([1, 1, 32, 256], "BFLOAT16")),
                  lambda x, m, s=scale: torch.softmax(x * s + m[:, :, :1], -1), times=2)
        cases.add(op, "scale", call(op, tensor([1, 1, 64, 256], "BFLOAT16"), scale), lambda x, s=scale: torch.softmax(x * s, -1))
    return cases


def norms() -> Cases:
    cases = Cases("norms")

    def rms(x, e, w=None, b=None):
        y = x * torch.rsqrt((x * x).mean(-1, keepdim=True) + e)
        y = y if w is None else y * w.reshape(-1)
        return y if b is None else y + b.reshape(-1)

    def layer(x, e, w=None, b=None):
        return torch.nn.functional.layer_norm(x, x.shape[-1:], None if w is None else w.reshape(-1), None if b is None else b.reshape(-1), e)

    for name, f in (("rms_norm", rms), ("layer_norm", layer)):
        op = "ttnn." + name
        for shape in ([1, 1, 64, 256], [2, 3, 5, 64], [7, 96], [1, 1, 1, 32]):
            x, w = tensor(shape, "BFLOAT16"), tensor([1, 1, 1, shape[-1]], "BFLOAT16")
            for e in (1e-5, 1e-12, 0.1, 1.0):
                cases.add(op, "epsilon", call(op, x, epsilon=e), lambda x, e=e, f=f: f(x, e))
                cases.add(op, "weight", call(op, x, epsilon=e, weight=w), lambda x, w, e=e, f=f: f(x, e, w))
                cases.add(op, "weight, bias", call(op, x, epsilon=e, weight=w, bias=w), lambda x, w, b, e=e, f=f: f(x, e, w, b))
                cases.add(op, "residual_input_tensor", call(op, x, epsilon=e, residual_input_tensor=x), lambda x, r, e=e, f=f: f(x + r, e))
            packed = tensor([1, 1, shape[-1] // 32, 32], "BFLOAT16", "ROW_MAJOR")
            cases.add(op, "weight in rows of 32", call(op, x, epsilon=1e-5, weight=packed), lambda x, w, f=f: f(x, 1e-5, w))
            cases.add(op, "epsilon's default", call(op, x), lambda x, f=f: f(x, 1e-12))
    op = "ttnn.group_norm"
    place = "memory(L1 HEIGHT_SHARDED shard [32,128] on (0,0)-(7,0) ROW_MAJOR)"
    for groups in (2, 4):
        x, m = tensor([1, 1, 256, 128], "BFLOAT16", "ROW_MAJOR", place), tensor([1, groups, 32, 128 // groups], "BFLOAT16")
        w = tensor([1, 1, 4, 32], "BFLOAT16", "ROW_MAJOR")
        more = dict(memory_config=Word(place), core_grid=Word("CoreGrid(x=8,y=1)"))

        def group(x, g, e, w=None, b=None):
            flat = x.reshape(x.shape[0], -1, x.shape[-1]).transpose(1, 2)
            flat = torch.nn.functional.group_norm(flat, g, None if w is None else w.reshape(-1), None if b is None else b.reshape(-1), e)
            return flat.transpose(1, 2).reshape(x.shape)

        for e in (1e-5, 0.1):
            cases.add(op, "num_groups, epsilon", call(op, x, num_groups=groups, epsilon=e, input_mask=m, **more), lambda x, m, g=groups, e=e: group(x, g, e), times=2)
            cases.add(op, "weight, bias", call(op, x, num_groups=groups, epsilon=e, input_mask=m, weight=w, bias=w, **more), lambda x, m, w, b, g=groups, e=e: group(x, g, e, w, b), times=2)
    return cases


def products() -> Cases:
    cases = Cases("products")
    shapes = [([1, 1, 64, 256], [1, 1, 256, 96]), ([2, 3, 5, 33], [2, 3, 33, 7]), ([2, 3, 5, 33], [33, 7]), ([1, 1, 1, 32], [1, 1, 32, 1]), ([7, 40], [40, 3]), ([2, 1, 32, 64], [1, 1, 64, 32])]
    for a, b in shapes:
        for dtype in ("FLOAT32", "BFLOAT16"):
            cases.add("ttnn.matmul", "shape", call("ttnn.matmul", tensor(a, dtype), tensor(b, dtype)), lambda a, b: a @ b, times=2)
            cases.add("ttnn.matmul", "transpose_b", call("ttnn.matmul", tensor(a, dtype), tensor([*b[:-2], b[-1], b[-2]], dtype), transpose_b=True), lambda a, b: a @ b.transpose(-1, -2))
            cases.add("ttnn.matmul", "transpose_a", call("ttnn.matmul", tensor([*a[:-2], a[-1], a[-2]], dtype), tensor(b, dtype), transpose_a=True), lambda a, b: a.transpose(-1, -2) @ b)
            cases.add("ttnn.linear", "shape", call("ttnn.linear", tensor(a, dtype), tensor(b, dtype)), lambda a, b: a @ b)
            bias = tensor([1, 1, 1, b[-1]] if len(a) == 4 else [1, b[-1]], dtype)
            cases.add("ttnn.linear", "bias", call("ttnn.linear", tensor(a, dtype), tensor(b, dtype), bias=bias), lambda a, b, c: a @ b + c, times=2)
            cases.add("ttnn.linear", "transpose_b", call("ttnn.linear", tensor(a, dtype), tensor([*b[:-2], b[-1], b[-2]], dtype), bias=bias, transpose_b=True), lambda a, b, c: a @ b.transpose(-1, -2) + c)
            for name, f in (("relu", lambda x: torch.relu(x)), ("gelu", lambda x: 0.5 * x * torch.special.erfc(-x / math.sqrt(2))), ("silu", lambda x: torch.nn.functional.silu(x))):
                cases.add("ttnn.linear", "activation", call("ttnn.linear", tensor(a, dtype), tensor(b, dtype), bias=bias, activation=name), lambda a, b, c, f=f: f(a @ b + c))
                cases.add("ttnn.matmul", "activation", call("ttnn.matmul", tensor(a, dtype), tensor(b, dtype), activation=name), lambda a, b, f=f: f(a @ b))
    return cases


def convolutions() -> Cases:
    cases = Cases("convolutions")
    random = cases.random
    op = "ttnn.conv2d"
    for _ in range(90):
        batch, height, width = random.choice((1, 2)), random.randint(4, 12), random.randint(4, 12)
        groups = random.choice((1, 1, 2, 4))
        inner, outer = groups * random.choice((8, 16)), groups * random.choice((8, 16, 32))
        kernel = [random.choice((1, 2, 3)), random.choice((1, 3))]
        stride, padding, dilation = [random.choice((1, 2)) for _ in "ab"], [random.choice((0, 1)) for _ in "ab"], [random.choice((1, 1, 2)) for _ in "ab"]
        bias = random.random() < 0.5
        if any(size + 2 * p < d * (k - 1) + 1 for size, p, d, k in zip((height, width), padding, dilation, kernel)):
            continue
        named = dict(in_channels=inner, out_channels=outer, batch_size=batch, input_height=height, input_width=width, kernel_size=kernel, stride=stride, padding=padding, dilation=dilation, groups=groups)
        if bias:
            named["bias_tensor"] = host([1, 1, 1, outer])

        def conv(x, w, b=None, named=named):
            image = x.reshape(named["batch_size"], named["input_height"], named["input_width"], -1).permute(0, 3, 1, 2)
            y = torch.nn.functional.conv2d(image, w, None if b is None else b.reshape(-1), named["stride"], named["padding"], named["dilation"], named["groups"])
            return y.permute(0, 2, 3, 1).reshape(1, 1, -1, y.shape[1])

        line = call(op, input_tensor=tensor([1, 1, batch * height * width, inner], "BFLOAT16", "ROW_MAJOR"), weight_tensor=host([outer, inner // groups, *kernel]), **named)
        about = "groups" if groups > 1 else "dilation" if dilation != [1, 1] else "stride, padding"
        cases.add(op, about + (", bias" if bias else ""), line, conv)
    for name in ("ttnn.max_pool2d", "ttnn.avg_pool2d"):
        for _ in range(70):
            batch, height, width, channels = random.choice((1, 2)), random.randint(5, 14), random.randint(5, 14), random.choice((16, 32, 64))
            kernel, stride = [random.choice((2, 3)) for _ in "ab"], [random.choice((1, 2, 3)) for _ in "ab"]
            padding = [random.choice((0, 1)) for _ in "ab"]
            ceil = random.random() < 0.5
            named = dict(batch_size=batch, input_h=height, input_w=width, channels=channels, kernel_size=kernel, stride=stride, padding=padding, ceil_mode=ceil)
            about = "ceil_mode" if ceil else "stride, padding"
            if name.startswith("ttnn.max"):
                named["dilation"] = [random.choice((1, 2)) for _ in "ab"] if min(height, width) > 6 else [1, 1]
            else:
                named["count_include_pad"] = random.random() < 0.5
                about += ", count_include_pad" if named["count_include_pad"] else ""
                if random.random() < 0.2:
                    named["divisor_override"] = random.choice((1, 3, 7))
                    about = "divisor_override"

            def pool(x, named=named, name=name):
                image = x.reshape(named["batch_size"], named["input_h"], named["input_w"], -1).permute(0, 3, 1, 2)
                if name.startswith("ttnn.max"):
                    y = torch.nn.functional.max_pool2d(image, named["kernel_size"], named["stride"], named["padding"], named["dilation"], named["ceil_mode"])
                else:
                    y = torch.nn.functional.avg_pool2d(image, named["kernel_size"], named["stride"], named["padding"], named["ceil_mode"], named["count_include_pad"], named.get("divisor_override"))
                return y.permute(0, 2, 3, 1).reshape(1, 1, -1, y.shape[1])

            cases.add(name, about, call(name, input_tensor=tensor([1, 1, batch * height * width, channels], "BFLOAT16", "ROW_MAJOR"), **named), pool)
    return cases


def attention() -> Cases:
    cases = Cases("attention")
    near = dict(tolerance=1e-10)  # our references leave weights below 1e-12 out

    def attend(q, k, v, scale=None, mask=None):
        k, v = (t.repeat_interleave(q.shape[1] // t.shape[1], 1) for t in (k, v))
        scores = q @ k.transpose(-1, -2) * (q.shape[-1] ** -0.5 if scale is None else scale)
        return torch.softmax(scores if mask is None else scores + mask, -1) @ v

    def causal(rows, columns, start=0, window=None):
        i, j = torch.arange(rows)[:, None] + start, torch.arange(columns)[None]
        hidden = (j > i) if window is None else (j > i) | (j <= i - window)
        return torch.zeros(rows, columns, dtype=torch.double).masked_fill(hidden, -math.inf)

    op = "ttnn.transformer.scaled_dot_product_attention"
    for heads, kv, rows, dim in ((4, 2, 64, 64), (2, 2, 32, 32), (8, 1, 96, 64)):
        q, k = tensor([1, heads, rows, dim], "BFLOAT16"), tensor([1, kv, rows, dim], "BFLOAT16")
        cases.add(op, "is_causal", call(op, q, k, k, is_causal=True), lambda q, k, v: attend(q, k, v, mask=causal(q.shape[2], k.shape[2])), times=4, **near)
        cases.add(op, "is_causal", call(op, q, k, k, is_causal=False), lambda q, k, v: attend(q, k, v), times=4, **near)
        for scale in (0.5, 0.03125):
            cases.add(op, "scale", call(op, q, k, k, is_causal=True, scale=scale), lambda q, k, v, s=scale: attend(q, k, v, s, causal(q.shape[2], k.shape[2])), times=2, **near)
        cases.add(op, "attn_mask", call(op, q, k, k, is_causal=False, attn_mask=tensor([1, 1, rows, rows], "BFLOAT16")), lambda q, k, v, m: attend(q, k, v, mask=m), times=4, **near)
        cases.add(op, "sliding_window_size", call(op, q, k, k, is_causal=True, sliding_window_size=16), lambda q, k, v: attend(q, k, v, mask=causal(q.shape[2], k.shape[2], window=16)), times=2, **near)
        cases.add(op, "keys longer than queries", call(op, q, tensor([1, kv, 128, dim], "BFLOAT16"), tensor([1, kv, 128, dim], "BFLOAT16"), is_causal=False), lambda q, k, v: attend(q, k, v), times=2, **near)

    def decode(q, keys, values, positions, scale=None):
        out = []
        for user in range(q.shape[1]):
            length = int(positions[user]) + 1
            k, v = keys[user][None, :, :length], values[user][None, :, :length]
            out.append(attend(q[:, user].unsqueeze(2), k, v, scale).squeeze(2))
        return torch.stack(out, 1)

    op = "ttnn.transformer.scaled_dot_product_attention_decode"
    for at in (0, 31, 100, 255):
        cases.add(op, "cur_pos", call(op, tensor([1, 1, 32, 64], "BFLOAT16"), tensor([1, 2, 256, 64], "BFLOAT16"), tensor([1, 2, 256, 64], "BFLOAT16"), cur_pos=[at]),
                  lambda q, k, v, at=at: decode(q, k, v, [at]), times=2, **near)
        cases.add(op, "scale", call(op, tensor([1, 1, 32, 64], "BFLOAT16"), tensor([1, 2, 256, 64], "BFLOAT16"), tensor([1, 2, 256, 64], "BFLOAT16"), cur_pos=[at], scale=0.5),
                  lambda q, k, v, at=at: decode(q, k, v, [at], 0.5), **near)
    positions = tensor([4], "INT32", "ROW_MAJOR")
    cases.add(op, "cur_pos_tensor", call(op, tensor([1, 4, 32, 64], "BFLOAT16"), tensor([4, 2, 128, 64], "BFLOAT16"), tensor([4, 2, 128, 64], "BFLOAT16"), cur_pos_tensor=positions),
              lambda q, k, v, p: decode(q, k, v, p), times=6, **near)

    def unpaged(cache, table):
        return torch.stack([torch.cat([cache[int(block)] for block in row], 1) for row in table])

    op = "ttnn.transformer.paged_scaled_dot_product_attention_decode"
    for users in (1, 4):
        blocks = tensor([16, 2, 64, 64], "BFLOAT16")
        cases.add(op, "page_table_tensor, cur_pos_tensor", call(op, tensor([1, users, 32, 64], "BFLOAT16"), blocks, blocks, tensor([users, 4], "INT32", "ROW_MAJOR"), cur_pos_tensor=tensor([users], "INT32", "ROW_MAJOR")),
                  lambda q, k, v, t, p: decode(q, unpaged(k, t), unpaged(v, t), p), times=6, **near)
    op = "ttnn.transformer.chunked_scaled_dot_product_attention"
    for start in (0, 64, 128):
        blocks = tensor([8, 2, 64, 64], "BFLOAT16")

        def chunk(q, k, v, t, start=start):
            end = start + q.shape[2]
            return attend(q, unpaged(k, t)[:, :, :end], unpaged(v, t)[:, :, :end], mask=causal(q.shape[2], end, start))

        cases.add(op, "chunk_start_idx", call(op, tensor([1, 4, 64, 64], "BFLOAT16"), blocks, blocks, tensor([1, 4], "INT32", "ROW_MAJOR"), start), chunk, times=4, **near)
    return cases


def rotations() -> Cases:
    cases = Cases("rotations")

    def halves(x):
        half = x.shape[-1] // 2
        return torch.cat([-x[..., half:], x[..., :half]], -1)

    def pairs(x):
        return torch.stack([-x[..., 1::2], x[..., ::2]], -1).flatten(-2)

    op = "ttnn.experimental.rotary_embedding"
    for heads, rows, dim in ((2, 64, 64), (4, 32, 128), (1, 96, 64)):
        angles = tensor([1, 1, rows, dim], "BFLOAT16")
        cases.add(op, "shape", call(op, tensor([1, heads, rows, dim], "BFLOAT16"), angles, angles), lambda x, c, s: x * c + halves(x) * s, times=3)
        op2 = "ttnn.experimental.rotary_embedding_llama"
        cases.add(op2, "prefill", call(op2, tensor([1, heads, rows, dim], "BFLOAT16"), angles, angles, tensor([1, 1, 32, 32], "BFLOAT16")),
                  lambda x, c, s, m: x * c + pairs(x) * s, times=3)
    shard = "memory(L1 HEIGHT_SHARDED shard [32,64] on (0,0)-(3,0) ROW_MAJOR)"
    users = tensor([1, 4, 32, 64], "BFLOAT16", memory=shard)
    turn = tensor([1, 1, 128, 32], "BFLOAT16", memory="memory(L1 HEIGHT_SHARDED shard [32,32] on (0,0)-(3,0) ROW_MAJOR)")
    op = "ttnn.experimental.rotary_embedding_llama"
    cases.add(op, "is_decode_mode", call(op, users, users, users, turn, is_decode_mode=True), lambda x, c, s, m: x * c[:, :, :1] + pairs(x) * s[:, :, :1], times=4)
    op = "ttnn.experimental.rotary_embedding_llama_fused_qk"
    wide = "memory(L1 HEIGHT_SHARDED shard [32,64] on (0,0)-(7,0) ROW_MAJOR)"
    k = tensor([1, 4, 32, 64], "BFLOAT16", memory="memory(L1 HEIGHT_SHARDED shard [32,64] on (4,0)-(7,0) ROW_MAJOR)")
    angles = tensor([1, 8, 32, 64], "BFLOAT16", memory=wide)
    turn = tensor([1, 1, 256, 32], "BFLOAT16", memory="memory(L1 HEIGHT_SHARDED shard [32,32] on (0,0)-(7,0) ROW_MAJOR)")
    cases.add(op, "shape", call(op, users, k, angles, angles, turn),
              lambda q, k, c, s, m: (q * c[:, :4, :1] + pairs(q) * s[:, :4, :1], k * c[:, 4:, :1] + pairs(k) * s[:, 4:, :1]), times=4)
    return cases


def distributed() -> Cases:
    cases = Cases("distributed")
    x = tensor([1, 1, 64, 256], "BFLOAT16")
    op = "ttnn.rms_norm_pre_all_gather"

    def squares(x):
        out = torch.full((*x.shape[:-1], 32), ANYTHING, dtype=torch.double)
        out[..., 0] = (x * x).sum(-1)
        return out

    cases.add(op, "shape", call(op, x), squares, times=3)
    op = "ttnn.rms_norm_post_all_gather"
    for e in (1e-5, 0.1):
        def finish(x, stats, w, e=e):
            devices = stats.shape[-1] // 32
            mean = sum(stats[..., 32 * d] for d in range(devices)) / (devices * x.shape[-1])
            return x * torch.rsqrt(mean + e).unsqueeze(-1) * w.reshape(-1)
        cases.add(op, "epsilon, weight", call(op, x, tensor([1, 1, 64, 64], "BFLOAT16"), epsilon=e, weight=tensor([1, 1, 8, 32], "BFLOAT16", "ROW_MAJOR")), finish, times=3)
    return cases


def every() -> list:
    parts = (reductions, softmaxes, norms, products, convolutions, attention, rotations, distributed)
    return [case for part in parts for case in part()]
