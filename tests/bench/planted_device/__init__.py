"""A device that computes with PyTorch: right, or with one planted kernel bug at a time.

It shares nothing with the references and kernels of Opwright: what an operator means is written down here once more,
from the library's documentation. Specs of outputs and the record of what was executed come from the real library on a
mock board. `tests/bench/planted.py` runs it and counts what the judge notices.
"""
