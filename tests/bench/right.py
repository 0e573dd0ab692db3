"""A right device is never blamed: cases that no model has, in their thousands, on the simulated device.

usage: right.py [--seed N] [--count N] [--only WORD] [--data NAME …]     OPWRIGHT_BIN names the program

Odd shapes, rows of one element and very wide ones, sums of 1 to 65,536 terms, every dtype and fidelity, large offsets, every fused
function. Exit status 1 where one of them fails.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
FLOATS = ("BFLOAT16", "BFLOAT8_B", "BFLOAT4_B", "FLOAT32")
FUNCTIONS = ("relu", "gelu", "silu", "sigmoid", "tanh", "exp", "relu6", "abs", "square", "sqrt", "rsqrt", "log", "neg", "recip", "erf", "elu", "mish", "hardswish",
             "softplus", "leaky_relu", "hardsigmoid", "selu", "sin", "cos")  # fmt: skip
UNARY = ("abs", "cos", "erf", "exp", "gelu", "log", "neg", "reciprocal", "relu", "rsqrt", "sigmoid", "sigmoid_accurate", "silu", "sin", "sqrt", "square", "tanh")


def tensor(shape: list[int], dtype: str = "BFLOAT16", layout: str = "TILE") -> str:
    return f"tensor({json.dumps(shape, separators=(',', ':'))} {dtype} {layout} DEVICE memory(DRAM INTERLEAVED))"


class Cases:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)

    def one(self, *of: object) -> object:
        return self.random.choice(of)

    def side(self, most: int = 300) -> int:
        return self.random.choice([1, 2, 7, 31, 32, 33, 63, 64, 65, 96, 127, 128, 255, self.random.randint(1, most), self.random.randint(1, most)])

    def width(self) -> int:
        return self.random.choice([1, 2, 16, 31, 32, 33, 100, 512, 1000, 4096, 4097, 8192, 16384, 50000, 65536, self.random.randint(1, 3000)])

    def compute(self) -> str:
        if self.random.random() < 0.3:
            return ""
        flags = ",".join(f"{name}={self.one('true', 'false')}" for name in ("fp32_dest_acc_en", "math_approx_mode"))
        fidelity = self.one("LoFi", "HiFi2", "HiFi3", "HiFi4")
        return f", compute_kernel_config=WormholeComputeKernelConfig({flags},math_fidelity=MathFidelity.{fidelity},packer_l1_acc={self.one('true', 'false')})"

    def matmul(self) -> str:
        k = self.random.choice([1, 2, 31, 32, 33, 64, 500, 1024, 4096, 10000, 16384, 65536])
        m, n = (self.side(80), self.side(80)) if k > 4096 else (self.side(), self.side())
        a, b = self.one(*FLOATS), self.one(*FLOATS)
        operands = f"{tensor([1, 1, m, k], a)}, {tensor([1, 1, k, n], b)}"
        if self.random.random() < 0.5:
            return f"ttnn.matmul({operands}{self.compute()})"
        bias = f", bias={tensor([1, 1, 1, n], self.one(*FLOATS[:2]))}" if self.random.random() < 0.7 else ""
        activation = f', activation="{self.one(*FUNCTIONS)}"' if self.random.random() < 0.7 else ""
        return f"ttnn.linear({operands}{bias}{activation}{self.compute()})"

    def norm(self) -> str:
        w, rows, compute = self.width(), self.side(70), self.compute()
        if w > 8192 and "fp32_dest_acc_en=true" not in compute:  # a bfloat16 destination loses half of such sums
            w %= 8192
        x = tensor([1, 1, rows, w], self.one("BFLOAT16", "BFLOAT16", "BFLOAT8_B", "FLOAT32"))
        more = f", weight={tensor([1, 1, 1, w])}" if self.random.random() < 0.7 else ""
        more += f", bias={tensor([1, 1, 1, w])}" if self.random.random() < 0.5 else ""
        return f"ttnn.{self.one('rms_norm', 'layer_norm')}({x}, epsilon={self.one('1e-05', '1e-06', '1e-12', '0.1', '0.0')}{more}{compute})"

    def softmax(self) -> str:
        dim = self.random.choice([-1, -1, -1, -2])
        high, wide = self.side(70), self.width()
        if dim == -2 and self.random.random() < 0.5:
            high, wide = self.random.choice([500, 1000, 2048, 4096]), self.side(100)
        x = tensor([1, self.random.choice([1, 2]), high, wide], self.one("BFLOAT16", "BFLOAT8_B", "FLOAT32"))
        return f"ttnn.softmax({x}, dim={dim}, numeric_stable={self.one('true', 'false')}{self.compute()})"

    def unary(self) -> str:
        name = self.one(*UNARY)
        fast = ", fast_and_approximate_mode=true" if name in ("exp", "gelu", "erf", "log", "rsqrt", "sqrt", "tanh", "sigmoid_accurate") and self.random.random() < 0.4 else ""
        return f"ttnn.{name}({tensor([1, 1, self.side(), self.width()], self.one('BFLOAT16', 'BFLOAT8_B', 'FLOAT32'))}{fast})"

    def binary(self) -> str:
        shape = [1, self.random.choice([1, 3]), self.side(), self.side(2000)]
        other = self.random.choice([shape, [1, 1, 1, shape[3]], [1, 1, shape[2], 1], [1, shape[1], 1, 1]])
        b = tensor(other, self.one(*FLOATS[:2])) if self.random.random() < 0.8 else str(self.one("2.0", "-0.3", "1000.0", "1e-3"))
        fused = f", activations=[UnaryOpType.{str(self.one(*FUNCTIONS)).upper()}]" if self.random.random() < 0.5 else ""
        fused += f", input_tensor_a_activations=[UnaryOpType.{str(self.one(*FUNCTIONS)).upper()}]" if self.random.random() < 0.2 else ""
        return f"ttnn.{self.one('add', 'subtract', 'multiply', 'div')}({tensor(shape, self.one('BFLOAT16', 'BFLOAT8_B', 'FLOAT32'))}, {b}{fused})"

    def reduction(self) -> str:
        shape = [1, self.random.choice([1, 2]), self.side(), self.width()]
        return f"ttnn.{self.one('sum', 'mean', 'max', 'min')}({tensor(shape, self.one('BFLOAT16', 'BFLOAT8_B', 'FLOAT32'))}, dim={self.one(-1, -2, -3)})"

    def selection(self) -> str:
        if self.random.random() < 0.5:
            return f"ttnn.argmax({tensor([1, 1, self.side(), self.width()], self.one('BFLOAT16', 'FLOAT32'), 'ROW_MAJOR')}, dim=-1)"
        k = self.random.choice([1, 3, 8, 32, 64])
        return f"ttnn.topk({tensor([1, 1, self.side(70), max(64, self.width())], self.one('BFLOAT16', 'BFLOAT8_B'))}, {k}, largest={self.one('true', 'false')})"

    def attention(self) -> str:
        heads = self.random.choice([1, 2, 4, 8])
        kv = self.random.choice([h for h in (1, 2, 4, 8) if heads % h == 0])
        length, dim = self.random.choice([32, 64, 96, 160, 1024]), self.random.choice([32, 64, 128])
        q, k = tensor([1, heads, length, dim], self.one(*FLOATS[:2])), tensor([1, kv, length, dim], self.one(*FLOATS[:2]))
        return f"ttnn.transformer.scaled_dot_product_attention({q}, {k}, {k}, is_causal={self.one('true', 'false')}{self.compute()})"

    def conv(self) -> str:
        h, w, cin, cout, k = self.side(20), self.side(20), self.random.choice([1, 3, 16, 32, 100, 256]), self.random.choice([1, 8, 32, 70]), self.random.choice([1, 3, 5])
        h, w = min(h, 20), min(w, 20)
        weights = f"tensor([{cout},{cin},{k},{k}] {self.one('BFLOAT16', 'FLOAT32')} ROW_MAJOR HOST memory(DRAM INTERLEAVED))"
        return (f"ttnn.conv2d(input_tensor={tensor([1, 1, h * w, cin], 'BFLOAT16', 'ROW_MAJOR')}, weight_tensor={weights}, in_channels={cin}, out_channels={cout}, batch_size=1,"
                f" input_height={h}, input_width={w}, kernel_size=[{k},{k}], stride=[{self.one(1, 2)},{self.one(1, 2)}], padding=[{k // 2},{k // 2}])")  # fmt: skip

    def all(self, count: int, only: str) -> Iterator[str]:
        makers: list[Callable[[], str]] = [self.matmul, self.norm, self.softmax, self.unary, self.binary, self.reduction, self.selection, self.attention, self.conv]
        chosen = [maker for maker in makers if only in maker.__name__]
        for i in range(count):
            yield chosen[i % len(chosen)]()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--only", default="", help="matmul, norm, softmax, unary, binary, reduction, selection, attention, conv")
    parser.add_argument("--data", nargs="*", default=["normal", "normal", "uniform", "positive", "special", "integers"])
    options = parser.parse_args()
    program = os.environ.get("OPWRIGHT_BIN") or str(ROOT / "build" / "release" / "opwright")
    outcomes: Counter[str] = Counter()
    alarms = 0
    for i, line in enumerate(Cases(options.seed).all(options.count, options.only)):
        data = options.data[i // 9 % len(options.data)]
        command = [program, "--format", "json", "run", "--case", line, "--seed", str(options.seed + i), "--data", data, "--device", "sim:n150"]
        done = subprocess.run(command, capture_output=True, text=True)
        try:
            answer = json.loads(done.stdout)
        except ValueError:
            answer = {"outcome": f"exit {done.returncode}", "reason": done.stderr[-500:]}
        outcome = answer["outcome"]
        outcomes[outcome] += 1
        if outcome in ("passed", "refused", "unsupported", "out_of_memory", "mistrusted"):
            continue
        alarms += 1
        print(f"{outcome}, --data {data} --seed {options.seed + i}: {line}\n  {answer.get('reason', '')[:300]}", flush=True)
    print(f"right: seed {options.seed}, {options.count} cases: " + ", ".join(f"{count} {name}" for name, count in outcomes.most_common()))
    return 1 if alarms or not outcomes["passed"] else 0


if __name__ == "__main__":
    sys.exit(main())
