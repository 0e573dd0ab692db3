import ttnn
from tests.sweep_framework.master_config_loader_v2 import MasterConfigLoader
from tests.sweep_framework.sweep_utils.op_kwargs_utils import build_op_kwargs, positional_args, tensor_kwargs, tensor_of
from tests.sweep_framework.sweep_utils.traced import timed

TIMEOUT = 300
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("add", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    input_a_shape, input_a_dtype, input_a_layout, input_a_memory_config, input_b_shape=None, input_b_dtype=None,
    input_b_layout=None, input_b_memory_config=None, output_memory_config=None, memory_config=None, dtype=None,
    storage_type="StorageType::DEVICE", *, device, **kwargs,
) -> list:
    given = {**locals(), **kwargs}
    first = tensor_of(given, "input_a", device)
    if input_b_shape is not None:
        second = tensor_of(given, "input_b", device)
    else:
        second = kwargs["arg1"]
    named = {"dtype": dtype} if dtype is not None else {}
    named.update({"memory_config": memory_config} if memory_config is not None else {})
    return timed(ttnn.add, first, second, **named)
