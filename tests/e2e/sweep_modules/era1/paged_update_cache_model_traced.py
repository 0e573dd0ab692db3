import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("experimental::paged_update_cache", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(input_shape, output_memory_config, *, device, **kwargs) -> list:
    made = {
        name: tensor(shape, kwargs[f"{name}_dtype"], kwargs[f"{name}_layout"], kwargs[f"{name}_memory_config"], device)
        for name, shape in input_shape.items()
    }
    return timed(ttnn.experimental.paged_update_cache, made["input_a"], made["input_b"], update_idxs_tensor=made.get("input_c"), page_table=made.get("input_d"))
