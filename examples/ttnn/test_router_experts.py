"""A gpt-oss-style mixture of experts: a router that picks 4 of 32, and experts with a clamped, gated perceptron.

    values, chosen = top 4 of (x @ router + bias);   weights = softmax(values)
    up = clamp(x @ W_up + b_up, -7, 7);   gate = clamp(x @ W_gate + b_gate, max=7)
    y = x + sum over the chosen experts of weight * (((up + 1) * gate * sigmoid(1.702 * gate)) @ W_down + b_down)

256 features, 128 hidden features an expert, weights bfloat8_b. Every expert sees every token, and those that were not
chosen count with weight 0: as it is done where most experts are needed for some token of the batch.

- `prefill`: 128 tokens, [1, 1, 128, 256], in DRAM;
- `decode`: one token for each of 32 users, [1, 1, 32, 256], in L1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import ttnn

from helpers import HIFI2, HIFI4, Array, Numbers, check, label, on_device, phase

FEATURES, HIDDEN, EXPERTS, CHOSEN = 256, 128, 32, 4
LIMIT, ALPHA = 7.0, 1.702
TOKENS = {"prefill": 128, "decode": 32}


class Weights:
    """The arrays of the block."""

    def __init__(self) -> None:
        numbers = Numbers(51)
        self.router, self.router_bias = numbers.weight(FEATURES, EXPERTS), numbers.normal(EXPERTS, scale=0.1)
        self.gate, self.up = (numbers.weight(EXPERTS, FEATURES, HIDDEN) for _ in range(2))
        self.down = numbers.weight(EXPERTS, HIDDEN, FEATURES)
        self.gate_bias, self.up_bias = (numbers.normal(EXPERTS, 1, HIDDEN, scale=0.1) for _ in range(2))
        self.down_bias = numbers.normal(EXPERTS, 1, FEATURES, scale=0.1)


class Block:
    """The block on the device."""

    def __init__(self, weights: Weights, device: Any) -> None:
        self._device = device
        self._router = on_device(weights.router, device)
        self._router_bias = on_device(weights.router_bias[None], device)
        self._gate, self._up, self._down = (
            on_device(matrix[None], device, ttnn.bfloat8_b) for matrix in (weights.gate, weights.up, weights.down)
        )
        self._gate_bias, self._up_bias, self._down_bias = (
            on_device(bias[None], device) for bias in (weights.gate_bias, weights.up_bias, weights.down_bias)
        )

    def __call__(self, x: ttnn.Tensor, memory: Any) -> ttnn.Tensor:
        tokens = x.shape[2]
        with label("layer0/router"):
            weights, chosen = self._route(x)
        with label("layer0/experts"):
            nothing = ttnn.zeros([tokens, EXPERTS], ttnn.bfloat16, ttnn.TILE_LAYOUT, self._device, memory)
            weights = ttnn.scatter(nothing, 1, chosen, weights)
            weights = ttnn.permute(ttnn.reshape(weights, (1, 1, tokens, EXPERTS)), (0, 3, 2, 1))  # [1, experts, tokens, 1]
            h = self._experts(ttnn.repeat(x, (1, EXPERTS, 1, 1)), memory)
            h = ttnn.mul(h, weights, memory_config=memory)
            return ttnn.add(x, ttnn.experimental.fast_reduce_nc(h, dims=[1], output=None, compute_kernel_config=HIFI2))

    def _route(self, x: ttnn.Tensor) -> tuple[ttnn.Tensor, ttnn.Tensor]:
        """The weights of the chosen experts and their numbers, both [tokens, 4]."""
        flat = ttnn.reshape(x, (x.shape[2], FEATURES))
        logits = ttnn.linear(flat, self._router, bias=self._router_bias, dtype=ttnn.float32, compute_kernel_config=HIFI4)
        logits = ttnn.typecast(ttnn.to_memory_config(logits, ttnn.L1_MEMORY_CONFIG), ttnn.bfloat16)
        values, chosen = ttnn.topk(logits, k=CHOSEN, dim=-1, sorted=True)
        return ttnn.softmax(values, dim=1, numeric_stable=True, compute_kernel_config=HIFI4), chosen

    def _experts(self, x: ttnn.Tensor, memory: Any) -> ttnn.Tensor:
        gate = ttnn.matmul(x, self._gate, memory_config=memory, compute_kernel_config=HIFI2)
        gate = ttnn.clamp(ttnn.add(gate, self._gate_bias, memory_config=memory), max=LIMIT)
        up = ttnn.matmul(x, self._up, memory_config=memory, compute_kernel_config=HIFI2)
        up = ttnn.clamp(ttnn.add(up, self._up_bias, memory_config=memory), min=-LIMIT, max=LIMIT)
        swish = ttnn.mul(gate, ttnn.sigmoid(ttnn.mul(gate, ALPHA)))
        h = ttnn.mul(ttnn.add(up, 1.0), swish, memory_config=memory)
        ttnn.deallocate(gate)
        ttnn.deallocate(up)
        h = ttnn.matmul(h, self._down, memory_config=memory, compute_kernel_config=HIFI2)
        return ttnn.add(h, self._down_bias, memory_config=memory)


def reference(w: Weights, x: Array) -> Array:
    """The same block in numpy, for x [tokens, features]."""
    logits = x @ w.router + w.router_bias
    chosen = np.argsort(-logits, axis=1, kind="stable")[:, :CHOSEN]
    values = np.exp(np.take_along_axis(logits, chosen, 1) - logits.max(1, keepdims=True))
    weights = np.zeros_like(logits)
    np.put_along_axis(weights, chosen, values / values.sum(1, keepdims=True), 1)
    gate = np.minimum(x @ w.gate + w.gate_bias, LIMIT)
    up = np.clip(x @ w.up + w.up_bias, -LIMIT, LIMIT)
    h = ((up + 1.0) * gate / (1.0 + np.exp(-ALPHA * gate))) @ w.down + w.down_bias  # [experts, tokens, features]
    return np.asarray(x + np.einsum("te,etf->tf", weights, h), np.float32)


@pytest.mark.parametrize("step", ["prefill", "decode"])
def test_router_experts(device: Any, step: str) -> None:
    weights = Weights()
    block = Block(weights, device)
    array = Numbers(52).normal(1, 1, TOKENS[step], FEATURES)
    memory = ttnn.L1_MEMORY_CONFIG if step == "decode" else ttnn.DRAM_MEMORY_CONFIG
    with phase(step):
        y = block(on_device(array, device, memory_config=memory), memory)
    # A token whose fourth and fifth expert are close may get the other one: a looser bound than that of the numbers.
    check(y, array.shape, expected=reference(weights, array[0, 0]), pcc=0.98)
