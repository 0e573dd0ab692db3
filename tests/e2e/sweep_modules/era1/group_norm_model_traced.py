import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("group_norm", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config, num_groups, epsilon,
    inplace=False, num_out_blocks=None, use_welford=False, *, device, **kwargs,
) -> list:
    parts = ("shape", "dtype", "layout", "memory_config")
    made = {
        name: tensor(*(kwargs[f"{name}_{part}"] for part in parts), device)
        for name in ("input_mask", "weight", "bias", "reciprocals") if kwargs.get(f"{name}_shape") is not None
    }
    given = tensor(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, device)
    return timed(
        ttnn.group_norm, given, num_groups=num_groups, epsilon=epsilon, inplace=inplace, num_out_blocks=num_out_blocks,
        use_welford=use_welford, core_grid=device.core_grid, memory_config=output_memory_config, **made,
    )
