import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("linear", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    input_shape, weight_shape, bias_shape, input_a_dtype, input_b_dtype, input_a_layout, input_b_layout,
    input_a_memory_config, input_b_memory_config, output_memory_config, transpose_a, transpose_b, has_bias,
    *, device, **kwargs,
) -> list:
    first = tensor(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, device)
    weight = tensor(weight_shape, input_b_dtype, input_b_layout, input_b_memory_config, device)
    bias = None
    if has_bias:
        bias = tensor(bias_shape, ttnn.bfloat16, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG, device)
    return timed(ttnn.linear, first, weight, bias=bias, transpose_a=transpose_a, transpose_b=transpose_b)
