import ttnn
from tests.sweep_framework.master_config_loader_v2 import MasterConfigLoader
from tests.sweep_framework.sweep_utils.op_kwargs_utils import build_op_kwargs, positional_args, tensor_kwargs, tensor_of
from tests.sweep_framework.sweep_utils.traced import timed

TIMEOUT = 300
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("scatter", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(input_a_shape, input_a_dtype, input_a_layout, input_a_memory_config, *, device, **kwargs) -> list:
    given = {
        "input_a_shape": input_a_shape, "input_a_dtype": input_a_dtype, "input_a_layout": input_a_layout,
        "input_a_memory_config": input_a_memory_config, **kwargs,
    }
    named = {**tensor_kwargs(given, device), **build_op_kwargs(given)}
    return timed(ttnn.scatter, *positional_args(given, device), **named)
