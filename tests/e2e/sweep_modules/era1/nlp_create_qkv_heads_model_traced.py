import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("experimental::nlp_create_qkv_heads", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    input_shape, input_a_dtype, input_a_layout, input_a_memory_config, num_q_heads, num_kv_heads, output_memory_config,
    *, device, **kwargs,
) -> list:
    given = tensor(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, device)
    return timed(ttnn.experimental.nlp_create_qkv_heads, given, num_heads=num_q_heads, num_kv_heads=num_kv_heads, memory_config=output_memory_config)
