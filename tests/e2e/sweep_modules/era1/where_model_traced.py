import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("where", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(input_shape, *, device, **kwargs) -> list:
    if not isinstance(input_shape, dict):
        names = ("dtype", "layout", "memory_config")
        first = tensor(input_shape, *(kwargs[f"input_a_{name}"] for name in names), device)
        return timed(ttnn.where, first, kwargs["scalar_if_true"], kwargs["scalar_if_false"])
    made = [
        tensor(shape, kwargs[f"{one}_dtype"], kwargs[f"{one}_layout"], kwargs[f"{one}_memory_config"], device)
        for one, shape in input_shape.items()
    ]
    return timed(ttnn.where, *made)
