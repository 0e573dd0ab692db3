import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("update_cache", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(input_shape, output_memory_config, *, device, **kwargs) -> list:
    made = {
        name: tensor(shape, kwargs[f"{name}_dtype"], kwargs[f"{name}_layout"], kwargs[f"{name}_memory_config"], device)
        for name, shape in input_shape.items()
    }
    return timed(ttnn.update_cache, made["input_a"], made["input_b"], int(kwargs["scalar"]["update_index"]), batch_offset=int(kwargs["scalar"]["batch_offset"] or 0))
