"""A stand-in for the library's profiler: the same words on its command line, the same files, no chip."""
