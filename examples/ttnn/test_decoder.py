"""A Llama-style decoder layer with a paged key-value cache, in its two phases.

512 features, 8 query heads and 2 key-value heads of 64, rotary embedding, SwiGLU with 1,024 hidden features. Weights
and cache are bfloat8_b; the cache has pages of 32 positions, 8 pages a user, in a shuffled order.

- `prefill`: 128 tokens of one user of four, [1, 1, 128, 512], interleaved in DRAM; fills that user's pages.
- `decode`: one token for each of 32 (or 8) users, [1, 1, 32, 512]. Norms are width sharded over 16 cores, the heads
  height sharded with one user a core; the cache is updated at each user's own position.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import ttnn
from numpy.typing import NDArray

from helpers import HIFI2, HIFI4, TILE, Array, Numbers, check, has_numbers, label, on_device, phase

FEATURES, HEADS, KV_HEADS, HEAD, HIDDEN = 512, 8, 2, 64, 1024
PAGE, PAGES = 32, 8
POSITIONS = PAGE * PAGES
TOKENS = 128
EPSILON = 1e-5


class Weights:
    """The arrays of the layer and of its rotary embedding (pairs of neighbours are rotated)."""

    def __init__(self) -> None:
        numbers = Numbers(21)
        self.qkv = numbers.weight(FEATURES, (HEADS + 2 * KV_HEADS) * HEAD)
        self.out = numbers.weight(HEADS * HEAD, FEATURES)
        self.gate, self.up = numbers.weight(FEATURES, HIDDEN), numbers.weight(FEATURES, HIDDEN)
        self.down = numbers.weight(HIDDEN, FEATURES)
        self.norm1 = 1.0 + numbers.normal(FEATURES, scale=0.1)
        self.norm2 = 1.0 + numbers.normal(FEATURES, scale=0.1)
        angles = np.outer(np.arange(POSITIONS), 10000.0 ** (-np.arange(0, HEAD, 2) / HEAD))
        self.cos = np.repeat(np.cos(angles), 2, axis=1).astype(np.float32)
        self.sin = np.repeat(np.sin(angles), 2, axis=1).astype(np.float32)
        self.turn = np.zeros((TILE, TILE), np.float32)  # x @ turn: (a, b) becomes (-b, a)
        self.turn[np.arange(0, TILE, 2), np.arange(1, TILE, 2)] = 1.0
        self.turn[np.arange(1, TILE, 2), np.arange(0, TILE, 2)] = -1.0


class Layer:
    """The layer on the device."""

    def __init__(self, weights: Weights, device: Any, cache: tuple[Array, Array], table: NDArray[np.int32]) -> None:
        self._device, self._weights = device, weights
        matrices = (weights.qkv, weights.out, weights.gate, weights.up, weights.down)
        self._qkv, self._out, self._gate, self._up, self._down = (
            on_device(matrix, device, ttnn.bfloat8_b) for matrix in matrices
        )
        self._norm1, self._norm2 = (
            on_device(norm.reshape(1, 1, -1, TILE), device, layout=ttnn.ROW_MAJOR_LAYOUT)
            for norm in (weights.norm1, weights.norm2)
        )
        self.keys, self.values = (on_device(pages, device, ttnn.bfloat8_b) for pages in cache)
        self._table = on_device(table, device, ttnn.int32, ttnn.ROW_MAJOR_LAYOUT)

    def prefill(self, x: ttnn.Tensor, user: int) -> ttnn.Tensor:
        w, tokens = self._weights, x.shape[2]
        cos, sin = (on_device(table[None, None], self._device) for table in (w.cos, w.sin))
        cos, sin = cos[:, :, 0:tokens, :], sin[:, :, 0:tokens, :]
        turn = on_device(w.turn[None, None], self._device)
        with label("layer0/attention"):
            h = ttnn.rms_norm(x, weight=self._norm1, epsilon=EPSILON, compute_kernel_config=HIFI4)
            qkv = ttnn.linear(h, self._qkv, dtype=ttnn.bfloat16, compute_kernel_config=HIFI2)
            q, k, v = ttnn.experimental.nlp_create_qkv_heads(
                qkv, num_heads=HEADS, num_kv_heads=KV_HEADS, transpose_k_heads=False
            )
            ttnn.deallocate(qkv)
            q = ttnn.experimental.rotary_embedding_llama(q, cos, sin, turn, is_decode_mode=False)
            k = ttnn.experimental.rotary_embedding_llama(k, cos, sin, turn, is_decode_mode=False)
            k, v = ttnn.typecast(k, ttnn.bfloat8_b), ttnn.typecast(v, ttnn.bfloat8_b)
            ttnn.experimental.paged_fill_cache(self.keys, k, self._table, batch_idx=user)
            ttnn.experimental.paged_fill_cache(self.values, v, self._table, batch_idx=user)
            q = ttnn.typecast(q, ttnn.bfloat8_b)
            context = ttnn.transformer.scaled_dot_product_attention(
                q, k, v, is_causal=True, scale=HEAD**-0.5, program_config=_chunks(64), compute_kernel_config=HIFI4
            )
            context = ttnn.experimental.nlp_concat_heads(context)
            x = x + ttnn.linear(context, self._out, dtype=ttnn.bfloat16, compute_kernel_config=HIFI2)
        with label("layer0/feed_forward"):
            h = ttnn.rms_norm(x, weight=self._norm2, epsilon=EPSILON, compute_kernel_config=HIFI4)
            return x + self._feed_forward(h, ttnn.DRAM_MEMORY_CONFIG)

    def decode(self, x: ttnn.Tensor, positions: ttnn.Tensor, rows: ttnn.Tensor) -> ttnn.Tensor:
        """One token for each user. `positions` (int32) index the cache, `rows` (uint32) the rotary tables."""
        users = x.shape[2]
        cores = ttnn.num_cores_to_corerangeset(users, self._device.compute_with_storage_grid_size(), row_wise=True)
        with label("rotary"):
            cos, sin = (self._rotary_rows(table, rows, cores) for table in (self._weights.cos, self._weights.sin))
            turn = np.tile(self._weights.turn, (users, 1))[None, None]
            turn = on_device(turn, self._device, memory_config=_height_sharded(cores, TILE))
        with label("layer0/attention"):
            h = self._sharded_norm(x, self._norm1)
            qkv = ttnn.linear(
                h, self._qkv, dtype=ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG, compute_kernel_config=HIFI2
            )
            q, k, v = ttnn.experimental.nlp_create_qkv_heads_decode(
                qkv, num_heads=HEADS, num_kv_heads=KV_HEADS, memory_config=ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG
            )
            q = ttnn.experimental.rotary_embedding_llama(q, cos, sin, turn, is_decode_mode=True)
            k = ttnn.experimental.rotary_embedding_llama(k, cos, sin, turn, is_decode_mode=True)
            for cache, new in ((self.keys, k), (self.values, v)):
                ttnn.experimental.paged_update_cache(cache, new, update_idxs_tensor=positions, page_table=self._table)
            context = ttnn.transformer.paged_scaled_dot_product_attention_decode(
                q,
                self.keys,
                self.values,
                page_table_tensor=self._table,
                cur_pos_tensor=positions,
                scale=HEAD**-0.5,
                program_config=_chunks(0),  # 0: the library chooses
                compute_kernel_config=HIFI4,
                memory_config=ttnn.DRAM_MEMORY_CONFIG,
            )
            block = ttnn.num_cores_to_corerangeset(users, ttnn.CoreCoord(8, 8), row_wise=True)  # a rectangle
            context = ttnn.to_memory_config(context, _height_sharded(block, HEAD))
            context = ttnn.experimental.nlp_concat_heads_decode(context, num_heads=HEADS)
            context = ttnn.to_memory_config(context, ttnn.L1_MEMORY_CONFIG)
            out = ttnn.linear(context, self._out, dtype=ttnn.bfloat16, compute_kernel_config=HIFI2)
            if out.shape[2] != users:  # the heads of a small batch are joined into a whole tile of rows
                out = out[:, :, 0:users, :]
            x = x + out
        with label("layer0/feed_forward"):
            return x + self._feed_forward(self._sharded_norm(x, self._norm2), ttnn.L1_MEMORY_CONFIG)

    def _feed_forward(self, h: ttnn.Tensor, memory_config: Any) -> ttnn.Tensor:
        gate, up = (
            ttnn.linear(h, w, dtype=ttnn.bfloat16, memory_config=memory_config, compute_kernel_config=HIFI2)
            for w in (self._gate, self._up)
        )
        h = ttnn.mul(gate, up, input_tensor_a_activations=[ttnn.UnaryOpType.SILU], memory_config=memory_config)
        ttnn.deallocate(gate)
        ttnn.deallocate(up)
        return ttnn.linear(h, self._down, dtype=ttnn.bfloat16, compute_kernel_config=HIFI2)

    def _sharded_norm(self, x: ttnn.Tensor, weight: ttnn.Tensor) -> ttnn.Tensor:
        grid = ttnn.CoreGrid(y=2, x=8)
        sharded = ttnn.create_sharded_memory_config(
            (TILE, FEATURES // grid.num_cores), grid, ttnn.ShardStrategy.WIDTH, use_height_and_width_as_shard_shape=True
        )
        program = ttnn.LayerNormShardedMultiCoreProgramConfig(
            compute_with_storage_grid_size=(grid.x, grid.y), subblock_w=1, block_h=1, block_w=1, inplace=False
        )
        h = ttnn.rms_norm(
            ttnn.to_memory_config(x, sharded),
            weight=weight,
            epsilon=EPSILON,
            program_config=program,
            memory_config=sharded,
            compute_kernel_config=HIFI4,
        )
        return ttnn.sharded_to_interleaved(h, ttnn.L1_MEMORY_CONFIG)

    def _rotary_rows(self, table: Array, rows: ttnn.Tensor, cores: Any) -> ttnn.Tensor:
        found = ttnn.embedding(
            rows, on_device(table, self._device, layout=ttnn.ROW_MAJOR_LAYOUT), layout=ttnn.TILE_LAYOUT
        )
        found = ttnn.transpose(ttnn.unsqueeze_to_4D(found), 1, 2)  # [1, users, 1, head]
        return ttnn.interleaved_to_sharded(found, _height_sharded(cores, HEAD))


def _chunks(size: int) -> Any:
    return ttnn.SDPAProgramConfig(
        compute_with_storage_grid_size=(8, 8), q_chunk_size=size, k_chunk_size=size, exp_approx_mode=False
    )


def _height_sharded(cores: Any, width: int) -> Any:
    """One tile row of `width` on each core."""
    return ttnn.create_sharded_memory_config(
        (TILE, width), cores, ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
    )


class Reference:
    """The same layer in numpy. Its caches are [users, key-value heads, positions, head]."""

    def __init__(self, weights: Weights, users: int) -> None:
        self._w = weights
        numbers = Numbers(22)
        self.keys = numbers.normal(users, KV_HEADS, POSITIONS, HEAD, scale=3.0)  # a sharp softmax: few keys count
        self.values = numbers.normal(users, KV_HEADS, POSITIONS, HEAD)

    def __call__(self, x: Array, user: int, start: int) -> Array:
        """The tokens x [tokens, features] of one user, the first of them at position `start`."""
        w, end = self._w, start + len(x)
        q, k, v = np.split(self._norm(x, w.norm1) @ w.qkv, [HEADS * HEAD, (HEADS + KV_HEADS) * HEAD], axis=1)
        self.keys[user, :, start:end] = self._turned(k, start)
        self.values[user, :, start:end] = v.reshape(len(x), KV_HEADS, HEAD).transpose(1, 0, 2)
        keys, values = (np.repeat(c[user, :, :end], HEADS // KV_HEADS, axis=0) for c in (self.keys, self.values))
        scores = self._turned(q, start) @ keys.transpose(0, 2, 1) * HEAD**-0.5
        scores = np.where(np.arange(end) > np.arange(start, end)[:, None], -np.inf, scores)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        context = (scores / scores.sum(-1, keepdims=True)) @ values
        x = x + context.transpose(1, 0, 2).reshape(len(x), HEADS * HEAD) @ w.out
        h = self._norm(x, w.norm2)
        gate = h @ w.gate
        return np.asarray(x + (gate / (1.0 + np.exp(-gate)) * (h @ w.up)) @ w.down, np.float32)

    def _norm(self, x: Array, weight: Array) -> Array:
        return np.asarray(x / np.sqrt((x**2).mean(-1, keepdims=True) + EPSILON) * weight)

    def _turned(self, x: Array, start: int) -> Array:
        """[tokens, heads * head] as [heads, tokens, head] after the rotary embedding."""
        heads = x.reshape(len(x), -1, HEAD).transpose(1, 0, 2)
        neighbours = np.stack((-heads[..., 1::2], heads[..., 0::2]), axis=-1).reshape(heads.shape)
        rows = slice(start, start + len(x))
        return np.asarray(heads * self._w.cos[rows] + neighbours * self._w.sin[rows])


def paged(cache: Array, table: NDArray[np.int32]) -> Array:
    """A cache [users, heads, positions, head] as pages [pages, heads, page, head] in the order of the table."""
    pages = cache.reshape(len(cache), KV_HEADS, PAGES, PAGE, HEAD).transpose(0, 2, 1, 3, 4)
    out = np.empty((table.size, KV_HEADS, PAGE, HEAD), np.float32)
    out[table.ravel()] = pages.reshape(out.shape)
    return out


def make(device: Any, users: int) -> tuple[Layer, Reference, NDArray[np.int32]]:
    """The layer, its reference with the same caches, and the page table [users, pages]."""
    weights = Weights()
    table = np.random.default_rng(23).permutation(users * PAGES).astype(np.int32).reshape(users, PAGES)
    expected = Reference(weights, users)
    return Layer(weights, device, (paged(expected.keys, table), paged(expected.values, table)), table), expected, table


@pytest.mark.parametrize(("step", "users"), [("prefill", 4), ("decode", 32), ("decode", 8)])
def test_decoder(device: Any, step: str, users: int) -> None:
    layer, reference, table = make(device, users)
    if step == "prefill":
        user, array = 2, Numbers(24).normal(1, 1, TOKENS, FEATURES)
        with phase("prefill"):
            y = layer.prefill(on_device(array, device), user)
        expected = reference(array[0, 0], user, 0)
    else:
        array = Numbers(25).normal(1, 1, users, FEATURES)
        at = (np.arange(users, dtype=np.int32) * 37) % (POSITIONS - 1)
        positions = on_device(at, device, ttnn.int32, ttnn.ROW_MAJOR_LAYOUT)
        rows = on_device(at[None].astype(np.uint32), device, ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT)
        with phase("decode"):
            y = layer.decode(on_device(array, device), positions, rows)
            ttnn.plus_one(positions)  # in place, for the next token
        expected = np.concatenate([reference(array[0, 0, u : u + 1], u, int(at[u])) for u in range(users)])
        after = positions.cpu().to_numpy()
        assert not has_numbers() or np.array_equal(after, at + 1)
    # x is a large part of y: a tight bound, so that a wrong attention is seen.
    check(y, array.shape, expected=expected, pcc=0.999)
    for cache, filled in ((layer.keys, reference.keys), (layer.values, reference.values)):
        check(cache, (users * PAGES, KV_HEADS, PAGE, HEAD), ttnn.bfloat8_b, expected=paged(filled, table))
