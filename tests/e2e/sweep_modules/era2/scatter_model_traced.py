import ttnn
from tests.sweep_framework.master_config_loader_v2 import MasterConfigLoader
from tests.sweep_framework.sweep_utils.op_kwargs_utils import build_op_kwargs, positional_args, tensor_kwargs
from tests.sweep_framework.sweep_utils.traced import timed

TIMEOUT = 300
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("scatter", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(*, device, **kwargs) -> list:
    # Its tensors are passed by name in some models.
    named = {**tensor_kwargs(kwargs, device), **build_op_kwargs(kwargs)}
    return timed(ttnn.scatter, *positional_args(kwargs, device), **named)
