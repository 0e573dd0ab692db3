import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("add", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    input_shape, input_a_dtype, input_b_dtype, input_a_layout, input_b_layout, input_a_memory_config, input_b_memory_config,
    output_memory_config, scalar=None, *, device, **kwargs,
) -> list:
    first = tensor(input_shape["self"], input_a_dtype, input_a_layout, input_a_memory_config, device)
    second = scalar
    if input_shape["other"] is not None:
        second = tensor(input_shape["other"], input_b_dtype, input_b_layout, input_b_memory_config, device)
    return timed(ttnn.add, first, second, memory_config=output_memory_config)
