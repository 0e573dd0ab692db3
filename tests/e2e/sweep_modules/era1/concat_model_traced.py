import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("concat", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    input_shape, dim, input_a_dtype, input_a_layout, input_a_memory_config, input_b_dtype, input_b_layout,
    input_b_memory_config, output_memory_config, *, device, **kwargs,
) -> list:
    # The key has the specs of two: the others are like the second.
    specs = [(input_a_dtype, input_a_layout, input_a_memory_config)]
    specs += [(input_b_dtype, input_b_layout, input_b_memory_config)] * (len(input_shape) - 1)
    made = [tensor(shape, *spec, device) for shape, spec in zip(input_shape.values(), specs)]
    return timed(ttnn.concat, made, dim=dim, memory_config=output_memory_config)
