"""The real ttnn library as a device program: `python -m opwright.ttnn_device`.

`opwright run --device ttnn` starts it on whatever the environment selects (hardware, a vendor's simulator),
`--device ttnn:mock:n150` on a mock board. It speaks docs/formats/device-protocol.md and needs ttnn, not torch.

| file | what it does |
| --- | --- |
| `device.py` | answers requests: arguments, the call, outputs, times |
| `boards.py` | opens the mesh that a call needs; what the board is |
| `objects.py`, `structs.py` | recorded values -> the library's objects (docs/formats/library-objects.md) |
| `classes.py`, `signatures.py`, `sameness.py` | the library's classes by name, what they and operations take, whether two objects say the same |
| `tensors.py` | input tensors, records and values of outputs |
| `errors.py` | what was raised -> outcome and evidence |
| `memory.py` | peak memory from the library's graph report |
| `recapture.py` | the call recorded as it is made |
| `golden.py` | the library's own golden functions |
"""
