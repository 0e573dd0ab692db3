"""The build backend of the repository's root: that of python/, from inside python/."""

import os
from pathlib import Path

os.chdir(Path(__file__).resolve().parent.parent)

from setuptools.build_meta import *  # noqa: E402, F403
