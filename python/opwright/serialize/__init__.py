"""Configurations of models and of the ttnn library as JSON, and back as the objects that they were.

    from opwright.serialize import from_jsonable, to_jsonable

    text = json.dumps(to_jsonable(model_config))
    model_config = from_jsonable(json.loads(text), mesh_device=device)

Memory configs with their shard specs, core ranges, program and compute kernel configs, enums, tiles, placements,
dataclasses, paths, tuples and sets come back as equal objects. Tensors and devices stay placeholders: of a tensor its
spec is written, never its contents, and a device is the one that the reader gives. The spelling is that of the existing
serializer (docs/formats/serialized-objects.md), which this module can stand in for; what that one writes is read.

Nothing is dropped or replaced in silence: what cannot be written is `{"__type__": "repr", …}`, what cannot be made
again stays the dict that it is, and `problems` says where and why:

    problems = []
    config = from_jsonable(data, problems=problems)
    for problem in problems:
        print(problem)      # $.program_config: ttnn 0.81.1 has no FancyProgramConfig

Importing it needs neither ttnn nor torch.
"""

from opwright.serialize._read import Problem, from_jsonable
from opwright.serialize._write import to_jsonable

__all__ = ["Problem", "from_jsonable", "to_jsonable"]
