"""Faults with a known condition: cases on the planted device (exec/planted_device.h), and what `shrink` must say of each.
`tests/bench/shrink.py` prints the table, `test_shrink.py` holds a part of it."""

from __future__ import annotations

import json
import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field

import support

DRAM = "memory(DRAM INTERLEAVED)"
L1 = "memory(L1 INTERLEAVED)"


def tensor(*shape: int, dtype: str = "BFLOAT16", layout: str = "TILE", memory: str = DRAM, where: str = "DEVICE") -> str:
    return f"tensor([{','.join(map(str, shape))}] {dtype} {layout} {where} {memory})"


def shards(kind: str, height: int, width: int, x: int, y: int = 1) -> str:
    return f"memory(L1 {kind} shard [{height},{width}] on (0,0)-({x - 1},{y - 1}) ROW_MAJOR)"


@dataclass
class Fault:
    kind: str
    family: str
    case: str
    condition: str  # "OP and NEED and NEED"
    effect: str = "wrong"
    after: str = ""  # condition on an earlier case
    before: list[str] = field(default_factory=list)  # cases that run before

    @property
    def device(self) -> str:
        return f"planted:{self.effect} if {self.condition}" + (f" after {self.after}" if self.after else "")

    @property
    def needs(self) -> list[str]:
        return self.condition.split(" and ")[1:]


def faults(seed: int) -> Iterator[Fault]:
    """At least one of every kind and family; sizes, limits and where they lie come from the seed."""
    chance = random.Random(seed)

    def tiles(low: int, high: int) -> int:
        return 32 * chance.randint(low, high)

    def limit(size: int) -> int:
        return chance.randint(40, size - 8)

    # A threshold in one dimension.
    m, k, n = tiles(2, 6), tiles(8, 40), tiles(2, 8)
    a, b = tensor(1, 1, m, k), tensor(1, 1, k, n)
    yield Fault("K threshold", "matmul", f"ttnn.matmul({a}, {b})", f"ttnn.matmul and input_tensor_a[-1] > {limit(k)}")
    yield Fault("N threshold", "matmul", f"ttnn.matmul({a}, {b}, dtype=DataType.BFLOAT8_B)",
                f"ttnn.matmul and input_tensor_b[-1] > {chance.randint(20, n - 1)}")
    yield Fault("M threshold", "linear", f"ttnn.linear({a}, {b}, bias={tensor(1, 1, 1, n)}, activation=\"gelu\")",
                f"ttnn.linear and input_tensor_a[-2] > {chance.randint(20, m - 1)}")
    yield Fault("K threshold and dtype", "matmul", f"ttnn.matmul({a}, {tensor(1, 1, k, n, dtype='BFLOAT8_B')}, memory_config={L1})",
                f"ttnn.matmul and input_tensor_a[-1] > {limit(k)} and input_tensor_b.dtype = BFLOAT8_B")
    w = tiles(4, 20)
    for op, param in (("relu", "input_tensor"), ("gelu", "input_tensor"), ("softmax", "input_tensor"), ("rms_norm", "input_tensor")):
        more = ", dim=-1" if op == "softmax" else f", epsilon=1e-05, weight={tensor(1, 1, 1, w)}" if op == "rms_norm" else ""
        yield Fault("row length", op, f"ttnn.{op}({tensor(1, 1, 64, w)}{more})", f"ttnn.{op} and {param}[-1] > {limit(w)}")
    h = tiles(3, 8)
    yield Fault("rows", "reduction", f"ttnn.sum({tensor(1, 2, h, 96)}, dim=-1)", f"ttnn.sum and input_tensor[-2] > {limit(h)}")
    batch = chance.randint(4, 16)
    yield Fault("batch", "binary", f"ttnn.multiply({tensor(batch, 2, 32, 64)}, {tensor(batch, 2, 32, 64)})",
                f"ttnn.multiply and input_tensor_a[-4] > {chance.randint(1, batch - 1)}")
    yield Fault("heads", "attention",
                f"ttnn.transformer.scaled_dot_product_attention({tensor(1, 8, 64, 64)}, {tensor(1, 4, 64, 64)}, {tensor(1, 4, 64, 64)}, is_causal=true)",
                f"ttnn.transformer.scaled_dot_product_attention and input_tensor_q[-3] > {chance.choice((1, 2, 3))}")
    yield Fault("sequence length", "attention",
                f"ttnn.transformer.scaled_dot_product_attention({tensor(1, 4, 256, 64)}, {tensor(1, 2, 256, 64)}, {tensor(1, 2, 256, 64)}, is_causal=true)",
                f"ttnn.transformer.scaled_dot_product_attention and input_tensor_k[-2] > {chance.randint(3, 7) * 32}")

    # The tail of a tile.
    odd = chance.choice((33, 50, 70, 97))
    yield Fault("tail tile", "unary", f"ttnn.exp({tensor(1, 1, 64, odd)})", "ttnn.exp and input_tensor[-1] % 32 != 0", "tail")
    yield Fault("tail tile", "binary", f"ttnn.add({tensor(1, 1, odd, 64)}, {tensor(1, 1, odd, 64)})",
                "ttnn.add and input_tensor_a[-2] % 32 != 0")
    yield Fault("tail tile", "matmul", f"ttnn.matmul({tensor(1, 1, 64, odd)}, {tensor(1, 1, odd, 96)})",
                "ttnn.matmul and input_tensor_a[-1] % 32 != 0")
    yield Fault("tail tile", "reduction", f"ttnn.mean({tensor(1, 1, 64, odd)}, dim=-1)", "ttnn.mean and input_tensor[-1] % 32 != 0")
    yield Fault("tail tile", "softmax", f"ttnn.softmax({tensor(1, 1, 64, odd)}, dim=-1)", "ttnn.softmax and input_tensor[-1] % 32 != 0")
    yield Fault("tail tile and dtype", "unary", f"ttnn.silu({tensor(1, 1, 64, odd, dtype='BFLOAT8_B')}, memory_config={L1})",
                "ttnn.silu and input_tensor.dtype = BFLOAT8_B and input_tensor[-1] % 32 != 0")

    # The path of a dtype.
    yield Fault("dtype path", "unary", f"ttnn.relu({tensor(1, 1, 64, 96, dtype='BFLOAT8_B')}, memory_config={L1})",
                "ttnn.relu and input_tensor.dtype = BFLOAT8_B")
    yield Fault("dtype path", "unary", f"ttnn.neg({tensor(1, 3, 64, 96, dtype='FLOAT32')})", "ttnn.neg and input_tensor.dtype = FLOAT32")
    yield Fault("dtype path", "unary", f"ttnn.abs({tensor(1, 3, 64, 96)})", "ttnn.abs and input_tensor.dtype = BFLOAT16")
    yield Fault("dtype path", "matmul", f"ttnn.matmul({a}, {tensor(1, 1, k, n, dtype='BFLOAT4_B')})",
                "ttnn.matmul and input_tensor_b.dtype = BFLOAT4_B")
    yield Fault("dtype path", "binary", f"ttnn.add({tensor(1, 1, 64, 96)}, {tensor(1, 1, 64, 96)}, dtype=DataType.BFLOAT8_B)",
                "ttnn.add and dtype = DataType.BFLOAT8_B")
    yield Fault("dtype path", "typecast", f"ttnn.typecast({tensor(1, 1, 64, 96, dtype='INT32')}, DataType.BFLOAT16)",
                "ttnn.typecast and input_tensor.dtype = INT32")
    yield Fault("dtype path", "binary", f"ttnn.subtract({tensor(1, 1, 64, 96, dtype='FLOAT32')}, {tensor(1, 1, 64, 96, dtype='BFLOAT8_B')})",
                "ttnn.subtract and input_tensor_a.dtype = FLOAT32 and input_tensor_b.dtype = BFLOAT8_B")

    # The path of a layout or a memory.
    yield Fault("layout path", "slice", f"ttnn.slice({tensor(1, 1, 64, 96, layout='ROW_MAJOR')}, [0,0,0,0], [1,1,40,64])",
                "ttnn.slice and input_tensor.layout = ROW_MAJOR")
    yield Fault("layout path", "transpose", f"ttnn.transpose({tensor(1, 2, 64, 96, layout='ROW_MAJOR')}, -2, -1)",
                "ttnn.transpose and input_tensor.layout = ROW_MAJOR")
    yield Fault("layout path", "concat", f"ttnn.concat([{tensor(1, 1, 64, 96)},{tensor(1, 1, 64, 96)},{tensor(1, 1, 64, 96)}], dim=-1)",
                "ttnn.concat and tensors#0.layout = TILE")
    yield Fault("memory path", "unary", f"ttnn.sqrt({tensor(1, 1, 64, 96, memory=L1)})", "ttnn.sqrt and input_tensor.buffer = L1")
    yield Fault("memory path", "binary", f"ttnn.add({tensor(1, 1, 64, 96)}, {tensor(1, 1, 64, 96, memory=L1)}, memory_config={L1})",
                "ttnn.add and input_tensor_b.buffer = L1")
    yield Fault("memory path", "matmul", f"ttnn.matmul({a}, {b}, memory_config={L1})", f"ttnn.matmul and memory_config = {L1}")
    yield Fault("memory path", "unary", f"ttnn.tanh({tensor(1, 1, 64, 96)})", "ttnn.tanh and input_tensor.buffer = DRAM")

    # Shards.
    cores = chance.randint(4, 8)
    height = shards("HEIGHT_SHARDED", 32, 64, cores)
    yield Fault("sharded", "unary", f"ttnn.relu({tensor(1, 1, 32 * cores, 64, memory=height)})",
                "ttnn.relu and input_tensor.memory = HEIGHT_SHARDED")
    yield Fault("one shard", "unary", f"ttnn.sigmoid({tensor(1, 1, 32 * cores, 64, memory=height)})",
                f"ttnn.sigmoid and input_tensor.memory = HEIGHT_SHARDED and input_tensor.cores > {chance.randint(1, cores - 1)}")
    yield Fault("one shard", "binary", f"ttnn.add({tensor(1, 1, 32 * cores, 64, memory=height)}, {tensor(1, 1, 32 * cores, 64, memory=height)})",
                f"ttnn.add and input_tensor_a.memory = HEIGHT_SHARDED and input_tensor_a.cores > {chance.randint(1, cores - 1)}")
    width = shards("WIDTH_SHARDED", 64, 32, cores)
    yield Fault("sharded", "unary", f"ttnn.gelu({tensor(1, 1, 64, 32 * cores, memory=width)})",
                "ttnn.gelu and input_tensor.memory = WIDTH_SHARDED")
    block = shards("BLOCK_SHARDED", 32, 32, 4, 2)
    yield Fault("sharded", "unary", f"ttnn.exp({tensor(1, 1, 64, 128, memory=block)})", "ttnn.exp and input_tensor.memory = BLOCK_SHARDED")

    # Values of arguments.
    value = chance.randint(5, 60)
    yield Fault("scalar argument", "binary", f"ttnn.add({tensor(1, 1, 64, 96)}, {value + chance.randint(1, 40)}.5)",
                f"ttnn.add and input_tensor_b > {value}")
    yield Fault("scalar argument", "softmax", f"ttnn.softmax({tensor(1, 2, 64, 96)}, dim={chance.choice((-2, 1))})".replace("dim=1", "dim=-3"),
                "ttnn.softmax and dim < -1")
    yield Fault("scalar argument", "pad", f"ttnn.pad({tensor(1, 1, 64, 96)}, [[0,0],[0,0],[0,32],[0,0]], {value}.0)", f"ttnn.pad and value = {value}")
    yield Fault("scalar argument", "pow", f"ttnn.pow({tensor(1, 1, 64, 96)}, 3.0)", "ttnn.pow and exponent > 2")
    yield Fault("scalar argument", "topk", f"ttnn.topk({tensor(1, 1, 64, 256)}, 32)", "ttnn.topk and k > 16")
    yield Fault("flag", "unary", f"ttnn.gelu({tensor(1, 1, 64, 96)}, fast_and_approximate_mode=true)",
                "ttnn.gelu and fast_and_approximate_mode = true")
    yield Fault("flag", "matmul", f"ttnn.matmul({tensor(1, 1, m, k)}, {tensor(1, 1, n, k)}, transpose_b=true)", "ttnn.matmul and transpose_b = true")
    yield Fault("flag", "attention",
                f"ttnn.transformer.scaled_dot_product_attention({tensor(1, 4, 64, 64)}, {tensor(1, 2, 64, 64)}, {tensor(1, 2, 64, 64)}, is_causal=true)",
                "ttnn.transformer.scaled_dot_product_attention and is_causal = true")

    # Optional arguments.
    yield Fault("optional argument", "linear", f"ttnn.linear({a}, {b}, bias={tensor(1, 1, 1, n)}, activation=\"gelu\")", "ttnn.linear and bias passed")
    yield Fault("optional argument", "linear", f"ttnn.linear({a}, {b}, bias={tensor(1, 1, 1, n)}, activation=\"relu\")",
                "ttnn.linear and activation = \"relu\"")
    yield Fault("optional argument", "norm",
                f"ttnn.layer_norm({tensor(1, 1, 64, 256)}, epsilon=1e-05, weight={tensor(1, 1, 1, 256)}, bias={tensor(1, 1, 1, 256)})",
                "ttnn.layer_norm and bias passed")
    yield Fault("optional argument", "norm", f"ttnn.rms_norm({tensor(1, 1, 64, 256)}, epsilon=1e-05, weight={tensor(1, 1, 1, 256)})",
                "ttnn.rms_norm and weight passed")
    config = "WormholeComputeKernelConfig(fp32_dest_acc_en=false,math_approx_mode=false,math_fidelity=MathFidelity.LoFi,packer_l1_acc=true)"
    yield Fault("config field", "matmul", f"ttnn.matmul({a}, {b}, compute_kernel_config={config})",
                "ttnn.matmul and compute_kernel_config.math_fidelity = MathFidelity.LoFi")
    yield Fault("config field", "matmul", f"ttnn.matmul({a}, {b}, compute_kernel_config={config})",
                "ttnn.matmul and compute_kernel_config.packer_l1_acc = true")

    # Ranks and broadcasting.
    yield Fault("rank", "unary", f"ttnn.cos({tensor(2, 3, 64, 96)})", "ttnn.cos and input_tensor.rank > 2")
    yield Fault("rank", "binary", f"ttnn.maximum({tensor(2, 3, 64, 96)}, {tensor(2, 3, 64, 96)})", "ttnn.maximum and input_tensor_a.rank > 3")
    yield Fault("rank", "unary", f"ttnn.sin({tensor(64, 96)})", "ttnn.sin and input_tensor.rank <= 2")
    yield Fault("broadcast", "binary", f"ttnn.add({tensor(1, 1, 64, 96)}, {tensor(1, 1, 1, 96)})",
                "ttnn.add and input_tensor_a[-2] > 1 and input_tensor_b[-2] = 1")
    yield Fault("broadcast", "binary", f"ttnn.multiply({tensor(1, 4, 64, 96)}, {tensor(1, 1, 64, 96)})",
                "ttnn.multiply and input_tensor_a[-3] > 1 and input_tensor_b[-3] = 1")
    yield Fault("broadcast", "binary", f"ttnn.subtract({tensor(1, 1, 64, 96)}, {tensor(1, 1, 64, 1)})",
                "ttnn.subtract and input_tensor_a[-1] > 1 and input_tensor_b[-1] = 1")

    # Other families.
    yield Fault("operator", "reshape", f"ttnn.reshape({tensor(1, 4, 64, 96)}, [1,1,256,96])", "ttnn.reshape")
    yield Fault("operator", "permute", f"ttnn.permute({tensor(1, 4, 64, 96)}, [0,3,1,2])", "ttnn.permute")
    yield Fault("operator", "embedding", f"ttnn.embedding({tensor(1, 64, dtype='UINT32', layout='ROW_MAJOR')}, {tensor(512, 64, layout='ROW_MAJOR')})",
                "ttnn.embedding")
    yield Fault("vocabulary", "embedding", f"ttnn.embedding({tensor(1, 64, dtype='UINT32', layout='ROW_MAJOR')}, {tensor(512, 64, layout='ROW_MAJOR')})",
                f"ttnn.embedding and weight[-2] > {chance.randint(100, 500)}")
    yield Fault("channels", "conv",
                f"ttnn.conv2d(input_tensor={tensor(1, 1, 256, 32, layout='ROW_MAJOR')}, weight_tensor={tensor(64, 32, 3, 3, layout='ROW_MAJOR', where='HOST')}, "
                "in_channels=32, out_channels=64, batch_size=1, input_height=16, input_width=16, kernel_size=[3,3], stride=[1,1], padding=[1,1])",
                "ttnn.conv2d and weight_tensor[-4] > 32")
    yield Fault("channels", "pool",
                f"ttnn.max_pool2d(input_tensor={tensor(1, 1, 256, 64, layout='ROW_MAJOR')}, batch_size=1, input_h=16, input_w=16, channels=64, "
                "kernel_size=[3,3], stride=[2,2], padding=[1,1], dilation=[1,1])",
                "ttnn.max_pool2d and input_tensor[-1] > 32")
    yield Fault("operator", "cache", f"ttnn.update_cache({tensor(4, 2, 64, 64)}, {tensor(1, 2, 4, 64)}, 5)", "ttnn.update_cache")
    yield Fault("position", "cache", f"ttnn.update_cache({tensor(4, 2, 64, 64)}, {tensor(1, 2, 4, 64)}, 37)", "ttnn.update_cache and update_idx > 31")
    yield Fault("head size", "heads", f"ttnn.experimental.nlp_concat_heads({tensor(1, 4, 64, 64)})",
                "ttnn.experimental.nlp_concat_heads and input_tensor[-3] > 2")
    yield Fault("repeats", "repeat", f"ttnn.repeat({tensor(1, 1, 64, 96)}, [1,3,1,1])", "ttnn.repeat and repeat_dims#1 > 2")

    # Crashes, exceptions, hangs, refusals.
    yield Fault("crash", "unary", f"ttnn.rsqrt({tensor(1, 1, 64, w)})", f"ttnn.rsqrt and input_tensor[-1] > {limit(w)}", "crash")
    yield Fault("crash", "binary", f"ttnn.div({tensor(1, 1, 64, 96)}, {tensor(1, 1, 64, 96, dtype='BFLOAT8_B')})",
                "ttnn.div and input_tensor_b.dtype = BFLOAT8_B", "crash")
    yield Fault("exception", "reduction", f"ttnn.max({tensor(1, 1, 64, 96)}, dim=-1, keepdim=true)", "ttnn.max and keepdim = true", "throw")
    yield Fault("refusal", "unary", f"ttnn.log({tensor(1, 1, 64, 96, dtype='BFLOAT8_B')})", "ttnn.log and input_tensor.dtype = BFLOAT8_B", "refuse")

    # State of an earlier case.
    good = [f"ttnn.neg({tensor(1, 1, 32, 32)})", f"ttnn.exp({tensor(1, 1, 32, 64)})", f"ttnn.abs({tensor(1, 1, 64, 32)})"]
    maker = f"ttnn.add({tensor(1, 1, 64, 96, dtype='BFLOAT8_B')}, {tensor(1, 1, 64, 96)})"
    before = [chance.choice(good) for _ in range(chance.randint(2, 12))]
    before.insert(chance.randint(0, len(before)), maker)
    yield Fault("state of a predecessor", "unary", f"ttnn.relu({tensor(1, 1, 64, 96)})", "ttnn.relu", after="ttnn.add", before=before)
    yield Fault("state of a predecessor", "unary", f"ttnn.relu({tensor(1, 1, 64, 256)})", "ttnn.relu and input_tensor[-1] > 100",
                after="ttnn.add and input_tensor_a.dtype = BFLOAT8_B", before=before)


NEED = re.compile(r"(\S+) (>|<|>=|<=|=|!=|%) (.*)")


def form(need: str) -> tuple[str, str, str]:
    """Fact, relation, value, where `>= 2` is `> 1`."""
    if need.endswith(" passed"):
        return need.removesuffix(" passed"), "passed", ""
    found = NEED.fullmatch(need)
    assert found, need
    fact, relation, value = found.groups()
    if relation == ">=":
        relation, value = ">", str(int(value) - 1)
    if relation == "<=":
        relation, value = "<", str(int(value) + 1)
    return fact, relation, value.removesuffix(".0")


def carry_out(fault: Fault, *more: str) -> tuple[bool, dict, str]:
    """Whether what is said is what was planted; the answer; what is wrong with it."""
    command = ["shrink", "--case", fault.case, "--device", fault.device, "--format", "json", *more]
    for line in fault.before:
        command += ["--after", line]
    ended = subprocess.run([str(support.find_opwright()), *command], capture_output=True, text=True, timeout=600)
    if ended.returncode != 0:
        return False, {}, f"exit {ended.returncode}: {ended.stderr or ended.stdout}"[:600]
    answer = json.loads(ended.stdout)["failures"][0]
    said = answer["needs"]
    missing = []
    left = list(said)
    for need in fault.needs:
        fact, relation, value = form(need)
        for one in left:
            got_fact, got_relation, got_value = form(one["need"])
            if (relation, value) == (got_relation, got_value) and fact in (got_fact, *one["same"]):
                left.remove(one)
                break
        else:
            missing.append(need)
    problems = [f"missing: {need}" for need in missing] + [f"too many: {one['need']}" for one in left]
    if fault.after and len(answer["before"]) != 1:
        problems.append(f"{len(answer['before'])} cases before")
    return not problems, answer, "; ".join(problems)
