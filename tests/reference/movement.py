"""Operators that move, cut, turn and convert."""

from __future__ import annotations

import itertools

from cases import ANYTHING, SHAPES, Cases, Word, call, tensor, torch, volume

SHARDED = "memory(L1 HEIGHT_SHARDED shard [32,64] on (0,0)-(3,0) ROW_MAJOR)"


def same(x, *_):
    return x


def copies() -> Cases:
    cases = Cases("copies")
    row = dict(layout="ROW_MAJOR")
    for shape in SHAPES:
        cases.add("ttnn.clone", "shape", call("ttnn.clone", tensor(shape)), same)
        cases.add("ttnn.to_memory_config", "memory_config", call("ttnn.to_memory_config", tensor(shape), Word("memory(L1 INTERLEAVED)")), same)
        cases.add("ttnn.copy", "shape", call("ttnn.copy", tensor(shape), tensor(shape)), same)
        cases.add("ttnn.to_layout", "layout", call("ttnn.to_layout", tensor(shape), Word("Layout.ROW_MAJOR")), same)
        cases.add("ttnn.to_layout", "layout", call("ttnn.to_layout", tensor(shape, **row), Word("Layout.TILE")), same)
        cases.add("ttnn.untilize", "shape", call("ttnn.untilize", tensor(shape)), same)
        cases.add("ttnn.tilize_with_zero_padding", "shape", call("ttnn.tilize_with_zero_padding", tensor(shape, **row)), same)
    for shape in ([32, 32], [1, 1, 64, 96], [2, 3, 32, 64]):
        cases.add("ttnn.tilize", "shape", call("ttnn.tilize", tensor(shape, **row)), same)
        cases.add("ttnn.tilize", "shape", call("ttnn.tilize", tensor(shape, "BFLOAT16", **row)), same)
    for shape, target in (([1, 1, 50, 70], [1, 1, 64, 96]), ([2, 1, 3, 5], [2, 1, 32, 32]), ([1, 1, 33, 1], [1, 1, 64, 32])):
        cases.add("ttnn.tilize_with_val_padding", "pad_value", call("ttnn.tilize_with_val_padding", tensor(shape, "BFLOAT16", **row), target, 1.5), same, times=2)
    for shape, end in (([1, 1, 64, 96], [0, 0, 49, 69]), ([2, 3, 32, 64], [1, 2, 30, 63]), ([1, 1, 32, 32], [0, 0, 0, 0])):
        cases.add("ttnn.untilize_with_unpadding", "output_tensor_end", call("ttnn.untilize_with_unpadding", tensor(shape, "BFLOAT16"), end),
                  lambda x, e=end: x[tuple(slice(0, n + 1) for n in e)], times=2)
    plain, sharded = tensor([1, 1, 128, 64], "BFLOAT16"), tensor([1, 1, 128, 64], "BFLOAT16", memory=SHARDED)
    cases.add("ttnn.interleaved_to_sharded", "memory_config", call("ttnn.interleaved_to_sharded", plain, Word(SHARDED)), same, times=3)
    cases.add("ttnn.sharded_to_interleaved", "memory_config", call("ttnn.sharded_to_interleaved", sharded, Word("memory(DRAM INTERLEAVED)")), same, times=3)
    cases.add("ttnn.reshard", "memory_config", call("ttnn.reshard", sharded, Word("memory(L1 HEIGHT_SHARDED shard [64,64] on (0,0)-(1,0) ROW_MAJOR)")), same, times=3)
    # Conversions of values that both dtypes hold: what rounding does is the dtype's affair, and tested there.
    whole = [float(i % 101 - 50) for i in range(120)]
    for source, target in itertools.product(("FLOAT32", "BFLOAT16", "INT32"), ("FLOAT32", "BFLOAT16", "INT32")):
        cases.add("ttnn.typecast", "dtype", call("ttnn.typecast", tensor([3, 40], source), Word("DataType." + target)), same, given={0: whole})
    for target in ("UINT16", "UINT32"):
        cases.add("ttnn.typecast", "dtype", call("ttnn.typecast", tensor([3, 40], "BFLOAT16"), Word("DataType." + target)), same, given={0: [abs(v) for v in whole]})
    return cases


def turns() -> Cases:
    cases = Cases("turns")
    for shape in ([2, 3, 4, 5], [1, 1, 33, 7], [1, 3, 1, 5]):
        for dims in itertools.permutations(range(4)):
            cases.add("ttnn.permute", "dims", call("ttnn.permute", tensor(shape, "BFLOAT16"), list(dims)), lambda x, d=dims: x.permute(d))
        for a, b in itertools.product(range(-4, 4), repeat=2):
            cases.add("ttnn.transpose", "dim1, dim2", call("ttnn.transpose", tensor(shape, "BFLOAT16"), a, b), lambda x, a=a, b=b: x.transpose(a, b))
    for dims in ([-1, 0, 1], [2, 1, 0], [0, -1, -2]):
        cases.add("ttnn.permute", "negative dims", call("ttnn.permute", tensor([2, 3, 5], "BFLOAT16"), dims), lambda x, d=dims: x.permute(*d))
    for shape, target in (([2, 3, 4, 5], [6, 20]), ([2, 3, 4, 5], [1, 1, 24, 5]), ([33, 7], [7, 33]), ([1, 1, 64, 96], [1, 2, 32, 96]), ([7], [1, 7, 1]), ([2, 3, 4], [-1]), ([2, 3, 4], [4, -1]), ([1, 1, 1, 12], [3, 4])):
        for layout in ("TILE", "ROW_MAJOR"):
            cases.add("ttnn.reshape", "shape", call("ttnn.reshape", tensor(shape, "BFLOAT16", layout), target), lambda x, t=target: x.reshape(t), times=2)
    for shape, dim in (([1, 3, 1, 5], 0), ([1, 3, 1, 5], 2), ([1, 3, 1, 5], -2), ([1, 3, 1, 5], 1), ([1, 1, 5], [0, 1])):
        cases.add("ttnn.squeeze", "dim", call("ttnn.squeeze", tensor(shape), dim), lambda x, d=dim: x.squeeze(d) if isinstance(d, int) else x.reshape(5))
    for shape in ([3, 5], [2, 3, 4], [7]):
        for dim in range(-len(shape) - 1, len(shape) + 1):
            cases.add("ttnn.unsqueeze", "dim", call("ttnn.unsqueeze", tensor(shape), dim), lambda x, d=dim: x.unsqueeze(d))
        cases.add("ttnn.unsqueeze_to_4D", "shape", call("ttnn.unsqueeze_to_4D", tensor(shape)), lambda x: x.reshape((1,) * (4 - x.dim()) + tuple(x.shape)))
    return cases


def parts() -> Cases:
    cases = Cases("parts")
    random = cases.random
    for _ in range(60):
        shape = [random.choice((1, 2, 3)), random.choice((1, 4)), random.choice((1, 5, 33, 40)), random.choice((1, 6, 32, 37))]
        start = [random.randrange(n) for n in shape]
        end = [random.randrange(s + 1, n + 1) for s, n in zip(start, shape)]
        cut = tuple(slice(s, e) for s, e in zip(start, end))
        cases.add("ttnn.slice", "starts, ends", call("ttnn.slice", tensor(shape, "BFLOAT16", "ROW_MAJOR"), start, end), lambda x, c=cut: x[c])
        step = [random.choice((1, 1, 2, 3)) for _ in shape]
        by = tuple(slice(s, e, n) for s, e, n in zip(start, end, step))
        cases.add("ttnn.slice", "steps", call("ttnn.slice", tensor(shape, "BFLOAT16", "ROW_MAJOR"), start, end, step), lambda x, c=by: x[c])
        cases.add("ttnn.slice", "negative ends", call("ttnn.slice", tensor([2, 3, 40, 37], "BFLOAT16", "ROW_MAJOR"), [0, 0, 0, 0], [2, -1, -random.randint(1, 20), -random.randint(1, 20)]),
                  None)
        cases.list[-1].formula = (lambda ends: lambda x: x[tuple(slice(0, e) for e in ends)])(eval(cases.list[-1].line.rsplit("], ", 1)[1][:-1]))
    for layout in ("TILE", "ROW_MAJOR"):
        for dim in range(-4, 4):
            shapes = [[2, 3, 4, 5], [2, 3, 4, 5], [2, 3, 4, 5]]
            for i, n in ((1, 2), (2, 7)):
                shapes[i] = list(shapes[i])
                shapes[i][dim] = n
            cases.add("ttnn.concat", "dim", call("ttnn.concat", [tensor(s, "BFLOAT16", layout) for s in shapes], dim), lambda *x, d=dim: torch.cat(x, d), times=2)
    cases.add("ttnn.concat", "one tensor", call("ttnn.concat", [tensor([3, 5], "BFLOAT16")], 0), same)
    for times in ([1, 2, 1, 1], [2, 1, 1, 3], [1, 1, 2, 1], [1, 1, 1, 1], [2, 2, 2, 2]):
        for shape in ([2, 3, 4, 5], [1, 1, 32, 64]):
            cases.add("ttnn.repeat", "repeat_dims", call("ttnn.repeat", tensor(shape, "BFLOAT16"), times), lambda x, t=times: x.repeat(t))
    for padding, value in (([[0, 0], [0, 0], [0, 32], [0, 0]], 1.5), ([[0, 1], [0, 0], [0, 3], [0, 2]], 0.0), ([[0, 0], [0, 2], [0, 1], [0, 1]], -2.0)):
        flat = [n for pair in reversed(padding) for n in pair]
        for shape in ([1, 1, 64, 96], [2, 1, 5, 7]):
            for layout in ("TILE", "ROW_MAJOR"):
                cases.add("ttnn.pad", "padding, value", call("ttnn.pad", tensor(shape, "BFLOAT16", layout), padding, value),
                          lambda x, p=flat, v=value: torch.nn.functional.pad(x, p, value=v))
    front = [[1, 0], [0, 1], [2, 1], [3, 0]]
    cases.add("ttnn.pad", "in front", call("ttnn.pad", tensor([2, 1, 5, 7], "BFLOAT16", "ROW_MAJOR"), front, 0.5),
              lambda x: torch.nn.functional.pad(x, [3, 0, 2, 1, 0, 1, 1, 0], value=0.5), times=2)
    for rows, width, layout in ((10, 32, "ROW_MAJOR"), (512, 64, "TILE"), (7, 96, "ROW_MAJOR")):
        for ids in ([1, 32], [2, 32], [3, 7], [1, 1]):
            cases.add("ttnn.embedding", "layout", call("ttnn.embedding", tensor(ids, "UINT32", "ROW_MAJOR"), tensor([rows, width], "BFLOAT16", "ROW_MAJOR"), layout=Word("Layout." + layout)),
                      lambda i, w: w[i.long()])
    for shape in ([1], [1, 32], [7]):
        cases.add("ttnn.plus_one", "shape", call("ttnn.plus_one", tensor(shape, "INT32", "ROW_MAJOR")), lambda x: x + 1, times=2)
        values = [float(i - 3) for i in range(volume(shape))]
        cases.add("ttnn.plus_one", "skip_negative_entries", call("ttnn.plus_one", tensor(shape, "INT32", "ROW_MAJOR"), skip_negative_entries=True),
                  lambda x: torch.where(x < 0, x, x + 1), given={0: values})
    return cases


def heads() -> Cases:
    cases = Cases("heads")
    for batch, n, length, dim in ((1, 2, 64, 64), (2, 3, 32, 32), (1, 8, 32, 96)):
        cases.add("ttnn.experimental.nlp_concat_heads", "shape", call("ttnn.experimental.nlp_concat_heads", tensor([batch, n, length, dim], "BFLOAT16")),
                  lambda x: x.transpose(1, 2).reshape(x.shape[0], 1, x.shape[2], -1), times=3)
    for heads_, kv, dim, flip in ((2, 2, 64, False), (4, 2, 64, False), (4, 1, 32, True), (3, 3, 64, True)):
        op = "ttnn.experimental.nlp_create_qkv_heads"

        def split(x, h=heads_, kv=kv, d=dim, flip=flip):
            b, _, s, _ = x.shape
            q, k, v = torch.split(x, [h * d, kv * d, kv * d], dim=-1)
            q, k, v = (t.reshape(b, s, -1, d).transpose(1, 2) for t in (q, k, v))
            return q, (k.transpose(2, 3) if flip else k), v

        for batch in (1, 2):
            cases.add(op, "num_heads, num_kv_heads, transpose_k_heads", call(op, tensor([batch, 1, 64, (heads_ + 2 * kv) * dim], "BFLOAT16"), num_heads=heads_, num_kv_heads=kv, transpose_k_heads=flip), split, times=2)
    for heads_, kv, dim in ((4, 1, 64), (8, 2, 64), (32, 8, 32)):
        op = "ttnn.experimental.nlp_create_qkv_heads_decode"

        def decode(x, h=heads_, kv=kv, d=dim):
            users = x.shape[2]
            q, k, v = torch.split(x.reshape(users, -1), [h * d, kv * d, kv * d], dim=-1)
            return tuple(t.reshape(1, users, -1, d) for t in (q, k, v))

        cases.add(op, "num_heads, num_kv_heads", call(op, tensor([1, 1, 32, (heads_ + 2 * kv) * dim], "BFLOAT16"), num_heads=heads_, num_kv_heads=kv, memory_config=Word("memory(L1 HEIGHT_SHARDED)")), decode, times=3)
    op = "ttnn.experimental.nlp_concat_heads_decode"
    for n in (4, 8, 32):
        memory = "memory(L1 HEIGHT_SHARDED shard [32,64] on (0,0)-(7,0) ROW_MAJOR)"
        cases.add(op, "num_heads", call(op, tensor([1, 8, 32, 64], "BFLOAT16", memory=memory), num_heads=n),
                  lambda x, n=n: torch.cat([x[:, :, :n].reshape(1, 1, 8, n * 64), torch.full((1, 1, 24, n * 64), ANYTHING, dtype=torch.double)], 2), times=2)
    return cases


def caches() -> Cases:
    cases = Cases("caches")

    def put(cache, new, at, offset=0):
        out = cache.clone()
        for user in range(new.shape[2]):
            if offset + user < 0:
                continue
            out[user, :, at] = new[0, :, user + offset] if user + offset < new.shape[2] else out[user, :, at]
        return out

    for at in (0, 5, 31, 63):
        cases.add("ttnn.update_cache", "update_idx", call("ttnn.update_cache", tensor([4, 2, 64, 64], "BFLOAT16"), tensor([1, 2, 4, 64], "BFLOAT16"), at),
                  lambda c, x, at=at: put(c, x, at), times=2)
    for user in range(4):
        def fill(cache, new, user=user):
            out = cache.clone()
            out[user, :, : new.shape[2]] = new[0]
            return out
        cases.add("ttnn.fill_cache", "batch_idx", call("ttnn.fill_cache", tensor([4, 2, 64, 64], "BFLOAT16"), tensor([1, 2, 32, 64], "BFLOAT16"), user), fill, times=2)

    def paged_fill(cache, new, table, user):
        out = cache.clone()
        block = cache.shape[2]
        for position in range(new.shape[2]):
            out[int(table[user, position // block]), :, position % block] = new[0, :, position]
        return out

    for user in (0, 1):
        op = "ttnn.experimental.paged_fill_cache"
        cases.add(op, "batch_idx", call(op, tensor([8, 2, 32, 64], "BFLOAT16"), tensor([1, 2, 64, 64], "BFLOAT16"), tensor([2, 4], "INT32", "ROW_MAJOR"), batch_idx=user),
                  lambda c, x, t, u=user: paged_fill(c, x, t, u), times=4)

    def paged_update(cache, new, positions, table):
        out = cache.clone()
        block = cache.shape[2]
        for user in range(new.shape[1]):
            position = int(positions[user])
            if position < 0:
                continue
            out[int(table[user, position // block]), :, position % block] = new[0, user, : cache.shape[1]]
        return out

    new = tensor([1, 4, 32, 64], "BFLOAT16", memory=SHARDED)
    positions, table = tensor([4], "INT32", "ROW_MAJOR"), tensor([4, 2], "INT32", "ROW_MAJOR")
    op = "ttnn.experimental.paged_update_cache"
    cases.add(op, "update_idxs_tensor, page_table", call(op, tensor([8, 1, 64, 64], "BFLOAT16"), new, update_idxs_tensor=positions, page_table=table), paged_update, times=6)
    cases.add(op, "negative positions", call(op, tensor([8, 1, 64, 64], "BFLOAT16"), new, update_idxs_tensor=positions, page_table=table), paged_update, given={2: [-1.0, 3.0, 70.0, -1.0]})

    def update(cache, new, positions):
        out = cache.clone()
        for user in range(new.shape[1]):
            out[user, :, int(positions[user])] = new[0, user, : cache.shape[1]]
        return out

    cases.add(op, "update_idxs_tensor", call(op, tensor([4, 2, 64, 64], "BFLOAT16"), new, update_idxs_tensor=positions), update, times=4)
    for given in ([0, 1, 2, 3], [63, 0, 31, 32]):
        cases.add(op, "update_idxs", call(op, tensor([4, 2, 64, 64], "BFLOAT16"), new, update_idxs=given), lambda c, x, g=given: update(c, x, torch.tensor(g)))
    op = "ttnn.experimental.paged_fused_update_cache"
    other = tensor([1, 4, 32, 64], "BFLOAT16", memory="memory(L1 HEIGHT_SHARDED shard [32,64] on (4,0)-(7,0) ROW_MAJOR)")
    cases.add(op, "update_idxs_tensor, page_table", call(op, tensor([8, 1, 64, 64], "BFLOAT16"), new, tensor([8, 1, 64, 64], "BFLOAT16"), other, update_idxs_tensor=positions, page_table=table),
              lambda c1, x1, c2, x2, p, t: (paged_update(c1, x1, p, t), paged_update(c2, x2, p, t)), times=4)
    return cases


def every() -> list:
    return [*copies(), *turns(), *parts(), *heads(), *caches()]
