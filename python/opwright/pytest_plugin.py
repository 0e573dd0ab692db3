"""pytest under Opwright: tests named in the trace, traces from pytest's command line, results as CSV and JSONL.

Loaded by `opwright trace` in each pytest that it starts, by the entry point of the installed package, or by
`-p opwright.pytest_plugin`. Without one of its options, and outside `opwright trace`, it does nothing.

(PYTEST_DONT_REWRITE: there are no assertions of tests here.)
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Generator
from typing import Any

import pytest

from . import _facts, _machine, _pytest_options, _recorder, startup
from ._errors import of_handler
from .results_csv import ResultsFile, arguments_of_test, metric, timestamp

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._convert import PerOpFiles
    from ._ops_jsonl import OpsJsonl

_XDIST = "opwright"  # our key in what xdist hands from the controller to workers and back
_RUN = "opwright_run"  # the same, for what pytest was asked for: workers see only the tests
_OURS = "_opwright_began_trace"  # on the config: the trace was switched on here, so it ends with the session

if _recorder.on and _recorder.deferred is None:
    _recorder.deferred = []  # standard error is captured while tests are imported: warnings come at the end


def pytest_addoption(parser: pytest.Parser, pluginmanager: Any) -> None:
    _pytest_options.add_own(parser)
    config = pluginmanager.get_plugin("pytestconfig")
    if config is not None and getattr(pluginmanager, "_conftest_plugins", None):  # a conftest file has brought us
        _pytest_options.add_shared(config, parser, [str(word) for word in config.invocation_params.args])


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests(
    early_config: pytest.Config, parser: pytest.Parser, args: list[str]
) -> Generator[None, Any, None]:
    # conftest files import ttnn: tracing must be on by then
    folder = getattr(early_config.known_args_namespace, "opwright_trace", None)
    if folder and not _recorder.on:
        _begin_trace(early_config, folder)
    _pytest_options.forget_values_as_paths(early_config, args)
    _describe_run(early_config)
    yield
    _pytest_options.add_shared(early_config, parser, args)


def pytest_configure(config: pytest.Config) -> None:
    if getattr(config.option, "help", False):
        return
    _describe_run(config)
    is_worker = hasattr(config, "workerinput")
    csv_path = _pytest_options.shared_value(config, "--results-csv", "TT_TEST_RESULTS_CSV")
    jsonl_path = _pytest_options.shared_value(config, "--ops-jsonl", "TT_OP_RESULTS_JSONL")
    wants_params = _pytest_options.shared_value(config, "--trace-params")
    if wants_params and "--trace-params" in sys.argv:
        sys.argv.remove("--trace-params")  # the library looks for it there, and would write a file a call, too
    jsonl: OpsJsonl | None = None
    per_op: PerOpFiles | None = None
    if jsonl_path and not is_worker:
        from ._ops_jsonl import OpsJsonl

        jsonl = OpsJsonl(jsonl_path)
    if not _recorder.on:
        if getattr(config.option, "opwright_trace", None):  # a conftest file has brought us
            _begin_trace(config, config.option.opwright_trace)
        elif wants_params:
            _begin_trace(config, folder_of_existing_tracer)
            if not is_worker:
                from ._convert import PerOpFiles

                per_op = PerOpFiles()
        elif jsonl is not None:
            _begin_trace(config, jsonl.own_folder())
    if not (_recorder.on or csv_path):
        return
    if getattr(config.option, "opwright_per_test", False):
        _recorder.per_test = True
    if _recorder.on and any(getattr(config.option, name, None) for name in ("numprocesses", "tx")):
        _machine.find()  # once, and not in each worker of xdist: they find it in their environment
    config.pluginmanager.register(OpwrightSession(config, csv_path, jsonl, per_op), "opwright-session")


def _describe_run(config: pytest.Config) -> None:
    try:
        run = getattr(config, "workerinput", {}).get(_RUN)
        _facts.describe_test_run(run if isinstance(run, dict) else _pytest_options.describe_run(config))
    except Exception as error:
        if of_handler(error):
            raise
        _recorder.warn(f"what pytest was asked for is not recorded: {error}")


def folder_of_existing_tracer() -> str:
    """Where the library's own tracer writes; its settings are asked for when ttnn is there."""
    named = os.environ.get("TTNN_OPERATION_TRACE_DIR")
    if named:
        return named
    settings = getattr(sys.modules.get("ttnn"), "CONFIG", None)
    own = getattr(settings, "operation_parameter_log_dir", None)
    if own:
        return str(own)
    root = getattr(settings, "root_report_path", None)
    return os.path.join(str(root), "operation_parameters") if root else "generated/ttnn/reports/operation_parameters"


def _begin_trace(config: pytest.Config, folder: Any) -> None:
    """Traces this session, and what it starts: children find the same in their environment."""
    ours = ("OPWRIGHT_TRACE", "OPWRIGHT_TRACE_UID", "PYTHONPATH", _machine.HANDED_ON)
    before = {name: os.environ.get(name) for name in ours}
    try:
        startup.check_python()
        if isinstance(folder, str):
            folder = os.path.abspath(folder)
            os.environ["OPWRIGHT_TRACE"] = folder
            bootstrap = startup.bootstrap_folder()
            if bootstrap is not None:
                os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [bootstrap, os.environ.get("PYTHONPATH")]))
        _recorder.deferred = []
        startup.prepare()
        _recorder.arm(folder, os.environ.get("OPWRIGHT_TRACE_OPTIONS", ""))
        os.environ["OPWRIGHT_TRACE_UID"] = _recorder.uid or ""
        startup.watch()
    except Exception as error:
        if of_handler(error):
            raise
        _recorder.warn(f"nothing is traced: {error}")

    def end() -> None:
        _recorder.stop()
        _recorder.disarm()
        startup.unhook()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    setattr(config, _OURS, True)
    config.add_cleanup(end)


def _ask_library() -> None:
    """The board, of the library: while a test has a device open. A program that is killed has it recorded, too."""
    describe = sys.modules.get(f"{__package__}.describe")
    if _recorder.is_started() and getattr(describe, "has_seen_device", False):
        try:
            _machine.ask_library(sys.modules["ttnn"])
        except Exception as error:
            if of_handler(error):
                raise
            _recorder.note("machine", f"the board could not be asked: {error}")


class RunningTest:
    """What is known of the test that runs; its reports by phase, and how long each took."""

    def __init__(self, item: pytest.Item) -> None:
        self.nodeid = item.nodeid
        self.started = time.time()
        self.reports: dict[str, pytest.TestReport] = {}
        self.metrics: list[dict[str, Any]] = []
        self.columns: dict[str, object] = {}

    def outcome(self) -> tuple[str, str | None]:
        """Failed where any phase failed, skipped where the test did not run; with the reason."""
        for phase in ("call", "setup", "teardown"):
            report = self.reports.get(phase)
            if report is not None and report.failed:
                return "failed", _reason(report)
        report = self.reports.get("call") or self.reports.get("setup")
        if report is None or report.skipped or "call" not in self.reports:
            return "skipped", _reason(report)
        return "passed", None

    def seconds(self) -> float:
        return sum(report.duration for report in self.reports.values())

    def call_seconds(self) -> float:
        report = self.reports.get("call") or self.reports.get("setup")
        return report.duration if report is not None else 0.0


def _reason(report: pytest.TestReport | None) -> str | None:
    """Why a test failed or was skipped, as text."""
    if report is None:
        return None
    expected_failure = getattr(report, "wasxfail", None)
    if report.skipped and expected_failure is not None:
        return f"xfail: {expected_failure}" if expected_failure else "xfail"
    if report.skipped and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    return report.longreprtext or None


class OpwrightSession:
    """One session of pytest that is traced, or writes results, or both."""

    def __init__(
        self, config: pytest.Config, csv_path: str | None, jsonl: OpsJsonl | None, per_op: PerOpFiles | None
    ) -> None:
        self._is_worker = hasattr(config, "workerinput")
        self._results = ResultsFile(csv_path) if csv_path else None
        self._asked_for = self._results.path if self._results else None
        self._jsonl = jsonl
        self._per_op = per_op
        self._test: RunningTest | None = None
        self._messages: list[str] = []
        self._git_commit = _facts.git_commit(os.getcwd()) or "unknown"
        now = timestamp(time.time())
        self._session: dict[str, Any] = {"session_timestamp": now}
        self._session["run_id"] = os.environ.get("OPWRIGHT_TRACE_UID") or now
        if self._is_worker:
            self._session.update(config.workerinput.get(_XDIST, {}))  # type: ignore[attr-defined]
        self._began_trace = getattr(config, _OURS, False)
        for writer in (jsonl, per_op):
            if writer is not None:
                writer.remember(_recorder.folder(), _recorder.path())
        self._watcher: Any = None
        if self._results is not None:
            from ._metrics import MetricWatcher

            self._watcher = MetricWatcher(self._record_metric)

    # ---- a test

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, None]:
        is_file = isinstance(collector, pytest.Module)
        if is_file:
            _recorder.begin_module(collector.nodeid)
        yield
        if is_file:
            _recorder.end_module()

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, None]:
        _recorder.begin_test(item.nodeid)
        yield
        _recorder.end_test()
        self._test = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        self._test = RunningTest(item)  # here and not above: a test that is repeated is set up anew
        if self._watcher is not None:
            self._watcher.look()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item) -> Generator[None, Any, None]:
        result = yield
        test = self._test
        if test is None or test.nodeid != item.nodeid or result.excinfo is not None:
            return
        report: pytest.TestReport = result.get_result()
        test.reports[report.when or "call"] = report
        if report.when != "teardown" and self._results is not None:  # the device of a fixture is still open
            try:
                test.columns = arguments_of_test(item.nodeid, getattr(item, "funcargs", {}) or {})
            except Exception as error:
                if of_handler(error):
                    raise
                self._say(f"arguments of {item.nodeid} are not in the results: {error}")
        if report.when == "call":
            _ask_library()
        if report.when == "teardown":
            outcome, error_text = test.outcome()
            _recorder.test_result(test.nodeid, outcome, test.seconds())
            self._write_row(test, outcome, error_text)

    def _record_metric(self, kind: str, result: object) -> None:
        found = metric(kind, result)
        if self._test is not None and found is not None:
            self._test.metrics.append(found)

    def _write_row(self, test: RunningTest, outcome: str, error_text: str | None) -> None:
        self._append(
            {
                **test.columns,
                "test_nodeid": test.nodeid,
                "metrics_json": test.metrics,
                "outcome": outcome,
                "duration_sec": round(test.call_seconds(), 6),
                "error": error_text,
                "start_timestamp": timestamp(test.started),
                "end_timestamp": timestamp(time.time()),
            }
        )

    def _append(self, row: dict[str, object]) -> None:
        if self._results is None:
            return
        row.update(self._session)
        row["hostname"] = os.uname().nodename
        row["git_commit"] = self._git_commit
        row["ttnn_version"] = _facts.version_of("ttnn") or "unknown"
        try:
            self._results.append(row)
        except Exception as error:
            if of_handler(error):
                raise
            self._say(f"results are not written: {error}")
            self._results = None
            return
        if self._results.path != self._asked_for:
            self._say(f"{self._asked_for} has other columns; results are in {self._results.path}")

    # ---- several processes

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        node.workerinput[_XDIST] = self._session
        node.workerinput[_RUN] = dict(_facts.test_run or {})

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        for message in getattr(node, "workeroutput", {}).get(_XDIST, []):
            self._say(message)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if str(report.when) == "???":  # a worker of xdist died; no other row tells of its test
            now = timestamp(time.time())
            row: dict[str, object] = {"test_nodeid": report.nodeid, "metrics_json": [], "outcome": "failed"}
            row.update(error=_reason(report), start_timestamp=now, end_timestamp=now)
            self._append(row)

    # ---- the end

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._watcher is not None:
            self._watcher.restore()
        try:
            if self._began_trace or self._is_worker:
                _recorder.stop()
            else:
                _recorder.flush()  # `opwright trace` has begun it: it goes on to the end of the process
            if self._jsonl is not None:
                for message in self._jsonl.convert(_recorder.folder()):
                    self._say(message)
            if self._per_op is not None:
                for message in self._per_op.convert(_recorder.folder()):
                    self._say(message)
            elif self._began_trace and self._jsonl is None:
                self._say_where(_recorder.folder())
        except Exception as error:
            if of_handler(error):
                raise
            self._say(f"the trace is not complete: {error}")
        for message in _recorder.deferred or []:
            self._say(message)
        _recorder.deferred = None
        if self._is_worker:
            session.config.workeroutput[_XDIST] = self._messages  # type: ignore[attr-defined]

    def _say_where(self, folder: str | None) -> None:
        from ._convert import traces_in

        if traces_in(folder):
            self._say(f"the trace is in {folder}")
        elif not _recorder.deferred:
            self._say("nothing was recorded: no test imported ttnn")

    def pytest_collection_finish(self) -> None:
        if _recorder.on:
            startup.catch_up()

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        for message in self._messages:
            terminalreporter.write_line(message)

    def _say(self, text: str) -> None:
        line = text if text.startswith("opwright:") else f"opwright: {text}"
        if line not in self._messages:
            self._messages.append(line)
