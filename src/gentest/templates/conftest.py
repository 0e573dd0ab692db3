"""The device that the tests of this folder run on, and what is said of it.

They need pytest, torch and ttnn. ttnn decides what it runs on: hardware, a simulator (TT_METAL_SIMULATOR), or its mock
device without any, as `opwright mock --board n150 -- pytest` starts it. On the mock every call is checked and no number is
computed: a test that would pass is `accepted` there, because its numbers were not compared.
"""

import math
import os

import op_testing
import pytest
import ttnn

L1_SMALL_SIZE = 32768  # what convolutions and pools with a window keep in L1 besides their tensors
MOST_PROGRAMS = 64  # kept between tests


# What joins the chips of a mesh, for operations that talk between them. OP_TESTS_FABRIC chooses another one: real boards
# in a ring want FABRIC_1D_RING.
FABRIC = os.environ.get("OP_TESTS_FABRIC", "FABRIC_1D")


class OpenMesh:
    """The one mesh of chips that is open: another one needs it closed first."""

    def __init__(self):
        self.shape, self.device = (), None

    def open(self, shape):
        if shape == self.shape:
            return self.device
        chips, there = math.prod(shape), ttnn.get_num_devices()
        if chips > there:
            pytest.skip(f"a mesh of {'x'.join(map(str, shape))} needs {chips} chips, there are {there}")
        self.close()
        # Before each mesh of several chips: closing one leaves the next without.
        if chips > 1:
            ttnn.set_fabric_config(getattr(ttnn.FabricConfig, FABRIC))
        self.device = ttnn.open_mesh_device(ttnn.MeshShape(*shape), l1_small_size=L1_SMALL_SIZE)
        self.shape = shape
        return self.device

    def close(self):
        if self.device is not None:
            device, self.device, self.shape = self.device, None, ()
            several = device.get_num_devices() > 1
            ttnn.close_mesh_device(device)
            if several:
                ttnn.set_fabric_config(ttnn.FabricConfig.DISABLED)


def mesh_of(item):
    """The chips that the case of a test was traced on; one where it does not say."""
    case = item.callspec.params.get("case") if hasattr(item, "callspec") else None
    return tuple(getattr(case, "mesh", (1, 1)))


@pytest.fixture(scope="session")
def open_mesh():
    mesh = OpenMesh()
    yield mesh
    mesh.close()


@pytest.fixture
def device(request, open_mesh):
    """One chip, or the mesh that the case of the test was traced on."""
    opened = open_mesh.open(mesh_of(request.node))
    yield opened
    if opened.num_program_cache_entries() > MOST_PROGRAMS:
        opened.clear_program_cache()


def pytest_collection_modifyitems(items):
    items.sort(key=mesh_of)  # opening a mesh takes longer than a test


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.when == "call" and op_testing.not_compared:
        outcome.get_result().user_properties.append(("not compared", op_testing.not_compared.pop()))


def _not_compared(report):
    return next((text for name, text in report.user_properties if name == "not compared"), None)


def pytest_report_teststatus(report):
    if report.when == "call" and report.passed and not hasattr(report, "wasxfail") and _not_compared(report):
        return "accepted", "a", f"ACCEPTED (numbers not compared: {_not_compared(report)})"
    return None


def pytest_report_header():
    if op_testing.is_mock():
        board = os.environ.get("OPWRIGHT_MOCK_BOARD", "")
        return f"ttnn on its mock device {board}: calls and specs are checked, numbers are not"
    return None


def pytest_terminal_summary(terminalreporter):
    counts = {}
    for report in terminalreporter.stats.get("accepted", []):
        counts[_not_compared(report)] = counts.get(_not_compared(report), 0) + 1
    for reason, count in sorted(counts.items(), key=lambda item: -item[1]):
        terminalreporter.write_line(f"{count} accepted, numbers not compared: {reason}")
