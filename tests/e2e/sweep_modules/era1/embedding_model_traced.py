import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("embedding", all_cases=False)
parameters = {}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


def run(
    embedding_args, input_dtype, weight_dtype, output_dtype, input_layout, weight_layout, input_memory_config,
    weight_memory_config, output_memory_config, *, device, **kwargs,
) -> list:
    batch, sequence, dim, rows = embedding_args
    ids = tensor((batch, sequence), input_dtype, input_layout, input_memory_config, device)
    weight = tensor((rows, dim), weight_dtype, weight_layout, weight_memory_config, device)
    return timed(ttnn.embedding, ids, weight, dtype=output_dtype, memory_config=output_memory_config)
