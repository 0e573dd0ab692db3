import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("transformer::split_query_key_value_and_split_heads", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config, num_heads, storage_type="StorageType::DEVICE", *, device, **kwargs
) -> list:
    input_tensor = tensor(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, device, storage_type)
    return timed(ttnn.transformer.split_query_key_value_and_split_heads, input_tensor, num_heads=num_heads)
