"""Parameters that sweep modules of era 1 ask for, by operation: which arguments they come from, under which names.

A row is what one configuration becomes: parameters by name, in the order of the key. What the trace has lost is a
ValueError with the reason; what was passed as nothing is None. The arguments of each operation are those of its C++
function, in the order of the master.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from opwright.compat._era1 import Arguments, Made, Tensor, made
from opwright.compat._values import dict_to_memory_config, dict_to_program_config, parse_dtype

Row = dict[str, Any]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def short_name(operation: str) -> str:
    return operation.replace("::", ".").rpartition(".")[2]


def row_of(operation: str, arguments: Arguments, leading: int) -> Row:
    """`leading`: the tensors at the front of most configurations of the operation, which decide what modules expect."""
    name = short_name(operation)
    if name in _OWN:
        return _OWN[name](arguments)
    if leading >= 3:
        return _many(arguments, leading)
    if leading == 2:
        return _binary(arguments)
    row = _unary(arguments)
    if name == "split_query_key_value_and_split_heads" and "transformer" in operation:
        row["num_heads"] = arguments.number("arg2")
    elif name in _EXTRAS:
        row.update(_EXTRAS[name](arguments))
    return row


def _one(arguments: Arguments, name: str = "") -> tuple[Tensor, Made]:
    tensors = arguments.first(1) if not name else [arguments.tensor(name)]
    if not tensors or tensors[0] is None:
        raise ValueError(f"no tensor{f' at {name}' if name else ''}")
    return tensors[0], made(tensors[0])


def _output(arguments: Arguments, otherwise: Any) -> Any:
    """The memory config that the call names; where it names none, the one of its first tensor."""
    return next((dict_to_memory_config(one) for one in arguments.memory_configs()), otherwise)


def _specs(letter: str, tensor: Made | None) -> Row:
    return {
        f"input_{letter}_dtype": tensor.dtype if tensor else None,
        f"input_{letter}_layout": tensor.layout if tensor else None,
        f"input_{letter}_memory_config": tensor.memory_config if tensor else None,
    }


def _unary(arguments: Arguments) -> Row:
    tensor, first = _one(arguments)
    return {
        "input_shape": first.shape,
        **_specs("a", first),
        "output_memory_config": _output(arguments, first.memory_config),
        "storage_type": tensor.storage,
    }


def _scalar(arguments: Arguments) -> Any:
    """The number behind the first tensor, of an operation of a tensor and a number."""
    names = list(arguments.values)
    for name in names[names.index(next(iter(arguments.tensors))) + 1 :]:
        value = arguments.get(name)
        if isinstance(value, (int, float)) or (isinstance(value, str) and _is_number(value)):
            return arguments.number(name)
    return None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _binary(arguments: Arguments) -> Row:
    _, first = _one(arguments)
    others = arguments.first(2)[1:] if arguments.leading >= 2 else []
    scalar = None if others else _scalar(arguments)
    if not others and scalar is None:
        raise ValueError("neither a second tensor nor a number")
    second = made(others[0]) if others else None
    names = ("dtype", "layout", "memory_config")
    pairs = {f"input_{one}_{name}": part for name in names for one, part in _both(first, second, name)}
    return {
        "input_shape": {"self": first.shape, "other": second.shape if second else None},
        **pairs,
        "output_memory_config": _output(arguments, first.memory_config),
        "scalar": scalar,
    }


def _both(first: Made, second: Made | None, name: str) -> list[tuple[str, Any]]:
    return [("a", getattr(first, name)), ("b", getattr(second, name) if second else None)]


def _letters(tensors: list[Tensor | None]) -> tuple[Row, Row]:
    """Shapes, and specs, of tensors a, b, c, …; of one that was not passed None."""
    every = [made(tensor) if tensor else None for tensor in tensors]
    shapes = {f"input_{letter}": one.shape for letter, one in zip(LETTERS, every, strict=False) if one}
    specs: Row = {}
    for letter, one in zip(LETTERS, every, strict=False):
        specs.update(_specs(letter, one))
    return shapes, specs


def _many(arguments: Arguments, count: int) -> Row:
    found: list[Tensor | None] = list(arguments.first(count))
    if len(found) < count:
        raise ValueError(f"{len(found)} tensors, where others of this operation have {count}")
    shapes, specs = _letters(found)
    return {"input_shape": shapes, **specs}


def _at(*names: str) -> Callable[[Arguments], tuple[Row, Any]]:
    """Tensors of these arguments; the first must be there."""

    def read(arguments: Arguments) -> tuple[Row, Any]:
        _, first = _one(arguments, names[0])
        shapes, specs = _letters([arguments.tensor(name) for name in names])
        return {"input_shape": shapes, **specs}, first.memory_config

    return read


def _with_output(*names: str) -> Callable[[Arguments], Row]:
    read = _at(*names)

    def row(arguments: Arguments) -> Row:
        found, memory = read(arguments)
        return {**found, "output_memory_config": _output(arguments, memory)}

    return row


def _sdpa_decode(arguments: Arguments) -> Row:
    row = _with_output("arg0", "arg1", "arg2", "arg6")(arguments)
    program = arguments.known("arg11")
    chunk = program.get("SDPAProgramConfig", {}).get("k_chunk_size") if isinstance(program, dict) else None
    return {**row, "scale": arguments.number("arg8"), "k_chunk_size": chunk, "is_causal": arguments.flag("arg3")}


def _update_cache(arguments: Arguments) -> Row:
    row = _with_output("arg0", "arg1")(arguments)
    return {**row, "scalar": {"update_index": arguments.number("arg2"), "batch_offset": arguments.number("arg3")}}


def _scale_mask_softmax(arguments: Arguments) -> Row:
    mask = arguments.tensor("arg2")
    row = _with_output("arg0", "arg2")(arguments)
    return {**row, "scalar": arguments.number("arg1"), "mask_shape": tuple(mask.shape) if mask else None}


def _linear(arguments: Arguments) -> Row:
    _, first = _one(arguments, "arg0")
    _, weight = _one(arguments, "arg1")
    bias = arguments.tensor("arg2")
    pairs = {
        f"input_{one}_{name}": part
        for name in ("dtype", "layout", "memory_config")
        for one, part in _both(first, weight, name)
    }
    return {
        "input_shape": first.shape,
        "weight_shape": weight.shape,
        "bias_shape": tuple(bias.shape) if bias else None,
        **pairs,
        "output_memory_config": _output(arguments, first.memory_config),
        "transpose_a": arguments.flag("arg3"),
        "transpose_b": arguments.flag("arg4"),
        "has_bias": bias is not None,
    }


def _embedding(arguments: Arguments) -> Row:
    _, ids = _one(arguments, "arg0")
    _, weight = _one(arguments, "arg1")
    if len(ids.shape) < 2 or len(weight.shape) < 2:
        raise ValueError(f"an embedding of {list(ids.shape)} in {list(weight.shape)}")
    named = arguments.get("arg5")
    return {
        "embedding_args": (ids.shape[0], ids.shape[-1], weight.shape[-1], weight.shape[-2]),
        "input_dtype": ids.dtype,
        "weight_dtype": weight.dtype,
        "output_dtype": parse_dtype(named) if named else weight.dtype,
        "input_layout": ids.layout,
        "weight_layout": weight.layout,
        "input_memory_config": ids.memory_config,
        "weight_memory_config": weight.memory_config,
        "output_memory_config": _output(arguments, ids.memory_config),
    }


def _concat(arguments: Arguments) -> Row:
    tensors: list[Tensor | None] = list(arguments.tensor_list("arg0"))
    shapes, specs = _letters(tensors)
    pair = {name: specs.get(name) for one in "ab" for name in _specs(one, None)}
    return {
        "input_shape": shapes,
        "dim": arguments.number("arg1"),
        **pair,
        "output_memory_config": _output(arguments, pair["input_a_memory_config"]),
    }


def _heads(name: str, heads: str, kv_heads: str) -> Callable[[Arguments], Row]:
    def row(arguments: Arguments) -> Row:
        found = _unary(arguments)
        found.pop("storage_type")
        output = found.pop("output_memory_config")
        counts = {name: arguments.number(heads), "num_kv_heads": arguments.number(kv_heads)}
        return {**found, **counts, "output_memory_config": output}

    return row


def _conv2d(arguments: Arguments) -> Row:
    numbers = [arguments.number(f"arg{i}") for i in (5, 4, 3, 6, 7)]
    kernel, stride, padding, dilation = (arguments.numbers(f"arg{i}") for i in (8, 9, 10, 11))
    if None in numbers or not kernel or not stride or not padding or not dilation:
        raise ValueError("the trace lost sizes of the convolution")
    if len(padding) == 4 and (padding[0] != padding[1] or padding[2] != padding[3]):
        raise ValueError(f"padding {padding} has no form in input_specs")
    pads = [padding[0], padding[2]] if len(padding) == 4 else padding
    groups, bias = arguments.number("arg12"), arguments.tensor("arg14")
    # Without a dtype the library takes that of the input.
    dtype = arguments.get("arg13") or _one(arguments, "arg0")[0].dtype
    named = arguments.known("arg15")
    settings = named.get("Conv2dConfig") if isinstance(named, dict) else None
    kernel_config = arguments.known("arg16")
    return {
        "input_specs": (*numbers, *kernel, *stride, *pads, groups, *dilation, bias is not None),
        "is_conv1d": False,
        "compute_config": next(iter(kernel_config.values())) if isinstance(kernel_config, dict) else None,
        "dtype": str(dtype).rpartition(":")[2].lower(),
        "config_tensors_in_dram": _flag_of(settings, "config_tensors_in_dram"),
    }


def _flag_of(settings: Any, name: str) -> bool | None:
    value = settings.get(name) if isinstance(settings, dict) else None
    return None if value is None else value in (1, "1", True, "true")


def _pad(arguments: Arguments) -> Row:
    nested = arguments.numbers("arg1")
    row: Row = dict.fromkeys(("padding", "output_padded_shape", "input_tensor_start", "value"))
    if nested and isinstance(nested[0], list):
        row.update(padding=nested, value=arguments.number("arg2"))
    else:
        start = arguments.numbers("arg2")
        row.update(output_padded_shape=nested, input_tensor_start=start, value=arguments.number("arg3"))
    return row


def _group_norm(arguments: Arguments) -> Row:
    row: Row = {"num_groups": arguments.number("arg1"), "epsilon": arguments.number("arg2")}
    for name, at in (("input_mask", "arg3"), ("weight", "arg4"), ("bias", "arg5"), ("reciprocals", "arg6")):
        tensor = arguments.tensor(at)
        one = made(tensor) if tensor else None
        for part in ("shape", "dtype", "layout", "memory_config"):
            row[f"{name}_{part}"] = getattr(one, part) if one else None
    row.update(
        inplace=arguments.flag("arg10"), num_out_blocks=arguments.number("arg12"), use_welford=arguments.flag("arg15")
    )
    return row


def _max_pool(arguments: Arguments) -> Row:
    names = ("batch_size", "input_h", "input_w", "channels", "kernel_size", "stride", "padding", "dilation")
    row: Row = {name: arguments.number(f"arg{i + 1}") for i, name in enumerate(names[:4])}
    row.update({name: arguments.numbers(f"arg{i + 5}") for i, name in enumerate(names[4:])})
    return {**row, "applied_shard_scheme": arguments.get("arg11")}


def _upsample(arguments: Arguments) -> Row:
    try:
        factor = arguments.numbers("arg1")
    except ValueError:
        factor = arguments.number("arg1")
    if isinstance(factor, list) and len(set(factor)) == 1:
        factor = factor[0]
    return {"scale_factor": factor, "mode": arguments.get("arg2")}


def _rms_norm_gathered(arguments: Arguments) -> Row:
    row = _unary(arguments)
    row["input_shape"] = {"input_a": row["input_shape"], "input_b": [row["input_shape"][-1]]}
    named = arguments.known("arg4")
    program = None
    if isinstance(named, dict) and "MemoryConfig" not in named:
        kind, fields = next(iter(named.items()))
        program = dict_to_program_config({"type": kind, **fields}) if isinstance(fields, dict) else None
    return {**row, "program_config": program}


def _numbers(**names: str) -> Callable[[Arguments], Row]:
    return lambda arguments: {name: arguments.numbers(at) for name, at in names.items()}


def _plain(**names: str) -> Callable[[Arguments], Row]:
    return lambda arguments: {name: arguments.number(at) for name, at in names.items()}


def _dims(arguments: Arguments) -> Row:
    """One dimension, or several."""
    try:
        return {"dim": arguments.number("arg1")}
    except ValueError:
        return {"dim": arguments.numbers("arg1")}


def _typecast(arguments: Arguments) -> Row:
    return {"output_dtype": parse_dtype(arguments.get("arg1"))}


def _where(arguments: Arguments) -> Row:
    for name in ("arg1", "arg2"):
        arguments.tensor(name)  # lost or not
    return {name: arguments.number(at) for name, at in (("scalar_if_true", "arg1"), ("scalar_if_false", "arg2"))}


#: Operations with a key of their own.
_OWN: dict[str, Callable[[Arguments], Row]] = {
    "conv2d": _conv2d,
    "linear": _linear,
    "embedding": _embedding,
    "concat": _concat,
    "nlp_create_qkv_heads": _heads("num_q_heads", heads="arg2", kv_heads="arg3"),
    "nlp_create_qkv_heads_decode": _heads("num_heads", heads="arg1", kv_heads="arg2"),
    "create_qkv_heads": _heads("num_heads", heads="arg1", kv_heads="arg2"),
    "paged_scaled_dot_product_attention_decode": _with_output("arg0", "arg1", "arg2", "arg3", "arg6"),
    "scaled_dot_product_attention_decode": _sdpa_decode,
    "paged_update_cache": _with_output("arg0", "arg1", "arg3", "arg5"),
    "update_cache": _update_cache,
    "scale_mask_softmax_in_place": _scale_mask_softmax,
    "rms_norm_pre_all_gather": _rms_norm_gathered,
    "rms_norm_post_all_gather": _rms_norm_gathered,
}

#: What others have beside their first tensor.
_EXTRAS: dict[str, Callable[[Arguments], Row]] = {
    "permute": _numbers(dims="arg1"),
    "transpose": _plain(dim0="arg1", dim1="arg2"),
    "reshape": _numbers(target_shape="arg1"),
    "pad": _pad,
    "untilize_with_unpadding": _numbers(end_shape="arg1"),
    "tilize_with_val_padding": lambda a: {"padded_shape": a.numbers("arg1"), "pad_value": a.number("arg2")},
    "nlp_concat_heads_decode": _plain(num_heads="arg1"),
    "split_query_key_value_and_split_heads": _plain(num_heads="arg3"),
    "max_pool2d": _max_pool,
    "upsample": _upsample,
    "typecast": _typecast,
    "gt": _plain(scalar="arg1"),
    "div": _plain(scalar="arg1"),
    "where": _where,
    "multiply_": _plain(scalar_value="arg1"),
    "pow": _plain(exponent="arg1"),
    "clamp": _plain(min="arg1", max="arg2"),
    "argmax": _dims,
    "softmax": _dims,
    "sum": _dims,
    "std": _dims,
    "repeat": _numbers(repeat_shape="arg1"),
    "group_norm": _group_norm,
    "all_gather_async": _plain(dim="arg2", num_links="arg4"),
    "fill": _plain(fill_value="arg1"),
    "split": lambda a: {"split_size": a.numbers("arg1"), "dim": a.number("arg2")},
    "scatter": _dims,
    "attention_softmax_": _plain(scalar="arg1"),
    "fast_reduce_nc": _numbers(dims="arg1"),
}

#: Of the metadata `traced_source, traced_machine_info, config_id`, those that a key of its own ends with.
METADATA = {
    "embedding": 2,
    "concat": 1,
    "nlp_create_qkv_heads": 1,
    "nlp_create_qkv_heads_decode": 1,
    "create_qkv_heads": 1,
}
#: Keys whose metadata comes before what is the operation's own.
METADATA_FIRST = {"storage_type"}
