"""`opwright reference --save-inputs`: the inputs of a case as files of numpy."""

import ast
import json
import struct
from pathlib import Path
from typing import Any

import pytest

FORMATS = {"<f4": "f", "<u4": "I", "<i4": "i", "<u2": "H", "|u1": "B"}
TENSOR = "tensor([{shape}] {dtype} TILE DEVICE memory(DRAM INTERLEAVED))"


def read_npy(path: Path) -> tuple[tuple[int, ...], str, list[Any]]:
    data = path.read_bytes()
    assert data[:8] == b"\x93NUMPY\x01\x00"
    (length,) = struct.unpack("<H", data[8:10])
    header = ast.literal_eval(data[10 : 10 + length].decode())
    assert (10 + length) % 64 == 0 and header["fortran_order"] is False
    count = (len(data) - 10 - length) // struct.calcsize(FORMATS[header["descr"]])
    values = struct.unpack(f"<{count}{FORMATS[header['descr']]}", data[10 + length :])
    return header["shape"], header["descr"], list(values)


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [("BFLOAT16", "<f4"), ("FLOAT32", "<f4"), ("BFLOAT8_B", "<f4"), ("INT32", "<i4"), ("UINT32", "<u4"), ("UINT16", "<u2")],
)
def test_files_hold_the_inputs_of_the_exact_result(opwright, tmp_path: Path, dtype: str, kind: str) -> None:
    tensors = ",".join([TENSOR.format(shape="2,32", dtype=dtype)] * 2)
    asked = ("reference", "--case", f"ttnn.add({tensors})", "--seed", 7)
    exact = json.loads(opwright(*asked).stdout)
    saved = json.loads(opwright(*asked, "--save-inputs", tmp_path).stdout)
    assert "outputs" not in saved and len(saved["inputs"]) == 2
    for whole, file in zip(exact["inputs"], saved["inputs"], strict=True):
        shape, descr, values = read_npy(Path(file["file"]))
        assert (shape, descr, file["param"]) == ((2, 32), kind, whole["param"])
        assert values == list(struct.unpack("<64d", bytes.fromhex(whole["values"])))
    other = json.loads(opwright(*asked[:-1], 8, "--save-inputs", tmp_path).stdout)
    assert read_npy(Path(other["inputs"][0]["file"]))[2] != values or dtype.startswith("U")


def test_a_large_case_has_inputs_too(opwright, tmp_path: Path) -> None:
    """Of which the answer alone could not be written out."""
    asked = ("reference", "--case", f"ttnn.relu({TENSOR.format(shape='4097,1024', dtype='BFLOAT16')})")
    assert "4194304" in opwright(*asked).stderr
    done = opwright(*asked, "--save-inputs", tmp_path)
    assert done.returncode == 0 and (tmp_path / "0.npy").stat().st_size == 4097 * 1024 * 4 + 128, done.stderr


def test_what_is_wrong_is_said(opwright, tmp_path: Path) -> None:
    case = f"ttnn.relu({TENSOR.format(shape='32,32', dtype='BFLOAT16')})"
    done = opwright("reference", "--case", case, "--save-inputs", tmp_path / "none")
    assert done.returncode == 3 and "No such file or directory" in done.stderr
    done = opwright("reference", "--case", "ttnn.nobody(1)", "--save-inputs", tmp_path)
    assert "nobody" in done.stdout + done.stderr and list(tmp_path.glob("*.npy")) == []
