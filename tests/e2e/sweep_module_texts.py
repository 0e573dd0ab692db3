"""Sweep modules that differ in little: their texts, from tables. Those with a form of their own are files in sweep_modules/.

A row is name | operation as the module asks for it | parameters of its own | the call. `write_modules` puts all of an era into
a folder, as the existing framework has them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

FOLDER = Path(__file__).resolve().parent / "sweep_modules"

#: Era 1, one tensor at the front.
UNARY = (
    "sigmoid_accurate|sigmoid_accurate||ttnn.sigmoid_accurate, input_tensor, memory_config=output_memory_config",
    "gelu|ttnn::gelu||ttnn.gelu, input_tensor, memory_config=output_memory_config",
    "permute|permute|dims|ttnn.permute, input_tensor, dims, memory_config=output_memory_config",
    "transpose|transpose|dim0, dim1|ttnn.transpose, input_tensor, dim0, dim1, memory_config=output_memory_config",
    "reshape|reshape|target_shape|ttnn.reshape, input_tensor, target_shape, memory_config=output_memory_config",
    "untilize_with_unpadding|untilize_with_unpadding|end_shape|ttnn.untilize_with_unpadding, input_tensor, end_shape, memory_config=output_memory_config",
    "tilize_with_val_padding|tilize_with_val_padding|padded_shape, pad_value|ttnn.tilize_with_val_padding, input_tensor, padded_shape, pad_value, memory_config=output_memory_config",
    "nlp_concat_heads_decode|experimental::nlp_concat_heads_decode|num_heads|ttnn.experimental.nlp_concat_heads_decode, input_tensor, num_heads=num_heads",
    'upsample|upsample|scale_factor, mode|ttnn.upsample, input_tensor, scale_factor, mode=mode or "nearest"',
    "typecast|typecast|output_dtype|ttnn.typecast, input_tensor, output_dtype, memory_config=output_memory_config",
    "gt|gt|scalar|ttnn.gt, input_tensor, scalar, memory_config=output_memory_config",
    "pow|pow|exponent|ttnn.pow, input_tensor, exponent, memory_config=output_memory_config",
    "clamp|clamp|min, max|ttnn.clamp, input_tensor, min, max, memory_config=output_memory_config",
    "argmax|argmax|dim|ttnn.argmax, input_tensor, dim=dim",
    "softmax|softmax|dim|ttnn.softmax, input_tensor, dim=-1 if dim is None else dim",
    "sum|sum|dim|ttnn.sum, input_tensor, dim=dim",
    "std|std|dim|ttnn.std, input_tensor, dim=dim",
    "repeat|repeat|repeat_shape|ttnn.repeat, input_tensor, repeat_shape",
    "interleaved_to_sharded|interleaved_to_sharded||ttnn.interleaved_to_sharded, input_tensor, output_memory_config",
    "sharded_to_interleaved|sharded_to_interleaved||ttnn.sharded_to_interleaved, input_tensor",
    "split_query_key_value_and_split_heads|transformer::split_query_key_value_and_split_heads|num_heads|ttnn.transformer.split_query_key_value_and_split_heads, input_tensor, num_heads=num_heads",
    "max_pool2d|max_pool2d|batch_size, input_h, input_w, channels, kernel_size, stride, padding, dilation, applied_shard_scheme|ttnn.max_pool2d, input_tensor, batch_size, input_h, input_w, channels, kernel_size, stride, padding, dilation",
    "fill|fill|fill_value|ttnn.fill, input_tensor, fill_value",
    "fast_reduce_nc|experimental::fast_reduce_nc|dims|ttnn.experimental.fast_reduce_nc, input_tensor, dims=dims",
)
#: Era 1, two: name | operation | call
BINARY = (
    "add|add|ttnn.add, first, second, memory_config=output_memory_config",
    "multiply|ttnn::multiply|ttnn.multiply, first, second, memory_config=output_memory_config",
    "subtract|subtract|ttnn.subtract, first, second, memory_config=output_memory_config",
    "matmul|matmul|ttnn.matmul, first, second, memory_config=output_memory_config",
)
#: Era 1: name | its parameter for heads
HEADS = (
    "nlp_create_qkv_heads|num_q_heads",
    "nlp_create_qkv_heads_decode|num_heads",
    "create_qkv_heads|num_heads",
)
#: Era 1, tensors by their letters: name | operation | call
LETTERS = (
    'paged_update_cache|experimental::paged_update_cache|ttnn.experimental.paged_update_cache, made["input_a"], made["input_b"], update_idxs_tensor=made.get("input_c"), page_table=made.get("input_d")',
    'paged_scaled_dot_product_attention_decode|transformer::paged_scaled_dot_product_attention_decode|ttnn.transformer.paged_scaled_dot_product_attention_decode, made["input_a"], made["input_b"], made["input_c"], page_table_tensor=made["input_d"], cur_pos_tensor=made.get("input_e")',
    'scaled_dot_product_attention_decode|transformer::scaled_dot_product_attention_decode|ttnn.transformer.scaled_dot_product_attention_decode, made["input_a"], made["input_b"], made["input_c"], is_causal=kwargs["is_causal"] in (True, "True", "true", "1"), cur_pos_tensor=made.get("input_d"), scale=kwargs["scale"]',
    'update_cache|update_cache|ttnn.update_cache, made["input_a"], made["input_b"], int(kwargs["scalar"]["update_index"]), batch_offset=int(kwargs["scalar"]["batch_offset"] or 0)',
    'scale_mask_softmax_in_place|scale_mask_softmax_in_place|ttnn.scale_mask_softmax_in_place, made["input_a"], kwargs["scalar"], made.get("input_b")',
    "rotary_embedding_llama|experimental::rotary_embedding_llama|ttnn.experimental.rotary_embedding_llama, *made.values()",
    "scaled_dot_product_attention|transformer::scaled_dot_product_attention|ttnn.transformer.scaled_dot_product_attention, *list(made.values())[:3], is_causal=True",
    "chunked_scaled_dot_product_attention|transformer::chunked_scaled_dot_product_attention|ttnn.transformer.chunked_scaled_dot_product_attention, *list(made.values())[:4], 0",
)
#: Era 2, every argument as the trace has it: operations as modules spell them.
AS_TRACED = (
    "reshape",
    "slice",
    "typecast",
    "permute",
    "transpose",
    "pad",
    "softmax",
    "topk",
    "sum",
    "repeat",
    "clamp",
    "ttnn.matmul",
    "ttnn::linear",
    "rms_norm",
    "embedding",
    "interleaved_to_sharded",
    "where",
    "experimental::nlp_create_qkv_heads",
    "experimental::nlp_concat_heads",
    "ttnn.experimental.nlp_create_qkv_heads_decode",
    "ttnn.experimental.rotary_embedding_llama",
    "transformer::scaled_dot_product_attention",
    "transformer::paged_scaled_dot_product_attention_decode",
)

HEAD_1 = """import ttnn
from tests.sweep_framework.master_config_loader import MasterConfigLoader
from tests.sweep_framework.sweep_utils.traced import tensor, timed

TIMEOUT = 30
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("{operation}", all_cases=False)
parameters = {{}}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


"""
HEAD_2 = """import ttnn
from tests.sweep_framework.master_config_loader_v2 import MasterConfigLoader
from tests.sweep_framework.sweep_utils.op_kwargs_utils import build_op_kwargs, positional_args, tensor_kwargs
from tests.sweep_framework.sweep_utils.traced import timed

TIMEOUT = 300
loader = MasterConfigLoader()
model_traced_params = loader.get_suite_parameters("{operation}", all_cases=False)
parameters = {{}}
if model_traced_params:
    parameters["model_traced"] = model_traced_params


"""
RUN_UNARY = """def run(
    input_shape, input_a_dtype, input_a_layout, input_a_memory_config, output_memory_config, {own}
    storage_type="StorageType::DEVICE", *, device, **kwargs,
) -> list:
    input_tensor = tensor(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, device, storage_type)
    return timed({call})
"""
RUN_BINARY = """def run(
    input_shape, input_a_dtype, input_b_dtype, input_a_layout, input_b_layout, input_a_memory_config, input_b_memory_config,
    output_memory_config, scalar=None, *, device, **kwargs,
) -> list:
    first = tensor(input_shape["self"], input_a_dtype, input_a_layout, input_a_memory_config, device)
    second = scalar
    if input_shape["other"] is not None:
        second = tensor(input_shape["other"], input_b_dtype, input_b_layout, input_b_memory_config, device)
    return timed({call})
"""
RUN_HEADS = """def run(
    input_shape, input_a_dtype, input_a_layout, input_a_memory_config, {heads}, num_kv_heads, output_memory_config,
    *, device, **kwargs,
) -> list:
    given = tensor(input_shape, input_a_dtype, input_a_layout, input_a_memory_config, device)
    return timed(
        ttnn.experimental.{name}, given, num_heads={heads}, num_kv_heads=num_kv_heads, memory_config=output_memory_config
    )
"""
RUN_LETTERS = """def run(input_shape, *, device, **kwargs) -> list:
    made = {{
        name: tensor(shape, kwargs[f"{{name}}_dtype"], kwargs[f"{{name}}_layout"], kwargs[f"{{name}}_memory_config"], device)
        for name, shape in input_shape.items()
    }}
    return timed({call})
"""
RUN_AS_TRACED = """def run(input_a_shape, input_a_dtype, input_a_layout, input_a_memory_config, *, device, **kwargs) -> list:
    given = {{
        "input_a_shape": input_a_shape, "input_a_dtype": input_a_dtype, "input_a_layout": input_a_layout,
        "input_a_memory_config": input_a_memory_config, **kwargs,
    }}
    named = {{**tensor_kwargs(given, device), **build_op_kwargs(given)}}
    return timed({function}, *positional_args(given, device), **named)
"""


def texts(era: str) -> dict[str, str]:
    """Modules by name."""
    out = {}
    if era == "era1":
        for name, operation, own, call in (row.split("|") for row in UNARY):
            head = HEAD_1.format(operation=operation)
            out[name] = head + RUN_UNARY.format(own=f"{own}," if own else "", call=call)
        for rows, run in ((BINARY, RUN_BINARY), (LETTERS, RUN_LETTERS)):
            for name, operation, call in (row.split("|") for row in rows):
                out[name] = HEAD_1.format(operation=operation) + run.format(call=call)
        for name, heads in (row.split("|") for row in HEADS):
            out[name] = HEAD_1.format(operation=f"experimental::{name}") + RUN_HEADS.format(name=name, heads=heads)
        return out
    for operation in AS_TRACED:
        path = operation.replace("::", ".")
        function = path if path.startswith("ttnn.") else f"ttnn.{path}"
        out[path.rpartition(".")[2]] = HEAD_2.format(operation=operation) + RUN_AS_TRACED.format(function=function)
    added = (FOLDER / "era2" / "add_model_traced.py").read_text()
    return {**out, "multiply": added.replace('"add"', '"multiply"').replace("ttnn.add", "ttnn.multiply")}


def write_modules(era: str, folder: Path) -> int:
    """All modules of an era, with what they import; how many there are."""
    shutil.copytree(FOLDER / "their", folder / "their")
    shutil.copytree(FOLDER / era, folder / era)
    for name, text in texts(era).items():
        (folder / era / f"{name}_model_traced.py").write_text(text)
    return len(list((folder / era).glob("*_model_traced.py")))
