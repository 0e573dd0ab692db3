"""`diff --where` asks the same question as `show --where`, also about machines, models and calls."""

import pytest
from traces import answer, fixture, load_trace, shown


@pytest.mark.parametrize("where", ["machine=n300", "machine=Wormhole", "model=tiny_llm", "calls>1", "calls=1", "dtype=BFLOAT16"])
def test_diff_selects_what_show_selects(where: str, opwright, tmp_path) -> None:
    trace = fixture("per_op/v3")
    load_trace(opwright, trace)
    wanted = len(shown(opwright, "--where", where))
    assert wanted > 0
    for a in (trace, "opwright.db"):
        result = answer(opwright("diff", a, trace, "--where", where, "--format", "json"))
        assert (result["equal"], result["same"]) == (True, wanted)


def test_what_a_store_holds_is_compared(opwright) -> None:
    """A store that was told to keep everything is compared whole: its content was chosen at the import."""
    load_trace(opwright, fixture("per_op/v3"), options=("--all-ops",))
    result = answer(opwright("diff", "opwright.db", "opwright.db", "--format", "json"))
    assert result["filtered"] == 0
    assert result["same"] == len(shown(opwright))
