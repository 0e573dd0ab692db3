"""An EfficientNet-style network of three MBConv blocks, sharded over the cores from the first to the last convolution.

    stem 3x3/2 -> block, 32 -> 32 -> block/2, 32 -> 64 -> block, 64 -> 64 -> head 1x1 -> pool -> classes
    block: 1x1 expand (x4), swish, 3x3 depthwise, swish, squeeze and excite, 1x1 project, residual where it fits

Images are 64x64 with 8 channels, activations [1, 1, batch * height * width, channels] in L1: height sharded at 32x32,
block sharded in the last block (16x16). Squeeze and excite pools all positions, scales with a sigmoid of two small
matrices, and multiplies by broadcast. Weights are bfloat8_b, batches 1 and 2.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import ttnn

from helpers import HIFI4, Array, Numbers, check, label, on_device

SIDE, CHANNELS, CLASSES = 64, 8, 32
HEIGHT, BLOCK = ttnn.TensorMemoryLayout.HEIGHT_SHARDED, ttnn.TensorMemoryLayout.BLOCK_SHARDED
SWISH = ttnn.UnaryWithParam(ttnn.UnaryOpType.SILU)


@dataclass
class Image:
    """Activations on the device with the size that their flat rows stand for."""

    tensor: ttnn.Tensor
    side: int
    channels: int


@dataclass
class Convolution:
    """A square convolution with padding that keeps the size (at stride 1), and a bias."""

    weight: Array  # [out, in / groups, kernel, kernel]
    bias: Array  # [1, 1, 1, out]
    stride: int = 1
    depthwise: bool = False

    @staticmethod
    def make(
        numbers: Numbers, inner: int, outer: int, kernel: int, stride: int = 1, depthwise: bool = False
    ) -> Convolution:
        weight = numbers.normal(outer, 1 if depthwise else inner, kernel, kernel)
        weight *= weight[0].size ** -0.5
        return Convolution(weight, numbers.normal(1, 1, 1, outer, scale=0.1), stride, depthwise)

    def __call__(self, device: Any, x: Image, batch: int, layout: Any, activation: Any = None) -> Image:
        outer, _, kernel, _ = self.weight.shape
        y, (height, width) = ttnn.conv2d(
            input_tensor=x.tensor,
            weight_tensor=ttnn.Tensor(self.weight, ttnn.bfloat16),
            bias_tensor=ttnn.Tensor(self.bias, ttnn.bfloat16),
            device=device,
            in_channels=x.channels,
            out_channels=outer,
            batch_size=batch,
            input_height=x.side,
            input_width=x.side,
            kernel_size=(kernel, kernel),
            stride=(self.stride, self.stride),
            padding=(kernel // 2, kernel // 2),
            groups=x.channels if self.depthwise else 1,
            dtype=ttnn.bfloat16,
            conv_config=ttnn.Conv2dConfig(
                weights_dtype=ttnn.bfloat8_b, shard_layout=layout, activation=activation, reshard_if_not_optimal=True
            ),
            compute_config=HIFI4,
            return_output_dim=True,
        )
        side = -(-x.side // self.stride)
        assert (height, width) == (side, side)
        check(y, (1, 1, batch * side * side, outer), memory_layout=layout)
        return Image(y, side, outer)

    def reference(self, x: Array) -> Array:
        """x is [batch, height, width, channels]."""
        kernel, side = self.weight.shape[-1], -(-x.shape[1] // self.stride)
        edge = kernel // 2
        padded = np.pad(x, ((0, 0), (edge, edge), (edge, edge), (0, 0)))
        y = np.zeros((len(x), side, side, len(self.weight)), np.float32) + self.bias
        for i in range(kernel):
            for j in range(kernel):
                window = padded[:, i : i + x.shape[1] : self.stride, j : j + x.shape[2] : self.stride]
                taps = self.weight[:, :, i, j]
                y += window * taps[:, 0] if self.depthwise else window @ taps.T
        return y


class Block:
    """One MBConv block."""

    def __init__(self, numbers: Numbers, inner: int, outer: int, stride: int, layout: Any) -> None:
        wide = 4 * inner
        self.expand = Convolution.make(numbers, inner, wide, 1)
        self.depthwise = Convolution.make(numbers, wide, wide, 3, stride, depthwise=True)
        self.squeeze, self.excite = 8.0 * numbers.weight(wide, 32), 4.0 * numbers.weight(32, wide)  # uneven scales
        self.project = Convolution.make(numbers, wide, outer, 1)
        self.layout, self.residual = layout, stride == 1 and inner == outer

    def __call__(self, device: Any, x: Image, batch: int) -> Image:
        wide = self.expand(device, x, batch, self.layout)
        wide.tensor = ttnn.silu(wide.tensor)
        y = self.depthwise(device, wide, batch, self.layout)
        ttnn.deallocate(wide.tensor)
        y.tensor = ttnn.silu(y.tensor, memory_config=y.tensor.memory_config())
        pooled = pool(y, batch)
        scale = ttnn.linear(pooled, on_device(self.squeeze, device), activation="silu", compute_kernel_config=HIFI4)
        scale = ttnn.sigmoid(ttnn.linear(scale, on_device(self.excite, device), compute_kernel_config=HIFI4))
        y.tensor = scaled(y, scale, batch)
        y = self.project(device, y, batch, self.layout)
        if self.residual:
            shortcut = ttnn.to_memory_config(x.tensor, y.tensor.memory_config())
            y.tensor = ttnn.add(y.tensor, shortcut, memory_config=y.tensor.memory_config())
            shortcut.deallocate()
        return y

    def reference(self, x: Array) -> Array:
        y = swish(self.depthwise.reference(swish(self.expand.reference(x))))
        scale = swish(y.mean((1, 2)) @ self.squeeze) @ self.excite
        y = self.project.reference(y / (1.0 + np.exp(-scale))[:, None, None])
        return y + x if self.residual else y


def pool(x: Image, batch: int) -> ttnn.Tensor:
    """The mean over all positions, [batch, 1, 1, channels]."""
    flat = ttnn.sharded_to_interleaved(x.tensor, ttnn.L1_MEMORY_CONFIG)
    return ttnn.global_avg_pool2d(flat.reshape((batch, x.side, x.side, x.channels)))


def scaled(x: Image, scale: ttnn.Tensor, batch: int) -> ttnn.Tensor:
    """x times the scale of its channels."""
    flat = ttnn.sharded_to_interleaved(x.tensor, ttnn.L1_MEMORY_CONFIG)
    images = flat.reshape((batch, 1, x.side * x.side, x.channels))
    y = images * scale
    return y.reshape((1, 1, batch * x.side * x.side, x.channels))


def swish(x: Array) -> Array:
    return np.asarray(x / (1.0 + np.exp(-x)))


@pytest.mark.parametrize("batch", [1, 2])
def test_mbconv(device: Any, batch: int) -> None:
    numbers = Numbers(31)
    stem = Convolution.make(numbers, CHANNELS, 32, 3, stride=2)
    blocks = [
        Block(numbers, 32, 32, 1, HEIGHT),
        Block(numbers, 32, 64, 2, HEIGHT),
        Block(numbers, 64, 64, 1, BLOCK),
    ]
    head, classes = Convolution.make(numbers, 64, 256, 1), numbers.weight(256, CLASSES)
    array = Numbers(32).normal(batch, SIDE, SIDE, CHANNELS)

    flat = array.reshape(1, 1, batch * SIDE * SIDE, CHANNELS)
    x = Image(
        on_device(flat, device, layout=ttnn.ROW_MAJOR_LAYOUT, memory_config=ttnn.L1_MEMORY_CONFIG), SIDE, CHANNELS
    )
    with label("stem"):
        x = stem(device, x, batch, HEIGHT, SWISH)
    for i, block in enumerate(blocks):
        with label(f"block{i}"):
            x = block(device, x, batch)
    features = x
    with label("head"):
        x = head(device, x, batch, BLOCK, SWISH)
        bias = ttnn.from_buffer(
            [0.25] * CLASSES, shape=(1, CLASSES), dtype=ttnn.bfloat16, device=device, layout=ttnn.TILE_LAYOUT
        )
        logits = ttnn.linear(pool(x, batch), on_device(classes, device), bias=bias, compute_kernel_config=HIFI4)
        logits = ttnn.to_layout(logits, ttnn.ROW_MAJOR_LAYOUT).reshape((batch, CLASSES))

    y = swish(stem.reference(array))
    for block in blocks:
        y = block.reference(y)
    check(features.tensor, (1, 1, batch * 16 * 16, 64), memory_layout=BLOCK, expected=y)
    expected = swish(head.reference(y)).mean((1, 2)) @ classes + 0.25
    check(logits, (batch, CLASSES), expected=expected)
