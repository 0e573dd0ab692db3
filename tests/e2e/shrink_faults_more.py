"""Planted faults of kinds that came to an outsider's mind: numbers of the data, orders of shards, tiles, meshes, exact sizes,
two or three conditions at once, items of lists, fields of configs. `shrink_faults.py` has the usual ones."""

from __future__ import annotations

import random
from collections.abc import Iterator

from shrink_faults import L1, Fault, shards, tensor


def turned(kind: str, height: int, width: int, x: int, y: int = 1) -> str:
    return shards(kind, height, width, x, y).replace("ROW_MAJOR", "COL_MAJOR")


def placed(*shape: int, dims: str, mesh: tuple[int, int]) -> str:
    rows, columns = mesh
    plain = tensor(*shape)
    return plain[:-1] + f" placed [{dims}] over [{rows},{columns}] of mesh [{rows},{columns}])"


def tiled(*shape: int, tile: tuple[int, int]) -> str:
    return tensor(*shape)[:-1] + f" tile [{tile[0]},{tile[1]}])"


def more_faults(seed: int) -> Iterator[Fault]:
    chance = random.Random(seed)
    w = 32 * chance.randint(3, 12)
    h = 32 * chance.randint(2, 6)
    plain = tensor(1, 1, h, w)

    # Numbers of the data.
    most = chance.choice((1, 2))
    yield Fault("a number", "unary", f"ttnn.relu({plain})", f"ttnn.relu and input_tensor.value > {most}")
    yield Fault("a number", "unary", f"ttnn.abs({tensor(1, 2, h, w)})", f"ttnn.abs and input_tensor.value < -{most}")
    yield Fault("a number", "binary", f"ttnn.add({plain}, {plain}, memory_config={L1})", f"ttnn.add and input_tensor_b.value > {most}")
    yield Fault("a number and a size", "unary", f"ttnn.neg({plain})", f"ttnn.neg and input_tensor.value > 1 and input_tensor[-1] > {chance.randint(33, w - 1)}")
    yield Fault("a number and a dtype", "unary", f"ttnn.neg({tensor(1, 1, h, w, dtype='FLOAT32')})",
                "ttnn.neg and input_tensor.value > 1 and input_tensor.dtype = FLOAT32")
    yield Fault("a number", "matmul", f"ttnn.matmul({tensor(1, 1, 64, w)}, {tensor(1, 1, w, 96)})", "ttnn.matmul and input_tensor_a.value > 2")

    # How tensors lie.
    cores = chance.randint(3, 7)
    yield Fault("order of shards", "unary", f"ttnn.relu({tensor(1, 1, 32 * cores, 64, memory=turned('HEIGHT_SHARDED', 32, 64, cores))})",
                "ttnn.relu and input_tensor.memory = HEIGHT_SHARDED and input_tensor.orientation = COL_MAJOR")
    yield Fault("cores of a block", "unary", f"ttnn.exp({tensor(1, 1, 64, 32 * cores, memory=shards('BLOCK_SHARDED', 32, 32, cores, 2))})",
                f"ttnn.exp and input_tensor.memory = BLOCK_SHARDED and input_tensor.cores > {2 * chance.randint(1, cores - 1)}")
    yield Fault("mesh", "unary", f"ttnn.abs({placed(1, 1, h, w, dims='Shard(3),Replicate', mesh=(2, 4))})",
                "ttnn.abs and input_tensor.placement = Shard(3),Replicate")
    yield Fault("mesh and a size", "binary",
                f"ttnn.add({placed(1, 1, h, w, dims='Replicate,Replicate', mesh=(1, 2))}, {placed(1, 1, h, w, dims='Replicate,Replicate', mesh=(1, 2))})",
                f"ttnn.add and input_tensor_a[-1] > {chance.randint(33, w - 1)}")
    yield Fault("tile", "unary", f"ttnn.abs({tiled(1, 1, h, w, tile=(16, 32))})", "ttnn.abs and input_tensor.tile = 16x32")
    yield Fault("memory and dtype", "unary", f"ttnn.sqrt({tensor(1, 1, h, w, dtype='BFLOAT8_B', memory=L1)})",
                "ttnn.sqrt and input_tensor.buffer = L1 and input_tensor.dtype = BFLOAT8_B")

    # Sizes.
    exact = chance.choice((37, 45, 61))
    yield Fault("one size", "unary", f"ttnn.cos({tensor(1, 1, 64, exact)})", f"ttnn.cos and input_tensor[-1] = {exact}")
    yield Fault("two thresholds", "unary", f"ttnn.sin({plain})",
                f"ttnn.sin and input_tensor[-1] > {chance.randint(33, w - 1)} and input_tensor[-2] > {chance.randint(33, h - 1)}")
    yield Fault("narrow", "unary", f"ttnn.tanh({tensor(1, 1, 64, 20)})", f"ttnn.tanh and input_tensor[-1] <= {chance.randint(20, 31)}")
    yield Fault("three conditions", "matmul", f"ttnn.matmul({tensor(1, 1, 64, w, memory=L1)}, {tensor(1, 1, w, 96, dtype='BFLOAT8_B')})",
                f"ttnn.matmul and input_tensor_a[-1] > {chance.randint(33, w - 1)} and input_tensor_b.dtype = BFLOAT8_B and input_tensor_a.buffer = L1")
    yield Fault("tail and rank", "unary", f"ttnn.exp({tensor(2, 1, 64, 50)})", "ttnn.exp and input_tensor.rank > 2 and input_tensor[-1] % 32 != 0", "tail")
    yield Fault("tail of both", "binary", f"ttnn.multiply({tensor(1, 1, 50, 70)}, {tensor(1, 1, 50, 70)})",
                "ttnn.multiply and input_tensor_a[-1] % 32 != 0 and input_tensor_a[-2] % 32 != 0")
    yield Fault("one column", "binary", f"ttnn.add({tensor(1, 1, h, w)}, {tensor(1, 1, h, 1)})", "ttnn.add and input_tensor_a[-1] > 1 and input_tensor_b[-1] = 1")

    # Arguments.
    below = chance.randint(3, 30)
    yield Fault("negative scalar", "binary", f"ttnn.add({plain}, -{below + chance.randint(1, 20)}.0)", f"ttnn.add and input_tensor_b < -{below}")
    yield Fault("item of a list", "slice", f"ttnn.slice({tensor(1, 1, h, w)}, [0,0,32,0], [1,1,{h},{w}])", "ttnn.slice and starts#2 > 0")
    yield Fault("order of dimensions", "permute", f"ttnn.permute({tensor(1, 4, 64, 96)}, [0,2,1,3])", "ttnn.permute and dims#1 = 2")
    yield Fault("third tensor", "concat", f"ttnn.concat([{plain},{plain},{plain}], dim=2)", "ttnn.concat and tensors#2 passed")
    yield Fault("no flag", "reduction", f"ttnn.max({plain}, dim=-1, keepdim=false)", "ttnn.max and keepdim = false")
    yield Fault("activation and bias", "linear",
                f"ttnn.linear({tensor(1, 1, 64, w)}, {tensor(1, 1, w, 64)}, bias={tensor(1, 1, 1, 64)}, activation=\"relu\")",
                "ttnn.linear and activation = \"relu\" and bias passed")
    config = "WormholeComputeKernelConfig(fp32_dest_acc_en=true,math_approx_mode=false,math_fidelity=MathFidelity.HiFi2,packer_l1_acc=false)"
    yield Fault("two fields", "matmul", f"ttnn.matmul({tensor(1, 1, 64, w)}, {tensor(1, 1, w, 64)}, compute_kernel_config={config})",
                "ttnn.matmul and compute_kernel_config.fp32_dest_acc_en = true and compute_kernel_config.math_fidelity = MathFidelity.HiFi2")
    yield Fault("output dtype and memory", "binary", f"ttnn.add({plain}, {plain}, dtype=DataType.FLOAT32, memory_config={L1})",
                f"ttnn.add and dtype = DataType.FLOAT32 and memory_config = {L1}")

    # Ends of other kinds.
    yield Fault("refusal of a size", "softmax", f"ttnn.softmax({plain}, dim=-1)", f"ttnn.softmax and input_tensor[-1] > {chance.randint(33, w - 1)}", "refuse")
    yield Fault("exception and dtype", "binary", f"ttnn.add({tensor(1, 1, h, w, dtype='INT32')}, {tensor(1, 1, h, w, dtype='INT32')})",
                "ttnn.add and input_tensor_a.dtype = INT32", "throw")
    yield Fault("crash and rank", "unary", f"ttnn.log({tensor(2, 3, 32, 64)})", "ttnn.log and input_tensor.rank > 2", "crash")
    before = [f"ttnn.neg({tensor(1, 1, 32, 32)})", f"ttnn.exp({tensor(1, 1, 32, 64)})"] * chance.randint(1, 4)
    before.insert(chance.randint(0, len(before)), f"ttnn.matmul({tensor(1, 1, 64, w)}, {tensor(1, 1, w, 64)})")
    yield Fault("predecessor of a size", "unary", f"ttnn.relu({plain})", f"ttnn.relu and input_tensor[-2] > {chance.randint(33, h - 1)}",
                after="ttnn.matmul and input_tensor_a[-1] > 64", before=before)
    yield Fault("number after a predecessor", "unary", f"ttnn.relu({plain})", "ttnn.relu and input_tensor.value > 1", after="ttnn.exp", before=before)
