"""Exact results in torch, for operations whose golden function the library has not, or cannot run. They get the arguments of the call with
torch tensors in the place of the library's, by position and by name as the call has them."""

import torch

FUNCTIONS = {}


def reference(name):
    def add(function):
        FUNCTIONS[name] = function
        return function

    return add


def find(operation):
    """None where there is none."""
    return FUNCTIONS.get(getattr(operation, "python_fully_qualified_name", ""))


@reference("ttnn.experimental.nlp_concat_heads")
def nlp_concat_heads(input, **_):
    batch, heads, rows, width = input.shape
    return input.permute(0, 2, 1, 3).reshape(batch, 1, rows, heads * width)


@reference("ttnn.experimental.nlp_create_qkv_heads")
def nlp_create_qkv_heads(input_q, input_kv=None, *, num_heads, num_kv_heads=None, transpose_k_heads=True, **_):
    num_kv_heads = num_heads if num_kv_heads is None else num_kv_heads
    rows = input_q.shape[-2]
    if input_kv is None:
        width = input_q.shape[-1] // (num_heads + 2 * num_kv_heads)
        q, k, v = input_q.split([num_heads * width, num_kv_heads * width, num_kv_heads * width], dim=-1)
    else:
        width = input_q.shape[-1] // num_heads
        q, (k, v) = input_q, input_kv.chunk(2, dim=-1)

    def heads(x, count):
        return x.reshape(x.shape[0], rows, count, width).transpose(1, 2)

    k = heads(k, num_kv_heads)
    return heads(q, num_heads), k.transpose(-2, -1) if transpose_k_heads else k, heads(v, num_kv_heads)


@reference("ttnn.experimental.rotary_embedding_llama")
def rotary_embedding_llama(input_tensor, cos_cache, sin_cache, trans_mat, **_):
    rows, tile = input_tensor.shape[-2], trans_mat.reshape(-1, 32, 32)[0]
    turned = (input_tensor.reshape(*input_tensor.shape[:-1], -1, 32) @ tile).reshape(input_tensor.shape)
    return input_tensor * cos_cache[..., :rows, :] + turned * sin_cache[..., :rows, :]


@reference("ttnn.experimental.paged_fill_cache")
def paged_fill_cache(cache_tensor, input_tensor, page_table, *, batch_idx=0, **_):
    cache, size = cache_tensor.clone(), cache_tensor.shape[2]
    for start in range(0, input_tensor.shape[2], size):
        block = int(page_table.reshape(-1, page_table.shape[-1])[batch_idx, start // size])
        part = input_tensor[0, :, start : start + size]
        cache[block, :, : part.shape[1]] = part
    return cache


@reference("ttnn.experimental.fast_reduce_nc")
def fast_reduce_nc(input, *, dims, **_):
    return input.sum(dim=list(dims), keepdim=True)


@reference("ttnn.experimental.paged_update_cache")
def paged_update_cache(cache_tensor, input_tensor, *, update_idxs=(), update_idxs_tensor=None, page_table=None, **_):
    cache, size, heads = cache_tensor.clone(), cache_tensor.shape[2], cache_tensor.shape[1]
    places = list(update_idxs) if update_idxs_tensor is None else update_idxs_tensor.flatten().tolist()
    for user, place in enumerate(places):
        if place < 0:  # a user without a token
            continue
        block = user if page_table is None else int(page_table[user, place // size])
        cache[block, :, place if page_table is None else place % size] = input_tensor[0, user, :heads]
    return cache


# Those below have a golden function, which older versions of torch cannot run, or which takes fewer shapes.


@reference("ttnn.embedding")
def embedding(input_tensor, weight, **_):
    return weight.reshape(-1, weight.shape[-1])[input_tensor.long()]


@reference("ttnn.transformer.scaled_dot_product_attention")
def scaled_dot_product_attention(q, k, v, *, attn_mask=None, is_causal=True, scale=None, **_):
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], dim=1) for x in (k, v))
    scores = (q @ k.transpose(-2, -1)) * (q.shape[-1] ** -0.5 if scale is None else scale)
    if attn_mask is not None:
        scores = scores + attn_mask
    elif is_causal:
        scores = scores.masked_fill(torch.ones(scores.shape[-2:], dtype=torch.bool).triu(1), float("-inf"))
    return scores.softmax(-1) @ v
