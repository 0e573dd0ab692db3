"""The plugin's command line options, some of which other plugins have under the same names.

Names that begin with `--opwright` are ours. `--trace-params`, `--results-csv` and `--ops-jsonl` also exist in plugins
and conftest files of model repositories. Ours step back: they are added only when the command line uses them, after the
conftest files were read, and not when somebody else has them. `dest` is our own, so we never read another's value.
"""

from __future__ import annotations

import os
from typing import Any

import pytest

_SHARED: dict[str, dict[str, Any]] = {
    "--trace-params": {
        "action": "store_true",
        "dest": "opwright_trace_params",
        "help": "record every ttnn call, in the folder of the existing tracer "
        "($TTNN_OPERATION_TRACE_DIR, else generated/ttnn/reports/operation_parameters), as a native trace",
    },
    "--results-csv": {
        "metavar": "PATH",
        "dest": "opwright_results_csv",
        "help": "append one row a test to this CSV file; also $TT_TEST_RESULTS_CSV",
    },
    "--ops-jsonl": {
        "metavar": "PATH",
        "dest": "opwright_ops_jsonl",
        "help": "record every ttnn call and append the calls to this JSONL file at the end; also $TT_OP_RESULTS_JSONL",
    },
}
_MARK = "_opwright_shared_options"  # on the config: the shared options that are ours


def add_own(parser: pytest.Parser) -> None:
    group = parser.getgroup("opwright", "opwright: traces of ttnn calls")
    group.addoption(
        "--opwright-trace",
        metavar="DIR",
        dest="opwright_trace",
        help="record every ttnn call in native trace files in DIR, one a process",
    )
    group.addoption(
        "--opwright-per-test",
        action="store_true",
        dest="opwright_per_test",
        help="with tracing on: one trace file for each test",
    )


def add_shared(config: pytest.Config, parser: pytest.Parser, arguments: list[str]) -> None:
    """Adds the shared options that the command line uses (all of them for --help) and that nobody else has."""
    ours: set[str] = getattr(config, _MARK, set())
    is_help = any(word in arguments for word in ("-h", "--help"))
    taken = _names(parser)
    for name, attributes in _SHARED.items():
        if name not in taken and (is_help or _is_used(name, arguments)):
            parser.getgroup("opwright").addoption(name, **attributes)
            ours.add(name)
    setattr(config, _MARK, ours)


def forget_values_as_paths(config: pytest.Config, arguments: list[str]) -> None:
    """pytest has read `--results-csv PATH` before the option was there, so it took PATH for a folder of tests."""
    paths = getattr(getattr(config, "known_args_namespace", None), "file_or_dir", None)
    if not isinstance(paths, list):
        return
    for name, attributes in _SHARED.items():
        if "action" in attributes:
            continue
        for index, word in enumerate(arguments[:-1]):
            if word == name and arguments[index + 1] in paths:
                paths.remove(arguments[index + 1])


def shared_value(config: pytest.Config, name: str, variable: str | None = None) -> Any:
    """The value of a shared option, else of the variable of the environment. Nothing when the option is another's."""
    value = getattr(config.option, _SHARED[name]["dest"], None)
    if value or variable is None or name in _names(config._parser) - getattr(config, _MARK, set()):
        return value
    return os.environ.get(variable) or None


def describe_run(config: pytest.Config) -> dict[str, str]:
    """What pytest was asked for: `test_source`, the tests, and `pytest_args`, the rest without our own options.

    Before all options are known, a value of one of them may look like a test; only what exists is taken for one.
    """
    option = getattr(config, "option", None)
    namespace = option if hasattr(option, "file_or_dir") else getattr(config, "known_args_namespace", None)
    tests = [str(word) for word in getattr(namespace, "file_or_dir", None) or []]
    root = str(getattr(config, "rootpath", None) or getattr(config, "rootdir", None) or os.getcwd())
    folder = str(getattr(config.invocation_params, "dir", "") or os.getcwd())
    words = [str(word) for word in config.invocation_params.args]
    sources = []
    for test in tests:
        path, separator, name = test.partition("::")
        path = os.path.join(folder, path)
        if not os.path.exists(path):
            continue  # a module of --pyargs, or the value of an option
        if test in words:
            words.remove(test)
        relative = os.path.relpath(path, root)
        sources.append((path if relative.startswith("..") else relative) + separator + name)
    # Without a word the tests are those of the folder.
    named = " ".join(source for source in sources if source != ".") or os.path.basename(os.path.abspath(root))
    run = {"test_source": named} if named else {}
    arguments = " ".join(_without_ours(words))
    if arguments:
        run["pytest_args"] = arguments
    return run


def _without_ours(words: list[str]) -> list[str]:
    """Words of the command line that are not about recording."""
    with_value = {"--opwright-trace", *(name for name, entry in _SHARED.items() if "action" not in entry)}
    alone = {"--opwright-per-test", *(name for name, entry in _SHARED.items() if "action" in entry)}
    kept: list[str] = []
    skipped = False
    for index, word in enumerate(words):
        if skipped:
            skipped = False
        elif word in with_value or (word == "-p" and words[index + 1 : index + 2] == ["opwright.pytest_plugin"]):
            skipped = True
        elif word not in alone and word.partition("=")[0] not in with_value:
            kept.append(word)
    return kept


def _is_used(name: str, arguments: list[str]) -> bool:
    return any(word == name or word.startswith(f"{name}=") for word in arguments)


def _names(parser: Any) -> set[str]:
    """The options that exist, whichever plugin has them. pytest has no public way to ask."""
    names: set[str] = set()
    try:
        for group in [*parser._groups, parser._anonymous]:
            for option in group.options:
                names.update(option.names())
    except AttributeError:
        pass
    return names
