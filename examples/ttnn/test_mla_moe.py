"""A DeepSeek-style layer on a mesh of 2x4 chips: attention over a latent cache (MLA), then a mixture of experts.

512 features, 8 heads. Queries go through 96 latent features, keys and values through 64 with 32 rotated ones beside them:
the cache holds 96 numbers a position, for all heads. 16 experts (the best 4 count) of 128 hidden features and a shared
one of 256.

The users are split over the 2 rows of the mesh (data parallel), everything else over its 4 columns (tensor parallel): the
features of x, 128 a chip; the heads, 2 a chip; the experts, 4 a chip; the hidden features of the shared expert.

- `prefill`: 64 tokens of one user a row, x is [1, 1, 64, 128] a chip; fills that user's cache;
- `decode`: one token for each of 32 users a row, x is [1, 1, 32, 128] a chip; the cache is updated in place.

Attention works on the latent features: the matrix that makes keys of them is applied to the queries, the one that makes
values to the result. So the cache is both keys and values, and the rotated part of a result is cut off.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import ttnn
from numpy.typing import NDArray

from helpers import HIFI2, HIFI4, TILE, Array, Numbers, check_values, label, phase, to_array

ROWS, COLUMNS = 2, 4
FEATURES, HEADS, Q_LATENT, LATENT, NOPE, ROPE, VALUE = 512, 8, 96, 64, 32, 32, 32
KEY, LOCAL_HEADS = LATENT + ROPE, HEADS // COLUMNS
EXPERTS, CHOSEN, HIDDEN, SHARED = 16, 4, 128, 256
USERS, TOKENS, POSITIONS = 32, 64, 128
EPSILON, SCALE = 1e-5, (NOPE + ROPE) ** -0.5


class Weights:
    """The arrays of the layer."""

    def __init__(self) -> None:
        numbers = Numbers(61)
        self.norm1, self.norm2, self.q_norm, self.kv_norm = (
            1.0 + numbers.normal(n, scale=0.1) for n in (FEATURES, FEATURES, Q_LATENT, LATENT)
        )
        self.q_kv_a = numbers.weight(FEATURES, Q_LATENT + KEY)
        self.q_b = numbers.weight(Q_LATENT, HEADS * (NOPE + ROPE))
        self.kv_b1 = numbers.weight(HEADS, NOPE, LATENT)
        self.kv_b2 = numbers.weight(HEADS, LATENT, VALUE)
        self.out = numbers.weight(HEADS * VALUE, FEATURES)
        self.router, self.router_bias = numbers.weight(FEATURES, EXPERTS), numbers.normal(EXPERTS, scale=0.1)
        self.gate, self.up = (numbers.weight(EXPERTS, FEATURES, HIDDEN) for _ in range(2))
        self.down = numbers.weight(EXPERTS, HIDDEN, FEATURES)
        self.shared_gate, self.shared_up = (numbers.weight(FEATURES, SHARED) for _ in range(2))
        self.shared_down = numbers.weight(SHARED, FEATURES)
        angles = np.outer(np.arange(POSITIONS), 10000.0 ** (-np.arange(0, ROPE, 2) / ROPE))
        self.cos = np.repeat(np.cos(angles), 2, axis=1).astype(np.float32)
        self.sin = np.repeat(np.sin(angles), 2, axis=1).astype(np.float32)
        self.turn = np.zeros((TILE, TILE), np.float32)  # x @ turn: (a, b) becomes (-b, a)
        self.turn[np.arange(0, TILE, 2), np.arange(1, TILE, 2)] = 1.0
        self.turn[np.arange(1, TILE, 2), np.arange(0, TILE, 2)] = -1.0


class Layer:
    """The layer, spread over the mesh."""

    def __init__(self, weights: Weights, cache: Array, mesh: Any) -> None:
        w = weights
        self._mesh, self._weights = mesh, weights
        grid = mesh.compute_with_storage_grid_size()
        cores = ttnn.CoreRangeSet([ttnn.CoreRange(ttnn.CoreCoord(0, 0), ttnn.CoreCoord(grid.x - 1, grid.y - 1))])
        self._semaphores = [ttnn.create_global_semaphore(mesh, cores, 0) for _ in range(2)]
        rows = ttnn.ROW_MAJOR_LAYOUT
        self._norm1, self._norm2 = (
            self._spread(n.reshape(1, 1, -1, TILE), (None, 2), layout=rows) for n in (w.norm1, w.norm2)
        )
        self._q_norm, self._kv_norm = (self._spread(n.reshape(1, 1, -1, TILE), layout=rows) for n in (w.q_norm, w.kv_norm))
        self._q_kv_a = self._spread(w.q_kv_a[None, None], (None, 2), ttnn.bfloat8_b)
        self._q_b = self._spread(w.q_b[None, None], (None, 3), ttnn.bfloat8_b)
        self._kv_b1, self._kv_b2 = (self._spread(m[None], (None, 1), ttnn.bfloat8_b) for m in (w.kv_b1, w.kv_b2))
        self._out = self._spread(w.out[None, None], (None, 2), ttnn.bfloat8_b)
        self._router = self._spread(w.router[None, None])
        self._router_bias = self._spread(w.router_bias.reshape(1, 1, 1, -1))
        self._gate, self._up, self._down = (self._spread(m[None], (None, 1), ttnn.bfloat8_b) for m in (w.gate, w.up, w.down))
        self._shared_gate, self._shared_up = (
            self._spread(m[None, None], (None, 3), ttnn.bfloat8_b) for m in (w.shared_gate, w.shared_up)
        )
        self._shared_down = self._spread(w.shared_down[None, None], (None, 2), ttnn.bfloat8_b)
        self.cache = self._spread(cache, (0, None))

    def _spread(
        self,
        array: NDArray[Any],
        dims: tuple[int | None, int | None] = (None, None),
        dtype: Any = ttnn.bfloat16,
        layout: Any = ttnn.TILE_LAYOUT,
        memory_config: Any = ttnn.DRAM_MEMORY_CONFIG,
    ) -> ttnn.Tensor:
        return on_mesh(array, self._mesh, dims, dtype, layout, memory_config)

    def prefill(self, x: ttnn.Tensor, user: int) -> ttnn.Tensor:
        """The tokens of one user a row, from position 0."""
        memory, w = ttnn.DRAM_MEMORY_CONFIG, self._weights
        cos, sin = (self._spread(table[None, None, : x.shape[2]]) for table in (w.cos, w.sin))
        rotary = (cos, sin, self._spread(w.turn[None, None]))
        with label("layer0/attention"):
            q, latent, rope = self._q_kv(self._norm(x, self._norm1), memory)
            q = ttnn.rms_norm(q, weight=self._q_norm, epsilon=EPSILON, compute_kernel_config=HIFI4)
            latent = ttnn.rms_norm(latent, weight=self._kv_norm, epsilon=EPSILON, compute_kernel_config=HIFI4)
            rope = ttnn.experimental.rotary_embedding_llama(rope, *rotary, is_decode_mode=False)
            keys = ttnn.concat([latent, rope], dim=-1)
            ttnn.fill_cache(self.cache, keys, user)
            q, _, _ = ttnn.experimental.nlp_create_qkv_heads(
                ttnn.linear(q, self._q_b, memory_config=memory, compute_kernel_config=HIFI2),
                num_heads=LOCAL_HEADS,
                num_kv_heads=0,
                transpose_k_heads=False,
            )
            tokens = x.shape[2]
            nope = ttnn.slice(q, [0, 0, 0, 0], [1, LOCAL_HEADS, tokens, NOPE])
            turned = ttnn.slice(q, [0, 0, 0, NOPE], [1, LOCAL_HEADS, tokens, NOPE + ROPE])
            turned = ttnn.experimental.rotary_embedding_llama(turned, *rotary, is_decode_mode=False)
            nope = ttnn.linear(nope, self._kv_b1, memory_config=memory, compute_kernel_config=HIFI2)
            context = ttnn.transformer.scaled_dot_product_attention(
                ttnn.concat([nope, turned], dim=-1), keys, keys, is_causal=True, scale=SCALE, compute_kernel_config=HIFI4
            )
            context = ttnn.slice(context, [0, 0, 0, 0], [1, LOCAL_HEADS, tokens, LATENT])
            context = ttnn.linear(context, self._kv_b2, memory_config=memory, compute_kernel_config=HIFI2)
            context = ttnn.experimental.nlp_concat_heads(context)
            x = ttnn.add(x, self._add_up(ttnn.linear(context, self._out, compute_kernel_config=HIFI2), memory))
        return self._feed_forward(x, memory)

    def decode(self, x: ttnn.Tensor, positions: NDArray[np.int32]) -> ttnn.Tensor:
        """One token for each user; `positions` [users of all rows]."""
        memory, w, users = ttnn.L1_MEMORY_CONFIG, self._weights, x.shape[2]
        at = self._spread(positions, (0, None), ttnn.int32, ttnn.ROW_MAJOR_LAYOUT)
        cores = ttnn.num_cores_to_corerangeset(users, ttnn.CoreCoord(8, 8), row_wise=True)
        one_each = _height_sharded(cores, ROPE)
        cos, sin = (self._spread(t[positions][None, :, None], (1, None), memory_config=one_each) for t in (w.cos, w.sin))
        turn = self._spread(np.tile(w.turn, (users, 1))[None, None], memory_config=one_each)
        with label("layer0/attention"):
            q, latent, rope = self._q_kv(self._norm(x, self._norm1), memory)
            with label("norm_and_rope"):
                q = ttnn.rms_norm(q, weight=self._q_norm, epsilon=EPSILON, compute_kernel_config=HIFI4)
                latent = ttnn.rms_norm(latent, weight=self._kv_norm, epsilon=EPSILON, compute_kernel_config=HIFI4)
                rope = ttnn.to_memory_config(ttnn.permute(rope, (0, 2, 1, 3)), one_each)  # [1, users, 1, 32]
                rope = ttnn.experimental.rotary_embedding_llama(rope, cos, sin, turn, is_decode_mode=True)
                rope = ttnn.permute(ttnn.to_memory_config(rope, memory), (0, 2, 1, 3))
                keys = ttnn.permute(ttnn.concat([latent, rope], dim=-1), (0, 2, 1, 3))
                keys = ttnn.to_memory_config(keys, _height_sharded(cores, KEY))
            ttnn.experimental.paged_update_cache(self.cache, keys, update_idxs_tensor=at)
            with label("q"):
                q = ttnn.linear(q, self._q_b, memory_config=memory, compute_kernel_config=HIFI2)
                q = ttnn.reshape(q, (1, users, LOCAL_HEADS, NOPE + ROPE))
                nope = ttnn.slice(q, [0, 0, 0, 0], [1, users, LOCAL_HEADS, NOPE])
                turned = ttnn.slice(q, [0, 0, 0, NOPE], [1, users, LOCAL_HEADS, NOPE + ROPE])
                nope = ttnn.permute(nope, (0, 2, 1, 3))
                nope = ttnn.linear(nope, self._kv_b1, memory_config=memory, compute_kernel_config=HIFI2)
                nope = ttnn.permute(nope, (0, 2, 1, 3))
                turned = ttnn.to_memory_config(turned, one_each)
                turned = ttnn.experimental.rotary_embedding_llama(turned, cos, sin, turn, is_decode_mode=True)
                q = ttnn.concat([nope, ttnn.to_memory_config(turned, memory)], dim=-1)
            context = ttnn.transformer.scaled_dot_product_attention_decode(
                q, self.cache, self.cache, cur_pos_tensor=at, scale=SCALE, compute_kernel_config=HIFI4
            )
            with label("wkv_b2"):
                context = ttnn.slice(context, [0, 0, 0, 0], [1, users, LOCAL_HEADS, LATENT])
                context = ttnn.permute(context, (0, 2, 1, 3))
                context = ttnn.linear(context, self._kv_b2, memory_config=memory, compute_kernel_config=HIFI2)
                context = ttnn.permute(context, (0, 2, 1, 3))
            context = ttnn.reshape(context, (1, 1, users, LOCAL_HEADS * VALUE))
            x = ttnn.add(x, self._add_up(ttnn.linear(context, self._out, compute_kernel_config=HIFI2), memory))
        return self._feed_forward(x, memory)

    def _norm(self, x: ttnn.Tensor, weight: ttnn.Tensor) -> ttnn.Tensor:
        """An RMS norm over features that are spread over the columns."""
        with label("norm"):
            sums = ttnn.rms_norm_pre_all_gather(x, dtype=ttnn.bfloat16, compute_kernel_config=HIFI4)
            sums = ttnn.all_gather(sums, dim=3, cluster_axis=1, topology=ttnn.Topology.Linear)
            return ttnn.rms_norm_post_all_gather(x, sums, epsilon=EPSILON, weight=weight, compute_kernel_config=HIFI4)

    def _q_kv(self, x: ttnn.Tensor, memory: Any) -> tuple[ttnn.Tensor, ttnn.Tensor, ttnn.Tensor]:
        """Latent queries, latent keys and values, and the part that is rotated. Each chip has a partial sum of all."""
        with label("wq_kv_a"):
            partial = ttnn.linear(x, self._q_kv_a, memory_config=memory, compute_kernel_config=HIFI2)
            parts = ttnn.experimental.all_gather_async(
                partial,
                dim=1,
                cluster_axis=1,
                mesh_device=self._mesh,
                topology=ttnn.Topology.Linear,
                multi_device_global_semaphore=self._semaphores,
                memory_config=memory,
            )
            whole = ttnn.experimental.fast_reduce_nc(
                parts, dims=[1], output=None, memory_config=memory, compute_kernel_config=HIFI2
            )
            ends = (0, Q_LATENT, Q_LATENT + LATENT, Q_LATENT + KEY)
            q, latent, rope = (
                ttnn.slice(whole, [0, 0, 0, start], [1, 1, x.shape[2], end]) for start, end in zip(ends, ends[1:])
            )
            return q, latent, rope

    def _add_up(self, partial: ttnn.Tensor, memory: Any) -> ttnn.Tensor:
        """The sum over the columns; each keeps its features of it."""
        y = ttnn.reduce_scatter(partial, dim=3, cluster_axis=1, topology=ttnn.Topology.Linear, memory_config=memory)
        ttnn.deallocate(partial)
        return y

    def _feed_forward(self, x: ttnn.Tensor, memory: Any) -> ttnn.Tensor:
        with label("layer0/moe"):
            h = self._norm(x, self._norm2)
            h = ttnn.all_gather(h, dim=3, cluster_axis=1, topology=ttnn.Topology.Linear, memory_config=memory)
            with label("router"):
                weights = self._route(h)
            with label("experts"):
                weights = ttnn.mesh_partition(ttnn.permute(weights, (0, 3, 2, 1)), dim=1, cluster_axis=1)
                tokens = ttnn.repeat(h, (1, EXPERTS // COLUMNS, 1, 1))
                experts = ttnn.mul(self._mlp(tokens, self._gate, self._up, self._down, memory), weights, memory_config=memory)
                experts = ttnn.experimental.fast_reduce_nc(experts, dims=[1], output=None, compute_kernel_config=HIFI2)
            with label("shared"):
                shared = self._mlp(h, self._shared_gate, self._shared_up, self._shared_down, memory)
            return ttnn.add(x, self._add_up(ttnn.add(experts, shared), memory))

    def _route(self, h: ttnn.Tensor) -> ttnn.Tensor:
        """The weight of each expert for each token, 0 for those that are not among its best: [1, 1, tokens, experts]."""
        logits = ttnn.linear(h, self._router, dtype=ttnn.float32, compute_kernel_config=HIFI4)
        scores = ttnn.sigmoid(ttnn.typecast(logits, ttnn.bfloat16))
        biased = ttnn.add(scores, self._router_bias)
        best, _ = ttnn.topk(biased, k=CHOSEN, dim=-1, sorted=True)
        least = ttnn.slice(best, [0, 0, 0, CHOSEN - 1], [1, 1, h.shape[2], CHOSEN])
        kept = ttnn.mul(scores, ttnn.ge(biased, least))
        return ttnn.div(kept, ttnn.sum(kept, dim=3, keepdim=True))

    @staticmethod
    def _mlp(x: ttnn.Tensor, gate: ttnn.Tensor, up: ttnn.Tensor, down: ttnn.Tensor, memory: Any) -> ttnn.Tensor:
        gated, h = (ttnn.linear(x, w, memory_config=memory, compute_kernel_config=HIFI2) for w in (gate, up))
        h = ttnn.mul(gated, h, input_tensor_a_activations=[ttnn.UnaryOpType.SILU], memory_config=memory)
        ttnn.deallocate(gated)
        return ttnn.linear(h, down, memory_config=memory, compute_kernel_config=HIFI2)


def on_mesh(array: NDArray[Any], mesh: Any, dims: tuple[int | None, int | None], dtype: Any, layout: Any, memory_config: Any) -> Any:
    """The array on the mesh: split along `dims[0]` over the rows and `dims[1]` over the columns, None replicates."""
    placements = [ttnn.PlacementReplicate() if dim is None else ttnn.PlacementShard(dim) for dim in dims]
    mapper = ttnn.create_mesh_mapper(mesh, ttnn.MeshMapperConfig(placements))
    host = ttnn.Tensor(np.ascontiguousarray(array), data_type=dtype, layout=layout)
    return ttnn.to_device(ttnn.distribute_tensor(host, mapper), mesh, memory_config=memory_config)


def _height_sharded(cores: Any, width: int) -> Any:
    """One tile row of `width` on each core."""
    return ttnn.create_sharded_memory_config(
        (TILE, width), cores, ttnn.ShardStrategy.HEIGHT, use_height_and_width_as_shard_shape=True
    )


class Reference:
    """The same layer in numpy. Its cache is [users, 1, positions, 96]."""

    def __init__(self, weights: Weights) -> None:
        self._w = weights
        self.cache = Numbers(62).normal(ROWS * USERS, 1, POSITIONS, KEY)

    def __call__(self, x: Array, user: int, start: int) -> Array:
        """The tokens x [tokens, features] of one user, the first of them at position `start`."""
        w, end = self._w, start + len(x)
        q, latent, rope = np.split(_norm(x, w.norm1) @ w.q_kv_a, [Q_LATENT, Q_LATENT + LATENT], axis=1)
        keys = np.concatenate([_norm(latent, w.kv_norm), self._turned(rope[None], start)[0]], axis=1)
        self.cache[user, 0, start:end] = keys
        q = (_norm(q, w.q_norm) @ w.q_b).reshape(len(x), HEADS, NOPE + ROPE).transpose(1, 0, 2)
        q = np.concatenate([q[..., :NOPE] @ w.kv_b1, self._turned(q[..., NOPE:], start)], axis=2)
        scores = q @ self.cache[user, 0, :end].T * SCALE
        scores = np.where(np.arange(end) > np.arange(start, end)[:, None], -np.inf, scores)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        context = (scores / scores.sum(-1, keepdims=True)) @ self.cache[user, 0, :end, :LATENT] @ w.kv_b2
        x = x + context.transpose(1, 0, 2).reshape(len(x), HEADS * VALUE) @ w.out
        h = _norm(x, w.norm2)
        scores = 1.0 / (1.0 + np.exp(-h @ w.router))
        biased = scores + w.router_bias
        kept = np.where(biased >= np.sort(biased, axis=1)[:, -CHOSEN, None], scores, 0.0)
        kept = kept / kept.sum(1, keepdims=True)
        experts = np.einsum("te,etf->tf", kept, (_silu(h @ w.gate) * (h @ w.up)) @ w.down)
        shared = (_silu(h @ w.shared_gate) * (h @ w.shared_up)) @ w.shared_down
        return np.asarray(x + experts + shared, np.float32)

    def _turned(self, x: Array, start: int) -> Array:
        """The rotary embedding of x [heads, tokens, 32]."""
        neighbours = np.stack((-x[..., 1::2], x[..., 0::2]), axis=-1).reshape(x.shape)
        rows = slice(start, start + x.shape[1])
        return np.asarray(x * self._w.cos[rows] + neighbours * self._w.sin[rows])


def _norm(x: Array, weight: Array) -> Array:
    return np.asarray(x / np.sqrt((x**2).mean(-1, keepdims=True) + EPSILON) * weight)


def _silu(x: Array) -> Array:
    return np.asarray(x / (1.0 + np.exp(-x)))


@pytest.mark.parametrize("step", ["prefill", "decode"])
def test_mla_moe(mesh_device: Any, step: str) -> None:
    weights = Weights()
    reference = Reference(weights)
    layer = Layer(weights, reference.cache, mesh_device)
    tokens = TOKENS if step == "prefill" else USERS
    array = Numbers(63).normal(1, 1, ROWS * tokens, FEATURES)
    x = on_mesh(array, mesh_device, (2, 3), ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG)
    with phase(step):
        if step == "prefill":
            user = 5  # of the users of a row
            y = layer.prefill(x, user)
            expected = [reference(part, row * USERS + user, 0) for row, part in enumerate(np.split(array[0, 0], ROWS))]
        else:
            at = (np.arange(ROWS * USERS, dtype=np.int32) * 37) % (POSITIONS - 1)
            y = layer.decode(x, at)
            expected = [reference(array[0, 0, u : u + 1], u, int(at[u])) for u in range(ROWS * USERS)]

    assert tuple(y.shape) == (1, 1, tokens, FEATURES // COLUMNS)
    assert len(ttnn.get_device_tensors(y)) == ROWS * COLUMNS
    composer = ttnn.create_mesh_composer(mesh_device, ttnn.MeshComposerConfig([2, 3]))
    joined = to_array(ttnn.aggregate_tensor(y.cpu(), composer))
    # A token whose fourth and fifth expert are close may get the other one: a looser bound than that of the numbers.
    check_values(joined, np.concatenate(expected)[None, None], pcc=0.98)
