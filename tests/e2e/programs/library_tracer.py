"""A pytest plugin that switches on the library's own tracer, to compare it with ours. Loaded with -p."""

import ttnn.operation_tracer

ttnn.operation_tracer.enable_tracing(True)
