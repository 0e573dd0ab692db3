"""The version of the package; the same as that of the program (`CMakeLists.txt`), which a test checks."""

__version__ = "0.1.0"
