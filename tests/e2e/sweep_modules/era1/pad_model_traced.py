import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("pad", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config,
    padding=None, output_padded_shape=None, input_tensor_start=None, value=None,
    storage_type="StorageType::DEVICE", *, device, **kwargs,
) -> list:
    input_tensor = tensor(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, device, storage_type)
    if padding is not None:
        return timed(ttnn.pad, input_tensor, padding=[tuple(pair) for pair in padding], value=value or 0.0)
    return timed(ttnn.pad, input_tensor, output_padded_shape, input_tensor_start, value or 0.0)
