import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("rms_norm_pre_all_gather", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config, program_config=None,
    *, device, **kwargs,
) -> list:
    given = tensor(input_shape["input_a"], input_a_dtype, input_a_layout, input_a_memory_config, device)
    assert list(input_shape["input_b"]) == [input_shape["input_a"][-1]]
    return timed(ttnn.rms_norm_pre_all_gather, given, dtype=ttnn.bfloat16, **({"program_config": program_config} if program_config else {}))
