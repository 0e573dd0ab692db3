"""Operation -> family, kernel, bugs that can be planted in it."""

from __future__ import annotations

from typing import Any

from planted_device import attention, elements, images, moves, rows, sums, tables
from planted_device.launch import LAUNCH_BUGS

UNARY = "abs cos erf exp gelu log neg reciprocal relu rsqrt sigmoid sigmoid_accurate silu sin sqrt square swish tanh"
MOVES = " ".join(sorted(moves.SAME)) + " copy transpose permute repeat concat slice untilize_with_unpadding pad tilize_with_val_padding"
TABLE: list[tuple[str, str, Any, list[str]]] = [
    ("unary", UNARY, elements.unary, elements.UNARY_BUGS),
    ("binary", "add add_ subtract subtract_ multiply multiply_ div", elements.binary, elements.BINARY_BUGS),
    ("matmul", "matmul linear", sums.matmul, sums.MATMUL_BUGS),
    ("conv2d", "conv2d", images.conv2d, images.CONV_BUGS),
    ("reduction", "sum mean max min", sums.reduce, sums.REDUCE_BUGS),
    ("reduction", "experimental.fast_reduce_nc", sums.reduce, sums.REDUCE_BUGS),
    ("pooling", "max_pool2d avg_pool2d global_avg_pool2d", images.pool, images.POOL_BUGS),
    ("norm", "layer_norm rms_norm group_norm", rows.norm, rows.NORM_BUGS),
    ("softmax", "softmax softmax_in_place scale_mask_softmax_in_place", rows.softmax, rows.SOFTMAX_BUGS),
    ("attention",
     "transformer.scaled_dot_product_attention transformer.scaled_dot_product_attention_decode"
     " transformer.paged_scaled_dot_product_attention_decode transformer.chunked_scaled_dot_product_attention",
     attention.attention, attention.ATTENTION_BUGS),
    ("rotary", "experimental.rotary_embedding experimental.rotary_embedding_llama", rows.rotary, rows.ROTARY_BUGS),
    ("movement", MOVES, moves.move, moves.MOVE_BUGS),
    ("movement",
     "experimental.nlp_concat_heads experimental.nlp_concat_heads_decode experimental.nlp_create_qkv_heads"
     " experimental.nlp_create_qkv_heads_decode", moves.heads, moves.MOVE_BUGS),
    ("cache",
     "update_cache fill_cache experimental.paged_fill_cache experimental.paged_update_cache"
     " experimental.paged_fused_update_cache", moves.cache, moves.CACHE_BUGS),
    ("table", "embedding", tables.table, tables.TABLE_BUGS),
    ("selection", "argmax topk", tables.select, tables.SELECT_BUGS),
    ("selection", "where", elements.where, tables.SELECT_BUGS),
    ("selection", "clamp", elements.clamp, tables.SELECT_BUGS),
]  # fmt: skip
FAMILIES = {f"ttnn.{name}": (family, kernel, bugs) for family, names, kernel, bugs in TABLE for name in names.split()}
BUGS = sorted({bug for _, _, bugs in FAMILIES.values() for bug in bugs} | set(LAUNCH_BUGS))
