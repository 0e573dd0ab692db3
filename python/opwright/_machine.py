"""The machine of a run as `machine_info` has it: board, cards, devices, driver, firmware. Nothing is guessed.

Who tells, in this order: the mock board; a process above us that has asked already; tt-smi and the driver's own files;
and, once the program has opened a device, the library. What follows from the name of a board (`mock_board`,
`cluster_type`) is added by the program that reads the trace: it has the table of boards.
"""

from __future__ import annotations

import os

from . import _recorder
from ._errors import of_program

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

#: A machine as JSON: what the first process of a run found, for those below it. A user may set it, too.
HANDED_ON = "OPWRIGHT_MACHINE"
#: tt-smi talks to every chip; one that hangs must not hold the program up for long.
TT_SMI_SECONDS = 15.0
_MOST_OUTPUT = 8 << 20
_PCI_DEVICES = {"0x401e": "wormhole_b0", "0xb140": "blackhole"}
_BOARD_TYPES = {"wormhole_b0": "Wormhole", "blackhole": "Blackhole"}
_sys = "/sys"

_machine: dict[str, Any] | None = None  # asked once a process
_unknown: str | None = None  # why something is not known
_has_asked = False  # the library


def write() -> None:
    """Writes what is known before a device is open. tt-smi is asked now, and not while the program uses the device."""
    machine = find()
    _record(machine)
    if _unknown:
        _recorder.note("machine", _unknown)


def find() -> dict[str, Any]:
    global _machine
    if _machine is None:
        _machine = _of_mock() or _handed_on() or _probed()
    return _machine


def ask_library(ttnn: ModuleType) -> None:
    """What the library calls its hardware, where that is not known better. Only once the program has opened a device:
    the question would start the driver."""
    global _has_asked
    if _has_asked:
        return
    _has_asked = True
    machine = find()
    if os.environ.get("OPWRIGHT_MOCK_BOARD", "file:").partition(":")[0] != "file":
        return  # one of our own boards: its name says all
    if all(machine.get(name) for name in ("board_type", "device_series", "card_count")):
        return
    try:
        arch = str(ttnn.get_arch_name()).lower()
        cluster = str(ttnn.cluster.get_cluster_type()).rpartition(".")[2]
    except Exception as error:  # the driver may be gone by now
        if of_program(error):
            raise
        _recorder.note("machine", f"the type of the board could not be asked: {error}")
        return
    machine.update(arch=arch, cluster_type=cluster)
    _record(machine)


def _record(machine: dict[str, Any]) -> None:
    if machine:
        _recorder.fact("machine", machine)
    versions = {name: machine[name] for name in ("tt_kmd", "tt_smi", "tt_firmware") if name in machine}
    if versions:
        _recorder.fact("software_versions", versions)


def _of_mock() -> dict[str, Any] | None:
    """A mock or simulated board: what is plugged into this machine says nothing of it."""
    board = os.environ.get("OPWRIGHT_MOCK_BOARD")
    if board:
        return {"mock_board": board}
    descriptor = os.environ.get("TT_METAL_MOCK_CLUSTER_DESC_PATH")
    if descriptor:
        return {"mock_board": f"file:{os.path.basename(descriptor)}"}
    return {"mock_board": "simulator"} if os.environ.get("TT_METAL_SIMULATOR") else None


def _handed_on() -> dict[str, Any] | None:
    text = os.environ.get(HANDED_ON)
    if not text:
        return None
    import json

    try:
        machine = json.loads(text)
    except ValueError:
        machine = None
    if isinstance(machine, dict) and all(isinstance(value, (str, int)) for value in machine.values()):
        return machine
    _say_unknown(f"{HANDED_ON} is no JSON object of texts and whole numbers: not used")
    return None


def _probed() -> dict[str, Any]:
    machine = _of_driver()
    snapshot = _snapshot()
    if snapshot is not None:
        machine.update(of_snapshot(snapshot))
    import json

    os.environ[HANDED_ON] = json.dumps(machine)  # workers and children do not ask again
    return machine


def _say_unknown(text: str) -> None:
    global _unknown
    _unknown = text


# ----------------------------------------------------------------------------------------------------------- the driver


def _of_driver() -> dict[str, Any]:
    """What the kernel tells without touching a chip: the driver's version, and which kind of chip is plugged in."""
    machine: dict[str, Any] = {}
    version = _first_line(os.path.join(_sys, "module", "tenstorrent", "version"))
    if version:
        machine["tt_kmd"] = f"TT-KMD {version}"
    folder = os.path.join(_sys, "bus", "pci", "drivers", "tenstorrent")
    try:
        places = os.listdir(folder)
    except OSError:
        return machine
    found = {_PCI_DEVICES.get(_first_line(os.path.join(folder, place, "device"))) for place in places if ":" in place}
    if len(found) == 1 and None not in found:  # chips of two kinds are no board that has a name
        machine["board_type"] = _BOARD_TYPES[found.pop() or ""]
    return machine


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline(256).strip()
    except OSError:
        return ""


# --------------------------------------------------------------------------------------------------------------- tt-smi


def of_snapshot(snapshot: dict[str, Any]) -> dict[str, Any]:
    """machine_info from a snapshot of tt-smi, by the rules of the existing tracer: the series is the most frequent
    type of board without the place of the chip ("n300 L"), and there are as many cards as boards of exactly that type.
    """
    machine: dict[str, Any] = {}
    entries = snapshot.get("device_info")
    devices = [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    boards: dict[str, int] = {}
    for device in devices:
        board = _text(device, "board_info", "board_type")
        if board:
            boards[board] = boards.get(board, 0) + 1
    if boards:
        board = max(boards, key=lambda name: boards[name])  # the first of several
        machine["device_series"] = board.rstrip(" LR").strip()
        machine["card_count"] = boards[board]
        machine["device_count"] = len(devices)
    told = {_text(device, "arch").lower() for device in devices}
    archs = {name for arch in told for name in _BOARD_TYPES.values() if name.lower() in arch}
    if len(archs) == 1:
        machine["board_type"] = archs.pop()
    versions = {
        "tt_kmd": {_text(snapshot, "host_info", "Driver")},
        "tt_smi": {_text(snapshot, "host_sw_vers", "tt_smi")},
        "tt_firmware": {_text(device, "firmwares", "fw_bundle_version") for device in devices},
    }
    for name, texts in versions.items():
        known = sorted(texts - {""})
        if known:
            machine[name] = ", ".join(known)  # chips with different firmware: all of them
    return machine


def _text(entry: dict[str, Any], *path: str) -> str:
    """The text at that path; "" where there is none, and where tt-smi says that it does not know."""
    value: object = entry
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value if isinstance(value, str) and value != "N/A" else ""


def _snapshot() -> dict[str, Any] | None:
    program = tt_smi()
    if program is None:
        return None
    output = _output_of([program, "-s", "--snapshot_no_tty"])
    if output is None:
        return None
    import json

    text = output.decode(errors="replace")
    try:
        snapshot = json.loads(text[text.index("{") : text.rindex("}") + 1])  # it may log before
    except ValueError:
        snapshot = None
    if isinstance(snapshot, dict):
        return snapshot
    _say_unknown(f"{program} gave no JSON: the board is not known from it")
    return None


def tt_smi() -> str | None:
    """tt-smi on PATH. Folders that are not absolute are passed over: what lies in the current folder is not ours to
    start."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "tt-smi")
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _output_of(command: list[str]) -> bytes | None:
    """What a program prints; None where it fails, takes too long or prints without end. It ends with all it started."""
    import select
    import signal
    import subprocess
    import time

    # It is a Python program: neither our hook nor modules for the user's Python are for it.
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("OPWRIGHT_") and name not in ("PYTHONPATH", "PYTHONHOME", "PYTHONSTARTUP")
    }
    try:
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd="/",
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        _say_unknown(f"{command[0]} cannot be started: {error}")
        return None
    assert process.stdout is not None
    until = time.monotonic() + TT_SMI_SECONDS
    output = bytearray()
    why = f"did not answer within {TT_SMI_SECONDS:.0f} s"
    status: int | None = None
    try:
        while (left := until - time.monotonic()) > 0:
            if select.select([process.stdout], [], [], min(left, 0.2))[0]:
                part = os.read(process.stdout.fileno(), 65536)
            elif process.poll() is None:
                continue
            else:
                part = b""  # it has ended, and somebody it started holds the pipe
            output += part
            if len(output) > _MOST_OUTPUT:
                why = f"printed more than {_MOST_OUTPUT >> 20} MiB"
                break
            if not part:
                status = process.wait(max(0.1, left))
                why = f"ended with status {status}"
                break
    except subprocess.TimeoutExpired:
        pass
    finally:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except OSError:
            pass
        process.stdout.close()
        process.wait()
    if status == 0:
        return bytes(output)
    _say_unknown(f"{command[0]} {why}: the board is not known from it")
    return None
