import ttnn
from tests.sweep_framework.master_config_loader_v2 import MasterConfigLoader
from tests.sweep_framework.sweep_utils.op_kwargs_utils import build_op_kwargs, positional_args, tensor_kwargs, tensor_of
from tests.sweep_framework.sweep_utils.traced import timed

TIMEOUT = 300
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("sigmoid", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(input_a_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config, *, device, **kwargs) -> list:
    given = {name: value for name, value in locals().items() if name.startswith("input_a_")}
    return timed(ttnn.sigmoid, tensor_of(given, "input_a", device), memory_config=output_memory_config)
