import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("multiply_", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config, *, device, **kwargs) -> list:
    # Most configurations multiply by a tensor: then the key is that of two.
    shape = input_shape["self"] if isinstance(input_shape, dict) else input_shape
    given = tensor(shape, input_a_dtype, input_a_layout, input_a_memory_config, device)
    other = kwargs.get("scalar", kwargs.get("scalar_value"))
    if isinstance(input_shape, dict) and input_shape["other"] is not None:
        other = tensor(input_shape["other"], *(kwargs[f"input_b_{part}"] for part in ("dtype", "layout", "memory_config")), device)
    return timed(ttnn.multiply_, given, 1.0 if other is None else other)
