"""Who a failure is blamed on, over incidents whose culprit is known (incidents.py). Others, and more of them:
`./x bench attribution`."""

from pathlib import Path

import pytest
from incidents import Incident, carry_out, incidents


@pytest.mark.parametrize("incident", list(incidents(seed=20, times=1)), ids=lambda incident: incident.kind.replace(" ", "-"))
def test_the_culprit_is_named(tmp_path: Path, incident: Incident) -> None:
    right, said = carry_out(incident, tmp_path)
    assert right, said
