import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("div", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config, *, device, **kwargs) -> list:
    # Some configurations divide by a tensor: modules take either form.
    shape = input_shape["self"] if isinstance(input_shape, dict) else input_shape
    first = tensor(shape, input_a_dtype, input_a_layout, input_a_memory_config, device)
    return timed(ttnn.div, first, kwargs.get("scalar") or 2.0, memory_config=output_memory_config)
