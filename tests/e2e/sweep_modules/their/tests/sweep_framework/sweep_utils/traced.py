"""What sweep modules of this folder share, as modules of the existing framework share helpers of theirs."""

import time
from typing import Any

import torch
import ttnn


def values(shape: Any, dtype: Any) -> torch.Tensor:
    whole = dtype is not None and "INT" in dtype.name
    return torch.randint(0, 2, tuple(shape), dtype=torch.int32) if whole else torch.rand(tuple(shape))


def tensor(shape: Any, dtype: Any, layout: Any, memory_config: Any, device: Any, storage_type: Any = None) -> Any:
    """As modules make them: on the host where the trace says so."""
    where = {} if storage_type and "HOST" in str(storage_type) else {"device": device, "memory_config": memory_config}
    return ttnn.from_torch(values(shape, dtype), dtype=dtype, layout=layout, **where)


def timed(operation: Any, *args: Any, **kwargs: Any) -> list[Any]:
    """[(passed, message), nanoseconds] as `run` returns them."""
    start = time.perf_counter_ns()
    output = operation(*args, **kwargs)
    nanoseconds = time.perf_counter_ns() - start
    first = output[0] if isinstance(output, (list, tuple)) else output
    return [(True, f"{list(first.shape)}"), nanoseconds]
