"""A BERT-style encoder: embeddings, two post-norm layers with masked self-attention, a pooler on the first token.

Two sentences of 128 tokens (the second has 96, the rest is masked), 256 features, 4 heads of 64, 1,024 hidden features,
a vocabulary of 1,000. Activations are interleaved in DRAM and L1, weights bfloat16 and (feed-forward) bfloat8_b.
Attention comes in the two ways that models use:

- `softmax`: q @ k, the in-place scale-mask-softmax, p @ v; the mask is [2, 1, 1, 128];
- `sdpa`: one fused operation; the mask is [2, 1, 128, 128].
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import ttnn
from numpy.typing import NDArray

from helpers import HIFI4, Array, Numbers, check, label, on_device

BATCH, TOKENS, FEATURES, HEADS, HIDDEN = 2, 128, 256, 4, 1024
HEAD = FEATURES // HEADS
VOCABULARY, LAYERS = 1000, 2
EPSILON = 1e-12
GRID = ttnn.CoreGrid(y=8, x=8)


class Weights:
    """All arrays of the model by name, `layer0/qkv` and the like; the biases end in `_b`."""

    def __init__(self) -> None:
        numbers = Numbers(11)
        self.arrays: dict[str, Array] = {
            "words": numbers.normal(VOCABULARY, FEATURES),
            "positions": numbers.normal(1, TOKENS, FEATURES, scale=0.1),
            "pooler": numbers.weight(FEATURES, FEATURES),
        }
        for layer in range(LAYERS):
            for name, inner, outer in (
                ("qkv", FEATURES, 3 * FEATURES),
                ("out", FEATURES, FEATURES),
                ("up", FEATURES, HIDDEN),
                ("down", HIDDEN, FEATURES),
            ):
                self.arrays[f"layer{layer}/{name}"] = numbers.weight(inner, outer)
                self.arrays[f"layer{layer}/{name}_b"] = numbers.normal(1, outer, scale=0.1)
        for norm in ("norm", *(f"layer{layer}/norm{i}" for layer in range(LAYERS) for i in (1, 2))):
            self.arrays[norm] = 1.0 + numbers.normal(1, FEATURES, scale=0.1)
            self.arrays[f"{norm}_b"] = numbers.normal(1, FEATURES, scale=0.1)


class Encoder:
    """The model on the device."""

    def __init__(self, weights: Weights, device: Any, fused: bool) -> None:
        self._fused = fused
        self._tensors = {
            name: on_device(
                array,
                device,
                dtype=ttnn.bfloat8_b if name.endswith(("/up", "/down")) else ttnn.bfloat16,
                layout=ttnn.ROW_MAJOR_LAYOUT if name == "words" else ttnn.TILE_LAYOUT,
            )
            for name, array in weights.arrays.items()
        }

    def __call__(self, ids: ttnn.Tensor, mask: ttnn.Tensor) -> tuple[ttnn.Tensor, ttnn.Tensor]:
        with label("embedding"):
            mask = (1.0 - mask) * -10000.0
            if self._fused:
                mask = ttnn.repeat(mask, (1, 1, TOKENS, 1))
            x = ttnn.embedding(ids, self._tensors["words"], layout=ttnn.TILE_LAYOUT)
            x = self._norm(x + self._tensors["positions"], "norm")
        for layer in range(LAYERS):
            x = self._layer(x, mask, f"layer{layer}")
        with label("pooler"):
            pooled = ttnn.tanh(x[:, 0:1, :] @ self._tensors["pooler"])
        return x, pooled

    def _layer(self, x: ttnn.Tensor, mask: ttnn.Tensor, name: str) -> ttnn.Tensor:
        with label(f"{name}/attention"):
            attended = self._attention(x, mask, name)
            x = self._norm(x + attended, f"{name}/norm1")
            ttnn.deallocate(attended)
        with label(f"{name}/feed_forward"):
            h = self._linear(x, f"{name}/up", activation="gelu", memory_config=ttnn.L1_MEMORY_CONFIG)
            y = self._linear(h, f"{name}/down", dtype=ttnn.bfloat16)
            ttnn.deallocate(h)
            return self._norm(x + y, f"{name}/norm2")

    def _attention(self, x: ttnn.Tensor, mask: ttnn.Tensor, name: str) -> ttnn.Tensor:
        qkv = self._linear(x, f"{name}/qkv", memory_config=ttnn.L1_MEMORY_CONFIG, core_grid=GRID)
        q, k, v = ttnn.transformer.split_query_key_value_and_split_heads(
            qkv, num_heads=HEADS, transpose_key=not self._fused
        )
        assert tuple(q.shape) == (BATCH, HEADS, TOKENS, HEAD)
        if self._fused:
            program = ttnn.SDPAProgramConfig(
                compute_with_storage_grid_size=(8, 8), q_chunk_size=64, k_chunk_size=64, exp_approx_mode=False
            )
            context = ttnn.transformer.scaled_dot_product_attention(
                q, k, v, attn_mask=mask, is_causal=False, program_config=program, compute_kernel_config=HIFI4
            )
        else:
            scores = ttnn.matmul(q, k, dtype=ttnn.bfloat16, memory_config=ttnn.L1_MEMORY_CONFIG, core_grid=GRID)
            scores = ttnn.transformer.attention_softmax_(scores, attention_mask=mask, head_size=HEAD)
            context = ttnn.matmul(scores, v, core_grid=GRID)
            ttnn.deallocate(scores)
        return self._linear(ttnn.transformer.concatenate_heads(context), f"{name}/out")

    def _linear(self, x: ttnn.Tensor, name: str, **options: Any) -> ttnn.Tensor:
        return ttnn.linear(
            x, self._tensors[name], bias=self._tensors[f"{name}_b"], compute_kernel_config=HIFI4, **options
        )

    def _norm(self, x: ttnn.Tensor, name: str) -> ttnn.Tensor:
        return ttnn.layer_norm(x, weight=self._tensors[name], bias=self._tensors[f"{name}_b"], epsilon=EPSILON)


def reference(weights: Weights, ids: NDArray[np.uint32], mask: Array) -> tuple[Array, Array]:
    """The same model in numpy."""
    w = weights.arrays

    def norm(x: Array, name: str) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        return np.asarray(centred / np.sqrt(centred.var(-1, keepdims=True) + EPSILON) * w[name] + w[f"{name}_b"])

    def linear(x: Array, name: str) -> Array:
        return np.asarray(x @ w[name] + w[f"{name}_b"])

    def heads(x: Array) -> Array:
        return x.reshape(BATCH, TOKENS, HEADS, HEAD).transpose(0, 2, 1, 3)

    x = norm(w["words"][ids] + w["positions"], "norm")
    for layer in (f"layer{i}" for i in range(LAYERS)):
        q, k, v = (heads(part) for part in np.split(linear(x, f"{layer}/qkv"), 3, axis=-1))
        scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(HEAD) + (1.0 - mask) * -10000.0
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        context = (scores / scores.sum(-1, keepdims=True)) @ v
        context = context.transpose(0, 2, 1, 3).reshape(BATCH, TOKENS, FEATURES)
        x = norm(x + linear(context, f"{layer}/out"), f"{layer}/norm1")
        h = linear(x, f"{layer}/up")
        h = 0.5 * h * (1.0 + np.tanh(0.7978846 * (h + 0.044715 * h**3)))
        x = norm(x + linear(h, f"{layer}/down"), f"{layer}/norm2")
    return x, np.tanh(x[:, 0:1, :] @ w["pooler"])


@pytest.mark.parametrize("attention", ["softmax", "sdpa"])
def test_encoder(device: Any, attention: str) -> None:
    weights = Weights()
    ids = Numbers(12).integers(VOCABULARY, BATCH, TOKENS)
    mask = np.ones((BATCH, 1, 1, TOKENS), np.float32)
    mask[1, :, :, 96:] = 0.0
    model = Encoder(weights, device, fused=attention == "sdpa")
    x, pooled = model(on_device(ids, device, ttnn.uint32, ttnn.ROW_MAJOR_LAYOUT), on_device(mask, device))

    expected_x, expected_pooled = reference(weights, ids, mask)
    check(x, (BATCH, TOKENS, FEATURES), expected=expected_x)
    check(pooled, (BATCH, 1, FEATURES), expected=expected_pooled)
