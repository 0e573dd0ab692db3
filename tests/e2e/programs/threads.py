"""Four threads, 500 calls each."""

import threading

import ttnn

device = ttnn.open_device(device_id=0)
a = ttnn.full([1, 1, 32, 32], 1.0, dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)


def work() -> None:
    for _ in range(500):
        ttnn.add(a, a)


threads = [threading.Thread(target=work) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
ttnn.close_device(device)
