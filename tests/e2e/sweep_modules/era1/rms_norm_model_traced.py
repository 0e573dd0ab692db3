import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("rms_norm", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config, storage_type="StorageType::DEVICE",
    *, device, **kwargs,
) -> list:
    # Its weight stands behind a number: the key has one tensor.
    given = tensor(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, device, storage_type)
    weight = tensor((1, 1, input_shape[-1] // 32, 32), ttnn.bfloat16, ttnn.ROW_MAJOR_LAYOUT, ttnn.DRAM_MEMORY_CONFIG, device)
    return timed(ttnn.rms_norm, given, weight=weight)
