"""Exact results of operations for emitted tests, in torch: `ref_NAME` gets the tensors and arguments of the call, but for those
that change no number. Taken block by block, as fused_test_parts.py says.
"""


# The exact result of each operation; arguments that do not change it are left out.
def activated(x, names):
    """x after fused functions: `"silu"`, `[ttnn.UnaryOpType.SILU]`."""
    for name in [names] if isinstance(names, str) else names or ():
        name = str(getattr(name, "op_type", name)).split(".")[-1].lower()
        x = getattr(functional if name in ("silu", "gelu") else torch, name)(x)
    return x


def ref_matmul(a, b, transpose_a=False, transpose_b=False, activation=None):
    product = (a.transpose(-2, -1) if transpose_a else a) @ (b.transpose(-2, -1) if transpose_b else b)
    return activated(product, activation)


def ref_linear(a, b, bias=None, transpose_a=False, transpose_b=False, activation=None):
    product = (a.transpose(-2, -1) if transpose_a else a) @ (b.transpose(-2, -1) if transpose_b else b)
    return activated(product if bias is None else product + bias, activation)


def binary(function):
    def ref(a, b, activations=None, input_tensor_a_activations=None, input_tensor_b_activations=None):
        a, b = activated(a, input_tensor_a_activations), activated(b, input_tensor_b_activations)
        return activated(function(a, b), activations)

    return ref


ref_add = binary(lambda a, b: a + b)
ref_subtract = binary(lambda a, b: a - b)
ref_multiply = binary(lambda a, b: a * b)
ref_divide = binary(lambda a, b: a / b)
ref_ge = binary(lambda a, b: (a >= b).double())
ref_gt = binary(lambda a, b: (a > b).double())
ref_le = binary(lambda a, b: (a <= b).double())
ref_lt = binary(lambda a, b: (a < b).double())
ref_eq = binary(lambda a, b: (a == b).double())
ref_maximum = binary(lambda a, b: torch.maximum(a, b))
ref_minimum = binary(lambda a, b: torch.minimum(a, b))


def ref_silu(x):
    return functional.silu(x)


def ref_gelu(x, fast_and_approximate_mode=False):
    return functional.gelu(x)


def ref_relu(x):
    return torch.relu(x)


def ref_sigmoid(x, *_, **__):
    return torch.sigmoid(x)


def ref_exp(x, fast_and_approximate_mode=False):
    return torch.exp(x)


def ref_tanh(x, fast_and_approximate_mode=False):
    return torch.tanh(x)


def ref_clamp(x, min=None, max=None):
    return torch.clamp(x, min, max)


def ref_where(condition, a, b):
    return torch.where(condition != 0, *(torch.as_tensor(x, dtype=torch.float64) for x in (a, b)))


def ref_rms_norm(x, epsilon=1e-12, weight=None, bias=None, residual_input_tensor=None):
    x = x if residual_input_tensor is None else x + residual_input_tensor
    x = x / (x.square().mean(-1, keepdim=True) + epsilon).sqrt()
    x = x if weight is None else x * weight.reshape(-1)
    return x if bias is None else x + bias.reshape(-1)


def ref_layer_norm(x, epsilon=1e-12, weight=None, bias=None, residual_input_tensor=None):
    x = x if residual_input_tensor is None else x + residual_input_tensor
    x = (x - x.mean(-1, keepdim=True)) / (x.var(-1, unbiased=False, keepdim=True) + epsilon).sqrt()
    x = x if weight is None else x * weight.reshape(-1)
    return x if bias is None else x + bias.reshape(-1)


def ref_rms_norm_pre_all_gather(x):
    """The sum of squares, in the first column of a tile."""
    return functional.pad(x.square().sum(-1, keepdim=True), (0, 31))


def ref_rms_norm_post_all_gather(x, stats, epsilon=1e-12, weight=None):
    chips = stats.shape[-1] // 32
    mean = stats[..., ::32].sum(-1, keepdim=True) / (x.shape[-1] * chips)
    return x / (mean + epsilon).sqrt() * (1.0 if weight is None else weight.reshape(-1))


def ref_softmax(x, dim=-1, numeric_stable=True):
    return x.softmax(dim)


def ref_topk(x, k, dim=-1, largest=True, sorted=True):
    return tuple(torch.topk(x, k, dim, largest, sorted))


def ref_sum(x, dim=None, keepdim=False):
    return x.sum(dim=tuple(range(x.dim())) if dim is None else dim, keepdim=keepdim)


def ref_mean(x, dim=None, keepdim=False):
    return x.mean(dim=tuple(range(x.dim())) if dim is None else dim, keepdim=keepdim)


def ref_fast_reduce_nc(x, dims):
    return x.sum(dim=tuple(dims), keepdim=True)


def ref_reshape(x, *shape):
    return x.reshape(*shape)


def ref_permute(x, dims):
    return x.permute(*dims)


def ref_transpose(x, dim1, dim2):
    return x.transpose(dim1, dim2)


def ref_slice(x, starts, ends, steps=None):
    steps = steps or [1] * len(starts)
    return x[tuple(slice(*bounds) for bounds in zip(starts, ends, steps))]


def ref_concat(tensors, dim=0):
    return torch.cat(tensors, dim)


def ref_repeat(x, dims):
    return x.repeat(*dims)


def ref_pad(x, padding, value=0.0):
    return functional.pad(x, [n for pair in reversed(padding) for n in pair], value=value)


def ref_unsqueeze_to_4D(x):
    return x.reshape((1,) * (4 - x.dim()) + tuple(x.shape))


def ref_embedding(x, weight, padding_idx=None):
    return weight.reshape(-1, weight.shape[-1])[x.long()]


def ref_same(x, *_):
    """Of operations that move a tensor or round it, and leave its values alone."""
    return x


def ref_scatter(x, dim, index, src):
    return x.scatter(dim, index.long(), src)


def ref_nlp_concat_heads(x):
    return x.permute(0, 2, 1, 3).reshape(x.shape[0], 1, x.shape[2], -1)


def ref_nlp_create_qkv_heads(x, input_kv=None, num_heads=1, num_kv_heads=None, transpose_k_heads=True):
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    width = x.shape[-1] // (num_heads + (0 if input_kv is not None else 2 * num_kv_heads))
    x = x if input_kv is None else torch.cat([x, input_kv], -1)
    counts = (num_heads, num_kv_heads, num_kv_heads)
    parts = zip(x.split([n * width for n in counts], -1), counts)
    q, k, v = (part.reshape(x.shape[0], x.shape[-2], n, width).transpose(1, 2) for part, n in parts)
    return q, k.transpose(-2, -1) if transpose_k_heads else k, v


def ref_rotary_embedding_llama(x, cos, sin, turn, is_decode_mode=False):
    """In decode the tables have a row for each user, else one for each position."""
    turned = (x.reshape(*x.shape[:-1], -1, 32) @ turn.reshape(-1, 32, 32)[0]).reshape(x.shape)
    rows = slice(None) if is_decode_mode else slice(x.shape[-2])
    return x * cos[..., rows, :] + turned * sin[..., rows, :]


def ref_scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=True, scale=None):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in (k, v))
    scores = (q @ k.transpose(-2, -1)) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if attn_mask is not None:
        scores = scores + attn_mask
    elif is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    return scores.softmax(-1) @ v


def ref_paged_update_cache(cache, x, update_idxs=(), update_idxs_tensor=None, page_table=None):
    cache, size, heads = cache.clone(), cache.shape[2], cache.shape[1]
    places = list(update_idxs) if update_idxs_tensor is None else update_idxs_tensor.int().flatten().tolist()
    for user, place in enumerate(places):
        block = user if page_table is None else int(page_table[user, place // size])
        if place >= 0:  # else a user without a token
            cache[block, :, place if page_table is None else place % size] = x[0, user, :heads]
    return cache


class Chips(list):
    """One tensor a chip, row by row of the mesh."""


def on_each_chip(function, *args, **kwargs):
    """The function on each chip."""

    def at(value, chip):
        if isinstance(value, Chips):
            return value[chip]
        return [at(item, chip) for item in value] if type(value) is list else value

    tensors = args[0] if type(args[0]) is list else args  # a list of tensors comes first
    results = [
        function(*at(list(args), chip), **{name: at(value, chip) for name, value in kwargs.items()})
        for chip in range(len(tensors[0]))
    ]
    return tuple(map(Chips, zip(*results))) if isinstance(results[0], tuple) else Chips(results)


def chip_lines(cluster_axis):
    """The chips that talk with one another: rows or columns of the mesh, or all."""
    rows = [list(range(row * MESH[1], (row + 1) * MESH[1])) for row in range(MESH[0])]
    return [sum(rows, [])] if cluster_axis is None else rows if cluster_axis == 1 else list(zip(*rows))


def ref_all_gather(x, dim, cluster_axis=None):
    out = Chips(x)
    for line in chip_lines(cluster_axis):
        for chip in line:
            out[chip] = torch.cat([x[other] for other in line], dim)
    return out


def ref_reduce_scatter(x, dim, cluster_axis=None):
    out = Chips(x)
    for line in chip_lines(cluster_axis):
        for chip, part in zip(line, sum(x[other] for other in line).chunk(len(line), dim)):
            out[chip] = part
    return out


def ref_all_reduce(x, cluster_axis=None):
    out = Chips(x)
    for line in chip_lines(cluster_axis):
        for chip in line:
            out[chip] = sum(x[other] for other in line)
    return out


def ref_mesh_partition(x, dim, cluster_axis=None):
    out = Chips(x)
    for line in chip_lines(cluster_axis):
        for place, chip in enumerate(line):
            out[chip] = x[chip].chunk(len(line), dim)[place]
    return out
