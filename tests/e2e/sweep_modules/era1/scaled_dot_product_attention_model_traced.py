import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("transformer::scaled_dot_product_attention", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(input_shape, *, device, **kwargs) -> list:
    made = [
        tensor(shape, kwargs[f"{name}_dtype"], kwargs[f"{name}_layout"], kwargs[f"{name}_memory_config"], device)
        for name, shape in input_shape.items()
    ]
    return timed(ttnn.transformer.scaled_dot_product_attention, *made[:3], is_causal=True)
