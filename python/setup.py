"""Builds `opwright._capture`, one binary for all Pythons from 3.10 on, and puts the program into the package.

The rest is in pyproject.toml. Needs a C++20 compiler and the header of xxhash (Debian: g++, libxxhash-dev). The program
goes into the wheel when OPWRIGHT_WHEEL_PROGRAM names a folder with `bin/opwright` (and `lib/`): `./x wheel` does that.
"""

import os
import shutil
import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

HERE = Path(__file__).resolve().parent
REPO = HERE.parent


def sources() -> list[str]:
    """Relative to this folder: setuptools wants it so."""
    found = [*HERE.glob("src/*.cpp"), *(REPO / "src" / "capture").glob("*.cpp"), REPO / "src" / "base" / "secrets.cpp"]
    files = sorted(file for file in found if not file.name.endswith("_test.cpp"))
    if not any(file.is_relative_to(REPO / "src") for file in files):
        raise SystemExit("opwright: src/capture is not here; build the package inside a checkout of the repository")
    return [os.path.relpath(file, HERE) for file in files]


class BuildPackage(build_py):
    """Adds what lies beside the package or is built elsewhere: the dialect's tables, our sitecustomize, and the program."""

    def run(self) -> None:
        super().run()
        tables = REPO / "src" / "dialect" / "ttnn" / "hook_tables.py"
        if self.editable_mode:  # the source tree is used as it is; git ignores the copy
            shutil.copy2(tables, HERE / "opwright" / "_ttnn_tables.py")
            return
        package = Path(self.build_lib) / "opwright"
        (package / "bootstrap").mkdir(parents=True, exist_ok=True)
        shutil.copy2(HERE / "bootstrap" / "sitecustomize.py", package / "bootstrap")
        shutil.copy2(tables, package / "_ttnn_tables.py")
        program = os.environ.get("OPWRIGHT_WHEEL_PROGRAM")
        if program:
            shutil.copytree(program, package, dirs_exist_ok=True)


class BuildExtension(build_ext):
    """Takes the extension that CMake has built where OPWRIGHT_WHEEL_EXTENSION names it: the same sources, compiled once."""

    def build_extension(self, extension: Extension) -> None:
        built = os.environ.get("OPWRIGHT_WHEEL_EXTENSION")
        if not built:
            super().build_extension(extension)
            return
        target = Path(self.get_ext_fullpath(extension.name))
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(built, target)


# Headers from 3.12 on take None for immortal and do not count references to it, which crashes older Pythons.
OLDEST = "cp310" if sys.version_info < (3, 12) else "cp312"

# What setuptools leaves behind goes where other builds go. Objects of ../src lie one folder up, so one deeper.
WORK = REPO / "build" / "python-package"
(WORK / "egg").mkdir(parents=True, exist_ok=True)

setup(
    packages=["opwright", "opwright.compat", "opwright.device", "opwright.oracle", "opwright.serialize", "opwright.ttnn_device"],
    package_data={"opwright": ["py.typed", "*.pyi"]},
    ext_modules=[
        Extension(
            "opwright._capture",
            sources(),
            include_dirs=["src", "../src", "../src/capture/include"],
            define_macros=[("Py_LIMITED_API", "0x030A0000"), ("NDEBUG", None)],
            extra_compile_args=["-std=c++20", "-O2", "-g0", "-fvisibility=hidden", "-pthread"],
            # libstdc++ stays shared: the static one of Debian 12 asks for a newer C library than Ubuntu 22.04 has
            extra_link_args=["-Wl,-s", "-pthread"],
            language="c++",
            py_limited_api=True,
        )
    ],
    cmdclass={"build_py": BuildPackage, "build_ext": BuildExtension},
    options={
        "bdist_wheel": {"py_limited_api": OLDEST},
        "build": {"build_base": str(WORK), "build_temp": str(WORK / "objects" / "python")},
        "egg_info": {"egg_base": str(WORK / "egg")},
    },
)
